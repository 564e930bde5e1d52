"""Outlets: sinks that are open for the tuples of outputs, and what they are given of a batch."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import pyarrow as pa

from australis.arrow.schema import text
from australis.connectors.sink import Agreeing, Parted, Sink, Writer
from australis.engine import measures
from australis.engine.addresses import MEASURES, PARTS
from australis.engine.batch import Batch
from australis.engine.checkpoint import Checkpoint
from australis.engine.delays import arrivals_of, inputs_of
from australis.engine.exchange import in_order
from australis.engine.job import Job
from australis.engine.readings import readings
from australis.errors import RunError, Subject, placed
from australis.model.network import Network
from australis.model.train import Train


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


def followed_by(
    before: Mapping[str, OpenSink],
    network: Network,
    sinks: Mapping[str, Sink],
    checkpoint: Checkpoint,
    opened: ExitStack,
) -> dict[str, OpenSink]:
    """Where the outputs of another network go: as before, or to sinks that they are given. `opened` closes new ones."""
    outlets = {}
    for output in network.outputs:
        schema, known = network.schema(output.arrow), before.get(output.name)
        sink = sinks.get(output.name)
        if sink is not None and (known is None or sink != known.sink):
            known = outlet(output.name, sink, schema, checkpoint)
            opened.callback(known.writer.close)
        if known is None:
            continue
        if not known.schema.equals(schema):
            raise RunError(
                f"has the columns {text(known.schema)} now, and would have {text(schema)};"
                " give it another sink by its name",
                Subject("output", output.name),
            )
        outlets[output.name] = known
    return outlets


def deliver(
    job: Job,
    batch: Batch,
    trains: Mapping[str, list[Train]],
    unpacking: Mapping[str, float],
    outlets: Mapping[str, OpenSink],
) -> list[pa.RecordBatch]:
    """Give outputs to their sinks; what was measured of the batch. Unpacking took some seconds for each output."""
    sent = [train.tuples for train in trains.get(MEASURES, [])]
    rows = list(measures.rows_of(sent))
    arrivals = {
        name: arrivals_of(batch.clock, rows, reading.label)
        for reading in readings(job, batch)
        for name in reading.outputs
    }
    tables = [table.select(measures.SCHEMA.names) for table in sent]
    written = list(measures.rows_of(train.tuples for train in trains.get(PARTS, [])))
    for output in job.network.outputs:
        start = time.thread_time()
        sequence = in_order(job.network.schema(output.arrow), trains.get(output.name, []))
        parts = [part for part in written if part["output"] == output.name]
        open_sink = outlets.get(output.name)
        if open_sink is not None:
            if isinstance(open_sink.writer, Parted) and parts:
                open_sink.writer.take([part["file"] for part in parts])
            open_sink.writer.write(batch.version, [train.tuples for train in sequence])
        seconds = time.thread_time() - start + unpacking.get(output.name, 0.0)
        parts += measures.rows_of([measures.part(output.name, "", sequence)])
        now, inputs = time.time_ns() // 1000, inputs_of(job.network, output.arrow)
        latency = output.qos.latency
        tables.append(measures.output(batch.version, output.name, parts, now, arrivals[output.name], inputs, latency))
        tuples = sum(part["tuples"] for part in parts)
        tables.append(measures.sink(batch.version, output.name, seconds, tuples))
    return tables
