"""A platoon's center of mass, query 2 of Aurora 5.3: tell when it moves far from one time to the next.

Windows of two tuples compare neighbours, with a window function of our own. The timeout says that no reading is worth
more than 5 seconds of waiting. Run it from the folder above: python examples/center_of_mass.py
"""

from pathlib import Path

import australis as au

HERE = Path(__file__).parent
FAR = 6

# The state is the first value and the latest.
au.window_function(
    "change",
    init=lambda: (0, 0.0, 0.0),
    incr=lambda state, x: (state[0] + 1, x if state[0] == 0 else state[1], x),
    final=lambda state: state[2] - state[1],
)

soldiers = au.stream("soldiers", "sid int, time int, pos int")
centers = soldiers.aggregate(on="time", slack=3, size=1, timeout="5 s", center="avg(pos)", box="centers")
moves = centers.aggregate(
    on="tup#", size=2, advance=1, time="last(time)", center="last(center)", change="change(center)", box="moves"
)
alerts = moves.filter(f"abs(change) > {FAR}", box="alerts")
net = au.network(centers=centers, alerts=alerts.output(latency={5: 1.0, 60: 0.0}))

if __name__ == "__main__":
    found = net.run_local(soldiers=HERE / "soldiers.csv")
    print("centers", [round(center, 1) for center in found["centers"]["center"].to_pylist()])
    for alert in found["alerts"].to_pylist():
        print(f"at time {alert['time']} the center of mass moved by {alert['change']:+.1f}, to {alert['center']:.1f}")
