# confml: commands for new users first, then for readers of the papers and developers.
#
#   make run     make an environment, install, and run configs/quickstart.yaml
#   make test    install the packages for development, and run the tests
#   make help    list all targets

PYTHON ?= python3
VENV   ?= .venv
CONFML := $(VENV)/bin/confml
JOBS   ?=
# Targets that run configs take JOBS, ENGINE=serial, processes or dask (with SCHEDULER=address), and SHARD=1/4, or auto
# in a job array: one part of each run, without the tables and figures of several runs. Run the target without SHARD
# when all parts are done.
RUN    := $(CONFML) run $(if $(JOBS),--jobs $(JOBS)) $(if $(ENGINE),--engine $(ENGINE)) \
  $(if $(SCHEDULER),--scheduler $(SCHEDULER)) $(if $(SHARD),--shard $(SHARD))
REPORT := $(if $(SHARD),:,$(CONFML) report)
LIST   := $(if $(SHARD),:,ls)
# Compiles kernels on all cores, so that processes of the tests do not compile the same ones.
WARM   := $(CONFML) doctor --warm >/dev/null
# Without files of bytecode each new interpreter compiles all of confml.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: run test test-all bench fuzz lint format table-tcm-nn figure-tcm-1 figure-tcm-2 clean help

run: $(VENV)/installed  ## install, and run the quick start
	@$(RUN) configs/quickstart.yaml
	@echo 'the command is $(CONFML); ". $(VENV)/bin/activate" makes it available as confml' >&2

test: $(VENV)/installed-dev  ## install for development, and run the tests
	@$(WARM)
	@$(VENV)/bin/python -m pytest -n auto --dist worksteal $(PYTEST)

test-all: $(VENV)/installed-dev  ## the same, with all cases and draws
	@$(WARM)
	@$(VENV)/bin/python -m pytest -n auto --dist worksteal --exhaustive $(PYTEST)

# ---- tables of the papers, on the real data (confml data fetch, or CONFML_DATA)

# Writes the versions, machine, seed and time of runs into a folder of results/reference, and keeps METRICS and with
# --figures the figures of the runs: $(call keep,FOLDER,RUNS,METRICS,--figures).
REPRODUCTION := $(VENV)/bin/python -m confml.studies.reproduction
STATED = $(foreach name,SCALE $(if $(filter table-smartsvm,$@),SET),$(if $($(name)),$(if \
  $(filter command environment,$(origin $(name))),$(name)=$($(name)))))
define keep
	@$(if $(SHARD),: )$(REPRODUCTION) results/reference/$(1) --of $(2) $(if $(3),--keep $(3)) $(4) --command '$(strip make $@ $(STATED))' >&2
endef

.PHONY: reproduction
reproduction: $(VENV)/installed  ## results/reference/README.md: all published numbers and claims, from stored tables
	@$(REPRODUCTION) results/reference

# Proedrou et al. 2002, tables 1 to 3: TCM-NN, 1-NN, and the quoted algorithms that scikit-learn has (some minutes).
TCM_RUNS := usps satellite shuttle segment tcm-nn-quoted tcm-nn-statlog-knn usps-svm usps-smoothed
SEGMENT := --set 'datasets=[segment]' --set 'protocol={kind: k-fold, folds: 10, repeats: 5, stratify: true}'
TCM_OUT := $(addprefix results/,$(TCM_RUNS) tcm-nn-quoted-segment tcm-nn-statlog-knn-segment)
table-tcm-nn: $(VENV)/installed  ## tables 1 to 3 of Proedrou et al. 2002
	@for name in $(TCM_RUNS); do $(RUN) configs/$$name.yaml --quiet || exit $$?; done
	@for name in tcm-nn-quoted tcm-nn-statlog-knn; do $(RUN) configs/$$name.yaml --quiet $(SEGMENT) \
	  --out results/$$name-segment || exit $$?; done
	@$(REPORT) $(TCM_OUT) --out results/reference/tcm-nn \
	  --table tcm-nn-table1 --table tcm-nn-table2 --table tcm-nn-table3
	$(call keep,tcm-nn,$(TCM_OUT))

# Label-conditional, split and cross-conformal prediction on satellite, TCM-SVM, k-NN by other distances, naive Bayes
# with other densities, and trees and discriminants with other settings (minutes).
TCM_MORE := satellite-conformal tcm-svm tcm-svm-satellite tcm-nn-statlog-distances tcm-nn-statlog-naive-bayes \
  tcm-nn-statlog-others
TCM_METRICS := error,coverage,worst_class_coverage,mean_region_size,one_class
.PHONY: table-tcm-nn-more
table-tcm-nn-more: $(VENV)/installed  ## other conformal predictors, k-NN by other distances, and naive Bayes
	@for name in $(TCM_MORE); do $(RUN) configs/$$name.yaml --quiet || exit $$?; done
	@for name in naive-bayes others; do $(RUN) configs/tcm-nn-statlog-$$name.yaml --quiet $(SEGMENT) \
	  --out results/tcm-nn-statlog-$$name-segment || exit $$?; done
	$(call keep,tcm-nn/more,$(addprefix results/,$(TCM_MORE) $(addsuffix -segment,$(addprefix tcm-nn-statlog-,naive-bayes others))),$(TCM_METRICS))

# Segment, table 3: other folds, and other scales of the features (some seconds).
SEGMENT_FORMS := raw standardised min-max random-folds
SET_standardised := --set 'steps=[standardise]'
SET_min-max := --set 'steps=[min-max]'
SET_random-folds := --set protocol.stratify=false
.PHONY: table-tcm-nn-segment
table-tcm-nn-segment: $(VENV)/installed  ## segment, with other folds and scales of the features
	@$(foreach form,$(SEGMENT_FORMS),$(RUN) configs/segment.yaml --quiet --set 'methods=[{name: tcm-nn, k: 1}]' \
	  $(SET_$(form)) --out results/segment-$(form) &&) true
	$(call keep,tcm-nn/segment,$(addprefix results/segment-,$(SEGMENT_FORMS)),error$(COMMA)one_class$(COMMA)no_class$(COMMA)correct_of_one_class)

