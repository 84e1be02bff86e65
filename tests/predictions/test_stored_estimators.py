"""Classifiers of scikit-learn in model files, and files whose trees lead nowhere."""

import io

import numpy as np
import pandas as pd
import pytest
from programs.fuzz.model_mutants import members_of, signed

import confml
from confml.errors import ConfmlError, DataError
from confml.predictions.store import CannotStore

OF = "sklearn.ensemble"
PLAIN = [
    ("sklearn.tree.DecisionTreeClassifier", {}),
    ("sklearn.tree.ExtraTreeClassifier", {}),
    (f"{OF}.RandomForestClassifier", {"n_estimators": 7}),
    (f"{OF}.ExtraTreesClassifier", {"n_estimators": 5}),
    (f"{OF}.BaggingClassifier", {"max_features": 0.6}),
    (f"{OF}.AdaBoostClassifier", {"n_estimators": 4}),
    (f"{OF}.GradientBoostingClassifier", {"n_estimators": 4, "subsample": 0.7}),
    (f"{OF}.GradientBoostingClassifier", {"n_estimators": 4, "init": "zero"}),
    (f"{OF}.HistGradientBoostingClassifier", {"max_iter": 4, "min_samples_leaf": 3}),
    ("sklearn.neural_network.MLPClassifier", {"max_iter": 10}),
    ("sklearn.dummy.DummyClassifier", {}),
]
FOREST = f"{OF}.RandomForestClassifier"
HISTOGRAMS = f"{OF}.HistGradientBoostingClassifier"
SCALED_FOREST = [["scale", "sklearn.preprocessing.StandardScaler"], ["forest", FOREST]]


def tables(classes: int = 3) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(classes)
    y = np.arange(60) % classes
    frame = pd.DataFrame(
        {"a": rng.normal(size=60) + y, "b": rng.normal(size=60) - y, "c": rng.normal(size=60)}
    )
    return frame.assign(target=y)[:45], frame[45:]


def fitted(path, method, params=None, classes=3, **options):
    train, new = tables(classes)
    options |= {"label": "target", "method": method, "params": params or {}, "save": path}
    return confml.predict(train, new, **options), new


@pytest.mark.parametrize(
    ("method", "params", "classes"),
    [
        *((method, params, 3) for method, params in PLAIN),
        *((method, params | {"venn": "inductive"}, 2) for method, params in (PLAIN[3], PLAIN[6], PLAIN[8])),
        *((method, params | {"conformal": "split"}, 3) for method, params in (PLAIN[2], PLAIN[8])),
        ("sklearn.pipeline.Pipeline", {"steps": SCALED_FOREST, "forest__n_estimators": 3}, 3),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_they_predict_the_same_bytes_from_a_file_without_pickle(tmp_path, method, params, classes):
    expected, new = fitted(tmp_path / "m.confml", method, params, classes, steps=["min-max"])
    assert confml.predict(tmp_path / "m.confml", new).to_csv() == expected.to_csv()
    assert all(name.endswith((".json", ".npy")) for name in members_of(tmp_path / "m.confml"))


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """The model files of a forest and of histogram trees, by method."""
    folder = tmp_path_factory.mktemp("trees")
    settings = {FOREST: {"n_estimators": 3}, HISTOGRAMS: {"max_iter": 2, "min_samples_leaf": 3}}
    paths = {method: folder / f"{number}.confml" for number, method in enumerate(settings)}
    for method, params in settings.items():
        fitted(paths[method], method, params)
    return paths


def changed(source, path, change):
    """Write a model file with another first array of nodes and right checksums."""
    members = members_of(source)
    for name in members:
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(members[name]))
            if array.dtype.names:
                array = change(array)
                file = io.BytesIO()
                np.save(file, array)
                members[name] = file.getvalue()
                break
    else:
        raise AssertionError("no nodes")
    path.write_bytes(signed(members))


def put(field, at, value):
    def change(nodes):
        nodes[field][at] = value
        return nodes

    return change


@pytest.mark.parametrize(
    ("method", "change"),
    [
        *((FOREST, put("left_child", 0, bad)) for bad in (0, -7, 10**6, 2**63 - 1, -1)),
        *((FOREST, put("right_child", 0, bad)) for bad in (1, -(2**63))),
        *((FOREST, put("feature", 0, bad)) for bad in (-2, 3, 2**62)),
        (FOREST, lambda nodes: nodes[:-1]),
        (FOREST, lambda nodes: nodes[:0]),
        (FOREST, lambda nodes: nodes[["left_child", "right_child", "feature"]].copy()),
        *((HISTOGRAMS, put(*bad)) for bad in (
            ("left", 0, 0), ("right", 0, 2**32 - 1), ("feature_idx", 0, 3), ("feature_idx", 0, -1),
            ("is_categorical", 0, 1), ("is_leaf", 0, 1),
        )),
    ],
)  # fmt: skip
def test_nodes_that_lead_nowhere_are_damaged(trees, tmp_path, method, change):
    changed(trees[method], tmp_path / "m.confml", change)
    with pytest.raises(DataError, match="the model file is damaged: "):
        confml.predict(tmp_path / "m.confml", tables()[1])


def test_types_are_trusted_by_name_when_written_and_when_read(tmp_path):
    path, method = tmp_path / "m.confml", "sklearn.neighbors.KNeighborsClassifier"
    with pytest.raises(CannotStore) as refused:
        fitted(path, method)
    trust = refused.value.types
    expected, new = fitted(path, method, trust=trust)
    with pytest.raises(ConfmlError, match="types that are not trusted: .*KDTree.*--trust"):
        confml.predict(path, new)
    assert confml.predict(path, new, trust=trust).to_csv() == expected.to_csv()
    assert confml.predict(confml.load_model(path, trust=trust), new).to_csv() == expected.to_csv()
