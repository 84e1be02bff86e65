# Targets that compute the tables and figures of the papers, on the real data (confml data fetch, or CONFML_DATA): make
# NAME. Runs and studies are stored below results/, what is kept of them below results/reference/, from which make
# reproduction renders the pages of published numbers.
#
# With SHARD=1/4 only runs and studies are executed; make the target without SHARD when all parts are done.

REPRODUCTION := $(VENV)/bin/python tests/programs/reproduction
BAYES_ERROR := OMP_NUM_THREADS=1 $(VENV)/bin/python tests/programs/bayes_error_paper.py
# Numbers, figures, versions, machine and time of runs, in a folder below results/reference.
KEEP = $(if $(SHARD),:,$(REPRODUCTION) keep --command 'make $@$(if $(SCALE), SCALE=$(SCALE))$(if $(SET), SET=$(SET))')
# Runs of classifiers in tree_network.py and smartsvm_package.py beside this file.
RUN_OURS := PYTHONPATH=tests/programs/reproduction $(RUN)
# The folders of reports have committed tables.
REPORT := $(if $(SHARD),:,$(CONFML) report --force)
FIGURES := $(if $(SHARD),:,$(VENV)/bin/python tests/programs/figures_of_runs.py)
COPY := $(if $(SHARD),:,cp)
LIST := $(if $(SHARD),:,ls)
SEGMENT := --set 'datasets=["segment"]' \
  --set 'protocol={"kind": "k-fold", "folds": 10, "repeats": 5, "stratify": true}'
WINE := --set 'datasets=["wine"]' --set protocol.test-size=0.5
SYNTHETIC := --set 'datasets=[{"generate": "five-gaussians", "n": 1250}]' --set protocol.test-size=0.8
FIRST_ROWS := --set 'datasets=["ionosphere-first200", "wisconsin-first455", "ripley-synth"]' \
  --set 'protocol={"kind": "fixed-split"}'
TIMES := --table smartsvm-table2-total-training-seconds --table smartsvm-table4-seconds-per-configuration

.PHONY: reproduction table-tcm-nn table-tcm-nn-more table-tcm-nn-segment table-tcm-nn-explained \
  table-tcm-nn-stand-ins figure-tcm-1 figure-tcm-2 figure-absent-class figure-inductive figure-online \
  figure-wrong-prior table-smartsvm table-smartsvm-cold table-smartsvm-ratios table-smartsvm-variants \
  table-smartsvm-costs table-smartsvm-trees table-smartsvm-gensvm table-smartsvm-splits \
  table-smartsvm-package table-smartsvm-optdigits table-chess-components figure-class-tree figure-bayes-error \
  runs-bayes-knn table-bayes-knn table-bayes-knn-settings figure-bayes-knn \
  figure-transduction table-transduction-trajectories table-transduction-lengths table-transduction-variants \
  figure-version-space figure-classical figure-classical-noise figure-classical-thoughts figure-classical-distances \
  figure-classical-linear figure-classical-more

reproduction: $(VENV)/installed  ## results/reference/README.md: all published numbers and claims, from stored tables
	@$(REPRODUCTION) pages

# ---- Proedrou et al. 2002

# TCM-NN, 1-NN, and the quoted algorithms that scikit-learn has (some minutes).
table-tcm-nn: $(VENV)/installed  ## tables 1 to 3 of Proedrou et al. 2002
	@for name in usps papers/tcm-nn/satellite papers/tcm-nn/shuttle papers/tcm-nn/segment papers/tcm-nn/tcm-nn-quoted \
	  papers/tcm-nn/tcm-nn-statlog-knn papers/tcm-nn/usps-svm papers/tcm-nn/usps-smoothed; do \
	  $(RUN) configs/$$name.yaml --quiet || exit $$?; done
	@for name in tcm-nn-quoted tcm-nn-statlog-knn; do $(RUN) configs/papers/tcm-nn/$$name.yaml --quiet $(SEGMENT) \
	  --out results/$$name-segment || exit $$?; done
	@$(REPORT) results/usps results/satellite results/shuttle results/segment results/tcm-nn-quoted \
	  results/tcm-nn-statlog-knn results/usps-svm results/usps-smoothed results/tcm-nn-quoted-segment \
	  results/tcm-nn-statlog-knn-segment --out results/reference/tcm-nn --table tcm-nn-table1 --table tcm-nn-table2 \
	  --table tcm-nn-table3
	@$(KEEP) tcm-nn results/usps results/satellite results/shuttle results/segment results/tcm-nn-quoted \
	  results/tcm-nn-statlog-knn results/usps-svm results/usps-smoothed results/tcm-nn-quoted-segment \
	  results/tcm-nn-statlog-knn-segment

# Label-conditional, split and cross-conformal prediction on satellite, TCM-SVM, k-NN by other distances, naive Bayes
# with other densities, and trees and discriminants with other settings (minutes).
table-tcm-nn-more: $(VENV)/installed  ## other conformal predictors, k-NN by other distances, and naive Bayes
	@for name in satellite-conformal tcm-svm tcm-svm-satellite tcm-nn-statlog-distances tcm-nn-statlog-naive-bayes \
	  tcm-nn-statlog-others; do $(RUN) configs/papers/tcm-nn/$$name.yaml --quiet || exit $$?; done
	@for name in naive-bayes others; do $(RUN) configs/papers/tcm-nn/tcm-nn-statlog-$$name.yaml --quiet $(SEGMENT) \
	  --out results/tcm-nn-statlog-$$name-segment || exit $$?; done
	@$(KEEP) tcm-nn/more results/satellite-conformal results/tcm-svm results/tcm-svm-satellite \
	  results/tcm-nn-statlog-distances results/tcm-nn-statlog-naive-bayes results/tcm-nn-statlog-others \
	  results/tcm-nn-statlog-naive-bayes-segment results/tcm-nn-statlog-others-segment \
	  --metrics error,coverage,worst_class_coverage,mean_region_size,one_class

