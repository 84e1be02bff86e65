"""Data sets of OpenML, from a local server: names and numbers, the cache, malformed answers, a run."""

from __future__ import annotations

import hashlib
import json

import pytest
from click.testing import CliRunner
from data.test_download import Server

from confml.cli import cli
from confml.config import make_config
from confml.data import load, openml
from confml.errors import ConfigErrors, ConfmlError, DataError

ARFF = """% German credit, shortened
@RELATION credit
@ATTRIBUTE 'checking status' {'<0', '0<=X<200', 'no checking'}
@attribute duration REAL
@attribute "it's" {yes,no}
@attribute account string
@attribute class {good, bad}
@DATA
'<0',6,yes,a1,good
'0<=X<200', 48 ,no,a2,bad
'no checking',12,?,a3,good
% a comment
'<0',42,"no",'a\\'4',good
'no checking',24,yes,'a,5',bad
'<0',36,no,a6,bad
"""
LISTED = "/api/v1/json/data/list/data_name/credit-g/status/active/limit/100"


def description(server, **changes):
    about = {
        "id": "31",
        "name": "credit-g",
        "version": "1",
        "format": "ARFF",
        "licence": "Public",
        "url": f"{server.url}/data/31.arff",
        "md5_checksum": hashlib.md5(ARFF.encode()).hexdigest(),
        "default_target_attribute": "class",
        "row_id_attribute": "account",
    }
    return json.dumps({"data_set_description": {**about, **changes}}).encode()


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Server()
    monkeypatch.setattr(openml, "SERVER", server.url)
    monkeypatch.setattr(openml, "PAUSE", 0.01)
    versions = [{"did": 44, "name": "credit-g", "version": 2}, {"did": 31, "name": "credit-g", "version": 1}]
    server.contents[LISTED] = json.dumps({"data": {"dataset": versions}}).encode()
    server.contents["/api/v1/json/data/31"] = description(server)
    server.contents["/data/31.arff"] = ARFF.encode()
    yield server
    server.close()


@pytest.mark.parametrize("name", ["credit-g", "31"])
def test_a_data_set_by_name_and_by_number(server, name):
    data = load({"openml": name, "missing": "mean"})
    assert data.table_attributes == ("checking status", "duration", "it's")
    assert data.categories[0] == ("0<=X<200", "<0", "no checking") and data.id_columns == ("account",)
    assert data.table[:, 1].tolist() == [6, 48, 12, 42, 24, 36]
    assert data.y.tolist() == ["good", "bad", "good", "good", "bad", "bad"]
    assert data.identifiers()["account"].tolist() == ["a1", "a2", "a3", "a'4", "a,5", "a6"]
    assert data.lines.tolist() == [9, 10, 11, 13, 14, 15]
    assert any("OpenML data set 31, credit-g version 1 (licence Public, MD5 " in note for note in data.notes)


def test_a_second_time_needs_no_server(server):
    first = load({"openml": "credit-g", "missing": "mean"})
    server.contents.clear()
    assert load({"openml": "credit-g", "missing": "mean"}).checksum == first.checksum


