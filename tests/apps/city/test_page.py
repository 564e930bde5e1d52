"""The page that replays a city."""

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from australis.apps.city.frames import CityFrames
from australis.apps.city.page import page


def data(text: str) -> dict[str, Any]:
    found = re.search(r"const city = (\{.*\});\n", text)
    assert found
    return dict(json.loads(found[1].replace("<\\/", "</")))


def test_the_page_holds_all_it_needs(whole: CityFrames) -> None:
    text = page(whole)
    assert "__CITY__" not in text
    assert not re.findall(r"https?:|<link|src=|@import|fetch\(|XMLHttpRequest", text)
    assert "prefers-color-scheme" in text
    city = data(text)
    x1, _, x2, _ = city["space"]
    packed = np.frombuffer(base64.b64decode(city["x"]), "<u2").reshape(whole.x.shape)
    there = ~np.isnan(whole.x)
    assert ((packed == 65535) == ~there).all()
    np.testing.assert_allclose(x1 + packed[there] / 65534 * (x2 - x1), whole.x[there], atol=(x2 - x1) / 65534)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_script_draws_and_seeks(whole: CityFrames, tmp_path: Path) -> None:
    """The page's script in a stand-in for a browser: what it counts at moments that are sought to and fro."""
    script = page(whole).partition("<script>")[2].partition("</script>")[0]
    (tmp_path / "page.js").write_text(
        """
        const made = {};
        const element = () => ({ style: {}, dataset: {}, classList: {}, checked: true, value: "1", listeners: {},
          append() {}, setAttribute() {}, addEventListener(kind, f) { this.listeners[kind] = f; },
          getBoundingClientRect: () => ({ width: 800, height: 600, left: 0, top: 0 }),
          getContext: () => new Proxy({}, { get: () => () => 0, set: () => true }) });
        globalThis.document = { documentElement: element(), getElementById: id => made[id] ??= element(),
          createElement: element };
        globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000" });
        globalThis.matchMedia = () => ({ matches: false });
        globalThis.addEventListener = () => {};
        globalThis.devicePixelRatio = 1;
        """
        + script
        + """
        const told = [];
        for (const time of [0, 59, 30, 7, 59]) {
          made.seek.listeners.input({ target: { value: time } });
          told.push([made.clock.textContent, made.told.textContent, members.map(each => each.size)]);
        }
        console.log(JSON.stringify(told));
        """
    )
    done = subprocess.run(["node", str(tmp_path / "page.js")], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    for (clock, told, sizes), row in zip(json.loads(done.stdout), [0, 59, 30, 7, 59], strict=True):
        assert clock == f"0:{row:02d}"
        assert told.startswith(f"{(~np.isnan(whole.x[row])).sum()} of 80 objects, 12 of 12 queries")
        assert told.endswith(f", {whole.sizes[row].sum():,} in their answers")
        assert sizes == whole.sizes[row].tolist()