# Some seconds
table-tcm-nn-segment: $(VENV)/installed  ## segment, with other folds and scales of the features
	@$(RUN) configs/papers/tcm-nn/segment.yaml --quiet --set 'methods=[{"name": "tcm-nn", "k": 1}]' \
	  --out results/segment-raw
	@$(RUN) configs/papers/tcm-nn/segment.yaml --quiet --set 'methods=[{"name": "tcm-nn", "k": 1}]' \
	  --set 'steps=["standardise"]' --out results/segment-standardised
	@$(RUN) configs/papers/tcm-nn/segment.yaml --quiet --set 'methods=[{"name": "tcm-nn", "k": 1}]' \
	  --set 'steps=["min-max"]' --out results/segment-min-max
	@$(RUN) configs/papers/tcm-nn/segment.yaml --quiet --set 'methods=[{"name": "tcm-nn", "k": 1}]' \
	  --set protocol.stratify=false --out results/segment-random-folds
	@$(KEEP) tcm-nn/segment results/segment-raw results/segment-standardised results/segment-min-max \
	  results/segment-random-folds --metrics error,one_class,no_class,correct_of_one_class

# About two minutes
table-tcm-nn-explained: $(VENV)/installed  ## settings that give numbers of tables 1 and 2 of Proedrou et al., found after they were seen
	@$(RUN) configs/papers/tcm-nn/tcm-nn-statlog-explained.yaml --quiet
	@$(RUN) configs/papers/tcm-nn/tcm-nn-statlog-explained.yaml --quiet --set 'datasets=["shuttle"]' \
	  --set 'protocol={"kind": "fixed-split", "absent": [2, 3, 6, 7]}' \
	  --out results/tcm-nn-statlog-without-small-classes
	@$(RUN) configs/papers/tcm-nn/tcm-nn-statlog-explained.yaml --quiet $(SEGMENT) \
	  --set 'methods=[{"name": "naive-bayes", "numeric": "bins", "bins": 2}]' --set 'steps=[]' \
	  --out results/tcm-nn-statlog-segment-equal-width
	@$(RUN) configs/papers/tcm-nn/tcm-nn-statlog-explained.yaml --quiet $(SEGMENT) \
	  --set 'methods=[{"name": "naive-bayes", "numeric": "bins", "bins": 2}]' \
	  --set 'steps=[{"sklearn.preprocessing.KBinsDiscretizer": {"n_bins": 2, "encode": "ordinal", "strategy": "quantile"}}]' \
	  --out results/tcm-nn-statlog-segment-equal-frequency
	@$(RUN) configs/papers/tcm-nn/tcm-nn-statlog-tenth.yaml --quiet
	@$(RUN) configs/papers/tcm-nn/usps-svm-cubic.yaml --quiet
	@for sigma in 0.65 0.7 0.75 0.8; do $(RUN) configs/papers/tcm-nn/usps-smoothed.yaml --quiet \
	  --set 'steps=[{"smooth-images": {"width": 16, "sigma": '$$sigma'}}, "row-standardise"]' \
	  --set 'methods=[{"name": "knn", "k": 1}]' --out results/usps-smoothed-$$sigma || exit $$?; done
	@$(KEEP) tcm-nn/explained results/tcm-nn-statlog-explained results/tcm-nn-statlog-without-small-classes \
	  results/tcm-nn-statlog-segment-equal-width results/tcm-nn-statlog-segment-equal-frequency \
	  results/tcm-nn-statlog-tenth results/usps-svm-cubic results/usps-smoothed-0.65 results/usps-smoothed-0.7 \
	  results/usps-smoothed-0.75 results/usps-smoothed-0.8 --metrics error

# Some minutes
table-tcm-nn-stand-ins: $(VENV)/installed  ## algorithms for quoted numbers of C4.5, CASTLE and neural networks in tables 1 and 2 of Proedrou et al.
	@for name in tcm-nn-stand-ins tcm-nn-stand-ins-usps; do $(RUN_OURS) configs/papers/tcm-nn/$$name.yaml --quiet \
	  --allow-import tree_network || exit $$?; done
	@$(RUN_OURS) configs/papers/tcm-nn/tcm-nn-stand-ins.yaml --quiet $(SEGMENT) --out results/tcm-nn-stand-ins-segment \
	  --allow-import tree_network
	@$(REPORT) results/tcm-nn-stand-ins results/tcm-nn-stand-ins-usps results/tcm-nn-stand-ins-segment \
	  --out results/reference/tcm-nn/stand-ins --table tcm-nn-table1 --table tcm-nn-table2
	@$(KEEP) tcm-nn/stand-ins results/tcm-nn-stand-ins results/tcm-nn-stand-ins-usps results/tcm-nn-stand-ins-segment \
	  --metrics error

# Error of TCM-NN and of nearest neighbours on USPS, k = 1 to 20
figure-tcm-1: $(VENV)/installed  ## figure 1 of Proedrou et al. 2002
	@$(RUN) configs/papers/tcm-nn/tcm-nn-figure1.yaml
	@$(KEEP) tcm-nn/figure1 results/tcm-nn-figure1 --metrics error --figures

# Coverage against confidence level, for 50 test images and for all
figure-tcm-2: $(VENV)/installed  ## figure 2 of Proedrou et al. 2002
	@$(RUN) configs/papers/tcm-nn/tcm-nn-figure2.yaml
	@$(KEEP) tcm-nn/figure2 results/tcm-nn-figure2 --metrics coverage --figures

