"""A plan as a value."""

import pickle
from dataclasses import FrozenInstanceError

import pytest

import australis as au
from australis.plan import Stage, plan

REPORTS = au.stream("reports", "time int, vid int, mph int, xway int, seg int")


def test_a_plan_is_a_value():
    net = au.network(out=REPORTS.aggregate(on="time", size=60, by="vid", n="count(*)", box="vids"))
    planned = plan(net)
    assert planned == plan(net) == pickle.loads(pickle.dumps(planned))
    assert hash(planned) == hash(plan(net))
    assert planned != plan(net, {"reports": ("vid",)})
    assert isinstance(planned.stage_of("vids"), Stage)
    assert [entry.by for entry in planned.exchanges] == [("vid",)]
    with pytest.raises(FrozenInstanceError):
        planned.stages = ()
    with pytest.raises(au.NetworkError, match="no stage has a box vdis; there are vids"):
        planned.stage_of("vdis")
