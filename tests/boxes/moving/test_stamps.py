"""When the tuples entered that an update is made from."""

from australis.boxes.moving import Watch
from australis.testing import train
from tests.boxes.moving.test_watch import OBJECTS
from tests.oracles.running import run


def test_an_update_entered_when_the_oldest_of_its_tuples_in_the_train_did() -> None:
    reports = train(OBJECTS, id=[1, 2], x=[1, 5], y=[1, 1], time=[0, 0], type=["car"] * 2, ts=[40, 30])
    wanted = train(
        "query int, kind string, radius double, focal int",
        query=[7],
        kind=["circle"],
        radius=[9],
        focal=[2],
        ts=[35],
        first=3,
    )
    assert run(Watch(every="train"), [reports, wanted])[0] == [((7, 1, 1), 30, 3), ((7, 1, 2), 30, 3)]
    assert run(Watch(), [reports, wanted])[0] == [((7, 1, 1), 35, 3), ((7, 1, 2), 35, 3)]
