"""Write batches through a sink in a process that is killed again and again: `python killed_sink.py KILLS SINK...`.

For each sink SINK, `whole/SINK` is written by a process that is let alone, and `killed/SINK` by many, of which all but
the last are killed at random moments. The processes are forks, since it takes long to import everything.
"""

import os
import random
import signal
import sys
import time

import numpy as np
import pyarrow as pa

from australis.arrow.schema import schema
from australis.boxes.signals import segment, timebase
from australis.connectors import sink
from australis.testing.signals import signal as signals

SCHEMA = pa.schema({"batch": pa.int32(), "i": pa.int32(), "text": pa.string()})
SOUND = schema("batch int, audio segment<int16>")
BATCHES = 60


def tuples(batch: int) -> list[pa.RecordBatch]:
    """The same for the same batch, of different lengths; every seventh has none."""
    count = 0 if batch % 7 == 3 else 50 + batch * 31 % 700
    rows = [{"batch": batch, "i": i, "text": f"{batch}-{i}" * (i % 5)} for i in range(count)]
    whole = pa.RecordBatch.from_pylist(rows, SCHEMA)
    return [whole[: count // 2], whole[count // 2 :]]


def sounds(batch: int) -> list[pa.RecordBatch]:
    """Some segments of different lengths."""
    sizes = [1 + (batch * 31 + i) % 700 for i in range(0 if batch % 7 == 3 else 1 + batch % 4)]
    long = segment(np.arange(batch, batch + 700, dtype=np.int16), timebase(48_000))
    return [signals(SOUND, batch=[batch // 2] * len(sizes), audio=[long[:size] for size in sizes]).tuples]


TUPLES = SCHEMA, [tuples(batch) for batch in range(BATCHES)]
SOUNDS = SOUND, [sounds(batch) for batch in range(BATCHES // 3)]


def write(where: str, calls: int = 0) -> int:
    """Write all batches in a process of its own. It does not know which were written before.

    It kills itself at a call of `fsync`, if told at which.
    """
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        if calls:
            os.fsync = os.fdatasync = Countdown(calls)
        schema, given = SOUNDS if where.endswith(("wav", "flac")) else TUPLES
        writer = sink.open(where, schema, run="one")
        for batch, trains in enumerate(given):
            writer.write(batch, trains)
        writer.close()
        code = 0
    finally:
        os._exit(code)


class Countdown:
    """Calls `fsync` so many times, and then kills the process before it or after it."""

    def __init__(self, left: int) -> None:
        self.left, self.fsync, self.after = left, os.fsync, random.random() < 0.5

    def __call__(self, handle: int) -> None:
        self.left -= 1
        if not self.left and not self.after:
            os.kill(os.getpid(), signal.SIGKILL)
        self.fsync(handle)
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)


def ended(child: int) -> bool:
    """Whether a process came to its end by itself."""
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        assert os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


def main(kills: int, wheres: list[str]) -> None:
    for where in wheres:
        began = time.perf_counter()
        assert ended(write(f"whole/{where}"))
        took = time.perf_counter() - began
        died = 0
        while died < kills:
            if died % 2:
                child = write(f"killed/{where}")
                time.sleep(random.uniform(0, took / 5))
                os.kill(child, signal.SIGKILL)
            else:
                child = write(f"killed/{where}", random.randint(1, 9))
            if ended(child):
                break
            died += 1
        assert ended(write(f"killed/{where}"))
        print(where, died)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
