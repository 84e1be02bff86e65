"""confml uses no private parts of other packages."""

import re
from pathlib import Path

import confml

PACKAGE = Path(confml.__file__).parent
USES = {
    "sys.modules": r"sys\.modules",
    "numba": r"numba\.core(?!\.event)|get_call_template|_nrt\b|no_cfunc_wrapper|\._cache_file|_tm_features",
    "llvmlite": r"llvmlite",
    "scipy": r"\._ufuncs|scipy\.\S*\._\w",
    "matplotlib": r"_backend_pdf",
    "scikit-learn": r"(?:import|from) sklearn\.\S*\._\w|import _BinMapper",
    "loky": r"_USE_PSUTIL|\._call_queue|\._result_queue|executor\._\w",
    "forkserver": r"\b_forkserver|util\._\w|_args_from_interpreter_flags",
    "atexit": r"atexit\._\w",
}


def test_no_private_part_of_another_package_is_used():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not [name for name, pattern in USES.items() if re.search(pattern, text)], path
