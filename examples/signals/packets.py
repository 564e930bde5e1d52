"""Which receivers of a wireless network to put packets together from (XStream II, network monitoring).

    python examples/signals/packets.py

Some receivers hear the packets of a sender, each with bits that are wrong. Those near each other suffer from the same
disturbances, and fail together. packets.yaml aligns the errors of each packet and correlates receivers pair by pair;
here they are put in clusters by that. Copies from two clusters mend each other more often than two of the best one.
"""

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import australis as au
from australis.boxes.signals import segment, timebase
from australis.boxes.signals.column import column

HERE = Path(__file__).parent
BITS, BLOCK, RATE = 1024, 64, 54_000_000
PLACES = (0, 0, 0, 1, 1, 1)  # where each receiver stands: in the kitchen, or in the hall


def receptions(packets: int, seed: int) -> dict[str, object]:
    """What receivers hear of packets: bursts of errors by place, a few of their own; one packet in ten is missed."""
    random = np.random.default_rng(seed)
    starts = random.integers(0, BITS, (packets, 2))
    lengths = random.integers(50, 400, (packets, 2)) * (random.random((packets, 2)) < 0.5)
    at = np.arange(BITS)
    burst = (at >= starts[..., None]) & (at < (starts + lengths)[..., None])
    chance = 0.002 + 0.3 * burst[:, PLACES]
    wrong = (random.random((packets, len(PLACES), BITS)) < chance).astype(np.int16)
    packet, receiver = np.nonzero(random.random((packets, len(PLACES))) < 0.9)
    signals = [segment(wrong[p, r], timebase(RATE), start=int(p) * BITS) for p, r in zip(packet, receiver, strict=True)]
    return {"source": [7] * len(packet), "receiver": receiver.tolist(), "errors": column(signals, "int16")}


def clusters(pairs: list[dict[str, float]]) -> list[list[int]]:
    """Receivers that fail together, from the mean correlation of each pair."""
    alike = np.zeros((len(PLACES), len(PLACES)))
    for one, two in combinations(range(len(PLACES)), 2):
        found = [pair["correlation"] for pair in pairs if (pair["one"], pair["two"]) == (one, two)]
        alike[one, two] = alike[two, one] = np.mean(found)
    print(np.array2string(alike + np.eye(len(PLACES)), precision=2, suppress_small=True))
    apart = squareform(1 - alike - np.eye(len(PLACES)), checks=False)
    label = fcluster(linkage(apart, "average"), 2, "maxclust")
    return [np.flatnonzero(label == each).tolist() for each in np.unique(label)]


def mended(blocks: np.ndarray, chosen: tuple[int, int]) -> float:
    """The part of packets of which each block was heard without an error by one of the chosen receivers at least."""
    good = (blocks[:, list(chosen)] == 0).any(axis=1)
    return float(good.all(axis=1).mean())


def main() -> None:
    asked = argparse.ArgumentParser(description="Correlate the errors of receivers.")
    asked.add_argument("--packets", type=int, default=1000)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    net = au.load(HERE / "packets.yaml")
    found = net.run_local(receptions=receptions(given.packets, given.seed))
    groups = clusters(found["correlations"].to_pylist())
    print("clusters of receivers:", ", ".join(str(group) for group in groups))

    heard = found["blocks"].to_pydict()
    blocks = np.full((given.packets, len(PLACES), BITS // BLOCK), BITS)  # what was missed is wrong altogether
    places = np.array(heard["start"])
    blocks[places // BITS, heard["receiver"], places % BITS // BLOCK] = heard["wrong"]
    within = {pair: mended(blocks, pair) for group in groups for pair in combinations(group, 2)}
    across = {(one, two): mended(blocks, (one, two)) for one in groups[0] for two in groups[1]}
    for name, pairs in (("of one cluster", within), ("of two clusters", across)):
        best = max(pairs, key=lambda pair: pairs[pair])
        print(f"the best two receivers {name}, {best}, mend {pairs[best]:.0%} of the packets")


if __name__ == "__main__":
    main()
