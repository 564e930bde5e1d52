"""Take posts in a process that may be killed: `python killed_push.py FOLDER`.

For each line on its input a new process opens the spool in FOLDER, and says its id and its port. A line is the number
of calls of `fsync` after which the process kills itself, or 0. The processes are forks, since it takes long to import
everything.
"""

import os
import signal
import sys
from itertools import count

from australis.arrow.schema import schema
from australis.connectors.sources.push import Push

SCHEMA = schema("who string, i int, part int")


def serve(folder: str, calls: int) -> None:
    fsync, made = os.fsync, count(1)

    def counted(handle: int) -> None:
        fsync(handle)
        if next(made) == calls:
            os.kill(os.getpid(), signal.SIGKILL)

    endpoint = Push("127.0.0.1", 0, SCHEMA, folder).open()
    os.fsync = counted
    print(os.getpid(), endpoint.address[1], flush=True)
    signal.pause()


def main(folder: str) -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                serve(folder, int(line))
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"ended by itself: {status}"
        print("killed", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
