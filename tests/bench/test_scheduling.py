"""Scheduling: all ways give the same, and a superbox is called once where boxes are called each."""

import numpy as np
import pytest

import australis as au
from australis.bench.applications import APPLICATIONS
from australis.bench.scheduling import CONSUMERS, compiled, cut, dissemination, main, reports, run, sound_trains


@pytest.mark.slow
def test_each_way_gives_what_the_network_gives() -> None:
    network, tuples = dissemination(), reports(3000)
    compiled(network)
    expected = sum(table.num_rows for table in network.run_local(reports=tuples).values())
    single, trains = run(network, cut(tuples.slice(0, 50), 1)), run(network, cut(tuples, 1000))
    superboxes, breadth = (
        run(network, cut(tuples, 1000), superboxes=True),
        run(network, cut(tuples, 1000), breadth=True),
    )
    assert trains.results == superboxes.results == breadth.results == expected
    assert single.calls == 51 * 4 * CONSUMERS
    assert trains.calls == breadth.calls == 4 * 4 * CONSUMERS
    assert superboxes.calls < trains.calls
    assert 0 < trains.within < trains.seconds


@pytest.mark.parametrize("name", ["passchain", "detectaudio", "pipeline"])
def test_sounds_go_through_applications_in_any_order(name: str) -> None:
    network = APPLICATIONS[name]()
    singles, long = (sound_trains(network, name, 1 << 17, segments) for segments in (1, 8))
    assert sum(map(len, singles)) == sum(map(len, long)) == 32
    assert np.concatenate([train.number for train in long]).tolist() == list(range(32))
    local = au.Local(network)
    pushed = [local.push({network.inputs[0].name: train.tuples}) for train in long]
    expected = sum(table.num_rows for results in [*pushed, local.end()] for table in results.values())
    assert run(network, singles, breadth=True).results == expected
    assert run(network, long, breadth=True).results == run(network, long).results == expected


@pytest.mark.slow
def test_the_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(tuples=200, samples=1 << 15, quick=True)
    printed = capsys.readouterr().out
    assert "superboxes" in printed
    assert "detectaudio" in printed
