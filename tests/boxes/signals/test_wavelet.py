"""Wavelet: details and what is left, as PyWavelets has them."""

from typing import Any

import numpy as np
import pywt
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.signals.wavelet import Wavelet
from australis.testing import apply
from tests.boxes.signals.test_stats import BASE, LISTS, REAL, train_of
from tests.boxes.signals.test_transform import values


@given(LISTS, st.sampled_from(REAL), st.sampled_from(["haar", "db2", "sym3"]), st.integers(1, 3))
def test_wavelets_are_those_of_pywavelets(lists: list[list[int] | None], dtype: str, wavelet: str, level: int) -> None:
    (out,) = apply(Wavelet(level, wavelet), train_of(lists, dtype))
    for at, each in enumerate(lists):
        if not each:
            continue
        rest: Any = np.array(each, np.float64)
        for depth in range(1, level + 1):
            rest, detail = pywt.dwt(rest, wavelet)
            found = values(out, f"d{depth}")[at]
            assert found is not None
            np.testing.assert_allclose(np.asarray(found), detail, rtol=1e-4, atol=1e-2)
            assert found.time == BASE.time(5 + at)
            assert found.timebase.frequency * 2**depth == 8
        np.testing.assert_allclose(np.asarray(values(out, f"a{level}")[at]), rest, rtol=1e-4, atol=1e-2)
