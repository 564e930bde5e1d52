"""What a run has learned of its costs, and of what its outputs are worth, kept on its checkpoint.

So a run that goes on does not begin blind.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from zlib import crc32

from australis.disk.durable import renamed
from australis.disk.private import private
from australis.errors import RunError
from australis.model.network import Network
from australis.qos.monitor import Monitor
from australis.qos.worth import Worths

FORMAT = 2
_FILE = "measures/learned.json"


@dataclass(frozen=True)
class Learned:
    """What was measured: the monitor, and the least that a batch takes by itself, in seconds, if that is known.

    And what the tuples of outputs with value graphs are worth, as `Worths.render` says it.
    """

    monitor: Monitor = field(default_factory=Monitor)
    batch: float | None = None
    worths: str = ""

    def worths_in(self, network: Network) -> Worths:
        """What is known of the outputs of a network; nothing, with a warning, if it does not read."""
        try:
            return Worths.parse(self.worths, network) if self.worths else Worths(network)
        except RunError as error:
            warnings.warn(f"{error.reason}; it is counted anew", stacklevel=2)
            return Worths(network)

    def save(self, checkpoint: str | Path) -> None:
        """Save it, whole or not at all. A run that cannot save it goes on, and says so."""
        path = Path(checkpoint) / _FILE
        body = json.dumps({"monitor": self.monitor.render(), "batch": self.batch, "worths": self.worths})
        text = json.dumps({"format": FORMAT, "check": crc32(body.encode()), "learned": body})
        try:
            path.parent.mkdir(exist_ok=True)
            with renamed(path) as file:
                private(file).write(text.encode())
        except OSError as error:
            warnings.warn(f"{path}: what boxes cost cannot be saved: {error}", stacklevel=2)


def read_learned(checkpoint: str | Path) -> Learned:
    """What a run on a checkpoint has learned; nothing if none did, or, with a warning, if it does not read."""
    path = Path(checkpoint) / _FILE
    try:
        return _parsed(path.read_bytes())
    except FileNotFoundError:
        return Learned()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RunError) as error:
        reason = error.reason if isinstance(error, RunError) else error
        warnings.warn(f"{path}: {reason}; what boxes cost is measured anew", stacklevel=2)
        return Learned()


def _parsed(content: bytes) -> Learned:
    saved = json.loads(content)
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise ValueError("is not of the form that this Australis writes")
    body = saved["learned"]
    if crc32(body.encode()) != saved["check"]:
        raise ValueError("is damaged")
    learned = json.loads(body)
    batch = learned["batch"]
    if batch is not None and not (isinstance(batch, float) and isfinite(batch) and batch >= 0):
        raise ValueError(f"is damaged: a batch takes no {batch!r} seconds")
    if not isinstance(learned["worths"], str):
        raise ValueError("is damaged: what outputs are worth is no text")
    return Learned(Monitor.parse(learned["monitor"]), batch, learned["worths"])
