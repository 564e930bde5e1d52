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
    """Where tuples of some columns go."""

    sink: Sink
    schema: pa.Schema
    writer: Writer


def outlet(name: str, sink: Sink, schema: pa.Schema, checkpoint: Checkpoint) -> OpenSink:
    """Open the sink of an output. It is taken up where its checkpoint is: what is beyond that goes, and is told of."""
    with placed(Subject("output", name)):
        writer = sink.open(schema, checkpoint.run, replace=not checkpoint.lasting)
        try:
            if isinstance(writer, Agreeing):
                told = writer.agree(checkpoint.log.planned, checkpoint.log.committed)
                if told:
                    warnings.warn(f"output {name}: {told}", stacklevel=2)
        except BaseException:
            writer.close()
            raise
    return OpenSink(sink, schema, writer)
