"""Soldiers at a border, query 1 of Aurora 5.3: tell whenever 3 of them are across it at the same time.

Run it from the folder above: python examples/border.py
"""

from pathlib import Path

import australis as au

HERE = Path(__file__).parent
BORDER, ENOUGH = 30, 3

soldiers = au.stream("soldiers", "sid int, time int, pos int")
crossings = (
    soldiers.filter(au.col("pos") >= BORDER, box="across")
    .aggregate(on="time", slack=1, size=1, soldiers="count(*)", box="counted")
    .filter(au.col("soldiers") >= ENOUGH, box="enough")
)
net = au.network(crossings=crossings)

if __name__ == "__main__":
    for found in net.run_local(soldiers=HERE / "soldiers.csv")["crossings"].to_pylist():
        print(f"at time {found['time']}, {found['soldiers']} soldiers are across the border")
