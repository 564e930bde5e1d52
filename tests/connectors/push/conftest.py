"""An endpoint for posts, and who asks it."""

import socket
import threading
from contextlib import closing

import pytest

from australis.connectors.sources.push import Push
from tests.connectors.push.posts import SCHEMA, Client, names


@pytest.fixture
def push(tmp_path):
    """A source with a spool, and no thread or port left over."""
    before = set(threading.enumerate())
    yield Push("127.0.0.1", 0, SCHEMA, str(tmp_path / "spool"))
    assert not {thread for thread in threading.enumerate() if thread not in before}


@pytest.fixture
def endpoint(push):
    with closing(push.open()) as endpoint:
        yield endpoint
    with pytest.raises(ConnectionRefusedError), socket.create_connection(endpoint.address):
        pass


@pytest.fixture
def client(endpoint):
    with closing(Client(endpoint)) as client:
        yield client


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """An endpoint for requests of which nothing is kept."""
    source = Push("127.0.0.1", 0, SCHEMA, str(tmp_path_factory.mktemp("shared")))
    with closing(source.open()) as endpoint:
        yield endpoint
    assert names(source) == []


@pytest.fixture
def stranger(shared):
    with closing(Client(shared)) as client:
        yield client
