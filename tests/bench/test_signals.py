"""The measurements of signals, made short: they come to their end, forms agree, and appending does not copy."""

import json
from pathlib import Path

import pytest

from australis.bench import signals
from australis.bench.applications import APPLICATIONS
from australis.errors import RunError

pytestmark = pytest.mark.slow


@pytest.mark.spark
def test_the_applications_run_beside_the_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signals.main(quick=True, json=tmp_path / "signals.json", plot=tmp_path / "signals.png")
    report = json.loads((tmp_path / "signals.json").read_text())
    assert list(report["applications"]) == list(APPLICATIONS)
    for name, each in report["applications"].items():
        assert [each["spark"]] == each["turns"]
        assert each["met"] == (each["spark"] >= 10 * signals.PAPER[name]["xstream"])
        assert each["part"] == pytest.approx(each["spark"] / each["kernel"])
    assert report["csv"]["loading"]["ours"] > 0
    assert (tmp_path / "signals.png").read_bytes().startswith(b"\x89PNG")
    for shown in (capsys.readouterr().out, (tmp_path / "signals.md").read_text()):
        assert all(word in shown for word in ("passchain", "RefCount-Lazy", "WINDOWSTRIDE"))


def test_one_that_there_is_not_is_refused() -> None:
    with pytest.raises(RunError, match="there are passchain"):
        signals.main(only="passchains")
