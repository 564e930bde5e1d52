"""Control of a run, through a small file."""

from pathlib import Path

import pyarrow as pa
import pytest

from australis.engine.spark.control import Control, Directive, first_limit, paced
from australis.engine.spark.shipping import ShippedJob


def test_the_last_directive_is_read(tmp_path: Path) -> None:
    control = Control(str(tmp_path))
    for directive in (Directive(1, 100), Directive(2, 2**40, stop=True), Directive(0, 1, begin=True)):
        control.write(directive)
        assert control.read() == directive
    assert not (tmp_path / "directive.tmp").exists()


def test_jobs_are_kept_by_number(tmp_path: Path) -> None:
    control = Control(str(tmp_path))
    jobs = {number: ShippedJob(f"{number}" * 64, data) for number, data in ((1, b""), (2, b"\x00\n" * 9))}
    for number, job in jobs.items():
        control.write_job(number, job)
    assert {number: control.read_job(number) for number in jobs} == jobs


@pytest.mark.parametrize(
    ("schemas", "limit"),
    [
        ([], 2**25),
        ([pa.schema({"a": pa.bool_()})], 2**25),
        ([pa.schema({"a": pa.int64()})], 2**28 // 8),
        ([pa.schema({"a": pa.int64()}), pa.schema({"a": pa.string(), "b": pa.list_(pa.int8())})], 2**28 // 64),
    ],
)
def test_the_first_batch_goes_by_the_widest_input(schemas: list[pa.Schema], limit: int) -> None:
    assert first_limit(schemas) == limit


@pytest.mark.parametrize(
    ("limit", "taken", "seconds", "after"),
    [
        (1000, 499, 1.9, 1000),  # not full, and not slow: nothing is known
        (100_000, 100_000, 1.0, 100_000),
        (100_000, 100_000, 0.0, 200_000),  # at most twice
        (100_000, 100_000, 99.0, 50_000),  # at least half
        (100_000, 10, 2.0, 50_000),  # slow though it was not full
        (100_000, 100_000, 0.8, 100_000),  # near enough
        (1100, 1100, 99.0, 1100),  # 1024 is the least, and near enough
        (2**25, 2**25, 0.1, 2**25),
    ],
)
def test_the_next_batch_should_take_the_time_aimed_at(limit: int, taken: int, seconds: float, after: int) -> None:
    assert paced(limit, taken, seconds, aim=1.0) == after
