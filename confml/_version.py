"""Version of confml, and the folders of the package, its cards and its configs."""

from pathlib import Path

from confml.errors import ConfmlError

__version__ = "0.1.0"
PACKAGE = Path(__file__).resolve().parent


def resource_folder(kind: str) -> Path:
    """Return the folder of ``"datasets"`` or ``"configs"``: inside an installed package, else the checkout's
    own.

    A wheel carries both inside the package; an editable install has neither there and reads the checkout,
    so that an edited card counts at once. Raises ConfmlError where there is neither.
    """
    candidates = [PACKAGE / kind, PACKAGE.parent / kind]
    for folder in candidates:
        if folder.is_dir():
            return folder
    looked = " or ".join(str(folder) for folder in candidates)
    raise ConfmlError(f"the {kind} that come with confml are not at {looked}", hint="install confml again")
