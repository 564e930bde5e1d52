"""Waiting for news: how often an idle run looks, and what wakes it. No test waits for time to pass."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import australis as au
from australis.arrow.schema import schema
from australis.connectors.push.bodies import JSON, post
from australis.connectors.push.spool import Spool
from australis.connectors.sources.push import Push
from australis.disk.wakeup import Bells, ring
from australis.engine.idle import Look, Wait
from australis.engine.job import Job
from australis.engine.spark.control import Control, Directive
from australis.engine.spark.shipping import ship
from australis.engine.spark.stream_source import StreamReader
from australis.engine.succession import planned

FOREVER = 3600.0
SCHEMA = schema("a int")


class Time:
    """A clock, and bells that are silent while it goes on."""

    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def silent(self, folders: tuple[str, ...]) -> Bells:
        time = self

        class Silent(Bells):
            def wait(self, seconds: float) -> bool:
                time.now += seconds
                return False

        return Silent(folders)


def looks(folder: Path, seen: bool, cost: float = 0.0) -> int:
    """How many looks a minute takes in which nothing comes, where Spark asks again at once."""
    time, count = Time(), 0
    wait = Wait(1.0, time.clock, lambda: count * cost, time.silent)

    def look() -> Look[None]:
        nonlocal count
        count += 1
        return Look(None, bells=(str(folder),), seen=seen)

    with closing(wait):
        while time.now < 60:
            wait.until(look)
    return count


def test_where_bells_ring_an_idle_run_looks_twice_a_second(tmp_path: Path) -> None:
    assert looks(tmp_path, seen=False) == 121  # when it is asked, and before it answers


@pytest.mark.parametrize(("cost", "most"), [(0.0, 3200), (0.001, 1300), (1.0, 420)])
def test_what_must_be_looked_at_is_looked_at_seldom_where_that_costs_much(
    tmp_path: Path, cost: float, most: int
) -> None:
    found = looks(tmp_path, seen=True, cost=cost)
    assert most * 0.8 < found <= most


def test_what_comes_after_a_look_is_not_missed(tmp_path: Path) -> None:
    came: list[int] = []

    def look() -> Look[list[int]]:
        found = list(came)
        came.append(len(came))
        ring(tmp_path)
        return Look(found, done=len(found) > 4, bells=(str(tmp_path),))

    with closing(Wait(FOREVER)) as wait:
        assert wait.until(look) == [0, 1, 2, 3, 4]


def test_a_bell_is_no_file_of_others(tmp_path: Path) -> None:
    (tmp_path / ".bell").write_text("mine")
    with closing(Bells([tmp_path, tmp_path / "nowhere"])) as bells:
        assert len(bells) == 0
    ring(tmp_path / "nowhere")


def job(folder: Path, shared_folder: str = "") -> Job:
    """A job that takes posts."""
    net = au.network(out=au.stream("n", SCHEMA).map(a="a"))
    source = Push("127.0.0.1", 0, SCHEMA, str(folder / "spool"))
    return Job(net, planned(net, {"n": source}, 1), {"n": source}, str(folder), 1, shared_folder=shared_folder)


@pytest.fixture
def control(tmp_path: Path) -> Control:
    (tmp_path / "control").mkdir()
    control = Control(str(tmp_path / "control"))
    control.write_job(1, ship(job(tmp_path)))
    control.write(Directive(1, 1000))
    return control


def asked(control: Control, then: Callable[[], object]) -> tuple[dict[str, object], dict[str, object]]:
    """The offset of a reader that has all the time there is, and what it answers once something was done."""
    reader = StreamReader(control, FOREVER)
    start = reader.initialOffset()
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(reader.latestOffset, start)
        then()
        return start, answer.result()


def test_a_post_wakes_the_source(control: Control, tmp_path: Path) -> None:
    with closing(Spool(tmp_path / "spool")) as spool:
        start, found = asked(control, lambda: spool.put(post(JSON, b'{"a": 1}', SCHEMA)))
    assert found["version"] == 1
    assert found["inputs"] != start["inputs"]


def test_a_run_that_is_to_stop_wakes_the_source(control: Control, tmp_path: Path) -> None:
    with closing(Spool(tmp_path / "spool")):
        start, found = asked(control, lambda: control.write(Directive(1, 1000, stop=True)))
    assert found == start
