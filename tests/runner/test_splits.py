"""Splits depend on the seed, the data and the repeat alone; groups stay together; odd classes do no harm."""

from dataclasses import replace
from datetime import datetime, time

import numpy as np
import pytest

from confml.config import make_config
from confml.config.protocol import Protocol
from confml.data.dataset import DataSet
from confml.data.ordered import with_ordered_parts
from confml.errors import ConfigError, ConfigErrors
from confml.predictions.training import Choice, fit_model
from confml.runner.plan import load_datasets, make_plan
from confml.runner.splits import Split, inner_folds, outer_splits, sizes_identity, split_rows


def data_of(y, groups=None, **keys):
    X = np.arange(len(y), dtype=float)[:, None]
    return DataSet(
        "d", X, np.asarray(y), ("a",), X, ("a",), np.zeros(1, bool), (None,), groups=groups, **keys
    )


def protocol(kind="holdout", **keys):
    return Protocol(kind=kind, **{"test_size": 0.3, "folds": 5, "inner_folds": 3} | keys)


def rows_of(data, rules, seed=1):
    return [split_rows(data, rules, split, seed) for split in outer_splits(rules, data)]


Y = np.repeat([0, 1, 2], [50, 30, 20])
stratified = pytest.mark.parametrize("stratify", [True, False])
random_kinds = pytest.mark.parametrize("kind", ["holdout", "k-fold"])


