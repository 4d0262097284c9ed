# SPDX-License-Identifier: Apache-2.0
"""The workers of a sweep, by Dask.distributed: processes of this machine, jobs of Slurm, or those of a scheduler that runs already."""

import contextlib
import logging
import os
import subprocess
import sys
import tempfile

from ..errors import Problem, UserError
from ..extras import need

CLUSTERS = ("slurm",)
# How many dying workers a task may be assigned to before Dask gives it up. A worker counts for all of its tasks, whichever killed it.
ALLOWED_FAILURES = 100
CONNECT_S = 30
# By default Dask looks at its processes a hundred times a second, which takes time from the simulators.
QUIET = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "2s", "distributed.admin.tick.limit": "60s",
         "distributed.admin.system-monitor.interval": "10s", "distributed.logging.distributed": "warning"}


def available_memory():
    """Bytes that the kernel could give to new processes (proc(5): MemAvailable)."""
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


def default_workers(memory_limit):
    """One worker for each core that this process may use, but no more than fit into memory."""
    cores = len(os.sched_getaffinity(0))
    return max(1, min(cores, available_memory() // memory_limit)) if memory_limit else cores


class Workers:
    """Workers that run. client: Dask's Client. memory: bytes that the workers of this machine share, 0 when they are on other machines."""

    def __init__(self, client, count, memory):
        self.client, self.count, self.memory = client, count, memory


def _quiet_log(folder):
    """Sends the log of Dask to a file, because users need not know that a worker was killed and started again."""
    handler = logging.FileHandler(folder / "workers.log", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    for name in ("distributed", "tornado", "asyncio", "dask_jobqueue"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)


@contextlib.contextmanager
def workers(output, count=0, scheduler=None, cluster=None, settings=None, memory_limit=0):
    """A context manager that yields Workers. count: their number, 0 for default_workers(). settings: the table [cluster] of the
    specification. Raises UserError."""
    if scheduler and (cluster or count):
        raise UserError(Problem("sweep", "a scheduler is given, and " + ("a cluster" if cluster else "a number of workers"), "a scheduler has workers of its own", ""))
    need("sweep")
    import dask  # pylint: disable=import-outside-toplevel
    import distributed  # pylint: disable=import-outside-toplevel
    _quiet_log(output)
    with dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_FAILURES, **QUIET}):
        if scheduler:
            with _client(distributed, scheduler) as client:
                yield Workers(client, 0, 0)
        elif cluster:
            with _slurm(count or 1, settings or {}, output) as jobs, _client(distributed, jobs) as client:
                yield Workers(client, count or 1, 0)
        else:
            count = count or default_workers(memory_limit)
            with tempfile.TemporaryDirectory(prefix="ssdtlm-workers-") as scratch:
                with _local(distributed, count, scratch) as local:
                    _quiet_log(output)
                    with _client(distributed, local) as client:
                        yield Workers(client, count, available_memory())


class LazyWorkers:
    """Workers that start when they are first asked for, and end with the `with` block. A sweep that has nothing to do starts none."""

    def __init__(self, output, **options):
        self._output, self._options = output, options
        self._stack, self._workers = contextlib.ExitStack(), None

    def get(self):
        if self._workers is None:
            self._workers = self._stack.enter_context(workers(self._output, **self._options))
        return self._workers

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)


def _local(distributed, count, scratch):
    try:
        # Free ports, because two sweeps may run on one machine.
        return distributed.LocalCluster(n_workers=count, threads_per_worker=1, processes=True, memory_limit=0, dashboard_address="127.0.0.1:0",
                                        worker_dashboard_address="127.0.0.1:0", local_directory=scratch, host="127.0.0.1", silence_logs=logging.CRITICAL)
    except (RuntimeError, OSError) as error:
        first = error
        while first.__cause__ or first.__context__:
            first = first.__cause__ or first.__context__
        raise UserError(Problem("sweep", f"{count} workers cannot be started on this machine: {first}", "processes, ports of 127.0.0.1, semaphores in /dev/shm",
                                "repair it, or give a scheduler that has workers: --scheduler tcp://HOST:PORT")) from None


def _client(distributed, address):
    try:
        return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        where = address if isinstance(address, str) else "the cluster's scheduler"
        raise UserError(Problem("--scheduler", f"{where} cannot be reached: {error}", "the address of a Dask scheduler, tcp://HOST:PORT",
                                "start one with `dask scheduler`")) from None


def _slurm(count, settings, output):
    from dask_jobqueue import SLURMCluster  # pylint: disable=import-outside-toplevel
    # One simulation, one thread, one job: a lost job costs one run. All of it can be set in [cluster].
    chosen = {"scheduler_options": {"dashboard_address": ":0"}, "cores": 1, "processes": 1, "memory": "4GiB", "walltime": "24:00:00", "python": sys.executable, "local_directory": None,
              "log_directory": str(output / "slurm"), "death_timeout": 60, **settings}
    try:
        jobs = SLURMCluster(**{key: value for key, value in chosen.items() if value is not None})
    except (TypeError, ValueError) as error:
        raise UserError(Problem("[cluster]", str(error), "arguments of dask_jobqueue.SLURMCluster", "see its documentation")) from None
    _ask_slurm(jobs)
    # Jobs that end or are cancelled are replaced.
    jobs.adapt(minimum=count, maximum=count, interval="1s", wait_count=10)
    return jobs


def _ask_slurm(jobs):
    """Raises UserError when Slurm would not take the job of the workers. Dask by itself would submit it again and again."""
    where = "--cluster slurm"
    try:
        said = subprocess.run(["sbatch", "--test-only"], input=jobs.job_script(), capture_output=True, text=True, check=False)
    except OSError as error:
        raise UserError(Problem(where, f"sbatch cannot be started: {error.strerror}", "a machine from which jobs can be submitted", "install Slurm's client, or sweep without --cluster")) from None
    if said.returncode:
        reason = said.stderr.strip().replace("\n", "; ") or f"sbatch ended with {said.returncode}"
        raise UserError(Problem(where, f"Slurm refuses the workers' job: {reason}", "what `sbatch` takes", "set partition, time, memory in [cluster]"))
