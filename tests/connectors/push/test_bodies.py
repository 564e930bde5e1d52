"""Bodies of posts."""

from contextlib import closing, suppress

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.connectors.push.bodies import ARROW, CSV, JSON, Refused, post
from australis.connectors.push.spool import Spool
from australis.connectors.source import parts
from australis.connectors.sources.files import Files
from tests.connectors.push.posts import SCHEMA, stream

JSON_LINES = st.sampled_from(
    [b'{"vid": 1, "mph": 2}', b'{"vid": 3}', b'{"mhp": 3}', b"{}", b"[1]", b'["mhp"]', b'"mph"', b"7", b"null", b"",
     b'{"vid": "x"}', b'{"vid": 1', b'"', b"\r", b"\xff", b"\x00", b'{"vid": 1}{"vid": 2}', b'{"a": [{}]}', b" ",
     b"\xef\xbb\xbf"]
)  # fmt: skip
CSV_LINES = st.sampled_from(
    [b"vid,mph", b"mph", b"1,2", b"3", b'"4', b'"4",5', b"\r", b"", b"x,y", b"\xff", b",", b'"']
)
BODIES = st.one_of(
    st.tuples(st.just(JSON), st.lists(JSON_LINES, max_size=6).map(b"\n".join)),
    st.tuples(st.just(CSV), st.lists(CSV_LINES, max_size=5).map(lambda its: b"\n".join([b"mph,vid", *its]))),
    st.tuples(st.just(CSV), st.lists(CSV_LINES, max_size=5).map(b"\n".join)),
    st.tuples(st.sampled_from([JSON, CSV, ARROW]), st.binary(max_size=60)),
)


def test_an_arrow_stream_with_broken_values_is_refused():
    texts = pa.record_batch({"s": ["abc", "defg"]})
    good = stream(texts)
    broken = good.replace(
        pa.array([0, 3, 7], pa.int32()).buffers()[1].to_pybytes()[:12], bytes([0, 0, 0, 0] + [99] * 8)
    )
    assert broken != good
    assert post(ARROW, good, texts.schema).body == good
    with pytest.raises(Refused, match="no Arrow stream that reads"):
        post(ARROW, broken, texts.schema)


def test_columns_that_a_format_does_not_hold_are_told():
    with pytest.raises(Refused, match=r"column d is duration.*, which is not read from JSON"):
        post(JSON, b'{"d": 1}', pa.schema({"d": pa.duration("us")}))
    with pytest.raises(Refused, match=r"column l is list.*, which CSV does not hold"):
        post(CSV, b"l\n1\n", pa.schema({"l": pa.list_(pa.int32())}))


@given(st.lists(BODIES, max_size=5), st.integers(1, 9))
@example([(JSON, b'[1]\n{"vid": 1}')], 1)
@example([(JSON, b'{"vid": 1}'), (JSON, b'{"mph": 1, "mhp": 2}')], 1)
def test_what_is_taken_can_be_read_line_by_line(tmp_path_factory, bodies, limit):
    folder = tmp_path_factory.mktemp("bodies")
    taken = []
    for type, body in bodies:
        with suppress(Refused):
            taken.append(post(type, body, SCHEMA))
    with closing(Spool(folder)) as opened:
        opened._commit(taken)
    found = list(parts(Files(str(folder), SCHEMA, follow=True), limit))
    given = [line.removesuffix(b"\r") for body in taken for line in body.body.split(b"\n")]
    assert sum(part.tuples.num_rows + len(part.letters) for part in found) == sum(line != b"" for line in given)
    assert all(letter.raw in given for part in found for letter in part.letters)