# van den Burg & Hero 2017, tables 1 to 4 and figure 7. SCALE=small: sets under 6,000 rows, shorter grids: 19 minutes on
# 2 cores; SCALE=laptop: all data sets but fars, the paper's grids, exact paths: 90 minutes on 2 cores; SCALE=cold: cold
# fits on one split of the larger sets; SCALE=full: the paper's cold fits, for a cluster (configs/smartsvm.yaml states
# the hours). SET=fars: this data set alone, stored in a folder of its own (SCALE=laptop: about 3 hours on 2 cores).
# `make reproduction` reads the folders that confml/studies/reproduction/sources.py names.
SCALE ?= small
SET   :=
STUDY := smartsvm$(if $(filter small laptop cold,$(SCALE)),-$(SCALE))
PART  := $(if $(SET),-$(SET))
COMMA := ,
ifneq ($(SET),)
ONLY_SET := --set 'datasets=[$(if $(wildcard datasets/$(SET)-smartsvm.yaml),{name: $(SET)$(COMMA) card: $(SET)-smartsvm},$(SET))]' \
  --out results/$(STUDY)$(PART)
endif
# Tables 2 and 4 are of cold fits; with SCALE=laptop they have the times of whole paths, in rows of their own.
# SCALE=cold stops Crammer-Singer and GenSVM after half an hour, and reports the others (exit code 1: cells failed).
BOTH := --table smartsvm-table1 --table smartsvm-table3-adjusted-rand-index
TIMES := --table smartsvm-table2-total-training-seconds --table smartsvm-table4-seconds-per-configuration
.PHONY: table-smartsvm
table-smartsvm: $(VENV)/installed  ## tables 1 to 4 of van den Burg and Hero 2017 (SCALE=small, laptop, cold or full; SET=fars)
	@case "$(SCALE)" in small|laptop|cold|full) ;; *) echo "SCALE is small, laptop, cold or full, got '$(SCALE)'" >&2; exit 2;; esac
	@[ -z "$(SET)" ] || [ -f "datasets/$(SET).yaml" ] || [ -f "datasets/$(SET)-smartsvm.yaml" ] || \
	  { echo "SET is one data set, such as fars, got '$(SET)'" >&2; exit 2; }
	@$(RUN) configs/$(STUDY).yaml $(ONLY_SET)$(if $(filter cold,$(SCALE)), || [ $$? = 1 ])
	@$(REPORT) results/$(STUDY)$(PART) --out results/reference/smartsvm/$(SCALE)$(PART) \
	  $(if $(filter cold,$(SCALE)),,$(BOTH)) $(TIMES)
	@$(if $(SHARD)$(PART)$(filter cold laptop,$(SCALE)),:,cp) results/$(STUDY)/tables/ranks-* results/reference/smartsvm/$(SCALE)/tables
	$(call keep,smartsvm/$(SCALE)$(PART),results/$(STUDY)$(PART))

# The same, tables 2 and 4: cold fits over the paper's grid on the smaller data sets, and those of Crammer-Singer on the
# larger ones too (hours; GenSVM is left out). A data set where an inner fold takes longer than 3 minutes has no
# number of Crammer-Singer.
smartsvm_sets = $(foreach name,$(1),$(if $(wildcard datasets/$(name)-smartsvm.yaml),{name: $(name)$(COMMA) card: $(name)-smartsvm},$(name))$(COMMA))
COLD_SMALL := flare yeast winequality-red-leak winequality-red-merged segment winequality-white-leak \
  winequality-white-merged abalone page-blocks texture optdigits
COLD_LARGE := satimage nursery pendigits shuttle letter krkopt
COLD_GRID := {C: {log2: [-18, 18, 2]}}
COLD_CS := {name: crammer-singer, tolerance: 0.1, limits: {timeout: 3min}, tune: $(COLD_GRID)}
COLD_TWO := $(foreach name,ovo ovr dag,{name: $(name)-svm$(COMMA) solver: dual$(COMMA) tolerance: 0.1$(COMMA) tune: $(COLD_GRID)}$(COMMA)) \
  {name: smart-svm, solver: dual, tolerance: 0.1, share-tree: true, trees: by-size, tune: $(COLD_GRID)}
.PHONY: table-smartsvm-cold
table-smartsvm-cold: $(VENV)/installed  ## tables 2 and 4 by cold fits over the paper's grid on the smaller data sets
	@$(RUN) configs/smartsvm-cold.yaml --set 'datasets=[$(call smartsvm_sets,$(COLD_SMALL))]' \
	  --set 'methods=[$(COLD_TWO),$(COLD_CS)]' --out results/smartsvm-cold-small || [ $$? = 1 ]
	@$(RUN) configs/smartsvm-cold.yaml --set 'datasets=[$(call smartsvm_sets,$(COLD_LARGE))]' \
	  --set 'methods=[$(COLD_CS)]' --out results/smartsvm-cold-large || [ $$? = 1 ]
	@$(REPORT) results/smartsvm-cold-small --out results/reference/smartsvm/cold-small $(TIMES)
	@$(REPORT) results/smartsvm-cold-large --out results/reference/smartsvm/cold-large $(TIMES)
	$(call keep,smartsvm/cold-small,results/smartsvm-cold-small)
	$(call keep,smartsvm/cold-large,results/smartsvm-cold-large)

# The same, table 2: how much the ratio of the times of SmartSVM and OvO varies between splits (ten minutes).
.PHONY: table-smartsvm-ratios
table-smartsvm-ratios: $(VENV)/installed  ## ratio of the training times of SmartSVM and OvO on five splits
	@$(RUN) configs/smartsvm-ratios.yaml --quiet
	$(call keep,smartsvm/ratios,results/smartsvm-ratios,training_seconds$(COMMA)ari)
	@$(if $(SHARD),:,cp) results/smartsvm-ratios/timings.csv results/reference/smartsvm/ratios/seconds.csv

