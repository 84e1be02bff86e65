"""Methods: a file or a folder each. `Method` is the public contract, ``_template.py`` an example."""

BASELINE = "majority-class"
"""The method that a run adds to those of its config. The others are compared with it one by one: it is not
among the pairs of methods that are tested, nor among the methods that are ranked or certified together."""


# Class of each method by its name in a config.
METHODS: dict[str, str] = {
    "bayes-discriminant": "confml.methods.bayes_discriminant:BayesDiscriminant",
    "bayes-knn": "confml.methods.bayes_knn.bayes_knn:BayesKNN",
    "bayes-point-machine": "confml.methods.version_space.bayes_point_machine:BayesPointMachine",
    "bayes-transduction": "confml.methods.version_space.bayes_transduction:BayesTransduction",
    "crammer-singer": "confml.methods.svm.crammer_singer:CrammerSinger",
    "dag-svm": "confml.methods.svm.dag_svm:DAGSVM",
    "external": "confml.methods.external:External",
    "gen-svm": "confml.methods.svm.gen_svm:GenSVM",
    "kernel-svm": "confml.methods.version_space.kernel_svm:KernelSVM",
    "knn": "confml.methods.knn.knn:KNN",
    "linear-svm": "confml.methods.linear.linear_svm:LinearSVM",
    "majority-class": "confml.methods.majority_class:MajorityClass",
    "naive-bayes": "confml.methods.naive_bayes:NaiveBayes",
    "ovo-svm": "confml.methods.svm.ovo_svm:OvOSVM",
    "ovr-svm": "confml.methods.svm.ovr_svm:OvRSVM",
    "perceptron": "confml.methods.linear.perceptron:Perceptron",
    "polynomial": "confml.methods.linear.polynomial:Polynomial",
    "smart-svm": "confml.methods.svm.smart_svm:SmartSVM",
    "tcm-nn": "confml.methods.tcm_nn.tcm_nn:TCMNN",
    "tcm-svm": "confml.methods.tcm_svm:TCMSVM",
    "weighted-knn": "confml.methods.knn.weighted_knn:WeightedKNN",
    "winnow": "confml.methods.linear.winnow:Winnow",
}
