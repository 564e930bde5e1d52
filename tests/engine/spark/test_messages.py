"""The standard error of another process, line by line."""

import os
import subprocess
import sys

from australis.engine.spark.messages import MessagePipe


def passed(*chunks: bytes) -> list[str]:
    lines: list[str] = []
    pipe = MessagePipe(lines.append)
    for chunk in chunks:
        os.write(pipe.descriptor, chunk)
    pipe.close_descriptor()
    pipe._thread.join()  # however long that takes
    return lines


def test_lines_are_whole_however_they_are_written() -> None:
    assert passed(b"one\ntw", b"o\n\nthree") == ["one", "two", "", "three"]
    assert passed() == []


def test_what_is_no_text_is_shown_as_well_as_can_be() -> None:
    assert passed(b"caf\xc3\xa9 \xff\n") == ["café \ufffd"]


def test_only_javas_own_words_are_left_out() -> None:
    noise = b"WARNING: Using incubator modules: jdk.incubator.vector"
    assert passed(noise + b"\n  " + noise + b"\r\n" + noise + b", and more\n") == [noise.decode() + ", and more"]


def test_the_pipe_ends_with_the_process_that_writes_to_it() -> None:
    lines: list[str] = []
    pipe = MessagePipe(lines.append)
    writing = subprocess.Popen(
        [sys.executable, "-c", "import sys; print('late', file=sys.stderr)"], stderr=pipe.descriptor
    )
    pipe.close_descriptor()
    assert writing.wait() == 0
    pipe._thread.join()  # however long that takes
    assert lines == ["late"]


def test_a_pipe_that_is_hushed_passes_on_nothing() -> None:
    lines: list[str] = []
    pipe = MessagePipe(lines.append)
    pipe.hush()
    os.write(pipe.descriptor, b"stopped in the middle\n")
    pipe.close_descriptor()
    pipe._thread.join()  # however long that takes
    assert lines == []
