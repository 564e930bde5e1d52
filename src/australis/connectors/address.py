"""Addresses: a host and a port, as people write them."""

from __future__ import annotations

from australis.errors import RunError

LOOPBACK = "127.0.0.1"
"""This machine, for itself alone."""


def address(text: str, option: str = "--metrics") -> tuple[str, int]:
    """A host and a port; the host is this machine for itself alone, if none is given.

    >>> address("9090"), address("0.0.0.0:9090"), address("[::]:9090")
    (('127.0.0.1', 9090), ('0.0.0.0', 9090), ('::', 9090))
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise RunError(f"{option} {text}: `{port}` is no port; write one up to 65535, or HOST:PORT, such as 9090")
    return host.strip("[]") or LOOPBACK, int(port)
