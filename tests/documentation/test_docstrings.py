"""Docstrings: functions begin with a verb, classes are noun phrases."""

import ast
import re

import pytest
from documentation.blocks import ROOT

FILES = sorted((ROOT / "confml").rglob("*.py"))
# First words of docstrings that are verbs. Ruff (D401) finds verbs of another form, this list finds nouns.
VERBS = frozenset(
    """
    Add Allow Append Apply Audit Bring Build Call Change Check Choose Code Collect Compare Compile
    Complete Compute Copy Count Create Cut Decorate Describe Discard Divide Do Download Draw Drop Embed
    Encode End Enter Escape Estimate Evaluate Execute Expand Extend Fetch Fill Filter Find Finish Fit
    Fold Follow Forward Free Give Go Group Handle Hold Ignore Import Index Insert Integrate Iterate Join
    Keep Kill Label Learn Leave Let Limit List Load Lock Look Make Mark Mask Maximise Measure Merge Minimise
    Move Multiply Note Offer Open Order Parse Permit Permute Predict Prepare Print Process Project Prune
    Push Put Raise Rank Read Rebuild Record Release Remove Rename Renew Reorder Replace Restore Return
    Run Sample Say Scale Score Search Seed Set Show Solve Sort Start Store Suggest Sum Take Test
    Transfer Undo Unite Update Use Vote Wait Warn Work Write Yield
    """.split()
)
RELATIVE = re.compile(r"^(What|Which|How|Where|When|That|Who|Whose)\b")


def definitions(node):
    """Yield the functions and classes of a tree with a docstring."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(
            child
        ):
            yield child
        yield from definitions(child)


def is_attribute(function):
    """Return whether a function is a property, whose docstring is a noun phrase."""
    names = " ".join(ast.unparse(decorator) for decorator in function.decorator_list)
    return "property" in names or function.name == "__init__"


def first_word(docstring):
    return re.match(r"[\w-]*", docstring).group()


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda path: path.name)
def test_functions_begin_with_a_verb_and_classes_with_a_noun(folder):
    wrong = []
    for path in folder.glob("*.py"):
        for node in definitions(ast.parse(path.read_text(encoding="utf-8"))):
            docstring = ast.get_docstring(node)
            place = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {docstring.splitlines()[0]}"
            if isinstance(node, ast.ClassDef):
                if RELATIVE.match(docstring):
                    wrong.append(place)
            elif not is_attribute(node) and first_word(docstring) not in VERBS:
                wrong.append(place)
    assert not wrong, "\n".join(wrong)