@random_kinds
@stratified
@pytest.mark.parametrize("groups", [None, np.arange(101) // 4])
def test_each_row_is_in_one_part_and_repeats_differ(kind, stratify, groups):
    """More repeats keep the earlier ones."""
    data = data_of([*Y, 3], groups)
    few, many = (rows_of(data, protocol(kind, repeats=n, stratify=stratify)) for n in (2, 4))
    assert all(map(np.array_equal, sum(few, ()), sum(many, ())))
    assert len({tuple(test) for _, test in many}) == len(many)
    for train, test in many:
        assert sorted([*train, *test]) == list(range(101))
        assert groups is None or not set(groups[train]) & set(groups[test])
        if kind == "holdout" and stratify and groups is None:
            assert 100 in train  # the only row of its class


@random_kinds
@stratified
def test_rows_of_a_larger_data_set(kind, stratify):
    y = np.array([*Y, 3])
    rules = protocol(kind, repeats=2, rows=40, stratify=stratify)
    first, *_, last = parts = [np.sort(np.concatenate(pair)) for pair in rows_of(data_of(y), rules)]
    assert all(len(np.unique(rows)) == len(rows) == 40 + stratify for rows in parts)
    assert not np.array_equal(first, last)  # each repeat draws other rows
    if stratify:
        assert np.bincount(y[first]).tolist() == [20, 12, 8, 1]
    whole, larger = (rows_of(data_of(Y), protocol(kind, rows=rows)) for rows in (None, 100))
    assert [list(map(len, pair)) for pair in whole] == [list(map(len, pair)) for pair in larger]


@stratified
@pytest.mark.parametrize("groups", [None, np.arange(41) % 9])
@pytest.mark.parametrize("kind", ["holdout", "k-fold", "online"])
def test_splits_with_one_identity_of_sizes_have_parts_of_one_size(kind, groups, stratify):
    rules = protocol(kind, repeats=6, stratify=stratify)
    for counts in ([30, 8, 3], [37, 3, 1], [14, 14, 13]):
        data = data_of(np.random.default_rng(0).permutation(np.repeat([0, 1, 2], counts)), groups)
        splits = outer_splits(rules, data)
        identities = [sizes_identity(rules, data, split) for split in splits]
        sizes = {(name, *map(len, pair)) for name, pair in zip(identities, rows_of(data, rules), strict=True)}
        expected = len(splits) if groups is not None else 5 if kind == "k-fold" else 1
        assert len(sizes) == len(set(identities)) == expected


def test_leave_one_out():
    data, rules = data_of(Y), protocol("leave-one-out")
    splits = outer_splits(rules, data)
    assert [split.name for split in splits][:2] == ["row0", "row1"]
    assert {sizes_identity(rules, data, split) for split in splits} == {None}
    for row, (train, test) in enumerate(rows_of(data, rules)):
        assert test.tolist() == [row] and train.tolist() == [*range(row), *range(row + 1, len(Y))]


def test_inner_folds_lie_within_the_training_part():
    data, rules = data_of(Y, groups=np.arange(len(Y)) // 2), protocol()
    train, _ = rows_of(data, rules)[0]
    folds = inner_folds(data, train, rules, Split("holdout"), 1)
    assert len(folds) == 3
    for inner_train, validation in folds:
        assert sorted([*inner_train, *validation]) == train.tolist()
        assert not set(data.groups[inner_train]) & set(data.groups[validation])


def test_fixed_split_is_the_providers():
    data = data_of(Y, train_rows=np.arange(70), test_rows=np.arange(70, 100))
    train, test = rows_of(data, protocol("fixed-split"))[0]
    assert train.tolist() == list(range(70)) and test.tolist() == list(range(70, 100))


@pytest.mark.parametrize(
    ("y", "groups", "rules", "words"),
    [
        ([0, 1, 0], None, protocol("k-fold"), "has 3 rows, too few for 5 folds"),
        (Y, np.zeros(100), protocol("k-fold"), "has 1 group, too few for 5 folds .protocol.folds."),
        ([0, 0, 1, 1, 2, 2], None, protocol(test_size=0.2), "into a holdout with test-size 0.2"),
        (Y, None, protocol("fixed-split"), "no training and test parts of its own; use protocol kind"),
        (np.arange(10_001) % 2, None, protocol("leave-one-out"), "would fit every method 10001 times"),
        (Y, np.arange(100) // 2, protocol("leave-one-out"), "leave-one-out would divide them"),
        ([1], None, protocol("leave-one-out"), "leave-one-out needs two"),
    ],
)
def test_data_that_cannot_be_split(y, groups, rules, words):
    with pytest.raises(ConfigError, match=words):
        rows_of(data_of(y, groups), rules)


# Two rows a day, the last first.
DAYS = np.array("2024-03-01", dtype="datetime64[D]") + np.arange(20)[::-1] // 2


def dated(texts, groups=None, **keys):
    data = data_of(np.arange(len(texts)) % 2, groups)
    data = replace(data, ids=np.array(texts, dtype=str)[:, None], id_columns=("date",))
    return with_ordered_parts(data, **{"by": "date", "test_size": 0.3} | keys)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%Y%m%d", "%Y-%m-%dT%H:%M"])
def test_training_rows_are_before_test_rows(form):
    texts = [datetime.combine(day, time(10)).strftime(form) for day in DAYS.tolist()]
    data = dated(texts)
    rules = protocol("ordered", by="date")
    ((train, test),) = rows_of(data, rules)
    assert test.tolist() == [0, 1, 2, 3, 4, 5] and train.tolist() == list(range(6, 20))
    assert [split.name for split in outer_splits(rules, data)] == ["ordered"]
    assert dated(texts, test_size=0.1).checksum != data.checksum  # of which the keys of the results are made
    by_number = with_ordered_parts(data_of(Y), "a", 0.25)
    assert by_number.test_rows.tolist() == list(range(75, 100))


@pytest.mark.parametrize(
    ("texts", "keys", "message"),
    [
        (DAYS, {"test_size": 0.25}, "2 rows have the same 'date' at the .*test-size 0.275 or 0.175 divides"),
        (DAYS[:1].repeat(9), {}, "9 rows have the same 'date' at the boundary of the parts$"),
        (["", *DAYS[1:]], {}, "has 1 missing values"),
        (["soon", *DAYS[1:]], {}, "no dates of one form"),
        (["03/04/2024", "05/02/2024"] * 5, {}, "dates such as 03/04/2024, with the day or the month first"),
        (DAYS, {"by": "day"}, "'day' of data set 'd' is neither under id: nor a feature"),
        (DAYS, {"groups": np.arange(20) % 4}, "the order by 'date' divides them"),
        (DAYS, {"test_size": 0.99}, "an empty training part"),
    ],
)
def test_orders_that_are_refused(texts, keys, message):
    with pytest.raises(ConfigError, match=message):
        dated(texts, **keys)


def test_the_order_of_a_config(tmp_path):
    """The plan has one split of each method; predictions of new rows use all rows."""
    lines = [f"{row % 7},2024-01-{1 + row // 4:02},{row % 2}" for row in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["x,date,y", *lines]) + "\n")
    values = {
        "datasets": [{"csv": "a.csv", "label": "y", "id": ["date"]}],
        "methods": ["naive-bayes"],
        "protocol": {"kind": "ordered", "by": "date", "test-size": 0.2},
    }
    config = make_config(values, folder=tmp_path)
    data = load_datasets(config)["a"]
    assert data.test_rows.tolist() == list(range(32, 40)) and data.table_attributes == ("x",)
    assert [cell.split for cell in make_plan(config, {"a": data}).cells] == ["ordered"]
    assert fit_model(config, Choice()).facts.fitted_rows == 40
    refused = ({"kind": "ordered"}, "ordered needs by"), ({"kind": "holdout", "by": "date"}, "has no by")
    for keys, message in refused:
        with pytest.raises(ConfigErrors, match=message):
            make_config(values | {"protocol": keys}, folder=tmp_path)
