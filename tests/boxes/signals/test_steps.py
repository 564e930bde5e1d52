"""The steps of transforms."""

import numpy as np
import pytest

from australis.boxes.signals.segments import segment
from australis.boxes.signals.steps import STEPS
from australis.boxes.signals.transform import Transform
from australis.testing import apply
from australis.testing.signals import signal
from tests.boxes.signals.test_stats import BASE
from tests.boxes.signals.test_transform import values


def test_steps_follow_one_another() -> None:
    train = signal("audio segment<int16>", audio=[segment([3, 4, 0, 0], BASE, 9, dtype="int16")])
    (window,) = values(apply(Transform(("hann",)), train)[0])
    assert window is not None
    assert (window.start, window.timebase, window.dtype) == (9, BASE, np.float32)
    np.testing.assert_allclose(np.asarray(window), [0, 2, 0, 0])
    (small,) = values(apply(Transform(("scale(10000)", "int16")), train)[0])
    assert np.asarray(small).tolist() == [30000, 32767, 0, 0]
    (level,) = values(apply(Transform(("normalize", "power")), train)[0])
    np.testing.assert_allclose(np.asarray(level), np.square((np.array([3, 4, 0, 0]) - 1.75) / 2.25), rtol=1e-6)
    (shaped,) = values(apply(Transform(("kaiser(5)", "db")), train)[0])
    assert shaped is not None
    assert shaped.dtype == np.float32


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("step", "values", "wanted"),
    [
        ("int16", [NAN, INF, -INF, 0.5, 1.5, -40_000.0, 32_767.4], [0, 32_767, -32_768, 0, 2, -32_768, 32_767]),
        ("int32", [2.0**31, -(2.0**31), 2.5], [2**31 - 1, -(2**31), 2]),
        ("abs", [-0.0, -INF, 3.0], [0.0, INF, 3.0]),
        ("power", [-3.0, 0.0], [9.0, 0.0]),
        ("center", [1.0, 2.0, 6.0], [-2.0, -1.0, 3.0]),
        ("normalize", [5.0, 5.0], [0.0, 0.0]),
        ("normalize", [0.0, 4.0], [-1.0, 1.0]),
        ("db", [1.0, -10.0], [0.0, 20.0]),
    ],
)
def test_a_step_of_one_row(step: str, values: list[float], wanted: list[float]) -> None:
    assert STEPS[step].apply(np.array([values])).tolist() == [wanted]


def test_nothing_is_as_quiet_as_can_be() -> None:
    assert np.isfinite(STEPS["db"].apply(np.zeros((1, 2)))).all()


@pytest.mark.parametrize("dtype", ["int16", "int32", "float32", "float64", "complex64"])
def test_a_step_gives_samples_of_the_type_that_it_says(dtype: str) -> None:
    block = np.array([[-32_768, 1, 2, 3]]).astype(dtype)
    arguments = {"kaiser": (5.0,), "scale": (2.0,)}
    for name, step in STEPS.items():
        if block.dtype.kind in step.takes:
            made = step.apply(block, *arguments.get(name, ()))
            assert made.dtype == step.result(block.dtype), name


def test_the_least_int16_has_a_magnitude() -> None:
    assert STEPS["abs"].apply(np.array([[-32_768]], np.int16)).tolist() == [[32_768.0]]
