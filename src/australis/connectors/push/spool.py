"""A spool: a folder of what was sent here, in files in order, until it has been read.

What was taken is on the disk: `put` comes back after that. Files in the making have hidden names
(`.000000000007.jsonl.tmp`). A commit writes the files of all posts that wait, and an entry in the journal that names
them; once all that is on the disk, the files get their own names. What a process that was stopped left is a commit, if
the last entry of the journal and the files that it names are whole, and is removed if they are not. So nothing is
seen that could still be lost, and no file has the number of another.

The name of a file tells its number, and when it was stored in microseconds (`000000000007-1700000000000000.jsonl`), so
that whoever reads it again finds the same time. These times never fall, even if the clock does. Files of earlier
versions (`000000000007.jsonl`) have none.

Files are released by any process: only the names in the folder say what is there. The last file stays, by which the
last commit is known to have been one.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from zlib import crc32

from australis.connectors.push.senders import Senders
from australis.disk.durable import sync_folder
from australis.disk.journal import Journal
from australis.disk.private import private, private_folder
from australis.disk.wakeup import ring
from australis.errors import RunError

LIMIT = 1 << 30
_NAME = re.compile(r"(\d{12})(?:-(\d+))?\.\w+")
_MOST = 1 << 24  # bytes of a file of several posts
_LEAST = 1 << 14  # bytes that a file counts as: many small ones are slow to list
_JOURNAL = 1 << 20  # bytes of entries after which the journal is summed up
_LOOK = 0.2  # seconds between looks at what was released


class Full(Exception):  # noqa: N818 (it is no fault: the sender may try again)
    """There is no room now. Nothing of the post was kept."""


class Forgotten(Exception):  # noqa: N818 (the sender has to decide)
    """Whether the post was stored before is not known any more. Nothing of it was kept now."""


@dataclass
class Post:
    """What one sender sent at once: a text with its last line end, or a whole file.

    `head` is what a file of such posts begins with; a post without one is a file by itself. A post with a sender has a
    sequence, and is stored once.
    """

    suffix: str
    body: bytes
    head: bytes | None = None
    sender: str = ""
    sequence: int = 0
    number: int | None = None
    failed: str = ""
    forgotten: str = ""
    done: bool = False


@dataclass
class _SpoolFile:
    """Posts of one kind that follow each other."""

    name: str
    posts: list[Post] = field(default_factory=list)
    size: int = 0
    crc: int = 0

    def fits(self, post: Post) -> bool:
        first = self.posts[0]
        alike = post.head is not None and (post.suffix, post.head) == (first.suffix, first.head)
        return alike and self.size + len(post.body) <= _MOST

    def add(self, post: Post) -> None:
        parts = (post.body,) if self.posts else (post.head or b"", post.body)
        self.posts.append(post)
        for part in parts:
            self.size, self.crc = self.size + len(part), crc32(part, self.crc)

    def write(self, path: Path, open_files: ExitStack) -> int:
        """Write it, and give the handle by which to see to it that it is on the disk."""
        file = private(open_files.enter_context(path.open("wb")))
        file.writelines([self.posts[0].head or b"", *(post.body for post in self.posts)])
        file.flush()
        return file.fileno()


class Spool:
    """A spool that posts are put in: by one process at a time, from any number of threads."""

    def __init__(self, folder: str | Path, limit: int = LIMIT) -> None:
        self.folder, self.limit = Path(folder), limit
        self.number = 0
        self.stored = 0
        """When the last file was stored."""
        self.senders = Senders()
        self._journal = Journal(self.folder / ".journal")
        self._waiting: list[Post] = []
        self._unseen: list[str] = []  # committed, and still under their hidden names
        self._doubt = True  # whether the journal may say more than was committed
        self._longest = 0  # bytes of the journal at which it is summed up
        self._used, self._held, self._looked = 0, 0, 0.0
        self._lock, self._turn, self._closed = Lock(), Lock(), False
        with ExitStack() as opened:
            try:
                made = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
                private_folder(self.folder)
                for path in made:
                    sync_folder(path.parent)
                self._own(opened)
                self._take_up()
            except OSError as error:
                raise RunError(f"{self.folder}: {error}; choose a spool folder that can be written to") from error
            self._opened = opened.pop_all()

    def put(self, post: Post) -> int | None:
        """Store a post, together with others that wait; the number of its file, or None if it was stored before."""
        with self._lock:
            self._waiting.append(post)
        with self._turn:
            if not post.done:
                if self._closed:
                    raise Full("the run has ended")
                with self._lock:
                    posts, self._waiting = self._waiting, []
                self._commit(posts)
        if post.failed:
            raise Full(post.failed)
        if post.forgotten:
            raise Forgotten(post.forgotten)
        return post.number

    def check(self, size: int) -> None:
        """Refuse a post for which there is no room now."""
        with self._lock:
            self._fit(size)

    @contextmanager
    def room(self) -> Iterator[Callable[[int], None]]:
        """Hold room for a post while it comes: what is given takes room for so many bytes more."""
        held = 0

        def take(size: int) -> None:
            nonlocal held
            with self._lock:
                self._fit(size)
                self._held += size
                held += size

        try:
            yield take
        finally:
            with self._lock:
                self._held -= held

    def close(self) -> None:
        """Take no more posts."""
        with self._turn:
            self._closed = True
            self._opened.close()

    def _fit(self, size: int) -> None:
        if self._used + self._held + size > self.limit and time.monotonic() - self._looked > _LOOK:
            self._used, self._looked = waiting_bytes(self.folder), time.monotonic()
        if self._used + self._held + size > self.limit:
            raise Full(
                f"the spool holds {self._used} bytes that wait to be read, and {self._held} that come, of at most"
                f" {self.limit}"
            )

    def _own(self, opened: ExitStack) -> None:
        lock = opened.enter_context((self.folder / ".lock").open("wb"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{self.folder}: another process takes posts in it; stop that, or choose another"
                           " folder") from error  # fmt: skip
        self._handle = os.open(self.folder, os.O_RDONLY)
        opened.callback(os.close, self._handle)
        opened.callback(self._journal.close)
        # Each sync waits for the disk; at the same time they take little longer than one.
        self._pool = opened.enter_context(ThreadPoolExecutor(8, "spool"))

    def _take_up(self) -> None:
        """Find what was committed, make it seen, and remove the rest."""
        first, *entries = self._journal.entries() or [{"number": 0, "senders": {}}]
        self.senders = Senders(first["senders"], first.get("floors"))
        given = [name for entry in entries for name, _, _ in entry["files"]]
        there = [*given, *_files(self.folder)]
        self.number = max([first["number"], *map(number_of, there)])
        self.stored = max([0, *(stored_at(path) or 0 for path in there)])
        if entries and not self._whole(entries[-1]["files"]):
            entries.pop()
        for entry in entries:
            self._unseen += [name for name, _, _ in entry["files"] if self._hidden(name).exists()]
            self._know(entry["senders"])
        self._settle()
        for path in self.folder.glob(".*.tmp"):
            path.unlink(missing_ok=True)
        sync_folder(self.folder)
        self._used = waiting_bytes(self.folder)

    def _whole(self, files: list[tuple[str, int, int]]) -> bool:
        """Whether the last commit was one: its last file has been seen, or all are there as they were written."""
        return (self.folder / files[-1][0]).exists() or all(self._there(*file) for file in files)

    def _there(self, name: str, size: int, crc: int) -> bool:
        hidden = self._hidden(name)
        if not hidden.exists():
            return (self.folder / name).exists()
        data = hidden.read_bytes()
        return len(data) == size and crc32(data) == crc

    def _commit(self, posts: list[Post]) -> None:
        """Store posts, all or none, and tell them."""
        failed = "the post could not be stored"
        try:
            self._settle()
            fresh = self._fresh(posts)
            if fresh:
                self._store(self._filed(fresh), [(post.sender, post.sequence) for post in fresh if post.sender])
            failed = ""
        except OSError as error:
            failed = f"the post cannot be stored now: {error.strerror or type(error).__name__}"
        except RuntimeError:  # no thread syncs any more
            failed = "the process of the run ends"
        finally:
            for post in posts:
                post.failed, post.done = failed, True

    def _fresh(self, posts: list[Post]) -> list[Post]:
        """The posts that are not stored yet, each once; those that may be stored or not are told so."""
        known = self.senders.only(post.sender for post in posts)
        fresh = []
        for post in posts:
            if post.sender and known.has(post.sender, post.sequence):
                continue
            if post.sender and post.sequence < (least := known.least(post.sender)):
                post.forgotten = (
                    f"sequence {post.sequence} of {post.sender} lies before {least}, from which on it is known what was"
                    " stored; if it was not sent before, post it with a greater sequence"
                )
                continue
            fresh.append(post)
            if post.sender:
                known.add(post.sender, post.sequence)
        return fresh

    def _filed(self, posts: list[Post]) -> list[_SpoolFile]:
        """Posts in as few files as keep their order."""
        files: list[_SpoolFile] = []
        self.stored = max(self.stored, time.time_ns() // 1000)
        for post in posts:
            if not files or not files[-1].fits(post):
                files.append(_SpoolFile(f"{self.number + len(files) + 1:012}-{self.stored}{post.suffix}"))
            files[-1].add(post)
        return files

    def _store(self, files: list[_SpoolFile], senders: list[tuple[str, int]]) -> None:
        hidden = [self._hidden(file.name) for file in files]
        try:
            with ExitStack() as opened:
                handles = [file.write(path, opened) for file, path in zip(files, hidden, strict=True)]
                self._doubt = True
                entry = {"files": [(file.name, file.size, file.crc) for file in files], "senders": senders}
                handles += [self._handle, self._journal.append(entry)]
                syncs = [self._pool.submit(os.fsync, handle) for handle in handles]
                wait(syncs)
                for sync in syncs:
                    sync.result()
            self._doubt = False
        except BaseException:
            for path in hidden:
                path.unlink(missing_ok=True)
            raise
        self.number += len(files)
        self._know(senders)
        for file in files:
            for post in file.posts:
                post.number = number_of(file.name)
        with self._lock:
            self._used += sum(max(file.size, _LEAST) for file in files)
        self._unseen = [file.name for file in files]
        with suppress(OSError):  # they are stored; they are shown before the next, or when the spool is opened again
            self._show()
        ring(self.folder)

    def _know(self, senders: Iterable[tuple[str, int]]) -> None:
        for sender, sequence in senders:
            self.senders.add(sender, sequence)

    def _settle(self) -> None:
        """See to what is left over: files to be shown, and a journal that is in doubt or long."""
        self._show()
        if self._doubt or self._journal.size > self._longest:
            self._doubt = True
            os.fsync(self._handle)  # the journal forgets the files, so their own names must last
            known = {"senders": self.senders.stretches, "floors": self.senders.floors}
            self._journal.rewrite({"number": self.number, **known})
            self._doubt, self._longest = False, 2 * self._journal.size + _JOURNAL

    def _show(self) -> None:
        """Give files their names, in order."""
        while self._unseen:
            self._hidden(self._unseen[0]).replace(self.folder / self._unseen[0])
            self._unseen.pop(0)

    def _hidden(self, name: str) -> Path:
        return self.folder / f".{name}.tmp"


def number_of(path: str | Path) -> int:
    """The number of a file of a spool."""
    return int(_match(path)[1])


def stored_at(path: str | Path) -> int | None:
    """When a file of a spool was stored, in microseconds; None if an earlier version stored it.

    >>> stored_at("incoming/000000000007-1700000000000000.jsonl"), stored_at("incoming/000000000007.jsonl")
    (1700000000000000, None)
    """
    time = _match(path)[2]
    return None if time is None else int(time)


def file_after(folder: str | Path, number: int) -> Path | None:
    """The first file of a spool after a number."""
    return next((path for path in _files(Path(folder)) if number_of(path) > number), None)


def _match(path: str | Path) -> re.Match[str]:
    match = _NAME.fullmatch(Path(path).name)
    if match is None:
        raise RunError(f"{path}: is no file of a spool; take it out of the folder")
    return match


def release(folder: str | Path, number: int) -> None:
    """Remove the files before a number."""
    for path in _files(Path(folder)):
        if number_of(path) < number:
            path.unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name)) if folder.exists() else []


def waiting_bytes(folder: str | Path) -> int:
    """The bytes that wait in a spool. The first file does not count: it stays until the next has been read."""
    size = 0
    for path in _files(Path(folder))[1:]:
        try:
            size += max(path.stat().st_size, _LEAST)
        except FileNotFoundError:  # released since it was listed
            continue
    return size
