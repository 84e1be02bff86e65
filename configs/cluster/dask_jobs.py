"""Compute a run with dask workers that are jobs of SLURM, PBS, SGE, LSF or HTCondor:

    python configs/cluster/dask_jobs.py configs/usps.yaml --jobs 64 --out results/usps
    python configs/cluster/dask_jobs.py configs/usps.yaml --cluster PBSCluster --jobs 64

1. It needs ``pip install 'confml[dask]' dask-jobqueue`` and runs on the login node, or in a small job.
2. The scheduler of dask is in this process. Each worker is a job of its own with one task at a time.
3. The number of jobs follows the work: at most ``--jobs`` are in the queue, and idle ones end.
4. ``--memory`` and ``--walltime`` are the limits of each job.
5. Other options of the cluster, such as queue and account, are in ~/.config/dask/jobqueue.yaml.
6. Jobs that reach their time limit are replaced; their tasks are computed again.
7. A cell whose task kills three workers fails, and the others are computed.
8. The results folder must have the same path on all machines.
9. ``watch confml status results/usps`` shows the progress.
10. The same command continues an interrupted run.
"""

import argparse

import dask_jobqueue

import confml


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("--out")
    parser.add_argument("--cluster", default="SLURMCluster", help="class of dask_jobqueue")
    parser.add_argument("--jobs", type=int, default=16, help="largest number of jobs")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--walltime", default="01:00:00")
    options = parser.parse_args()
    kind = getattr(dask_jobqueue, options.cluster)
    limits = {"memory": options.memory, "walltime": options.walltime}
    with kind(cores=1, processes=1, scheduler_options={"dashboard_address": None}, **limits) as cluster:
        cluster.adapt(minimum=1, maximum=options.jobs)
        run = confml.run(options.config, out=options.out, engine=cluster.scheduler_address, say=print)
    print(f"{run.folder}: {len(run.failures)} cells failed")


if __name__ == "__main__":
    main()
