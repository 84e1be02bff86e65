"""Where the cards and configs that come with confml are."""

from pathlib import Path

from confml.errors import ConfmlError


def resource_folder(kind: str) -> Path:
    """Return the folder of ``"datasets"`` or ``"configs"``: inside an installed package, else the checkout's
    own.

    A wheel carries both inside the package; an editable install has neither there and reads the checkout,
    so that an edited card counts at once. Raises ConfmlError where there is neither.
    """
    package = Path(__file__).resolve().parent.parent
    candidates = [package / kind, package.parent / kind]
    for folder in candidates:
        if folder.is_dir():
            return folder
    looked = " or ".join(str(folder) for folder in candidates)
    raise ConfmlError(f"the {kind} that come with confml are not at {looked}", hint="install confml again")
