"""Windows under load: each is compared with those of a run that sheds nothing."""

import pyarrow as pa

from australis.bench.overload_steps import same_windows


def test_windows_are_equal_in_all_columns_or_not_at_all():
    exact = pa.table({"time": [0, 0, 1], "seg": [1, 2, 1], "mph": [10.0, 20.0, 30.0]})
    found = pa.table({"time": [1, 0], "seg": [1, 2], "mph": [30.0, 20.5]})
    assert same_windows(found, exact) == {"came": 2, "equal": 1, "all": 3}
    assert same_windows(found[:0], exact) == {"came": 0, "equal": 0, "all": 3}
