"""Origins: what a source is and where, in a few words, by which a checkpoint knows it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from australis.connectors.source import Known, Source
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
    if isinstance(source, Known):
        return source.origin(checkpoint)
    return f"{type(source).__module__}.{type(source).__qualname__}"


def kept_in(spool: str, checkpoint: Path) -> str:
    """Where a spool is, if it is not in the checkpoint's folder."""
    return "" if Path(spool).is_relative_to(checkpoint) else f" kept in {spool}"
