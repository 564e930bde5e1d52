"""The same search in tuples, in windows and in segments."""

import pytest

from australis.bench import signal_forms
from australis.bench.applications import SOUNDS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("forms", "name"), [(signal_forms.PIPELINE, "pipeline"), (signal_forms.DETECTAUDIO, "detectaudio")]
)
def test_all_forms_find_the_same(forms: dict[str, signal_forms.Form], name: str) -> None:
    sound = SOUNDS[name].frames(0, 400_000)
    sound = sound[:, 0].copy() if sound.shape[1] == 1 else sound
    found = {each: form(signal_forms.prepare(each, sound)) for each, form in forms.items()}
    assert len(set(found.values())) == 1, found
    assert found.popitem()[1] > 0