# Section 3 (a minute)
figure-absent-class: $(VENV)/installed  ## credibility of images of absent classes
	@$(RUN) configs/papers/tcm-nn/absent-class.yaml
	@$(KEEP) tcm-nn/absent-class results/absent-class --metrics unseen_separation --figures
	@$(LIST) results/absent-class/figures/*.png

# With several classifiers: validity and efficiency (a minute)
figure-inductive: $(VENV)/installed  ## split conformal prediction and TCM-NN on USPS
	@$(RUN) configs/papers/tcm-nn/usps-inductive.yaml
	@$(LIST) results/usps-inductive/figures/*.png

# One example after another: errors at each level over time, and martingales against exchangeability, in the given
# order, from the test part on, and shuffled (two minutes).
figure-online: $(VENV)/installed  ## online prediction and martingales on USPS
	@$(RUN) configs/papers/tcm-nn/usps-online.yaml --quiet
	@$(RUN) configs/papers/tcm-nn/usps-online.yaml --quiet --set protocol.start=7291 --out results/usps-online-test
	@$(RUN) configs/papers/tcm-nn/usps-online.yaml --quiet --set protocol.order=shuffled --set protocol.repeats=3 \
	  --out results/usps-online-shuffled
	@$(FIGURES) results/usps-online results/usps-online-shuffled --out results/figure-online
	@$(LIST) results/usps-online*/figures/*.png

# Section 1: 90 % confidence with a wrong prior and with conformal prediction (a minute, synthetic)
figure-wrong-prior: $(VENV)/installed  ## a wrong prior and conformal prediction
	@$(RUN) configs/papers/tcm-nn/wrong-prior.yaml
	@$(KEEP) tcm-nn/wrong-prior results/wrong-prior --metrics coverage --figures
	@$(LIST) results/wrong-prior/figures/*.png

# ---- van den Burg and Hero 2017

# SCALE=small (the default): sets under 6,000 rows, shorter grids, 19 minutes on 2 cores. SCALE=laptop: all data sets but
# fars, the paper's grids, a night on 2 cores. SCALE=cold: cold fits on one split of the larger sets; it
# stops Crammer-Singer and GenSVM after half an hour, and reports the others. SCALE=full: the paper's cold fits, for a
# cluster (the config states the hours). SET=fars: this data set alone, stored in a folder of its own (laptop: about 3
# hours on 2 cores). Tables 2 and 4 are of cold fits; laptop has the times of whole paths, in rows of their own.
SMARTSVM = $(or $(SCALE),small)$(if $(SET),-$(SET))
SMARTSVM_RUN = results/smartsvm-$(SMARTSVM)
SMARTSVM_SET = {"name": "$(SET)"$(if $(wildcard datasets/$(SET)-smartsvm.yaml),$(comma) "card": "$(SET)-smartsvm")}
comma := ,
table-smartsvm: $(VENV)/installed  ## tables 1 to 4 of van den Burg and Hero 2017 (SCALE=small, laptop, cold or full; SET=fars)
	@$(RUN) configs/papers/smartsvm/smartsvm$(patsubst -full,,-$(or $(SCALE),small)).yaml \
	  $(if $(SET),--set 'datasets=[$(SMARTSVM_SET)]') --out $(SMARTSVM_RUN) || [ $$? -eq 1 -a '$(SCALE)' = cold ]
	@$(REPORT) $(SMARTSVM_RUN) --out results/reference/smartsvm/$(SMARTSVM) $(TIMES) \
	  $(if $(filter cold,$(SCALE)),,--table smartsvm-table1 --table smartsvm-table3-adjusted-rand-index)
	@$(if $(SET)$(filter cold laptop,$(SCALE)),:,$(COPY) $(SMARTSVM_RUN)/tables/ranks-*.csv \
	  results/reference/smartsvm/$(SMARTSVM)/tables)
	@$(KEEP) smartsvm/$(SMARTSVM) $(SMARTSVM_RUN)

# And those of Crammer-Singer on the larger ones too (hours; GenSVM is left out). A data set where an inner fold takes
# longer than 3 minutes has no number of Crammer-Singer.
COLD_SMALL := datasets=[{"name": "flare", "card": "flare-smartsvm"}, {"name": "yeast", "card": "yeast-smartsvm"}, \
  "winequality-red-leak", "winequality-red-merged", "segment", "winequality-white-leak", \
  "winequality-white-merged", {"name": "abalone", "card": "abalone-smartsvm"}, "page-blocks", "texture", \
  "optdigits"]
COLD_METHODS := methods=[ \
  {"name": "ovo-svm", "solver": "dual", "tolerance": 0.1, "tune": {"C": {"log2": [-18, 18, 2]}}}, \
  {"name": "ovr-svm", "solver": "dual", "tolerance": 0.1, "tune": {"C": {"log2": [-18, 18, 2]}}}, \
  {"name": "dag-svm", "solver": "dual", "tolerance": 0.1, "tune": {"C": {"log2": [-18, 18, 2]}}}, \
  {"name": "smart-svm", "solver": "dual", "tolerance": 0.1, "tune": {"C": {"log2": [-18, 18, 2]}}, "share-tree": true, "trees": "by-size"}, \
  {"name": "crammer-singer", "tolerance": 0.1, "limits": {"timeout": "3min"}, "tune": {"C": {"log2": [-18, 18, 2]}}}]
COLD_LARGE := datasets=["satimage", {"name": "nursery", "card": "nursery-smartsvm"}, "pendigits", \
  {"name": "shuttle", "card": "shuttle-smartsvm"}, "letter", {"name": "krkopt", "card": "krkopt-smartsvm"}]
COLD_LARGE_METHODS := methods=[ \
  {"name": "crammer-singer", "tolerance": 0.1, "limits": {"timeout": "3min"}, "tune": {"C": {"log2": [-18, 18, 2]}}}]
table-smartsvm-cold: $(VENV)/installed  ## tables 2 and 4 by cold fits over the paper's grid on the smaller data sets
	@$(RUN) configs/papers/smartsvm/smartsvm-cold.yaml --set '$(COLD_SMALL)' --set '$(COLD_METHODS)' \
	  --out results/smartsvm-cold-small || [ $$? -eq 1 ]
	@$(RUN) configs/papers/smartsvm/smartsvm-cold.yaml --set '$(COLD_LARGE)' --set '$(COLD_LARGE_METHODS)' \
	  --out results/smartsvm-cold-large || [ $$? -eq 1 ]
	@$(REPORT) results/smartsvm-cold-small --out results/reference/smartsvm/cold-small $(TIMES)
	@$(REPORT) results/smartsvm-cold-large --out results/reference/smartsvm/cold-large $(TIMES)
	@$(KEEP) smartsvm/cold-small results/smartsvm-cold-small
	@$(KEEP) smartsvm/cold-large results/smartsvm-cold-large

# Table 2: how much the ratio varies between splits (ten minutes)
table-smartsvm-ratios: $(VENV)/installed  ## ratio of the training times of SmartSVM and OvO on five splits
	@$(RUN) configs/papers/smartsvm/smartsvm-ratios.yaml --quiet
	@$(KEEP) smartsvm/ratios results/smartsvm-ratios --metrics training_seconds,ari
	@$(COPY) results/smartsvm-ratios/tables/timings.csv results/reference/smartsvm/ratios/seconds.csv

# Sections 3 and 4: class weights and classifiers at the nodes of the class tree (some minutes); features selected by the
# Bayes error.
table-smartsvm-variants: $(VENV)/installed  ## weights and classifiers of the class tree; selected features
	@for name in smartsvm-variants select-by-bayes-error; do $(RUN) configs/papers/smartsvm/$$name.yaml \
	  --quiet || exit $$?; done
	@$(RUN) configs/papers/smartsvm/select-by-bayes-error.yaml --quiet --set 'steps=["standardise"]' \
	  --out results/all-features
	@$(KEEP) smartsvm/variants results/smartsvm-variants results/select-by-bayes-error results/all-features \
	  --metrics ari,error

# On six data sets (some minutes). The paper does not print the C that its cross-validation chose.
table-smartsvm-costs: $(VENV)/installed  ## adjusted Rand index for each C, with the numbers of table 3
	@$(RUN) configs/papers/smartsvm/smartsvm-costs.yaml --quiet
	@$(RUN) configs/papers/smartsvm/smartsvm-costs.yaml --quiet \
	  --set 'datasets=[{"name": "krkopt", "card": "krkopt-smartsvm"}]' --set protocol.repeats=3 \
	  --out results/smartsvm-costs-krkopt
	@$(KEEP) smartsvm/costs results/smartsvm-costs results/smartsvm-costs-krkopt --metrics ari --by C
	@$(RUN) configs/papers/smartsvm/smartsvm-scaling.yaml --quiet
	@$(RUN) configs/papers/smartsvm/smartsvm-scaling.yaml --quiet --set 'steps=[]' --out results/smartsvm-raw
	@$(KEEP) smartsvm/costs-standardised results/smartsvm-scaling --metrics ari --by C
	@$(KEEP) smartsvm/costs-raw results/smartsvm-raw --metrics ari --by C

# For each C (10 minutes on 2 cores)
table-smartsvm-trees: $(VENV)/installed  ## adjusted Rand index of SmartSVM on fars with other spanning trees
	@$(RUN) configs/papers/smartsvm/smartsvm-trees.yaml --quiet
	@$(KEEP) smartsvm/trees results/smartsvm-trees --metrics ari --by C

# On three data sets (a quarter of an hour)
table-smartsvm-gensvm: $(VENV)/installed  ## adjusted Rand index of GenSVM at points of the paper's grid
	@$(RUN) configs/papers/smartsvm/smartsvm-gensvm.yaml --quiet
	@$(KEEP) smartsvm/gensvm results/smartsvm-gensvm --metrics ari
	@$(RUN) configs/papers/smartsvm/smartsvm-gensvm.yaml --quiet \
	  --set 'datasets=[{"name": "fars", "card": "fars-smartsvm"}]' --set protocol.repeats=1 \
	  --out results/smartsvm-gensvm-fars
	@$(KEEP) smartsvm/gensvm-fars results/smartsvm-gensvm-fars --metrics ari

# How far means over 5 splits vary (some minutes)
table-smartsvm-splits: $(VENV)/installed  ## adjusted Rand index over 30 splits, with fixed parameters
	@for name in smartsvm-splits smartsvm-splits-within-chance; do $(RUN) configs/papers/smartsvm/$$name.yaml \
	  --quiet || exit $$?; done
	@$(KEEP) smartsvm/splits results/smartsvm-splits results/smartsvm-splits-within-chance --metrics ari

# Hours of one core, most of them for krkopt; the stored table has one of its five splits
table-smartsvm-package: $(VENV)/installed  ## adjusted Rand index of SmartSVM by the authors' package smartsvm, which make .venv/installed-bench installs
	@$(RUN_OURS) configs/papers/smartsvm/smartsvm-package.yaml --quiet --allow-import smartsvm_package
	@$(KEEP) smartsvm/package results/smartsvm-package --metrics ari,accuracy

# Half a minute
table-smartsvm-optdigits: $(VENV)/installed  ## accuracy of SmartSVM on optdigits for three values of C
	@$(RUN) configs/papers/smartsvm/smartsvm-optdigits.yaml --quiet
	@$(KEEP) smartsvm/optdigits results/smartsvm-optdigits --metrics accuracy,ari

# Section 3: errors and times (a minute)
table-chess-components: $(VENV)/installed  ## classifiers on principal components of Chess
	@$(RUN) configs/papers/smartsvm/chess-components.yaml --quiet --out results/chess-components/all
	@for number in 30 25 20 10; do $(RUN) configs/papers/smartsvm/chess-components.yaml --quiet \
	  --set 'steps=["min-max", {"sklearn.decomposition.PCA": {"n_components": '$$number'}}]' \
	  --out results/chess-components/$$number || exit $$?; done
	@$(KEEP) smartsvm/components results/chess-components/all results/chess-components/30 results/chess-components/25 \
	  results/chess-components/20 results/chess-components/10 --metrics error,ari
	@$(COPY) results/chess-components/all/tables/timings.csv results/reference/smartsvm/components/all-seconds.csv
	@$(COPY) results/chess-components/30/tables/timings.csv results/reference/smartsvm/components/30-seconds.csv
	@$(COPY) results/chess-components/25/tables/timings.csv results/reference/smartsvm/components/25-seconds.csv
	@$(COPY) results/chess-components/20/tables/timings.csv results/reference/smartsvm/components/20-seconds.csv
	@$(COPY) results/chess-components/10/tables/timings.csv results/reference/smartsvm/components/10-seconds.csv

# Trees of classes of segment and optdigits (some seconds). Figure 7, the ranks, is stored.
figure-class-tree: $(VENV)/installed  ## figures 5 and 6 of van den Burg and Hero 2017
	@$(RUN) configs/papers/smartsvm/smartsvm-tree.yaml
	@$(KEEP) smartsvm/tree results/smartsvm-tree --metrics ari --figures
	@$(LIST) results/smartsvm-tree/figures/*.png

# Bias and variance of the estimated Bayes error where it is known; heat maps of MNIST (training part; takes most of
# the time) and optdigits with the errors of a classifier; classes of krkopt against the test errors of GenSVM.
# Section 3: classes of krkopt after principal components; optdigits after kernel PCA and Laplacian eigenmaps.
# ONLY="figure-1 figure-2" computes these two.
figure-bayes-error: $(VENV)/installed  ## figures 1 to 4 of van den Burg and Hero 2017 (ONLY=part)
	@$(BAYES_ERROR) $(ONLY)
	@$(KEEP) smartsvm/bayes-error results/figure-bayes-error/*
	@$(LIST) results/figure-bayes-error/*/*.png

