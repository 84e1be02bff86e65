#!/bin/sh
# Compute a run on a dask cluster that this script starts and ends:
#
#   sh configs/cluster/dask.sh 8 configs/usps.yaml --out results/usps
#   START="srun --ntasks=64" sh configs/cluster/dask.sh 1 configs/usps.yaml     (inside a job of 64 tasks)
#
# 1. It needs `pip install 'confml[dask]'` on every node.
# 2. The first argument is the number of worker processes; the others are those of `confml run`.
# 3. Without START all processes are on this machine and listen on the loopback address only.
# 4. With START (srun, mpirun, ssh node2), the workers are started by that command, on its machines. They find
#    the scheduler through the file dask-scheduler.json in this folder, which they must see.
# 5. --nthreads 1: each worker runs one task at a time. With more threads a large task uses them.
# 6. A worker that dies is started again by its nanny. The task that it ran is tried again, and fails after the
#    fourth worker. Workers may be added to the cluster, and removed, at any time.
# 7. --lifetime "55 minutes" in WORKER ends workers in time before the limit of a job.
# 8. If the scheduler ends, the run stops with an error; the same command continues it.
# 9. On Linux each nanny imports the modules of tasks once and forks its workers, which import nothing.
#    Processes sample no profiles, and look for a blocked event loop every 0.2 s instead of 0.02 s.
# 10. For a scheduler that runs already: confml run CONFIG --engine tcp://host:8786
#     configs/cluster/dask_jobs.py starts workers as jobs of SLURM, PBS, SGE or LSF, as many as are useful.
set -eu
workers=$1
shift
host=127.0.0.1
[ -z "${START:-}" ] || host=$(hostname)
file=$PWD/dask-scheduler.json
rm -f "$file"
export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL=200ms
if [ "$(uname)" = Linux ]; then
  export DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD=fork
  export DASK_DISTRIBUTED__NANNY__PRELOAD=confml.runner.dask_calls
fi

dask scheduler --host "$host" --port 0 --no-dashboard --scheduler-file "$file" >dask-scheduler.log 2>&1 &
scheduler=$!
worker=
trap 'kill $worker 2>/dev/null && wait $worker || :; kill $scheduler || :; wait; rm -f "$file"' EXIT
trap 'exit 130' INT TERM
[ -z "${START:-}" ] && local="--host $host" || local=
# Words of START and WORKER are arguments of their own.
${START:-} dask worker --scheduler-file "$file" --nworkers "$workers" --nthreads 1 --no-dashboard $local \
  ${WORKER:-} >dask-worker.log 2>&1 &
worker=$!
while [ ! -s "$file" ]; do
  kill -0 "$scheduler" 2>/dev/null || { echo "the scheduler ended; see dask-scheduler.log" >&2; exit 1; }
  sleep 0.2
done
confml run --engine "$file" "$@" # the traps end scheduler and workers
