"""The class archive: Java starts Spark from a file of the classes that a session before it loaded.

Finding, checking and linking Spark's classes is a good part of its start. Java's class data sharing maps them from a
file instead. The first session of ours that ends writes the file to the user's cache, and later ones start from it.
Java leaves a file aside that does not fit it or its class path, but it dies of one that is cut short. So a file has its
size in its name, and is used only if it has that size.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from australis.disk.durable import sync_folder
from australis.disk.private import private_folder

MOST = 4
"""How many archives are kept: one for each environment of Python with each Java."""
ROOM = 1 << 29
"""How many bytes must be free. An archive has a fifth of it, but a Java whose disk is full meanwhile ends at once."""
_SERVER, _COMMANDS = "javax.management.MBeanServer", "com.sun.management:type=DiagnosticCommand"


def archive(cache: Path | None, java_home: Path, jars: Iterable[Path]) -> Path | None:
    """The beginning of the archive's name, for a Java and the jars that it loads; none without a cache."""
    if cache is None:
        return None
    known = [(str(jar), jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]
    java = (java_home / "bin" / "java").resolve()
    facts = repr((str(java), java.stat().st_mtime_ns, known))
    return cache / f"classes-{hashlib.sha256(facts.encode()).hexdigest()[:16]}"


def find(path: Path | None) -> Path | None:
    """The archive whose name begins so, if it is there, and whole."""
    files = () if path is None else path.parent.glob(f"{path.name}-*.jsa")
    return next((file for file in files if file.stem.rpartition("-")[2] == str(file.stat().st_size)), None)


def options(path: Path | None) -> list[str]:
    """What Java is told: to start from the archive, or where there is none, to be ready to write one."""
    if path is None:
        return []
    file = find(path)
    if file is None:
        return ["-XX:+RecordDynamicDumpInfo", "-Xlog:cds*=off"]
    return [f"-XX:SharedArchiveFile={file}", "-Xshare:auto", "-Xlog:cds*=off", "-Xlog:class+path=off"]


def write(path: Path | None, gateway: Any) -> bool:
    """Write the archive of the classes that a running Java has loaded, if there is none; returns whether it did.

    It appears whole. Where it cannot be written, as on a disk that is nearly full, the next start takes as long as
    this one did.
    """
    if path is None or find(path) is not None:
        return False
    with suppress(Exception):  # nothing but time depends on it
        private_folder(path.parent)
        if shutil.disk_usage(path.parent).free < ROOM:
            return False
        with tempfile.TemporaryDirectory(prefix=".classes-", dir=path.parent) as folder:
            unnamed = Path(folder) / path.name
            _dump(gateway, unnamed)
            with unnamed.open("rb") as file:
                os.fsync(file.fileno())
            unnamed.rename(path.with_name(f"{path.name}-{unnamed.stat().st_size}.jsa"))
        sync_folder(path.parent)
        _sweep(path.parent)
        return True
    return False


def _dump(gateway: Any, path: Path) -> None:
    """Let Java write the classes that it has loaded to a file, by its own diagnostic command."""
    java, management = gateway.jvm.java.lang, gateway.jvm.javax.management

    def array(kind: Any, *values: Any) -> Any:
        made = gateway.new_array(kind, len(values))
        for place, value in enumerate(values):
            made[place] = value
        return made

    words, kinds = array(java.String, "dynamic_dump", str(path)), array(java.String, "[Ljava.lang.String;")
    call = array(java.Object, management.ObjectName(_COMMANDS), "vmCds", array(java.Object, words), kinds)
    # By its interface: the class of Java's server is not open to callers.
    server = java.management.ManagementFactory.getPlatformMBeanServer()
    (invoke,) = [each for each in java.Class.forName(_SERVER).getMethods() if each.getName() == "invoke"]
    output = java.System.out
    java.System.setOut(gateway.jvm.java.io.PrintStream(gateway.jvm.java.io.OutputStream.nullOutputStream()))
    try:  # Java says on its standard output, which is ours, that it writes the file
        invoke.invoke(server, call)
    finally:
        java.System.setOut(output)


def _sweep(cache: Path) -> None:
    """Remove the archives that were made first, beyond the most that are kept. A Java that uses one keeps it open."""
    archives = sorted(cache.glob("classes-*.jsa"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in archives[MOST:]:
        old.unlink(missing_ok=True)
