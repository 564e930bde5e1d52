"""Arguments of commands as a run takes them."""

from pathlib import Path

import pytest

import australis as au
from australis.cli.arguments import FASTEST, by_name, master, pace, sinks, sources, trigger
from australis.connectors.sinks.console import Console
from australis.connectors.sinks.single import Single
from australis.connectors.sources.replay import Replay
from australis.errors import RunError

REPORTS = au.stream("reports", "time int, mph int")
NETWORK = au.network(fast=REPORTS.filter("mph > 60"), slow=REPORTS.filter("mph < 10"))


def test_texts_by_name() -> None:
    assert by_name("--source", ["a=b=c", "d=?e=f"]) == {"a": "b=c", "d": "?e=f"}
    assert by_name("--sink", None) == {}
    for wrong in ("a", "a=", "=b", "="):
        with pytest.raises(RunError, match=f"--sink {wrong}: write it as NAME=TEXT"):
            by_name("--sink", [wrong])
    with pytest.raises(RunError, match="--sink a=2: a is given already"):
        by_name("--sink", ["a=1", "a=2"])


def test_every_input_has_a_source_and_replays_a_speed(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("time,mph\n1,2\n")
    replay = f"replay:{tmp_path}/r.csv?on=time"
    found = sources(NETWORK, {"reports": replay}, "max")["reports"]
    assert isinstance(found, Replay)
    assert found.speed == FASTEST
    with pytest.raises(RunError, match="input reports has no source"):
        sources(NETWORK, {})
    with pytest.raises(RunError, match="--source report: there is no input report; there are reports; did you mean"):
        sources(NETWORK, {"report": replay})
    with pytest.raises(RunError, match=r"--speed 2: no source is a replay; .*reports=replay:.*r\.csv\?on=time"):
        sources(NETWORK, {"reports": f"{tmp_path}/r.csv?header=true"}, "2")


def test_outputs_without_a_sink_are_printed_or_not() -> None:
    assert sinks(NETWORK, {"fast": "fast.csv"}) == {"fast": Single("fast.csv"), "slow": Console(name="slow")}
    assert sinks(NETWORK, {"fast": "console"}, printed=False) == {"fast": Console(name="fast")}
    with pytest.raises(RunError, match="--sink fats: there is no output fats; there are fast, slow; did you mean"):
        sinks(NETWORK, {"fats": "fast.csv"})
    with pytest.raises(RunError, match=r"--sink fast=out\.txt: there is no sink"):
        sinks(NETWORK, {"fast": "out.txt"})


@pytest.mark.parametrize(("text", "times"), [("max", FASTEST), ("10", 10.0), ("5e-324", 5e-324)])
def test_a_speed(text: str, times: float) -> None:
    assert pace(text) == times


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "fast", "", "MAX"])
def test_what_is_no_speed(text: str) -> None:
    with pytest.raises(RunError, match=f"--speed {text}: give a number"):
        pace(text)


def test_the_time_between_batches_and_the_cluster() -> None:
    assert (trigger(None), trigger("90 seconds"), trigger("1s")) == (None, 90.0, 1.0)
    with pytest.raises(au.AustralisError, match="--trigger soon"):
        trigger("soon")
    assert (master(None), master("local[2]"), master("spark://h:7077")) == (None, "local[2]", "spark://h:7077")
    with pytest.raises(RunError, match="--master http://h: is no Spark cluster"):
        master("http://h")
