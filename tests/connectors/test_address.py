"""Addresses: a host and a port."""

import pytest

from australis.connectors.address import address
from australis.errors import RunError


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("0", "127.0.0.1", 0),
        (":65535", "127.0.0.1", 65535),
        ("example.org:80", "example.org", 80),
        ("::1:80", "::1", 80),
        ("[::1]:80", "::1", 80),
    ],
)
def test_hosts_and_ports(text: str, host: str, port: int) -> None:
    assert address(text) == (host, port)


@pytest.mark.parametrize("text", ["", "65536", "-1", "http", "host:", "host", "1.5", "٣", "80:"])
def test_what_is_no_port(text: str) -> None:
    with pytest.raises(RunError, match=r"--push .*is no port"):
        address(text, "--push")
