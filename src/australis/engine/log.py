"""The log of a run: what Spark writes of each batch before it runs it, and after."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from zlib import crc32

from australis.connectors.source import Offset
from australis.disk.durable import sync_folder
from australis.engine.batch import Batch, batch
from australis.engine.positions import Positions
from australis.engine.state.delta import REMEDY
from australis.errors import RunError


def sealed(plan: dict[str, Any]) -> dict[str, Any]:
    """A plan with a checksum, by which the log knows it is as it was written."""
    return plan | {"check": _check_sum(plan)}


def _check_sum(plan: dict[str, Any]) -> int:
    """A checksum of what a plan is once it was written and read: JSON's keys are texts, in whatever order."""
    return crc32(json.dumps(json.loads(json.dumps(plan)), sort_keys=True).encode())


class Log:
    """A folder of Spark's: `offsets` has the plan of each batch, `commits` an entry for each batch that is done.

    Spark does not sync what it writes. So each plan is synced before its batch runs: no sink and no state is ever ahead
    of the log, even after a power cut. Where a commit is lost, the batch is run again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self) -> None:
        """Make its folders, for each of which Spark would start a process to set its mode."""
        for log in ("offsets", "commits"):
            (self.folder / log).mkdir(parents=True, exist_ok=True)

    def batch(self, number: int) -> Batch:
        """The batch that is planned under a number of Spark's own."""
        return self._plan(number)[0]

    def last(self) -> Batch | None:
        """The last batch that was planned, done or not."""
        numbers = self._numbers("offsets")
        last = self.batch(numbers[-1]) if numbers else None
        return last if last is not None and last.version else None

    @property
    def planned(self) -> int:
        """The version of the last batch that was planned; 0 if none was."""
        last = self.last()
        return 0 if last is None else last.version

    @property
    def committed(self) -> int:
        """The version of the last batch that is done; 0 if none is."""
        both = sorted({*self._numbers("offsets")}.intersection(self._numbers("commits")))
        return self.batch(both[-1]).version if both else 0

    def done(self) -> bool:
        """Whether the run came to the end of its inputs."""
        last = self.last()
        return last is not None and last.end and last.version == self.committed

    def inputs(self) -> dict[str, Offset]:
        """How far the last batch that was planned goes in each input, for the branch that has come furthest."""
        return dict(self.positions().front)

    def positions(self) -> Positions:
        """How far the last batch that was planned goes in each input."""
        numbers = self._numbers("offsets")
        return self._plan(numbers[-1])[1] if numbers else Positions()

    def sync(self, number: int) -> None:
        """Sync a plan to the disk."""
        plan = self.folder / "offsets" / str(number)
        for path in (plan,) if number else (plan, self.folder / "metadata"):
            with path.open("rb") as file:
                os.fsync(file.fileno())
            sync_folder(path.parent)

    def mend(self) -> None:
        """Remove the last entries if they are empty, as a power cut leaves them, and check the others.

        The batch of such a plan has not run, and a batch with such a commit is run again.
        """
        for name in ("commits", "offsets"):
            for number in reversed(self._numbers(name)):
                path = self.folder / name / str(number)
                if path.stat().st_size:
                    break
                path.unlink()
                path.with_name(f".{number}.crc").unlink(missing_ok=True)
        for path in (*self.folder.glob("**/.*.crc"), self.folder / "metadata"):
            if path.exists() and not path.stat().st_size:
                path.unlink()
        self._check()

    def _check(self) -> None:
        """Refuse a log that Spark would not read, or that has lost the plan of a committed batch."""
        metadata = self.folder / "metadata"
        if metadata.exists():
            try:
                str(json.loads(metadata.read_text())["id"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise _damaged(metadata, f"it cannot be read ({error})") from error
        numbers, committed = self._numbers("offsets"), self._numbers("commits")
        for number in numbers[-1:]:
            for each in range(max(number - 1, 0), number + 1):
                self._plan(each)
        if committed and committed[-1] > (numbers[-1] if numbers else -1):
            raise _damaged(self.folder / "offsets" / str(committed[-1]), "it is missing, and its batch is committed")

    def _plan(self, number: int) -> tuple[Batch, Positions]:
        path = self.folder / "offsets" / str(number)
        try:
            plan: dict[str, Any] = dict(json.loads(path.read_text().splitlines()[-1]))
            check = plan.pop("check", None)
            planned = batch(plan), Positions.of(plan)
        except FileNotFoundError as error:
            raise _damaged(path, "it is missing") from error
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise _damaged(path, f"it cannot be read ({error!r})") from error
        if check is not None and check != _check_sum(plan):
            raise _damaged(path, "it is not what was written")
        return planned

    def _numbers(self, name: str) -> list[int]:
        folder = self.folder / name
        return sorted(int(entry.name) for entry in folder.iterdir() if entry.name.isdigit()) if folder.exists() else []


def _damaged(path: Path, why: str) -> RunError:
    return RunError(f"{path}: the checkpoint is damaged: {why}; {REMEDY}")
