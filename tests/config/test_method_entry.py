"""Entries of the list of methods."""

from config.cases import base

from confml.config import restore_config


def test_parameters_whose_names_clash_with_keys(tmp_path):
    entry = {"name": "of-another-package", "params": {"label": 3, "tune": 1}, "k": 2}
    (method,) = restore_config(base(methods=[entry])).methods
    assert method.params == {"label": 3, "tune": 1, "k": 2} and method.label is None and method.tune == {}
    assert restore_config(base(methods=[method.as_dict()])).methods == (method,)


def test_entries_know_what_the_registries_say_of_them():
    from confml.methods.registry import version_of

    split = {"kind": "split", "shift": "covariate"}
    forest = "sklearn.ensemble.RandomForestClassifier"
    methods = ["knn", forest, {"name": "knn", "k": 3, "conformal": split}, "external"]
    scale, select = "standardise", {"name": "sklearn.feature_selection.RFECV", "estimator": f"{forest}"}
    config = restore_config(base(methods=methods, steps=[scale, select, "sklearn.decomposition.PCA"]))
    knn, own, shifted, external = config.methods
    assert [entry.takes_rows for entry in config.methods] == [False, False, False, True]
    assert knn.version == version_of("knn") and "scikit-learn" in own.version and not own.packages
    assert shifted.version == version_of("knn", {"conformal": "split"}) != knn.version
    assert [step.divides_groups for step in config.steps] == [False, True, False]
