"""`confml._sklearn`: scikit-learn without the modules that it imports and rarely uses."""

from processes import assert_program


def test_neither_pandas_nor_scipy_stats_is_imported():
    assert_program(
        "import importlib, sys\n"
        "heavy = {'pandas', 'scipy.stats', 'numpy.testing', 'numpy.f2py', 'sklearn.metrics'}\n"
        "heavy |= {'sklearn.model_selection'}\n"
        "for module in ('confml.methods.registry', 'confml.steps.registry', 'confml.runner.run'):\n"
        "    importlib.import_module(module)\n"
        "    assert not heavy & set(sys.modules), (module, heavy & set(sys.modules))\n"
    )


def test_a_postponed_module_is_imported_when_it_is_used():
    assert_program(
        "import sys\n"
        "from confml._sklearn import postponed\n"
        "with postponed('colorsys', 'wave'):\n"
        "    import colorsys, wave\n"
        "    from wave import Error\n"
        "assert 'colorsys' not in sys.modules and Error is sys.modules['wave'].Error is wave.Error\n"
        "assert colorsys.rgb_to_hsv is sys.modules['colorsys'].rgb_to_hsv\n"
        "import colorsys as same\n"
        "assert same is sys.modules['colorsys']\n"
    )


def test_scikit_learn_works_with_data_frames_afterwards():
    assert_program(
        "import confml._sklearn\n"
        "import numpy as np\n"
        "np.testing.assert_allclose(1.0, 1.0)\n"
        "import numpy.testing\n"
        "assert np.testing is numpy.testing and type(np.testing) is type(np)\n"
        "import pandas as pd\n"
        "from sklearn.preprocessing import MinMaxScaler\n"
        "from sklearn.utils import fixes\n"
        "table = pd.DataFrame({'a': [1.0, 3.0], 'b': [5.0, 4.0]})\n"
        "scaled = MinMaxScaler().set_output(transform='pandas').fit_transform(table)\n"
        "assert scaled.to_dict('list') == {'a': [0, 1], 'b': [1, 0]}\n"
        "assert fixes.pd.DataFrame is pd.DataFrame and fixes._mode([1, 2, 2]).mode == 2\n"
    )


def test_names_of_scipy_are_imported_when_scikit_learn_uses_them():
    assert_program(
        "import sys\n"
        "from confml._sklearn import NAMES, import_sklearn\n"
        "import_sklearn('sklearn.linear_model')\n"
        "assert not set(NAMES) & set(sys.modules)\n"
        "import numpy as np\n"
        "from sklearn.preprocessing import SplineTransformer\n"
        "from sklearn.metrics import roc_auc_score\n"
        "assert SplineTransformer().fit_transform(np.arange(9.0)[:, None]).shape == (9, 7)\n"
        "assert roc_auc_score([0, 0, 1], [0.1, 0.5, 0.4]) == 0.5\n"
        "from sklearn.metrics._ranking import rankdata\n"
        "assert rankdata([5, 7, 7]).tolist() == [1, 2.5, 2.5] and rankdata.__name__ == 'rankdata'\n"
        "from scipy.stats import rankdata as real\n"
        "assert type(real) is type(lambda: 0)\n"
    )


def test_a_submodule_of_a_postponed_module_can_be_imported():
    assert_program(
        "import sys\n"
        "from confml._sklearn import import_sklearn\n"
        "assert import_sklearn('sklearn.inspection').PartialDependenceDisplay\n"
        "import scipy.stats\n"
        "assert scipy.stats.mstats is sys.modules['scipy.stats.mstats'] and scipy.stats.norm.cdf(0) == 0.5\n"
    )
