"""The classes whose objects a model file may hold, as ``module:name``.

A new method or step is added here with the classes of its fitted state; their attributes must be values that
`state_codec` encodes.
"""

from __future__ import annotations

CLASSES = frozenset(
    """
    confml.data.new_rows:RowCoder
    confml.measures.certified:OperatingPoint
    confml.measures.chains:ChainDiagnostics
    confml.measures.prediction:Prediction
    confml.methods.bayes_knn.adaptive:Draws
    confml.methods.bayes_knn.adaptive:MetricPosterior
    confml.methods.bayes_knn.bayes_knn:BayesKNN
    confml.methods.bayes_knn.posterior:BetaDensity
    confml.methods.bayes_knn.posterior:NodePosterior
    confml.methods.bayes_knn.posterior:Nodes
    confml.methods.bayes_knn.posterior:Training
    confml.methods.change_point_knn.change_point_knn:ChangePointKNN
    confml.methods.conformal.calibrated:FittedPart
    confml.methods.conformal.class_groups:ClassGroups
    confml.methods.conformal.class_groups:RankCuts
    confml.methods.conformal.conformal:Conformal
    confml.methods.conformal.selection:Prepared
    confml.methods.few_rows:FewRows
    confml.methods.knn.knn:KNN
    confml.methods.knn.weighted_knn:WeightedKNN
    confml.methods.linear.linear_group:Boxed
    confml.methods.linear.linear_svm:LinearSVM
    confml.methods.linear.perceptron:Perceptron
    confml.methods.linear.polynomial:Polynomial
    confml.methods.linear.winnow:Winnow
    confml.methods.multiclass:BinaryProblem
    confml.methods.naive_bayes:Bins
    confml.methods.naive_bayes:CategoryProbabilities
    confml.methods.naive_bayes:Gaussians
    confml.methods.naive_bayes:KernelDensity
    confml.methods.naive_bayes:NaiveBayes
    confml.methods.sklearn.coded_labels:CodedLabels
    confml.methods.sklearn.sklearn_method:SklearnMethod
    confml.methods.svm.class_tree:ClassTree
    confml.methods.svm.crammer_singer:CrammerSinger
    confml.methods.svm.dag_svm:DAGSVM
    confml.methods.svm.gen_svm:GenSVM
    confml.methods.svm.ovo_svm:OvOSVM
    confml.methods.svm.ovr_svm:OvRSVM
    confml.methods.svm.smart_svm:SmartSVM
    confml.methods.tcm_nn.block_sizes:BlockSizes
    confml.methods.tcm_nn.neighbour_counter:NeighbourCounter
    confml.methods.tcm_nn.tcm_nn:TCMNN
    confml.methods.tcm_svm:TCMSVM
    confml.methods.venn_abers.tables:VennAbersTable
    confml.methods.venn_abers.venn_abers:VennAbers
    confml.methods.venn_knn.categories:Categories
    confml.methods.venn_knn.venn_knn:VennKNN
    confml.methods.venn_knn.venn_knn:_Training
    confml.methods.version_space.bayes_point_machine:BayesPointMachine
    confml.methods.version_space.bayes_transduction:BayesTransduction
    confml.methods.version_space.billiard:MarkovChain
    confml.methods.version_space.billiard:Trajectory
    confml.methods.version_space.expectation_propagation:GaussianVersionSpace
    confml.methods.version_space.kernel_functions:KernelFunction
    confml.methods.version_space.kernel_svm:KernelSVM
    confml.methods.version_space.version_space:RangeSpace
    confml.methods.version_space.version_space:VersionSpace
    confml.methods.version_space.version_space_method:Machine
    confml.neighbours.distance_filter:DirectDistances
    confml.neighbours.distance_filter:DistanceFilter
    confml.neighbours.distance_filter:FilterRows
    confml.neighbours.distance_kinds:MahalanobisRows
    confml.neighbours.distance_kinds:MinkowskiRows
    confml.neighbours.distance_kinds:PolarRows
    confml.neighbours.mixed_rows:MixedRows
    confml.neighbours.nearest_rows:NearestRows
    confml.neighbours.nearest_rows:Neighbours
    confml.neighbours.scaling:SafeScale
    confml.neighbours.wide_tree:WideTree
    confml.predictions.costs:Costs
    confml.predictions.known_rows:KnownRows
    confml.predictions.model:Facts
    confml.predictions.model:StepFacts
    confml.predictions.model:TrainingRows
    confml.runner.split_data:_StepsPerPart
    confml.steps.consistent_subset:ConsistentSubset
    confml.steps.impute_mean:ImputeMean
    confml.steps.min_max:MinMax
    confml.steps.pipeline:StepPipeline
    confml.steps.row_standardise:RowStandardise
    confml.steps.select_attributes:SelectAttributes
    confml.steps.select_by_bayes_error:SelectByBayesError
    confml.steps.select_examples:SelectExamples
    confml.steps.smooth_images:SmoothImages
    confml.steps.standardise:Standardise
    confml.steps.tomek_links:TomekLinks
    confml.steps.transformer:TransformerStep
    """.split()
)
MOVED = {"confml.methods.tcm_nn.neighbour_counter:BlockSizes": "confml.methods.tcm_nn.block_sizes:BlockSizes"}
"""Classes that earlier model files name by another module."""