# ---- Krzanowski et al. 2006

# The three models of Bayesian k-NN, about 10 minutes. SCALE=full runs the adaptive model with the paper's 10,000 +
# 70,000 steps on 20 splits: hours (about two for vehicle on 2 cores). SCALE=long: the adaptive model alone, with that
# number of steps, on 5 splits (about two and a half hours of one core).
BAYES_KNN = bayes-knn$(patsubst -small,,-$(or $(SCALE),small))
KNN := configs/papers/bayes-knn/bayes-knn
STEPS = $(if $(filter long full,$(SCALE)),--set methods.0.burn_in=10000 --set methods.0.samples=1000 --set methods.0.thin=70)
REPEATS = $(if $(filter long full,$(SCALE)),--set protocol.repeats=$(if $(filter long,$(SCALE)),5,20))
runs-bayes-knn: $(VENV)/installed  ## the runs of table-bayes-knn
ifneq ($(SCALE),long)
	@$(RUN) $(KNN).yaml --quiet --out results/$(BAYES_KNN)/thirds
	@$(RUN) $(KNN).yaml --quiet $(WINE) --out results/$(BAYES_KNN)/wine
	@$(RUN) $(KNN).yaml --quiet $(SYNTHETIC) --out results/$(BAYES_KNN)/synthetic
	@$(RUN) $(KNN).yaml --quiet $(FIRST_ROWS) --out results/$(BAYES_KNN)/first-rows
