"""The house keeps its order: imports run one way, click stays outside, importing confml changes nothing."""

import ast
import functools
import graphlib
import re
from pathlib import Path

import processes
import pytest

from confml import measures

PACKAGE = Path(__file__).parent.parent / "confml"
PRIVATE = ("_cache", "_json", "_jit", "_outputs", "_seeds", "_threads", "_version")
# Each floor may import itself and what stands before it.
FLOORS = [
    {"errors", *PRIVATE, "terminal"},
    {"plugins", "yaml"},
    {"measures", "data", "neighbours", "published"},
    {"bayes_error"},
    {"methods"},
    {"steps"},
    {"config"},
    {"runner"},
    {"report"},
    {"runs", "predictions"},
    {"run_config"},
    {"commands"},
    {"cli"},
    {"__main__"},
    {"__init__"},  # the package's face, which nothing inside imports
]
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
MODULES = sorted(PACKAGE.rglob("*.py"))
# The package's face names modules of every floor, and imports them when a name is first used.
INSIDE = [path for path in MODULES if path != PACKAGE / "__init__.py"]


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path):
    """(line, module) of every import of a file, those inside functions included."""
    lines = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            lines += [(node.lineno, name.name) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            if node.module != "confml":
                lines.append((node.lineno, node.module))
            lines += [(node.lineno, f"{node.module}.{name.name}") for name in node.names]
    return lines


def part(module):
    """The part of confml that a module belongs to, None for other packages."""
    package, _, rest = module.partition(".")
    name = rest.partition(".")[0]
    return None if package != "confml" else name if name in FLOOR else "__init__"


def test_imports_run_one_way():
    for path in INSIDE:
        here = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        assert here in FLOOR, f"{here} has no place in the order of imports"
        for line, module in imports(path):
            imported = part(module)
            # On one floor a part may use itself; the ground floor's files may use each other.
            may_use_itself = imported == here or FLOOR[here] == 0
            if imported is not None and FLOOR[imported] >= FLOOR[here] + may_use_itself:
                pytest.fail(f"{path}:{line}: {here} imports {module}")


def test_no_modules_import_each_other_in_a_circle():
    """Imports inside functions count too, and so do those for type annotations."""
    files = {}
    for path in INSIDE:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        files[".".join(["confml", *parts]).removesuffix(".__init__")] = path
    imported = {}
    for module, path in files.items():
        imported[module] = set()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in node.names:
                    home = node.module if isinstance(node, ast.ImportFrom) else name.name
                    imported[module] |= {f"{home}.{name.name}" if f"{home}.{name.name}" in files else home}
        imported[module] = imported[module] & set(files) - {module}
    order = graphlib.TopologicalSorter(imported).static_order()  # CycleError names a circle
    assert set(order) == set(files)


# Private names that every package may import.
SHARED = {f"confml.{name}" for name in PRIVATE}


def test_no_package_imports_private_names_of_another():
    for path in MODULES:
        package = ["confml", *path.relative_to(PACKAGE).parts[:-1]]
        for line, module in imports(path):
            names = module.split(".")
            private = [at for at, name in enumerate(names) if re.match("_(?!_)", name)]
            if names[0] == "confml" and private:
                is_shared = ".".join(names[: private[0] + 1]) in SHARED
                assert is_shared or names[: private[0]] == package, f"{path}:{line}: imports {module}"


@pytest.mark.parametrize("part", ["config", "runner", "report", "predictions", "commands"])
def test_methods_are_asked_through_their_contract(part):
    """No private attribute of another object, such as ``method._fit``, is used above the methods."""
    public = {"_asdict", "_replace", "_fields", "_make", "_exit"}  # of named tuples, and os._exit
    for path in (PACKAGE / part).rglob("*.py"):
        nodes = list(ast.walk(parsed(path)))
        defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        defined |= {node.attr for node in attributes if ast.unparse(node.value) in ("self", "cls")}
        for node in attributes:
            if re.match("_(?!_)", node.attr):
                assert node.attr in public | defined, f"{path}:{node.lineno}: uses {node.attr}"


def test_only_the_command_line_imports_click():
    for path in MODULES:
        if path.relative_to(PACKAGE).parts[0] not in ("cli.py", "commands"):
            assert not any(module.split(".")[0] == "click" for _, module in imports(path)), path


def test_importing_confml_changes_nothing_and_help_loads_nothing_heavy():
    program = (
        "import os, signal, sys, warnings, logging\n"
        "def state():\n"
        "    log = logging.getLogger()\n"
        "    return (dict(os.environ), list(warnings.filters), list(sys.path), log.level, list(log.handlers),"
        " signal.getsignal(signal.SIGINT))\n"
        "before = state(); import confml; assert state() == before\n"
        "from confml.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit as ended: assert not ended.code\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'sklearn', 'numba', 'matplotlib', 'pydantic', 'rich', 'yaml'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "commands = [name for name in sys.modules if name.startswith('confml.commands')]\n"
        "assert not commands, f'the list of commands imports {commands}'\n"
    )
    processes.assert_program(program)


REPORT = ("run", "numbers", "answers", "forms", "figures", "page", "tables")


def test_a_report_goes_one_way():
    """Cells, numbers and answers know no views of them; tables of numbers know neither figures nor page."""
    for rank, name in enumerate(REPORT[:4]):
        later = REPORT[rank + 1 :] if name != "run" else REPORT[2:]
        for path in (PACKAGE / "report" / name).glob("*.py"):
            for line, module in imports(path):
                parts = module.split(".")
                if parts[:2] == ["confml", "report"] and len(parts) > 2:
                    assert parts[2] not in later, f"{path}:{line}: {name} imports {module}"


def test_no_measure_imports_another_measure():
    names = {name for name, module in vars(measures).items() if hasattr(module, "MEASURE")}
    assert len(names) == len(measures.MEASURES) > 10
    modules = {f"confml.measures.{name}" for name in names}
    for name in names:
        assert not modules & {module for _, module in imports(PACKAGE / "measures" / f"{name}.py")}, name


def test_files_have_a_size_that_a_person_likes():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {str(path): length for path, length in lengths.items() if length > 450} == {}
