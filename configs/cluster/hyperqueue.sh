#!/bin/sh
# Compute a run as a task array of HyperQueue:
#
#   sh configs/cluster/hyperqueue.sh 16 configs/usps.yaml --out results/usps
#
# 1. HyperQueue (https://it4innovations.github.io/hyperqueue) is one program, `hq`. It needs no administrator.
# 2. The first argument is the number of parts; the others are those of `confml run`.
# 3. If no server is running, this script starts one, and a worker on this machine, and ends both.
# 4. More workers: `hq worker start` on other machines, or `hq alloc add slurm --time-limit 1h` (or pbs), which
#    submits jobs with workers to the queue of the cluster while there are tasks.
# 5. For that, start the server before: `hq server start &` on the login node.
# 6. CPUS are the processors of a part, 1 by default: HyperQueue runs as many parts at a time as fit.
# 7. --shard auto/16 reads the number of the part from HQ_TASK_ID.
# 8. All parts write into one results folder, which every machine must see under the same path.
# 9. A part whose worker is lost is started again by HyperQueue; finished cells are not computed again.
# 10. `hq job list` shows the tasks, `confml status results/usps --watch` the cells.
set -eu
parts=$1
shift
cpus=${CPUS:-1}
if ! hq server info >/dev/null 2>&1; then
  hq server start >hq-server.log 2>&1 &
  trap 'hq server stop >/dev/null 2>&1 || :; wait' EXIT
  trap 'exit 130' INT TERM
  until hq server info >/dev/null 2>&1; do sleep 0.2; done
  hq worker start >hq-worker.log 2>&1 &
fi
hq submit --wait --array "1-$parts" --cpus "$cpus" -- \
  confml run "$@" --quiet --jobs "$cpus" --shard "auto/$parts" || echo "a part failed; see hq job list" >&2
confml run "$@" # with nothing left to compute it writes the report of all cells