endif
	@$(RUN) $(KNN)-adaptive.yaml --quiet $(STEPS) $(REPEATS) --out results/$(BAYES_KNN)/thirds-adaptive
	@$(RUN) $(KNN)-adaptive.yaml --quiet $(STEPS) $(WINE) $(REPEATS) --out results/$(BAYES_KNN)/wine-adaptive
	@$(RUN) $(KNN)-adaptive.yaml --quiet $(STEPS) $(SYNTHETIC) $(REPEATS) --out results/$(BAYES_KNN)/synthetic-adaptive
	@$(RUN) $(KNN)-adaptive.yaml --quiet $(STEPS) $(FIRST_ROWS) --out results/$(BAYES_KNN)/first-rows-adaptive

table-bayes-knn: runs-bayes-knn  ## tables 1 to 3 of Krzanowski et al. 2006 (SCALE=long or full: hours)
	@$(REPORT) results/$(BAYES_KNN)/* --out results/reference/$(BAYES_KNN) --table bayesian-knn-table3 \
	  $(if $(filter long,$(SCALE)),,--table bayesian-knn-table1 --table bayesian-knn-table2)
	@$(KEEP) $(BAYES_KNN) results/$(BAYES_KNN)/* --metrics aurc$(if $(filter long,$(SCALE)),$(comma)rhat)

# That might explain it (some minutes), five chains on wine, leave-one-out
table-bayes-knn-settings: $(VENV)/installed  ## other settings of Bayesian k-NN, for table 2 of Krzanowski et al. 2006
	@$(RUN) configs/papers/bayes-knn/bayes-knn-settings.yaml --quiet --out results/bayes-knn-settings/thirds
	@$(RUN) configs/papers/bayes-knn/bayes-knn-settings.yaml --quiet $(SYNTHETIC) \
	  --out results/bayes-knn-settings/synthetic
	@$(RUN) configs/papers/bayes-knn/bayes-knn-settings.yaml --quiet $(FIRST_ROWS) \
	  --out results/bayes-knn-settings/first-rows
	@$(RUN) configs/papers/bayes-knn/bayes-knn-chains.yaml --quiet --out results/bayes-knn-settings/chains
	@$(RUN) configs/papers/bayes-knn/leave-one-out.yaml --quiet --out results/bayes-knn-settings/leave-one-out
	@$(KEEP) bayes-knn-settings results/bayes-knn-settings/* --metrics error,log_loss,k_mean,rhat,training_seconds

# Running estimates of chains, and accuracy-rejection curves
figure-bayes-knn: runs-bayes-knn  ## figures 1 to 4 of Krzanowski et al. 2006
	@$(RUN) $(KNN)-figure1.yaml --quiet
	@$(KEEP) bayes-knn/figure1 results/bayes-knn-figure1 --metrics error --figures
	@$(FIGURES) results/$(BAYES_KNN)/* --out results/figure-bayes-knn
	@$(COPY) results/figure-bayes-knn/figures/*.svg results/reference/bayes-knn/figures
	@$(LIST) results/bayes-knn-figure1/figures/*.png

# ---- Graepel et al. 2000

# Error against rejection rate, 100 splits, and a comparison with the numbers in the paper, also of variants: training
# errors allowed, stopping rule (some minutes).
figure-transduction: table-transduction-variants $(VENV)/installed  ## figure 2 of Graepel et al., Bayesian transduction
	@for name in thyroid heart; do $(RUN) configs/papers/transduction/transduction-$$name.yaml \
	  --quiet || exit $$?; done
	@$(REPORT) results/transduction-thyroid results/transduction-heart results/transduction-thyroid-variants \
	  results/transduction-heart-variants --out results/reference/transduction --table transduction-figure2
	@$(KEEP) transduction results/transduction-thyroid results/transduction-heart --metrics error --figures
	@$(LIST) results/transduction-thyroid/figures/*.png results/transduction-heart/figures/*.png

# Five other trajectories on the same splits (some minutes)
table-transduction-trajectories: $(VENV)/installed  ## Monte Carlo error of the numbers of Graepel et al.
	@for name in thyroid heart; do $(RUN) configs/papers/transduction/transduction-$$name-trajectories.yaml \
	  --quiet || exit $$?; done
	@$(KEEP) transduction/trajectories results/transduction-thyroid-trajectories \
	  results/transduction-heart-trajectories --metrics theta_max,risk_at_rejection,error_at_one,fewer_rejections

# A minute
table-transduction-lengths: $(VENV)/installed  ## theta_max against the length of the run
	@for name in thyroid heart; do $(RUN) configs/papers/transduction/transduction-$$name-lengths.yaml \
	  --quiet || exit $$?; done
	@$(KEEP) transduction/lengths results/transduction-thyroid-lengths results/transduction-heart-lengths \
	  --metrics theta_max,rejection_at_one,error_at_one,fewer_rejections,ess

# Training errors allowed, and the stopping rule of equation 8 (some minutes).
table-transduction-variants: $(VENV)/installed  ## variants of Bayesian transduction
	@for name in thyroid heart; do $(RUN) configs/papers/transduction/transduction-$$name-variants.yaml \
	  --quiet || exit $$?; done
	@$(KEEP) transduction/variants results/transduction-thyroid-variants results/transduction-heart-variants \
	  --metrics error,aurc,log_loss,bounces,ess

# Data space and version space of a toy set, and the labellings of a working set (synthetic)
figure-version-space: $(VENV)/installed  ## figure 1 of Graepel et al.
	@$(RUN) configs/papers/transduction/version-space.yaml
	@$(KEEP) transduction/version-space results/version-space --metrics error --figures
	@$(LIST) results/version-space/figures/*.png

# ---- Kubat, An Introduction to Machine Learning, chapters 2 to 4: computer assignments and more

# About ten minutes; some need data sets, such as flare and ionosphere.
figure-classical: figure-classical-noise figure-classical-linear figure-classical-more $(VENV)/installed  ## Kubat's chapters 2 to 4, about a hundred small runs
	@for name in one-nn naive-bayes not-separable; do $(RUN) configs/papers/kubat/$$name.yaml --quiet || exit $$?; done
	@$(RUN) configs/papers/kubat/one-nn.yaml --quiet --set 'steps=[]' --out results/classical/one-nn-raw
	@$(RUN) configs/papers/kubat/one-nn.yaml --quiet --set 'steps=["min-max", {"tomek-links": {"repeat": true}}]' \
	  --out results/classical/one-nn-cleaned
	@$(FIGURES) results/classical-one-nn --out results/figure-classical/one-nn --against k --metric error --line knn
	@$(KEEP) kubat results/classical-one-nn results/classical-naive-bayes results/classical-not-separable \
	  results/classical-many-neighbours results/classical-boundaries results/classical-rates results/classical-rules \
	  results/classical-four-classes results/classical/boundaries-whole results/classical/boundaries-links \
	  results/classical/boundaries-subset results/classical/boundaries-examples results/classical/one-nn-raw \
	  results/classical/one-nn-cleaned results/figure-classical/* \
	  --metrics error,training_error,converged,presentations,tomek-links.removed_rows,consistent-subset.kept_rows \
	  --figures
	@$(COPY) results/classical-four-classes/tables/class-metrics.csv results/reference/kubat/four-classes-class-metrics.csv
	@$(COPY) results/classical-not-separable/tables/class-metrics.csv results/reference/kubat/not-separable-class-metrics.csv

# k-NN, label noise, Tomek links; irrelevant attributes; the Bayes error
figure-classical-noise: $(VENV)/installed  ## chapter 3: label noise, irrelevant features
	@for name in many-neighbours boundaries; do $(RUN) configs/papers/kubat/$$name.yaml --quiet || exit $$?; done
	@$(RUN) configs/papers/kubat/boundaries-cleaned.yaml --quiet --set 'steps=[]' \
	  --out results/classical/boundaries-whole
	@$(RUN) configs/papers/kubat/boundaries-cleaned.yaml --quiet --set 'steps=[{"tomek-links": {"repeat": true}}]' \
	  --out results/classical/boundaries-links
	@$(RUN) configs/papers/kubat/boundaries-cleaned.yaml --quiet \
	  --set 'steps=[{"tomek-links": {"repeat": true}}, {"consistent-subset": {"add": "one"}}]' \
	  --out results/classical/boundaries-subset
	@$(RUN) configs/papers/kubat/boundaries-cleaned.yaml --quiet --set 'steps=["select-examples"]' \
	  --out results/classical/boundaries-examples
	@for noise in 0 0.05 0.1 0.15 0.2 0.25; do $(RUN) configs/papers/kubat/square-noise.yaml --quiet \
	  --set noise.labels=$$noise --set 'figures=[]' \
	  --out results/classical/square-noise-whole-$$noise || exit $$?; done
	@for noise in 0 0.05 0.1 0.15 0.2 0.25; do $(RUN) configs/papers/kubat/square-noise.yaml --quiet \
	  --set noise.labels=$$noise --set 'figures=[]' --set 'steps=[{"tomek-links": {"repeat": true}}]' \
	  --out results/classical/square-noise-cleaned-$$noise || exit $$?; done
	@$(FIGURES) results/classical/square-noise-* --out results/figure-classical/square-noise --against noise.labels \
	  --metric error --line 'knn k=1' --line 'knn k=3' --line 'knn k=15'
	@$(FIGURES) results/classical/square-noise-* --out results/figure-classical/square-noise --against k --metric error \
	  --line knn
	@for number in 0 1 2 4 8 16; do $(RUN) configs/papers/kubat/knn-irrelevant.yaml --quiet \
	  --set noise.irrelevant=$$number --set 'figures=[]' \
	  --out results/classical/knn-irrelevant-all-$$number || exit $$?; done
	@for number in 0 1 2 4 8 16; do $(RUN) configs/papers/kubat/knn-irrelevant.yaml --quiet \
	  --set noise.irrelevant=$$number --set 'figures=[]' --set 'steps=["min-max", "select-attributes"]' \
	  --out results/classical/knn-irrelevant-selected-$$number || exit $$?; done
	@$(FIGURES) results/classical/knn-irrelevant-* --out results/figure-classical/knn-irrelevant \
	  --against noise.irrelevant --metric error
	@for distance in 0.25 0.5 1 1.5 2 3 4; do $(RUN) configs/papers/kubat/bayes-limit.yaml --quiet \
	  --set datasets.0.distance=$$distance --set 'figures=[]' \
	  --out results/classical/bayes-limit-$$distance || exit $$?; done
	@$(FIGURES) results/classical/bayes-limit-* --out results/figure-classical/bayes-limit --against bayes-error \
	  --metric error
	@for noise in 0.02 0.05 0.1 0.2 0.3 0.4 0.5; do $(RUN) configs/papers/kubat/many-class-limit.yaml --quiet \
	  --set noise.labels=$$noise --set 'figures=[]' --out results/classical/many-class-limit-$$noise || exit $$?; done
	@$(FIGURES) results/classical/many-class-limit-* --out results/figure-classical/many-class-limit \
	  --against bayes-error --metric error

# Independent and mixed attributes, orders of polynomials, subsets of attributes, noisy labels (three minutes)
figure-classical-thoughts: $(VENV)/installed  ## chapters 2 and 4: thought experiments
	@$(RUN) configs/papers/kubat/mixed-attributes.yaml --quiet
	@for size in 0.9 0.8 0.7 0.5; do $(RUN) configs/papers/kubat/independence.yaml --quiet \
	  --set protocol.test-size=$$size --out results/classical/independence-$$size || exit $$?; done
	@for metric in error log_loss; do $(FIGURES) results/classical/independence-* \
	  --out results/figure-classical-thoughts/independence --against train-rows --metric $$metric \
	  --log || exit $$?; done
	@for size in 0.96 0.91 0.75 0.5; do for noise in 0 0.2; do $(RUN) configs/papers/kubat/orders.yaml --quiet \
	  --set protocol.test-size=$$size --set noise.labels=$$noise \
	  --out results/classical/orders-$$size-noise-$$noise || exit $$?; done; done
	@for number in 0 5 10 20; do $(RUN) configs/papers/kubat/attribute-subsets.yaml --quiet \
	  --set datasets.0.irrelevant=$$number \
	  --out results/classical/attribute-subsets-selected-$$number || exit $$?; done
	@for number in 0 5 10 20; do $(RUN) configs/papers/kubat/attribute-subsets.yaml --quiet \
	  --set datasets.0.irrelevant=$$number --set 'steps=[]' \
	  --out results/classical/attribute-subsets-all-$$number || exit $$?; done
	@for noise in 0 0.05 0.1 0.2; do $(RUN) configs/papers/kubat/cleaned-labels.yaml --quiet --set noise.labels=$$noise \
	  --out results/classical/cleaned-labels-links-$$noise || exit $$?; done
	@for noise in 0 0.05 0.1 0.2; do $(RUN) configs/papers/kubat/cleaned-labels.yaml --quiet --set noise.labels=$$noise \
	  --set 'steps=[]' --out results/classical/cleaned-labels-all-$$noise || exit $$?; done
	@$(KEEP) kubat/thoughts results/classical-mixed-attributes results/classical/independence-* \
	  results/classical/orders-* results/classical/attribute-subsets-* results/classical/cleaned-labels-* \
	  results/figure-classical-thoughts/independence \
	  --metrics error,log_loss,training_error,converged,select-attributes.removed_attributes,tomek-links.removed_rows \
	  --figures

# A minute; iris to digits, and files of ionosphere, pima, sonar and vehicle
figure-classical-distances: $(VENV)/installed  ## chapter 3: the pies, other distances, votes of a teacher
	@for name in pies distances teacher; do $(RUN) configs/papers/kubat/$$name.yaml --quiet || exit $$?; done
	@$(KEEP) kubat/distances results/classical-pies results/classical-distances results/classical-teacher \
	  --metrics error --figures

figure-classical-linear: $(VENV)/installed  ## chapter 4: perceptron and WINNOW
	@for name in rates rules four-classes; do $(RUN) configs/papers/kubat/$$name.yaml --quiet || exit $$?; done
	@for number in 0 1 2 5 10 15 20; do $(RUN) configs/papers/kubat/irrelevant.yaml --quiet \
	  --set datasets.0.irrelevant=$$number --set datasets.1.irrelevant=$$number --set 'figures=[]' \
	  --out results/classical/irrelevant-$$number || exit $$?; done
	@$(FIGURES) results/classical/irrelevant-* --out results/figure-classical/irrelevant --against datasets.0.irrelevant \
	  --metric presentations --log-metric
	@for noise in 0 0.05 0.1 0.2 0.3; do $(RUN) configs/papers/kubat/attribute-noise.yaml --quiet \
	  --set noise.attributes=$$noise --set 'figures=[]' \
	  --out results/classical/attribute-noise-$$noise || exit $$?; done
	@for metric in training_error error; do $(FIGURES) results/classical/attribute-noise-* \
	  --out results/figure-classical/attribute-noise --against noise.attributes --metric $$metric || exit $$?; done

figure-classical-more: $(VENV)/installed  ## chapter 4: sizes of the training set, classes, capacity
	@for seed in 1 2 3; do for rows in 10 20 50 100 200; do $(RUN) configs/papers/kubat/training-size.yaml --quiet \
	  --set datasets.0.n=$$rows --set datasets.1.n=$$rows --set datasets.2.n=$$rows --set noise.attributes=0 \
	  --set seed=$$seed --out results/classical/training-size-clean-$$rows-$$seed || exit $$?; done; done
	@for seed in 1 2 3; do for rows in 10 20 50 100 200; do $(RUN) configs/papers/kubat/training-size.yaml --quiet \
	  --set datasets.0.n=$$rows --set datasets.1.n=$$rows --set datasets.2.n=$$rows --set noise.attributes=0.1 \
	  --set seed=$$seed --out results/classical/training-size-noisy-$$rows-$$seed || exit $$?; done; done
	@$(FIGURES) results/classical/training-size-clean-* --out results/figure-classical/training-size-clean \
	  --against train-rows --metric error --log
	@$(FIGURES) results/classical/training-size-clean-* --out results/figure-classical/training-size-clean \
	  --against train-rows --metric presentations --log --log-metric
	@for metric in error training_error; do $(FIGURES) results/classical/training-size-noisy-* \
	  --out results/figure-classical/training-size-noisy --against train-rows --metric $$metric --log || exit $$?; done
	@for number in 0 2 5 10 20; do $(RUN) configs/papers/kubat/four-classes.yaml --quiet \
	  --set datasets.0.irrelevant=$$number --set 'figures=[]' \
	  --out results/classical/four-classes-$$number || exit $$?; done
	@for metric in error training_error; do $(FIGURES) results/classical/four-classes-* \
	  --out results/figure-classical/four-classes --against datasets.0.irrelevant --metric $$metric || exit $$?; done
	@for number in 2 3 4 6 9 12; do $(RUN) configs/papers/kubat/more-classes.yaml --quiet \
	  --set datasets.0.classes=$$number --set 'figures=[]' \
	  --out results/classical/more-classes-clean-$$number || exit $$?; done
	@for number in 2 3 4 6 9 12; do $(RUN) configs/papers/kubat/more-classes.yaml --quiet \
	  --set datasets.0.classes=$$number --set 'figures=[]' --set noise.labels=0.1 \
	  --out results/classical/more-classes-noisy-$$number || exit $$?; done
	@$(FIGURES) results/classical/more-classes-* --out results/figure-classical/more-classes \
	  --against datasets.0.classes --metric error
	@for number in 20 40 60 70 80 90 100 120 160; do $(RUN) configs/papers/kubat/capacity.yaml --quiet \
	  --set datasets.0.n=$$number --set 'figures=[]' --out results/classical/capacity-$$number || exit $$?; done
	@$(FIGURES) results/classical/capacity-* --out results/figure-classical/capacity --against train-rows \
	  --metric converged
