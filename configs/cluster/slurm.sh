#!/bin/sh
# Compute a run as an array of SLURM jobs:
#
#   sbatch --array=1-16 configs/cluster/slurm.sh configs/usps.yaml --out results/usps
#   watch confml status results/usps
#   confml report results/usps
#
# 1. Each task of the array computes one part: --shard auto reads its number and the size of the array.
# 2. All parts write into one results folder, which every node must see under the same path.
# 3. Arguments after the script are those of `confml run`. Options before it, such as --time, replace the
#    #SBATCH lines below. A part uses as many worker processes as it has processors.
# 4. At the time limit SLURM sends SIGTERM: confml keeps the finished cells and stops.
# 5. To continue, submit the whole array again with the same size. Finished cells are not computed again.
# 6. `confml report` after the last part writes the tables and figures of all cells.
# 7. Fetch the data once before, with `confml data fetch`, and activate the environment of confml.
# 8. Other schedulers give the number of a task in a variable of their own, such as PBS_ARRAY_INDEX:
#    confml run CONFIG --out /path/results --shard "$PBS_ARRAY_INDEX/16"
#SBATCH --job-name=confml
#SBATCH --array=1-16
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@60
#SBATCH --output=confml-%A-%a.log

exec confml run --shard auto --jobs "${SLURM_CPUS_PER_TASK:-1}" "$@"