# The same, sections 3 and 4: other cuts, class weights and classifiers at the nodes of the class tree (some minutes);
# features selected by the Bayes error.
TREE_METRICS := ari,error
.PHONY: table-smartsvm-variants
table-smartsvm-variants: $(VENV)/installed  ## cuts, weights and classifiers of the class tree; selected features
	@for name in smartsvm-variants select-by-bayes-error; do $(RUN) configs/$$name.yaml --quiet || exit $$?; done
	@$(RUN) configs/select-by-bayes-error.yaml --quiet --set 'steps=[standardise]' --out results/all-features
	$(call keep,smartsvm/variants,results/smartsvm-variants results/select-by-bayes-error results/all-features,$(TREE_METRICS))

# The same, table 3: the adjusted Rand index for each C of the paper's grid on six data sets (some minutes). The paper does
# not print the C that its cross-validation chose.
.PHONY: table-smartsvm-costs
table-smartsvm-costs: $(VENV)/installed  ## adjusted Rand index for each C, with the numbers of table 3
	@$(RUN) configs/smartsvm-costs.yaml --quiet
	@$(RUN) configs/smartsvm-costs.yaml --quiet --set 'datasets=[{name: krkopt, card: krkopt-smartsvm}]' \
	  --set protocol.repeats=3 --out results/smartsvm-costs-krkopt
	$(call keep,smartsvm/costs,results/smartsvm-costs results/smartsvm-costs-krkopt,ari,--by C)
	@$(RUN) configs/smartsvm-scaling.yaml --quiet
	@$(RUN) configs/smartsvm-scaling.yaml --quiet --set 'steps=[]' --out results/smartsvm-raw
	$(call keep,smartsvm/costs-standardised,results/smartsvm-scaling,ari,--by C)
	$(call keep,smartsvm/costs-raw,results/smartsvm-raw,ari,--by C)

# The same, table 3: SmartSVM on fars for each C, with other trees of classes (10 minutes on 2 cores).
.PHONY: table-smartsvm-trees
table-smartsvm-trees: $(VENV)/installed  ## adjusted Rand index of SmartSVM on fars with other trees of classes
	@$(RUN) configs/smartsvm-trees.yaml --quiet
	$(call keep,smartsvm/trees,results/smartsvm-trees,ari,--by C)

# The same, table 3: the adjusted Rand index of GenSVM at points of the paper's grid on three data sets (a quarter of an
# hour).
.PHONY: table-smartsvm-gensvm
table-smartsvm-gensvm: $(VENV)/installed  ## adjusted Rand index of GenSVM at points of the paper's grid
	@$(RUN) configs/smartsvm-gensvm.yaml --quiet
	$(call keep,smartsvm/gensvm,results/smartsvm-gensvm,ari)
	@$(RUN) configs/smartsvm-gensvm.yaml --quiet --set 'datasets=[{name: fars, card: fars-smartsvm}]' \
	  --set protocol.repeats=1 --out results/smartsvm-gensvm-fars
	$(call keep,smartsvm/gensvm-fars,results/smartsvm-gensvm-fars,ari)

# The same, table 3: how far means over 5 splits vary, from 30 splits with fixed parameters (some minutes).
.PHONY: table-smartsvm-splits
table-smartsvm-splits: $(VENV)/installed  ## adjusted Rand index over 30 splits, with fixed parameters
	@for name in smartsvm-splits smartsvm-splits-within-chance; do $(RUN) configs/$$name.yaml --quiet || exit $$?; done
	$(call keep,smartsvm/splits,results/smartsvm-splits results/smartsvm-splits-within-chance,ari)

# The same, section 3: errors and times of classifiers on the first principal components of Chess (a minute).
COMPONENTS := 30 25 20 10
.PHONY: table-chess-components
table-chess-components: $(VENV)/installed  ## classifiers on principal components of Chess
	@$(RUN) configs/chess-components.yaml --quiet --out results/chess-components/all
	@$(foreach n,$(COMPONENTS),$(RUN) configs/chess-components.yaml --quiet --out results/chess-components/$(n) \
	  --set 'steps=[min-max, {sklearn.decomposition.PCA: {n_components: $(n)}}]' &&) true
	$(call keep,smartsvm/components,$(addprefix results/chess-components/,all $(COMPONENTS)),error$(COMMA)ari)
	@$(if $(SHARD),exit 0; )for n in all $(COMPONENTS); do \
	  cp results/chess-components/$$n/timings.csv results/reference/smartsvm/components/$$n-seconds.csv; done

# Krzanowski et al. 2006, tables 1 to 3: the three models of Bayesian k-NN, about 10 minutes. SCALE=full runs the
# adaptive model with the paper's 10,000 + 70,000 steps on 20 splits: hours (about two for vehicle on 2 cores).
# SCALE=long: the adaptive model alone, with that number of steps, on 5 splits (about two and a half hours of one core).
BAYES_KNN := results/bayes-knn$(if $(filter full long,$(SCALE)),-$(SCALE))
WITH_RHAT := ,rhat
LONG_CHAINS := --set methods.0.burn_in=10000 --set methods.0.samples=1000 --set methods.0.thin=70
# $(call bayes_knn,FOLDER,OPTIONS): both configs on data sets with the same split.
define bayes_knn
	@$(if $(filter long,$(SCALE)),:,$(RUN) configs/bayes-knn.yaml --quiet --out $(BAYES_KNN)/$(1) $(2))
	@$(RUN) configs/bayes-knn-adaptive.yaml --quiet --out $(BAYES_KNN)/$(1)-adaptive $(2) \
	  $(if $(filter full long,$(SCALE)),$(LONG_CHAINS) \
	  $(if $(filter first-rows,$(1)),,--set protocol.repeats=$(if $(filter full,$(SCALE)),20,5)))
endef
FIVE_GAUSSIANS := --set 'datasets=[{generate: five-gaussians, n: 1250}]' --set protocol.test-size=0.8
FIRST_ROWS := --set 'datasets=[ionosphere-first200, wisconsin-first455, ripley-synth]' \
  --set 'protocol={kind: fixed-split}'
# k-NN with the exact posterior of k for each example, on the same splits: $(call change_points,FOLDER,OPTIONS).
CHANGE_POINTS := results/bayes-knn-change-points
define change_points
	@$(if $(filter long full,$(SCALE)),:,$(RUN) configs/bayes-knn-change-points.yaml --quiet --out $(CHANGE_POINTS)/$(1) $(2))
