"""A trial: batches are put together from what was measured and from what came to the outputs."""

import pyarrow as pa
import pytest

from australis.bench import machine
from australis.bench.overload_network import INPUT, network
from australis.bench.overload_trial import Recorder, _batches, _Stopwatch
from australis.connectors.sink import Sink, Writer
from australis.engine.measures import SCHEMA

OUTPUTS = {output.name: output for output in network().outputs}
ROW = dict.fromkeys(SCHEMA.names)


def row(batch: int, kind: str, name: str | None = None, **values: object) -> dict[str, object]:
    return ROW | {"batch": batch, "kind": kind, "name": name} | values


def test_a_recorder_is_a_sink_that_takes_a_batch_once():
    recorder = Recorder(OUTPUTS["archive"], keeps=True)
    assert isinstance(recorder, Sink)
    train = pa.record_batch({"mph": [95.0, 60.0]})
    writer: Writer = recorder.open(train.schema)
    writer.write(3, [train])
    writer.write(3, [train])
    writer.close()
    ((_, count, worth),) = recorder.batches.values()
    assert (count, worth) == (2, pytest.approx(1.2))
    assert recorder.kept == [train]


def test_results_are_not_kept_unless_asked_for():
    recorder = Recorder(OUTPUTS["alerts"])
    recorder.write(1, [pa.record_batch({"mph": [95.0]})])
    assert recorder.kept == []


def test_batches_have_what_was_measured_of_them():
    recorders = {name: Recorder(output) for name, output in OUTPUTS.items()}
    recorders["alerts"].batches[7] = (110.5, 3, 3.0)
    recorders["archive"].batches[7] = (110.75, 9, 4.5)
    rows = [
        row(6, "batch", seconds=9.0),
        row(7, "source", INPUT, port="out", seconds=0.25, given=60),
        row(7, "source", INPUT, port="out", seconds=0.125, given=40),
        row(7, "source", INPUT, port="archive", seconds=0.125, given=70),
        row(7, "branch", "archive", backlog=80, oldest=2.5),
        row(7, "source", "segments", seconds=0.0, given=200),
        row(7, "box", "moving", seconds=0.5, taken=100),
        row(7, "exchange", "capped", seconds=0.125, taken=90),
        row(7, "sink", "archive", seconds=0.125, taken=9),
        row(7, "output", "archive", worst=0.75, given=9),
        row(7, "output", "alerts", worst=None, given=0),
        row(7, "shed", "archived", port="box", taken=90, given=10),
        row(7, "shed", "archived", port="box", taken=5, given=5),
        row(7, "batch", seconds=1.5),
    ]
    (batch,) = _batches(rows, recorders, first=100.0)
    assert (batch.second, batch.seconds, batch.taken, batch.spent) == (10.75, 1.5, 100, 1.25)
    assert batch.behind == {"archive": 2.5}
    assert batch.given == {"alerts": 3, "archive": 9}
    assert batch.worth == {"alerts": 3.0, "archive": 4.5}
    assert batch.delays == {"archive": 0.75}
    assert batch.shed == {"box archived": 80}
    assert batch.boxes == {"moving": 100}


def test_the_processor_time_of_the_machine_never_falls():
    before = machine.used()
    assert 0 < before <= machine.used()


def test_a_stopwatch_gives_what_the_method_gives_and_raises_what_it_raises():
    def method(value: int) -> int:
        return 10 // value

    watch = _Stopwatch(method)
    assert watch.timed()(5) == 2
    with pytest.raises(ZeroDivisionError):
        watch.timed()(0)
    assert watch.seconds > 0
