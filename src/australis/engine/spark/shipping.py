"""A job as it is sent to other processes: as bytes, which each process reads once."""

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
class Sent:
    """Spark unpickles what it sends for every task of every batch; of a job only these bytes."""

    name: str
    data: bytes

    @property
    def job(self) -> Job:
        job = _jobs.get(self.name)
        if job is None:
            paths, data = pickle.loads(self.data)
            sys.path += [path for path in paths if path not in sys.path and Path(path).exists()]
            job = pickle.loads(data)
            _jobs[self.name] = job
            while len(_jobs) > _KEPT:
                _jobs.popitem(last=False)
            if job.aside:
                alive.when_over(job.aside, partial(_drop, self.name))
        with suppress(KeyError):  # its run has ended meanwhile
            _jobs.move_to_end(self.name)
        return job


def _drop(name: str) -> None:
    _jobs.pop(name, None)


def send(job: Job) -> Sent:
    """With where modules are found here: functions of the user's own may be in one beside a script.

    Its network goes without what people can do with it, which would be loaded in every process.
    """
    from pyspark import cloudpickle

    bare = replace(job, network=Network.of(job.network))
    paths = [str(Path(path).absolute()) for path in sys.path]
    data = pickle.dumps((paths, cloudpickle.dumps(bare)))  # type: ignore[no-untyped-call]
    return Sent(sha256(data).hexdigest(), data)
