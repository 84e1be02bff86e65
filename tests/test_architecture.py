"""The house keeps its order: imports run one way, click stays outside, importing confml changes nothing."""

import ast
import functools
import graphlib
from pathlib import Path

import processes
import pytest

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


def statements(tree):
    """Yield the statements of a tree, those inside others included: `ast.walk` visits expressions, too."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for node in getattr(tree, name, ()):
            yield node
            yield from statements(node)


@functools.cache
def imports(path):
    """(line, module) of every import of a file, those inside functions included."""
    return list(found_imports(path))


def found_imports(path):
    for node in statements(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            if node.module != "confml":
                yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{name.name}") for name in node.names)


def part(module):
    """The part of confml that a module belongs to, None for other packages."""
    names = module.split(".")
    if names[0] != "confml":
        return None
    return names[1] if len(names) > 1 and names[1] in FLOOR else "__init__"


def test_imports_run_one_way():
    for path in INSIDE:
        here = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        assert here in FLOOR, f"{here} has no place in the order of imports"
        for line, module in imports(path):
            other = part(module)
            if other is None:
                continue
            same_floor = FLOOR[other] == FLOOR[here]
            # On one floor a part may use itself; the ground floor's files may use each other.
            assert FLOOR[other] < FLOOR[here] or other == here or (same_floor and FLOOR[here] == 0), (
                f"{path}:{line}: {here} imports {module}"
            )


def test_no_modules_import_each_other_in_a_circle():
    """Imports inside functions count too, and so do those for type annotations."""
    files = {}
    for path in INSIDE:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        files[".".join(["confml", *parts]).removesuffix(".__init__")] = path
    imported = {}
    for module, path in files.items():
        imported[module] = set()
        for node in statements(parsed(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in node.names:
                    home = node.module if isinstance(node, ast.ImportFrom) else name.name
                    imported[module] |= {f"{home}.{name.name}" if f"{home}.{name.name}" in files else home}
        imported[module] = {other for other in imported[module] if other in files and other != module}
    order = list(graphlib.TopologicalSorter(imported).static_order())  # CycleError names a circle
    assert set(order) == set(files)


# Private names that every package may import.
SHARED = {f"confml.{name}" for name in PRIVATE}


def private_imports():
    """Every import of a private module or name of another package, with its place."""
    for path in MODULES:
        here = ["confml", *path.relative_to(PACKAGE).with_suffix("").parts]
        for line, module in imports(path):
            names = module.split(".")
            for end, name in enumerate(names):
                if names[0] != "confml" or not name.startswith("_") or name.startswith("__"):
                    continue
                private = ".".join(names[: end + 1])
                if names[:end] != here[:-1] and private not in SHARED:
                    yield f"{path}:{line}: {'.'.join(here)} imports {private}"
                break


def test_no_package_imports_private_names_of_another():
    assert list(private_imports()) == []


@pytest.mark.parametrize("part", ["config", "runner", "report", "predictions", "commands"])
def test_methods_are_asked_through_their_contract(part):
    """No private attribute of another object, such as ``method._fit``, is used above the methods."""
    public = {"_asdict", "_replace", "_fields", "_make", "_exit"}  # of named tuples, and os._exit
    for path in (PACKAGE / part).rglob("*.py"):
        tree = parsed(path)
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        own |= {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("self", "cls")
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and node.attr.startswith("_")
                and not node.attr.startswith("__")
            ):
                assert node.attr in public | own, f"{path}:{node.lineno}: uses {node.attr}"


def test_only_the_command_line_imports_click():
    for path in MODULES:
        if path.relative_to(PACKAGE).parts[0] not in ("cli.py", "commands"):
            assert not any(module.split(".")[0] == "click" for _, module in imports(path)), path


# A config passes through these modules; each may import those before it.
CONFIG_STAGES = [
    {"grids", "limits", "warnings"},
    {"values"},
    {"part"},
    {"draft"},
    {"dataset_spec", "method_entry", "protocol", "read"},
    {"schema"},
    {"costs", "editor_schema", "overrides"},
    {"check_datasets", "check_methods", "check_protocol", "validate"},
    {"__init__", "suggestion"},
]


@pytest.mark.parametrize("path", sorted((PACKAGE / "config").glob("*.py")), ids=lambda path: path.stem)
def test_a_config_goes_one_way(path):
    stage = {name: rank for rank, names in enumerate(CONFIG_STAGES) for name in names}
    for line, module in imports(path):
        names = module.split(".")
        if names[:2] == ["confml", "config"] and len(names) > 2 and names[2] in stage:
            assert stage[names[2]] < stage[path.stem], f"{path}:{line}: {path.stem} imports {module}"


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
    for place, name in enumerate(REPORT[:4]):
        later = REPORT[place + 1 :] if name != "run" else REPORT[2:]
        for path in (PACKAGE / "report" / name).glob("*.py"):
            for line, module in imports(path):
                parts = module.split(".")
                if parts[:2] == ["confml", "report"] and len(parts) > 2:
                    assert parts[2] not in later, f"{path}:{line}: {name} imports {module}"


def test_no_measure_imports_another_measure():
    folder = PACKAGE / "measures"
    assigns = [(path, node) for path in folder.glob("*.py") for node in parsed(path).body]
    measures = {
        path
        for path, node in assigns
        if isinstance(node, ast.Assign) and [ast.unparse(one) for one in node.targets] == ["MEASURE"]
    }
    names = {f"confml.measures.{path.stem}" for path in measures}
    assert len(names) > 10
    for path in measures:
        assert not names & {module for _, module in imports(path)}, path


def test_files_have_a_size_that_a_person_likes():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {str(path): length for path, length in lengths.items() if length > 450} == {}
