"""``confml describe`` finds everything that a config or a report names."""

import json

import pytest
from command_line import command

from confml.commands.describe import TYPES, description_lines
from confml.errors import ConfigError
from confml.report.described import describe_all, known_types
from confml.report.tables.known import known_outputs


@pytest.mark.parametrize("kind", TYPES)
def test_every_name_of_a_registry_is_described(kind):
    names = list(known_types()[kind].names())
    assert names
    for name in names:
        (entry,) = describe_all(name, kind)
        assert entry["type"] == kind and (entry["name"] == name or kind == "table")  # or one of its files
        assert entry.get("text") or entry.get("about") or entry["title"]
        json.dumps(entry)
        assert description_lines(entry)[0].startswith(f"{entry['name']} ({kind}")


def test_files_are_described_by_their_table():
    for output in known_outputs():
        assert output.text and output.needs
        for file, about in output.paths.items():
            assert describe_all(file, "table")[0]["name"] == output.name
            assert about and not about.endswith(".")
    shown = command("describe", "class-coverage.csv").output
    assert shown.startswith("class-coverage (table)") and "files:\n  tables/class-coverage.csv: " in shown


def test_a_name_with_two_meanings_is_described_twice():
    shown = command("describe", "ranks").output
    assert "ranks (figure)" in shown and "ranks (table)" in shown
    both = json.loads(command("describe", "ranks", "--json").output)
    assert [entry["type"] for entry in both] == ["figure", "table"]
    of_figure = json.loads(command("describe", "ranks", "--type", "figure", "--json").output)
    assert {parameter["name"] for parameter in of_figure["parameters"]} >= {"metric", "skip"}


@pytest.mark.parametrize(
    ("name", "kind"), [("sklearn.svm.SVC", "method"), ("sklearn.decomposition.PCA", "step")]
)
def test_classes_of_scikit_learn_are_described(name, kind):
    (entry,) = describe_all(name)
    assert entry["type"] == kind and entry["parameters"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fuzzines", "unknown name 'fuzzines'; did you mean 'fuzziness'"),
        ("random-forest", "did you mean 'sklearn.ensemble.RandomForestClassifier'"),
        ("svm", "did you mean one of .*dag-svm.*kernel-svm.*ovo-svm"),
        ("svc", "did you mean 'sklearn.svm.SVC'"),
        ("qqqqqqq", "confml describe lists"),
        ("sklearn.svm.SVCX", "sklearn.svm.SVCX"),
    ],
)
def test_an_unknown_name_is_an_error_with_a_hint(name, message):
    with pytest.raises(ConfigError, match=message):
        describe_all(name)
