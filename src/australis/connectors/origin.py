"""Origins: what a source is and where, in a few words, by which a checkpoint knows it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from australis.connectors.source import Source
from australis.connectors.sources.files import Files
from australis.connectors.sources.memory import Memory
from australis.connectors.sources.push import Push
from australis.connectors.sources.rate import Rate
from australis.connectors.sources.replay import Replay
from australis.connectors.sources.samples import Samples
from australis.engine.spark.frame_source import Frame
from australis.errors import RunError


def origins(sources: Mapping[str, Source], checkpoint: Path) -> dict[str, str]:
    """The origins of inputs. What lies in the checkpoint's folder is there wherever that is."""
    return {name: _origin(source, checkpoint) for name, source in sources.items()}


def check_origins(known: Mapping[str, str], now: Mapping[str, str], checkpoint: Path) -> None:
    """Refuse another source than an input had: how far the one was read says nothing of the other."""
    for name, origin in now.items():
        if known.get(name, origin) != origin:
            raise RunError(
                f"{checkpoint}: input {name} was read from {known[name]}, and is now given {origin}; give it the source"
                " that it had, from the same place, or choose another checkpoint folder to begin anew"
            )


def _origin(source: Source, checkpoint: Path) -> str:
    match source:
        case Files():
            return f"files {_spelled(source)}"
        case Replay():
            return f"a replay of {_spelled(source.files)} by {source.on}"
        case Samples():
            return f"samples of {len(source.paths)} files from {Path(source.paths[0]).absolute()} on"
        case Push():
            return f"posts{_kept(source.spool, checkpoint)}"
        case Frame():
            return f"a frame of Spark{_kept(source.spool, checkpoint)}"
        case Rate():
            return "a rate"
        case Memory():
            return "tuples in memory"
        case _:
            return f"{type(source).__module__}.{type(source).__qualname__}"


def _spelled(files: Files) -> str:
    return (files.path.rstrip("/") or "/") + (" in the order of their times" if files.order == "time" else "")


def _kept(spool: str, checkpoint: Path) -> str:
    return "" if Path(spool).is_relative_to(checkpoint) else f" kept in {spool}"
