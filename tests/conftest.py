"""How hard hypothesis tries (HYPOTHESIS_PROFILE is dev, if not set, quick, ci or thorough), and a Spark for tests.

The profile ci draws the same cases every time, so that what fails there is the change; the others draw new ones.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from australis.engine.spark.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("quick", deadline=None, max_examples=4)
settings.register_profile("ci", deadline=None, max_examples=60, derandomize=True, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that is given a Spark has the mark, said or not: `-m 'not spark'` starts none.

    The files that need Spark come first: they are the longest, and at the end one would be waited for alone.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    first = {item.path for item in items if item.get_closest_marker("spark")}
    items.sort(key=lambda item: item.path not in first)


@pytest.fixture(scope="module")
def spark() -> Iterator["SparkSession"]:
    found, ours = session(master="local[2]")
    yield found
    if ours:
        found.stop()