endef
.PHONY: table-bayes-knn runs-bayes-knn
runs-bayes-knn: $(VENV)/installed  ## the runs of table-bayes-knn
	$(call bayes_knn,thirds)
	$(call bayes_knn,wine,--set 'datasets=[wine]' --set protocol.test-size=0.5)
	$(call bayes_knn,synthetic,$(FIVE_GAUSSIANS))
	$(call bayes_knn,first-rows,$(FIRST_ROWS))
table-bayes-knn: runs-bayes-knn  ## tables 1 to 3 of Krzanowski et al. 2006 (SCALE=long or full: hours)
	$(call change_points,thirds)
	$(call change_points,wine,--set 'datasets=[wine]' --set protocol.test-size=0.5)
	$(call change_points,synthetic,$(FIVE_GAUSSIANS))
	$(call change_points,first-rows,$(FIRST_ROWS))
	@$(REPORT) $(BAYES_KNN)/* $(if $(filter long full,$(SCALE)),,$(CHANGE_POINTS)/*) --out results/reference/$(notdir $(BAYES_KNN)) \
	  $(foreach number,$(if $(filter long,$(SCALE)),3,1 2 3),--table bayesian-knn-table$(number))
	$(call keep,$(notdir $(BAYES_KNN)),$(BAYES_KNN)/*,aurc$(if $(filter long,$(SCALE)),$(WITH_RHAT)))
	@$(if $(SHARD)$(filter long full,$(SCALE)),: )$(REPRODUCTION) results/reference/$(notdir $(CHANGE_POINTS)) \
	  --of $(CHANGE_POINTS)/* --keep error,aurc,log_loss --command 'make $@' >&2

# Settings that might explain table 2 of Krzanowski et al. (some minutes), five chains on wine, leave-one-out.
.PHONY: table-bayes-knn-settings
SETTINGS := results/bayes-knn-settings
table-bayes-knn-settings: $(VENV)/installed  ## other settings of Bayesian k-NN, for table 2 of Krzanowski et al. 2006
	@$(RUN) configs/bayes-knn-settings.yaml --quiet --out $(SETTINGS)/thirds
	@$(RUN) configs/bayes-knn-settings.yaml --quiet --out $(SETTINGS)/synthetic $(FIVE_GAUSSIANS)
	@$(RUN) configs/bayes-knn-settings.yaml --quiet --out $(SETTINGS)/first-rows $(FIRST_ROWS)
	@$(RUN) configs/bayes-knn-chains.yaml --quiet --out $(SETTINGS)/chains
	@$(RUN) configs/leave-one-out.yaml --quiet --out $(SETTINGS)/leave-one-out
	@$(if $(SHARD),: )$(REPRODUCTION) results/reference/bayes-knn-settings --of $(SETTINGS)/* --matching \
	  --keep error,log_loss,k_mean,rhat,training_seconds --command 'make $@' >&2

# The same tables with tricube weights of the neighbours, on standardised and on raw features (about ten minutes).
.PHONY: table-bayes-knn-tricube
TRICUBE := bayes-knn-tricube
RUN_TRICUBE = $(RUN) configs/bayes-knn-tricube.yaml --quiet --out results/$(TRICUBE)
define keep_tricube
	@$(if $(SHARD),: )$(REPRODUCTION) results/reference/$(1) --of results/$(1)/* --matching \
	  --keep error,aurc,sure_correct,unsure,k_mean --command 'make $@' >&2
endef
table-bayes-knn-tricube: $(VENV)/installed  ## tricube weights of Bayesian k-NN, for tables 1 to 3 of Krzanowski et al. 2006
	@$(RUN_TRICUBE)/thirds
	@$(RUN_TRICUBE)/wine --set 'datasets=[wine]' --set protocol.test-size=0.5
	@$(RUN_TRICUBE)/synthetic $(FIVE_GAUSSIANS)
	@$(RUN_TRICUBE)/first-rows $(FIRST_ROWS)
	@$(RUN_TRICUBE)-quarter/pima --set 'datasets=[pima]' --set protocol.test-size=0.25
	@$(RUN_TRICUBE)-raw/vehicle --set 'datasets=[vehicle]' --set 'steps=[]'
	@$(RUN_TRICUBE)-raw/first-rows $(FIRST_ROWS) --set 'steps=[]'
	$(call keep_tricube,$(TRICUBE))
	$(call keep_tricube,$(TRICUBE)-raw)
	$(call keep_tricube,$(TRICUBE)-quarter)

# Graepel et al., Bayesian transduction, figure 2: error against rejection rate, 100 splits, and a comparison with the
# numbers in the paper, also of variants: training errors allowed, expectation propagation, Bayes point machine,
# stopping rule (some minutes).
.PHONY: figure-transduction figure-version-space
TRANSDUCTION := $(addprefix results/transduction-,thyroid heart)
TRANSDUCTION_VARIANTS := $(addsuffix -variants,$(TRANSDUCTION))
figure-transduction: table-transduction-variants  ## figure 2 of Graepel et al., Bayesian transduction
	@for name in thyroid heart; do $(RUN) configs/transduction-$$name.yaml --quiet || exit $$?; done
	@$(REPORT) $(TRANSDUCTION) $(TRANSDUCTION_VARIANTS) --out results/reference/transduction \
	  --table transduction-figure2
	$(call keep,transduction,$(TRANSDUCTION),error,--figures)
	@$(LIST) $(addsuffix /figures/*.png,$(TRANSDUCTION))

# The same data: five other trajectories on the same splits, for the Monte Carlo error of figure 2 (some minutes).
.PHONY: table-transduction-trajectories
TRAJECTORY_METRICS := theta_max,risk_at_rejection,error_at_one,fewer_rejections
table-transduction-trajectories: $(VENV)/installed  ## Monte Carlo error of the numbers of Graepel et al.
	@for name in thyroid heart; do $(RUN) configs/transduction-$$name-trajectories.yaml --quiet || exit $$?; done
	$(call keep,transduction/trajectories,$(addsuffix -trajectories,$(TRANSDUCTION)),$(TRAJECTORY_METRICS))

# The same data: runs of several lengths, for theta_max (a minute).
.PHONY: table-transduction-lengths
table-transduction-lengths: $(VENV)/installed  ## theta_max against the length of the run
	@for name in thyroid heart; do $(RUN) configs/transduction-$$name-lengths.yaml --quiet || exit $$?; done
	$(call keep,transduction/lengths,$(addprefix results/transduction-,thyroid-lengths heart-lengths),$(LENGTH_METRICS))

# The same data: training errors allowed, expectation propagation with a PAC-Bayesian bound, Bayes point machine, and
# the stopping rule by bounces and by effective draws (some minutes).
.PHONY: table-transduction-variants
LENGTH_METRICS := theta_max,rejection_at_one,error_at_one,fewer_rejections,ess
VARIANT_METRICS := error,aurc,log_loss,log_volume,gibbs_bound,bounces,ess
table-transduction-variants: $(VENV)/installed  ## variants of Bayesian transduction, and a PAC-Bayesian bound
	@for name in thyroid heart; do $(RUN) configs/transduction-$$name-variants.yaml --quiet || exit $$?; done
	$(call keep,transduction/variants,$(TRANSDUCTION_VARIANTS),$(VARIANT_METRICS))

# The same, figure 1: data space and version space of a toy set, and the labellings of a working set (synthetic data).
figure-version-space: $(VENV)/installed  ## figure 1 of Graepel et al.
	@$(RUN) configs/version-space.yaml
	$(call keep,transduction/version-space,results/version-space,error,--figures)
	@$(LIST) results/version-space/figures/*.png

# ---- figures of the papers

# Proedrou et al. 2002, figure 1: error of TCM-NN and of nearest neighbours on USPS, k = 1 to 20.
figure-tcm-1: $(VENV)/installed  ## figure 1 of Proedrou et al. 2002
	@$(RUN) configs/tcm-nn-figure1.yaml
	$(call keep,tcm-nn/figure1,results/tcm-nn-figure1,error,--figures)

# The same, figure 2: coverage against confidence level, for 50 test images and for all.
figure-tcm-2: $(VENV)/installed  ## figure 2 of Proedrou et al. 2002
	@$(RUN) configs/tcm-nn-figure2.yaml
	$(call keep,tcm-nn/figure2,results/tcm-nn-figure2,coverage,--figures)

# Krzanowski et al. 2006, figures 1 to 4: running estimates of chains, and accuracy-rejection curves.
.PHONY: figure-bayes-knn
figure-bayes-knn: runs-bayes-knn  ## figures 1 to 4 of Krzanowski et al. 2006
	@$(RUN) configs/bayes-knn-figure1.yaml --quiet
	$(call keep,bayes-knn/figure1,results/bayes-knn-figure1,error,--figures)
	@$(REPORT) $(BAYES_KNN)/* --figures --out results/figure-bayes-knn
	@mkdir -p results/reference/bayes-knn/figures
	@$(if $(SHARD),:,cp) results/figure-bayes-knn/figures/*.svg results/reference/bayes-knn/figures
	@$(LIST) results/bayes-knn-figure1/figures/*.png

# van den Burg & Hero 2017, figures 5 and 6: trees of classes of segment and optdigits (some seconds). `make reproduction`
# draws figure 7 from the stored tables.
.PHONY: figure-class-tree
figure-class-tree: $(VENV)/installed  ## figures 5 and 6 of van den Burg and Hero 2017
	@$(RUN) configs/smartsvm-tree.yaml
	$(call keep,smartsvm/tree,results/smartsvm-tree,ari,--figures)
	@$(LIST) results/smartsvm-tree/figures/*.png

# van den Burg & Hero 2017, figures 1 to 4: bias and variance of the estimated Bayes error where it is known; heat maps
# of MNIST (training part; takes most of the time) and optdigits with the errors of a classifier; classes of krkopt
# against the test errors of GenSVM. Section 3: classes of krkopt after principal components; optdigits after kernel
# PCA and Laplacian eigenmaps.
# SHARD=1/2 computes and stores every second study.
BAYES_ERROR := results/figure-bayes-error
BAYES_ERROR_KEPT := results/reference/smartsvm/bayes-error
BAYES_ERROR_PARTS := figure-3-mnist figure-1 figure-2 components figure-3-optdigits figure-4 embeddings
KNN_ERRORS := --scale none --classifier knn --param k=3
STUDY_figure-1 := bayes-error-trials $(if $(JOBS),--jobs $(JOBS)) --trials 200
STUDY_figure-2 := bayes-error-trials $(if $(JOBS),--jobs $(JOBS)) --trials 500 --priors 0.33 --trees 1,2,3,5 \
  --separations 0.5:4.5:0.5
STUDY_figure-3-optdigits := bayes-error optdigits $(KNN_ERRORS)
STUDY_figure-3-mnist := bayes-error mnist $(KNN_ERRORS)
STUDY_figure-4 := bayes-error krkopt-smartsvm --classifier gen-svm
STUDY_components := bayes-error krkopt-smartsvm --components 5,10,15,20,25,30,34
STUDY_embeddings := bayes-error optdigits --scale none --embeddings --components 5,10,20
# Files of each study, and their names in BAYES_ERROR_KEPT.
KEPT_figure-1 := trials.csv:figure-1.csv figures/bias.svg:figures/figure-1.svg
KEPT_figure-2 := trials.csv:figure-2.csv figures/variance.svg:figures/figure-2.svg
KEPT_figure-3-optdigits := pairs.csv:figure-3-optdigits.csv figures/heat-map.svg:figures/figure-3-optdigits.svg
KEPT_figure-3-mnist := pairs.csv:figure-3-mnist.csv figures/heat-map.svg:figures/figure-3-mnist.svg
KEPT_figure-4 := one-vs-rest.csv:figure-4.csv figures/one-vs-rest.svg:figures/figure-4.svg
KEPT_components := transforms-of-classes.csv:components.csv
KEPT_embeddings := transforms.csv:embeddings.csv figures/transforms.svg:figures/embeddings.svg
part_of = $(word $(1),$(subst /, ,$(SHARD)))
BAYES_ERROR_MINE = $(if $(SHARD),$(shell place=0; for part in $(BAYES_ERROR_PARTS); do \
  [ $$((place % $(call part_of,2))) -ne $$(($(call part_of,1) - 1)) ] || echo $$part; place=$$((place + 1)); \
  done 2>/dev/null),$(BAYES_ERROR_PARTS))
.PHONY: figure-bayes-error
figure-bayes-error: $(VENV)/installed  ## figures 1 to 4 of van den Burg and Hero 2017
	@case "$(or $(SHARD),1/1)" in [1-9]*/[1-9]*) ;; *) echo "SHARD is a part such as 1/2, got '$(SHARD)'" >&2; exit 2;; esac
	@mkdir -p $(BAYES_ERROR_KEPT)/figures
	@$(foreach part,$(BAYES_ERROR_MINE),$(CONFML) $(STUDY_$(part)) --quiet --out $(BAYES_ERROR)/$(part) && \
	  $(foreach pair,$(KEPT_$(part)),cp $(BAYES_ERROR)/$(part)/$(subst :, $(BAYES_ERROR_KEPT)/,$(pair)) && ))true
	@$(if $(BAYES_ERROR_MINE),$(REPRODUCTION) $(BAYES_ERROR_KEPT) \
	  --of $(addprefix $(BAYES_ERROR)/,$(sort $(BAYES_ERROR_PARTS))) --command 'make $@' >&2)
	@$(LIST) $(BAYES_ERROR)/*/figures/*.png

# Every Bayes error estimator where the Bayes error is known, 2 to 50 features, 100 to 10,000 rows (some minutes).
ESTIMATORS := results/bayes-error-estimators
.PHONY: table-bayes-error
table-bayes-error: $(VENV)/installed  ## Bayes error estimators compared where the Bayes error is known
	@$(if $(SHARD),echo "table-bayes-error has no parts; run it without SHARD" >&2; exit 2)
	@OMP_NUM_THREADS=1 $(CONFML) bayes-error-estimators $(if $(JOBS),--jobs $(JOBS)) --out $(ESTIMATORS)
	@mkdir -p results/reference/bayes-error/figures
	@cp $(ESTIMATORS)/*.csv results/reference/bayes-error
	@cp $(ESTIMATORS)/figures/*.svg results/reference/bayes-error/figures
	$(call keep,bayes-error,$(ESTIMATORS))

# Proedrou et al., section 3: credibility of test images of absent classes (a minute).
.PHONY: figure-absent-class
figure-absent-class: $(VENV)/installed  ## credibility of images of absent classes
	@$(RUN) configs/absent-class.yaml
	$(call keep,tcm-nn/absent-class,results/absent-class,unseen_separation,--figures)
	@$(LIST) results/absent-class/figures/*.png

# USPS, split conformal prediction with several classifiers, and TCM-NN: validity and efficiency (a minute).
.PHONY: figure-inductive
figure-inductive: $(VENV)/installed  ## split conformal prediction and TCM-NN on USPS
	@$(RUN) configs/usps-inductive.yaml
	@$(LIST) results/usps-inductive/figures/*.png

# USPS one example after another: errors at each level over time, and martingales against exchangeability, in the
# given order, from the test part on, and shuffled (two minutes).
.PHONY: figure-online
figure-online: $(VENV)/installed  ## online prediction and martingales on USPS
	@$(RUN) configs/usps-online.yaml --quiet
	@$(RUN) configs/usps-online.yaml --quiet --out results/usps-online-test --set protocol.start=7291
	@$(RUN) configs/usps-online.yaml --quiet --out results/usps-online-shuffled \
	  --set protocol.order=shuffled --set protocol.repeats=3
	@$(REPORT) results/usps-online results/usps-online-shuffled --figures --out results/figure-online
	@$(LIST) results/usps-online*/figures/*.png

# Proedrou et al., section 1: 90 % confidence with a wrong prior and with conformal prediction (a minute, synthetic).
.PHONY: figure-wrong-prior
figure-wrong-prior: $(VENV)/installed  ## a wrong prior and conformal prediction
	@$(RUN) configs/wrong-prior.yaml
	$(call keep,tcm-nn/wrong-prior,results/wrong-prior,coverage,--figures)
	@$(LIST) results/wrong-prior/figures/*.png

# Fourteen methods on 28 data sets by error, selective risk, certificates, regions, calibration and time (hours; runs
# continue where they were cut).
.PHONY: leaderboard
leaderboard: $(VENV)/installed  ## fourteen methods on 28 data sets by every measure
	@$(RUN) configs/leaderboard.yaml --quiet
	@$(if $(SHARD),:,mkdir -p) results/reference/leaderboard
	@$(if $(SHARD),:,cp) results/leaderboard/leaderboard*.csv results/leaderboard/tables/leaderboard.md \
	  results/leaderboard/figures/leaderboard.svg results/reference/leaderboard
	$(call keep,leaderboard,results/leaderboard)

# Every kind of figure on data that need no download, with captions, in results/gallery/README.md (some minutes).
GALLERY := $(notdir $(basename $(wildcard configs/gallery/*.yaml)))
.PHONY: gallery
gallery: $(VENV)/installed  ## every kind of figure with its caption, in results/gallery/README.md
	@for name in $(GALLERY); do $(RUN) configs/gallery/$$name.yaml --out results/gallery/$$name --quiet || exit $$?; done
	@$(if $(SHARD),:,$(CONFML) compare) results/gallery/regions --against 'tcm-nn k=1' --quiet --out results/gallery/compared
	@for name in $(GALLERY) $(if $(SHARD),,compared); do \
	  sed "s|](|]($$name/figures/|; s|^# .*|# $$name|" results/gallery/$$name/figures/index.md; done > results/gallery/README.md
	@echo results/gallery/README.md

# ---- Kubat, An Introduction to Machine Learning, chapters 2 to 4: computer assignments and more

# Runs configs/classical once for each value of a key: $(call vary,CONFIG,KEYS,VALUES,FOLDER,MORE OPTIONS).
define vary
	@for value in $(3); do $(RUN) configs/classical/$(1).yaml --out results/classical/$(1)$(4)-$$value \
	  $(foreach key,$(2),--set $(key)=$$value) --set 'figures=[]' $(5) --quiet || exit $$?; done
endef
# Draws a metric of these runs: $(call against,CONFIG,KEY,METRIC,OPTIONS).
define against
	@$(REPORT) results/classical/$(1)-* \
	  --against $(2) --metric $(3) $(4) --out results/figure-classical/$(1)
endef
KUBAT_OUT = $(addprefix results/classical-,one-nn naive-bayes not-separable many-neighbours boundaries rates rules \
  four-classes) $(addprefix results/classical/,$(addprefix boundaries-,whole links subset examples) one-nn-raw \
  one-nn-cleaned) results/figure-classical/*
KUBAT_METRICS := error,training_error,converged,presentations,tomek-links.removed_rows,consistent-subset.kept_rows
CLEANED  := --set 'steps=[{tomek-links: {repeat: true}}]'
SELECTED := --set 'steps=[min-max, select-attributes]'

# About a hundred small runs, about ten minutes; some need data sets, such as flare and ionosphere.
.PHONY: figure-classical figure-classical-noise figure-classical-linear figure-classical-more
figure-classical: figure-classical-noise figure-classical-linear figure-classical-more  ## Kubat's chapters 2 to 4, about a hundred small runs
	@for name in one-nn naive-bayes not-separable; do $(RUN) configs/classical/$$name.yaml --quiet || exit $$?; done
	@$(RUN) configs/classical/one-nn.yaml --quiet --out results/classical/one-nn-raw --set 'steps=[]'
	@$(RUN) configs/classical/one-nn.yaml --quiet --out results/classical/one-nn-cleaned \
	  --set 'steps=[min-max, {tomek-links: {repeat: true}}]'
	@$(REPORT) results/classical-one-nn --against k --metric error --line knn --out results/figure-classical/one-nn
	$(call keep,kubat,$(KUBAT_OUT),$(KUBAT_METRICS),--figures)
	@$(if $(SHARD),exit 0; )for name in four-classes not-separable; do \
	  cp results/classical-$$name/class-metrics.csv results/reference/kubat/$$name-class-metrics.csv; done

# Chapter 3: k-NN, label noise, Tomek links; irrelevant attributes; the Bayes error.
figure-classical-noise: $(VENV)/installed  ## chapter 3: label noise, irrelevant features
	@for name in many-neighbours boundaries; do $(RUN) configs/classical/$$name.yaml --quiet || exit $$?; done
	@set -e; clean() { $(RUN) configs/classical/boundaries-cleaned.yaml --quiet \
	  --out results/classical/boundaries-$$1 --set "steps=[$$2]"; }; \
	  links='{tomek-links: {repeat: true}}'; clean whole ''; clean links "$$links"; \
	  clean subset "$$links, {consistent-subset: {add: one}}"; clean examples select-examples
	$(call vary,square-noise,noise.labels,0 0.05 0.1 0.15 0.2 0.25,-whole)
	$(call vary,square-noise,noise.labels,0 0.05 0.1 0.15 0.2 0.25,-cleaned,$(CLEANED))
	$(call against,square-noise,noise.labels,error,--line 'knn k=1' --line 'knn k=3' --line 'knn k=15')
	$(call against,square-noise,k,error,--line knn)
	$(call vary,knn-irrelevant,noise.irrelevant,0 1 2 4 8 16,-all)
	$(call vary,knn-irrelevant,noise.irrelevant,0 1 2 4 8 16,-selected,$(SELECTED))
	$(call against,knn-irrelevant,noise.irrelevant,error)
	$(call vary,bayes-limit,datasets.0.distance,0.25 0.5 1 1.5 2 3 4)
	$(call against,bayes-limit,bayes-error,error)
	$(call vary,many-class-limit,noise.labels,0.02 0.05 0.1 0.2 0.3 0.4 0.5)
	$(call against,many-class-limit,bayes-error,error)

# Chapter 3: the pies, other distances, votes of a teacher (a minute; iris to digits, and files of ionosphere, pima,
# sonar and vehicle).
.PHONY: figure-classical-distances
figure-classical-distances: $(VENV)/installed  ## chapter 3: the pies, other distances, votes of a teacher
	@for name in pies distances teacher; do $(RUN) configs/classical/$$name.yaml --quiet || exit $$?; done
	$(call keep,kubat/distances,$(addprefix results/classical-,pies distances teacher),error,--figures)

# Chapter 4: perceptron and WINNOW.
figure-classical-linear: $(VENV)/installed  ## chapter 4: perceptron and WINNOW
	@for name in rates rules four-classes; do $(RUN) configs/classical/$$name.yaml --quiet || exit $$?; done
	$(call vary,irrelevant,datasets.0.irrelevant datasets.1.irrelevant,0 1 2 5 10 15 20)
	$(call against,irrelevant,datasets.0.irrelevant,presentations,--log-metric)
	$(call vary,attribute-noise,noise.attributes,0 0.05 0.1 0.2 0.3)
	$(call against,attribute-noise,noise.attributes,training_error)
	$(call against,attribute-noise,noise.attributes,error)

# Chapter 4: sizes of the training set, classes, capacity. $(call sizes,NAME,SHARE OF NOISE).
define sizes
	@for seed in 1 2 3; do for n in 10 20 50 100 200; do $(RUN) configs/classical/training-size.yaml --quiet \
	  --out results/classical/training-size-$(1)-$$n-$$seed $(foreach part,0 1 2,--set datasets.$(part).n=$$n) \
	  --set noise.attributes=$(2) --set seed=$$seed || exit $$?; done; done
endef
figure-classical-more: $(VENV)/installed  ## chapter 4: sizes of the training set, classes, capacity
	$(call sizes,clean,0)
	$(call sizes,noisy,0.1)
	$(call against,training-size-clean,train-rows,error,--log)
	$(call against,training-size-clean,train-rows,presentations,--log --log-metric)
	$(call against,training-size-noisy,train-rows,error,--log)
	$(call against,training-size-noisy,train-rows,training_error,--log)
	$(call vary,four-classes,datasets.0.irrelevant,0 2 5 10 20)
	$(call against,four-classes,datasets.0.irrelevant,error)
	$(call against,four-classes,datasets.0.irrelevant,training_error)
	$(call vary,more-classes,datasets.0.classes,2 3 4 6 9 12,-clean)
	$(call vary,more-classes,datasets.0.classes,2 3 4 6 9 12,-noisy,--set noise.labels=0.1)
	$(call against,more-classes,datasets.0.classes,error)
	$(call vary,capacity,datasets.0.n,20 40 60 70 80 90 100 120 160)
	$(call against,capacity,train-rows,converged)

# ---- documentation and release

# The site, in build/site: open build/site/index.html. `make gallery docs` draws all figures of its gallery first; without
# them the gallery has the figures of results/reference.
.PHONY: docs docs-outputs
docs: $(VENV)/installed-docs  ## build the documentation in build/site
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --quiet --strict -f docs/mkdocs.yml
	@echo build/site/index.html

# Outputs that the pages show, from real runs (needs the data set fars).
docs-outputs: $(VENV)/installed-dev  ## write the outputs that the documentation shows
	@OMP_NUM_THREADS=1 $(VENV)/bin/python tests/documentation $(PAGES)

# The archives, in an empty environment: quick start, and tests of the installed package (PYTEST="..." for others).
RELEASE := build/release
.PHONY: release-check
release-check: $(VENV)/installed-dev  ## build the archives, and test them in an empty environment
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	@$(VENV)/bin/python -m hatchling build -d $(RELEASE)/dist
	@$(PYTHON) -m venv $(RELEASE)/venv
	@$(RELEASE)/venv/bin/python -m pip install --quiet --disable-pip-version-check $(RELEASE)/dist/*.whl pytest hypothesis
	@tar -xzf $(RELEASE)/dist/*.tar.gz -C $(RELEASE) && mv $(RELEASE)/confml-* $(RELEASE)/source && rm -r $(RELEASE)/source/confml
	@cd $(RELEASE)/source && PATH="$(abspath $(RELEASE))/venv/bin:$$PATH" && confml --version && confml doctor \
	  && confml run quickstart --quiet && confml compare results/quickstart --quiet \
	  && python -m pytest $(or $(PYTEST),tests/test_public_interface.py tests/commands tests/methods/test_methods_contract.py)

# ---- for developers

# Every benchmark with its baseline, on one thread: make bench, make bench ONLY=usps_k1.
bench: $(VENV)/installed-bench  ## benchmarks (ONLY=name)
	@$(VENV)/bin/python tests/bench $(if $(ONLY),--only $(ONLY))

# Simulated and guaranteed error rates of every p-value, probability and certificate (about 25 minutes on 2 cores):
# make validity, make validity DRAWS=500, make validity ONLY=martingales.
.PHONY: validity
validity: $(VENV)/installed  ## error rates of p-values, probabilities and certificates (ONLY, DRAWS)
	@OMP_NUM_THREADS=1 $(VENV)/bin/python tests/validity $(if $(ONLY),--only $(ONLY)) $(if $(DRAWS),--draws $(DRAWS)) \
	  $(if $(JOBS),--jobs $(JOBS))

# Mutants of configs, CSV files, cards, archives, manifests and stored records. Each must be read, computed again, or
# refused with an error message: make fuzz MINUTES=5.
MINUTES ?= 5
fuzz: $(VENV)/installed-dev  ## fuzz the readers (MINUTES=5)
	@$(VENV)/bin/python tests/fuzz $(MINUTES)

# Kill a small run with two workers at random times, resume it, and compare all CSV files: make kill-trial TRIALS=20.
TRIALS ?= 20
.PHONY: kill-trial
kill-trial: $(VENV)/installed-dev  ## kill and resume a run (TRIALS=20)
	@$(VENV)/bin/python tests/fuzz/kill_trial.py $(TRIALS)

lint: $(VENV)/installed-dev  ## ruff and mypy
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && $(VENV)/bin/mypy

# Percentage of lines and branches that the tests execute, in all processes, without compiled kernels.
.PHONY: coverage
coverage: $(VENV)/installed-dev  ## lines that the tests execute
	@$(VENV)/bin/python -m coverage erase
	@$(VENV)/bin/python -m coverage run -m pytest -n auto --dist worksteal $(PYTEST)
	@$(VENV)/bin/python -m coverage combine --quiet
	@$(VENV)/bin/python -m coverage report --skip-covered --sort=cover

format: $(VENV)/installed-dev  ## format the code
	@$(VENV)/bin/ruff check --fix . && $(VENV)/bin/ruff format .

clean:  ## remove the environment and caches
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Every line "target: ... ## text" of this file.
help:  ## this list
	@echo 'make TARGET [JOBS=N]'
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*  ## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	  while IFS='|' read -r name text; do printf '  %-22s  %s\n' "$$name" "$$text"; done

# ---- the environment

define preflight
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "confml needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 | tail -n 1);" \
	       "name another one: make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' has no venv module; install it (Debian: apt-get install python3-venv)" >&2; exit 2; }
	@[ "$(LIBLINEAR)" = no ] || command -v $${CXX:-c++} >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || { \
	  echo "no C++ compiler, and LIBLINEAR is compiled at install;" \
	       "install one (Debian: apt-get install g++; macOS: xcode-select --install)," \
	       "or leave LIBLINEAR and its methods out: make $(MAKECMDGOALS) LIBLINEAR=no" >&2; exit 2; }
endef

$(VENV)/bin/python:
	$(preflight)
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	@echo "installing confml into $(VENV), once (about a minute)" >&2
ifeq ($(LIBLINEAR),no)
	@$(VENV)/bin/python -c 'import tomllib; \
	  found = tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]; \
	  print(*(one for one in found if not one.startswith("liblinear")), sep="\n")' > $(VENV)/without-liblinear.txt
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $(VENV)/without-liblinear.txt
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
else
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable .
endif
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@
