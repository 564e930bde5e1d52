"""Posts as a source."""

import pickle

import pytest

from australis import RunError
from australis.arrow.schema import schema
from australis.connectors.source import Opened, Releasing
from australis.connectors.sources.push import Push
from australis.connectors.sources.uri import source

SCHEMA = schema("vid int, mph int")


def test_text_forms():
    assert source("push:8080", SCHEMA) == Push("127.0.0.1", 8080, SCHEMA)
    assert source("push:0.0.0.0:80?spool=in", SCHEMA) == Push("0.0.0.0", 80, SCHEMA, "in")
    made = source("push:[::1]:0?spool=a/b&limit=2e9&largest=1000", SCHEMA)
    assert made == Push("::1", 0, SCHEMA, "a/b", 2_000_000_000, 1000)
    assert pickle.loads(pickle.dumps(made)) == made
    assert isinstance(made, Opened)
    assert isinstance(made, Releasing)
    assert not isinstance(source("reports/", SCHEMA), Opened | Releasing)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("push:", "push:: `` is no port; write push:8080, or push:HOST:8080 for more than this machine"),
        ("push:localhost", "`localhost` is no port"),
        ("push:99999", "a port is less than 65536"),
        ("push:80?largest=1e12", "`largest` is 1 to 536870912 bytes.*given are largest=1000000000000"),
        ("push:80?limit=0", "limit is a whole number, 1 or more"),
        ("push:80?limit=much", "limit is a number, not `much`"),
        ("push:80?pool=x", "there is no option pool; there are spool, limit, largest; did you mean `spool`"),
        ("pusch:80", "there is no source `pusch:80`; did you mean `push`"),
    ],
)
def test_mistakes_in_text_forms_are_told(text, told):
    with pytest.raises(RunError, match=told):
        source(text, SCHEMA)
