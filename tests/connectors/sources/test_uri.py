"""The text forms of sources."""

import pytest

from australis import RunError
from australis.arrow.schema import schema
from australis.connectors.source import parts
from australis.connectors.sources.files import Files
from australis.connectors.sources.rate import Rate
from australis.connectors.sources.replay import Replay
from australis.connectors.sources.uri import source
from australis.testing import rows
from tests.connectors.sources.test_replay import save

SCHEMA = schema("time int, vid int")
SECOND = 1_000_000


def test_text_forms(tmp_path):
    save(tmp_path, "csv", [1, 2])
    assert source("reports/*.csv", "a int") == Files("reports/*.csv", schema("a int"))
    assert source("a?.csv?header=false&delimiter=;", "a int") == Files(
        "a?.csv", schema("a int"), header=False, delimiter=";"
    )
    assert source("x/?follow=true&order=time&strict=TRUE&null=NA", "a int") == Files(
        "x", schema("a int"), follow=True, order="time", strict=True, nulls=("", "NA")
    )
    assert source("replay:r.parquet?on=time&speed=10&began=5&follow=true", SCHEMA) == Replay(
        Files("r.parquet", SCHEMA, follow=True), "time", 10.0, 5 * SECOND
    )
    assert source("rate:1000?limit=5&vid=n+1", SCHEMA) == Rate(SCHEMA, 1000.0, (("vid", "n+1"),), 5)
    assert len([row for part in parts(source(tmp_path / "reports.csv", SCHEMA)) for row in rows(part.tuples)]) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kafka:reports", "there is no source `kafka:reports`; a source is a file, glob or folder .*replay:.*rate:"),
        ("repaly:a.csv?on=time", "did you mean `replay`"),
        ("a.csv?folow=true", "there is no option folow; there are follow, .*did you mean `follow`"),
        ("a.csv?follow=yes", "follow is true or false, not `yes`"),
        ("a.csv?order=size", "the order of files is `name` or `time`, not `size`"),
        ("a.csv?follow=true&x", "`x` is no option; write name=value"),
        ("replay:a.csv", r"say which column is the time, such as replay:a.csv\?on=time"),
        ("replay:a.csv?on=time&speed=fast", "speed is a number, not `fast`"),
    ],
)
def test_mistakes_in_text_forms_are_told(text, told):
    with pytest.raises(RunError, match=told):
        source(text, SCHEMA)
