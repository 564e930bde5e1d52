"""An outlet: a sink that is open for the tuples of an output."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import pyarrow as pa

from australis.connectors.sink import Agreeing, Sink, Writer
from australis.engine.checkpoint import Checkpoint
from australis.errors import Subject, placed


@dataclass(frozen=True)
class OpenSink:
    """A sink that is open, with the columns of its tuples."""

    sink: Sink
    schema: pa.Schema
    writer: Writer


def outlet(name: str, sink: Sink, schema: pa.Schema, checkpoint: Checkpoint) -> OpenSink:
    """Open the sink of an output where the checkpoint is. What the sink has beyond that is dropped, with a warning."""
    with placed(Subject("output", name)):
        writer = sink.open(schema, checkpoint.run, replace=not checkpoint.lasting)
        try:
            log = checkpoint.log
            dropped = writer.agree(log.planned, log.committed) if isinstance(writer, Agreeing) else ""
            if dropped:
                warnings.warn(f"output {name}: {dropped}", stacklevel=2)
        except BaseException:
            writer.close()
            raise
    return OpenSink(sink, schema, writer)
