"""Traffic jams: segments of a road that are full and slow, minute by minute.

Run it from the folder above: python examples/traffic.py
"""

from pathlib import Path

import australis as au

HERE = Path(__file__).parent

reports = au.stream("reports", "time int, vid int, mph int, xway int, seg int")
jams = reports.aggregate(on="time", size=60, by=["xway", "seg"], cars="count(distinct vid)", mph="avg(mph)").filter(
    "cars > 50 and mph < 40"
)
net = au.network(jams=jams.output(latency={2: 1.0, 10: 0.0}))

if __name__ == "__main__":
    for jam in net.run_local(reports=HERE / "reports.csv")["jams"].to_pylist():
        print(f"minute {jam['time'] // 60}, segment {jam['seg']}: {jam['cars']} cars at {jam['mph']:.0f} mph")