def test_a_damaged_cache_is_fetched_again(server, tmp_path):
    load({"openml": "31", "missing": "mean"})
    (path,) = (tmp_path / "cache").rglob("data.arff")
    path.write_text("damaged")
    assert len(load({"openml": "31", "missing": "mean"})) == 6 and path.read_text() == ARFF


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("/api/v1/json/data/31", b"<html>", "the answer of OpenML is not a description"),
        ("/api/v1/json/data/31", b"[]", "the answer of OpenML is not a description"),
        ("/api/v1/json/data/31", b"{}", "the answer of OpenML is not a description"),
        ("/data/31.arff", b"<html>", "expected MD5"),
        ("/data/31.arff", b"", "expected MD5"),
        (LISTED, b'{"data": 3}', "the answer of OpenML is not a description"),
        (LISTED, b'{"data": {"dataset": []}}', "the answer of OpenML is not a description"),
    ],
)
def test_malformed_answers_are_errors_and_are_not_kept(server, tmp_path, path, content, words):
    right = server.contents[path]
    server.contents[path] = content
    with pytest.raises(DataError, match=words):
        load({"openml": "credit-g", "missing": "mean"})
    server.contents[path] = right
    assert len(load({"openml": "credit-g", "missing": "mean"})) == 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": "32"}, "it is the one of data set 32"),
        ({"format": "Sparse_ARFF"}, "expected ARFF"),
        ({"md5_checksum": "x"}, "no address or MD5"),
        ({"url": "file:///etc/passwd"}, "no address or MD5"),
        ({"version": None}, "not a description"),
        ({"default_target_attribute": "a,b"}, "OpenML names no single target"),
        ({"default_target_attribute": "missing"}, "missing"),
    ],
)
def test_descriptions_that_do_not_fit(server, changes, words):
    server.contents["/api/v1/json/data/31"] = description(server, **changes)
    with pytest.raises(ConfmlError, match=words):
        load({"openml": "31", "missing": "mean"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@relation x\n@attribute a real\n1\n", "no line @data"),
        ("@data\n1\n", "declares no attribute"),
        ("@attribute a real\n@attribute class {x,y}\n@data\n1,x\n2\n", "line 5: expected 2 values, got 1"),
        ("@attribute a real\n@attribute class {x,y}\n@data\n{0 1, 1 x}\n", "sparse"),
        ("@attribute a real\n@attribute class {x,y}\n@data\n'1,x\n", "expected 2 values"),
        ("@attribute a real\n@attribute class {x,y}\n@data\n", "no rows"),
        ("@attribute a real\n@attribute a real\n@data\n1,2\n", "two columns are called 'a'"),
    ],
)
def test_files_that_are_not_arff(tmp_path, text, words):
    (tmp_path / "x.arff").write_text(text)
    with pytest.raises(DataError, match=words):
        openml.read_arff(tmp_path / "x.arff")


def test_an_unknown_name_and_no_server(server, monkeypatch):
    with pytest.raises(DataError, match="OpenML has no active data set 'crdit'"):
        load({"openml": "crdit"})
    server.close()
    monkeypatch.setattr(openml, "ATTEMPTS", 1)
    with pytest.raises(DataError, match="cannot be fetched"):
        load({"openml": "32"})


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "", None, [31]])
def test_wrong_names_in_a_config(value):
    dataset = {"name": "x", "openml": value}
    with pytest.raises(ConfigErrors):
        make_config({"datasets": [dataset], "methods": ["knn"], "protocol": "k-fold"})


def test_keys_of_a_config():
    for key in ("test", "separator", "sheet"):
        with pytest.raises(ConfigErrors, match="it goes with csv"):
            make_config(
                {"datasets": [{"openml": 31, key: "x"}], "methods": ["knn"], "protocol": {"kind": "k-fold"}}
            )
    names = make_config(
        {"datasets": [{"openml": 31}, {"openml": "credit-g"}], "methods": ["knn"], "protocol": "k-fold"}
    )
    assert [one.name for one in names.datasets] == ["openml-31", "credit-g"]


def test_a_run_and_predictions(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server.contents["/data/31.arff"] = more = (
        ARFF + "'<0',7,yes,b{},good\n'<0',70,no,c{},bad\n" * 20
    ).encode()
    md5 = hashlib.md5(more).hexdigest()
    server.contents["/api/v1/json/data/31"] = description(server, md5_checksum=md5)
    (tmp_path / "c.yaml").write_text(
        "datasets: [{openml: credit-g, missing: mean}]\nsteps: [standardise]\nmethods: [{name: knn, k: 1}]\n"
        "protocol: {kind: k-fold, folds: 2}\n"
    )
    ran = CliRunner().invoke(cli, ["run", "c.yaml", "--out", "r", "--jobs", "1"])
    assert ran.exit_code == 0, ran.output
    assert "credit-g" in ran.stdout and "OpenML data set 31, credit-g version 1" in ran.output
    (tmp_path / "new.csv").write_text("checking status,duration,it's\n<0,7,yes\n<0,71,no\n")
    told = CliRunner().invoke(cli, ["predict", "c.yaml", "new.csv"])
    assert told.exit_code == 0, told.output + str(told.exception)
    assert [line.split(",")[2] for line in told.stdout.splitlines()[1:]] == ["good", "bad"]
