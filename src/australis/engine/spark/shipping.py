"""Shipping: a job as bytes for other processes, each of which reads them once."""

from __future__ import annotations

import pickle
import sys
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from australis.engine.job import Job
from australis.engine.spark import alive
from australis.model.network import Network

_KEPT = 8
_jobs: OrderedDict[str, Job] = OrderedDict()


@dataclass(frozen=True)
class ShippedJob:
    """A job as bytes. Spark unpickles what it sends for every task of every batch: these bytes, and not the job."""

    name: str
    data: bytes

    @property
    def job(self) -> Job:
        """The job, read in this process once."""
        job = _jobs.get(self.name)
        if job is None:
            paths, data = pickle.loads(self.data)
            sys.path += [path for path in paths if path not in sys.path and Path(path).exists()]
            job = pickle.loads(data)
            _jobs[self.name] = job
            while len(_jobs) > _KEPT:
                _jobs.popitem(last=False)
            if job.shared_folder:
                alive.when_over(job.shared_folder, partial(_drop, self.name))
        with suppress(KeyError):  # its run has ended meanwhile
            _jobs.move_to_end(self.name)
        return job


def _drop(name: str) -> None:
    _jobs.pop(name, None)


def ship(job: Job) -> ShippedJob:
    """A job as bytes, with the paths of this process's modules: users' functions may be in one beside a script.

    The network goes without its verbs, such as `run`: every process would load their modules. Of the one that was
    drawn, and of rules, tasks need to know nothing.
    """
    from pyspark import cloudpickle

    bare = replace(job, network=Network.of(job.network), drawn=None, firings=())
    paths = [str(Path(path).absolute()) for path in sys.path]
    data = pickle.dumps((paths, cloudpickle.dumps(bare)))  # type: ignore[no-untyped-call]
    return ShippedJob(sha256(data).hexdigest(), data)
