"""Places: paths, `file:///` as one, and addresses, which are refused before anything is made of them."""

from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import australis as au
from australis.cli.main import app
from australis.connectors import dead_letters as letters
from australis.connectors.sink import Folder, Single, Sounds, Wav, sink
from australis.connectors.sources.files import Files
from australis.connectors.sources.uri import source
from australis.disk.paths import place
from australis.engine import ledger
from australis.engine.checkpoint import Checkpoint
from australis.errors import RunError

ADDRESSES = ["s3://bucket/ck", "gs://bucket/ck", "hdfs:///ck", "abfss://c@a.net/ck", "S3A://b/c", "ftp://host/ck"]
SCHEMA = pa.schema({"a": pa.int32()})
NET = au.network(out=au.stream("numbers", "a int").filter("a > 0"))


@pytest.mark.parametrize("form", [str, Path])
@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_no_path(address: str, form: type) -> None:
    with pytest.raises(RunError, match=r"://.*: is an address, not a path; mount it as a folder and give that, or"):
        place(form(address))


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("file:///a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("FILE:///a/b", "/a/b"),
        ("file://localhost/a", "/a"),
        ("file:///a%20b/c%3F", "/a b/c?"),
        (Path("file:///a/b"), "/a/b"),
        ("a/b", "a/b"),
        ("/a:b/c", "/a:b/c"),
        ("a:b", "a:b"),
        ("C:/a", "C:/a"),
        ("./s3:/a", "s3:/a"),
        ("", "."),
    ],
)
def test_paths_and_files(given: str | Path, path: str) -> None:
    assert place(given) == Path(path)


def test_a_file_of_another_machine_is_none() -> None:
    with pytest.raises(RunError, match=r"names a machine; write three slashes before a path, as in file:///data/road"):
        place("file://data/road")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


USES = {
    "checkpoint": Checkpoint,
    "checkpoint of a run": lambda text: NET.start(numbers={"a": [1]}, checkpoint=text),
    "letters": letters.dead_letters,
    "measures": ledger.read,
    "network file": au.load,
    "source": lambda text: source(f"{text}.csv", "a int"),
    "folder": lambda text: source(f"{text}/", "a int"),
    "replay": lambda text: source(f"replay:{text}.csv?on=a", "a int"),
    "samples": lambda text: source(f"samples:{text}.wav?rate=8000", "audio segment<int16>"),
    "spool": lambda text: source(f"push:0?spool={text}", "a int"),
    "files": lambda text: list(Files(f"{text}/", SCHEMA).latest(Files(f"{text}/", SCHEMA).start(), 10)),
    "sink": lambda text: sink(f"{text}.csv"),
    "sink in a folder": lambda text: sink(f"{text}/*.jsonl"),
    "sink of Parquet": lambda text: sink(f"{text}/"),
    "sink of sound": lambda text: sink(f"{text}.wav"),
    "sink of sounds": lambda text: sink(f"{text}/*.wav"),
    "single": lambda text: Single(f"{text}.csv").open(SCHEMA),
    "several": lambda text: Folder(text).open(SCHEMA),
    "wav": lambda text: Wav(f"{text}.wav").open(au.stream("a", "audio segment<int16>").schema),
    "sounds": lambda text: Sounds(text).open(au.stream("a", "audio segment<int16>").schema),
    "local sink": lambda text: NET.run_local(numbers={"a": [1]}, out=f"{text}.csv"),
    "local source": lambda text: NET.run_local(numbers=f"{text}.csv"),
}


@pytest.mark.parametrize("address", ADDRESSES[:3])
@pytest.mark.parametrize("use", USES)
def test_nothing_is_made_of_an_address(use: str, address: str, there: Path) -> None:
    with pytest.raises(RunError, match=r"is an address|there is no source"):
        USES[use](address)
    assert list(there.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["run", "net.yaml", "--checkpoint"],
        ["sql", "SELECT a FROM n", "--source", "n=n.csv", "--checkpoint"],
        ["explain", "net.yaml", "--svg"],
        ["demo", "--out"],
        ["bench", "boxes", "--json"],
        ["linear-road", "run", "--input", "road", "--output", "answers.csv", "--checkpoint"],
        ["linear-road", "validate", "--input", "road", "--output"],
        ["moving", "simulate", "--out"],
        ["signals", "simulate", "--out"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_the_command_line_refuses_addresses(words: list[str], there: Path) -> None:
    result = CliRunner().invoke(app, [*words, "s3://bucket/ck"])
    assert result.exit_code == 1
    assert f"australis: {words[-1]} s3://bucket/ck: is an address, not a path" in result.stderr
    assert list(there.iterdir()) == []


def test_a_file_address_is_its_path(there: Path) -> None:
    (there / "in.csv").write_text("a\n1\n")
    found = NET.run_local(numbers=f"file://{there}/in.csv", out=f"file://{there}/out.csv")
    assert found["out"].to_pylist() == [{"a": 1}]
    assert (there / "out.csv").read_text() == '"a"\n1\n'
    assert Checkpoint(f"file://{there}/ck").path == there / "ck"
    au.dump(NET, f"file://{there}/net.yaml")
    result = CliRunner().invoke(app, ["explain", f"file://{there}/net.yaml", "--svg", f"file://{there}/net.svg"])
    assert result.exit_code == 0, result.output
    assert (there / "net.svg").exists()
