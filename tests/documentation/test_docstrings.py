"""Docstrings: functions begin with a verb, classes are noun phrases."""

import ast
import re

import pytest
from documentation.blocks import ROOT

FILES = sorted((ROOT / "confml").rglob("*.py"))
# First words of docstrings that are verbs. Ruff (D401) finds verbs of another form, this list finds nouns.
VERBS = frozenset(
    """
    Abort Accept Add Adjust Align Allocate Allow Answer Append Apply Arrange Ask Assert Assign Attach
    Audit Begin Bind Bring Build Cache Calibrate Call Cancel Cast Centre Certify Change Check Choose
    Clean Clear Clip Close Code Collect Combine Compare Compile Complete Compute Concatenate Configure
    Connect Contain Convert Copy Correct Count Cover Create Cut Decide Decode Decompose Decorate Define
    Delete Derive Describe Detect Determine Discard Dispatch Distribute Divide Do Download Draw Drop
    Embed Emit Encode End Ensure Enter Escape Estimate Evaluate Exclude Execute Expand Export Extend
    Extract Fetch Fill Filter Find Finish Fit Fix Flatten Fold Follow Forget Format Forward Free Gather
    Generate Get Give Go Group Grow Guard Halve Handle Hash Highlight Hold Ignore Import Include
    Increase Index Initialise Insert Inspect Install Integrate Invert Iterate Join Keep Kill Label
    Launch Learn Leave Let Limit Link List Load Locate Lock Look Lower Make Map Mark Mask Match Maximise
    Measure Merge Minimise Move Multiply Normalise Note Offer Open Optimise Order Pack Parse Partition
    Pass Pause Permit Permute Pick Plan Predict Prefer Prepare Prepend Preserve Prevent Print Process
    Produce Project Propose Prove Prune Pull Push Put Quote Raise Rank Read Rebuild Recompute Record
    Reduce Refer Refit Refuse Register Reject Release Remember Remove Rename Render Renew Reorder Repair
    Repeat Replace Report Request Require Reset Resolve Restore Return Reuse Reverse Round Run Sample
    Save Say Scale Scan Schedule Score Search Seed Select Send Separate Serve Set Show Shuffle Simulate
    Skip Smooth Solve Sort Split Standardise Start Stop Store Strip Submit Subtract Suggest Sum Swap
    Switch Take Tell Test Trace Track Train Transfer Transform Translate Truncate Try Undo Unite Unpack
    Update Use Validate Verify Visit Vote Wait Wake Warn Widen Work Wrap Write Yield
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


RAISED = re.compile(
    r"\b(Config|Data|Confml|Value|Type|Grid)Errors?$|^(UnknownParameter|MissingParameter|BadValue)$"
)


def raised(node):
    """Yield the names of the errors for callers that a function raises itself."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise) and child.exc is not None:
            name = ast.unparse(child.exc.func if isinstance(child.exc, ast.Call) else child.exc)
            yield from [name] if RAISED.search(name) else []
        elif not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield from raised(child)


def test_public_functions_say_which_errors_they_raise():
    """Texts of commands are for users, and an override without a docstring has the one of its base class."""
    wrong = []
    for path in FILES:
        if "commands" in path.parts:
            continue
        for node in definitions(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and any(raised(node)):
                text = ast.get_docstring(node)
                if not re.search(r"\b[Rr]aises?\b|\b\w+Errors?\b", text):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {set(raised(node))}")
    assert not wrong, "\n".join(wrong)
