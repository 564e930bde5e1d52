"""Linear Road as a network of boxes: the five kinds of answers to what vehicles send (3.2)."""

from __future__ import annotations

import australis as au
from australis.api.network import Network
from australis.api.stream import Stream
from australis.apps.linear_road.estimate import PastTraffic
from australis.apps.linear_road.functions import define_functions
from australis.apps.linear_road.record import (
    ALERT,
    BALANCE,
    EAST,
    EVERY,
    EXIT,
    EXPENDITURE,
    INPUT,
    REPORT,
    SEGMENTS,
    TOLL,
    TRAVEL,
)

AHEAD = 5
"""In how many segments vehicles are warned of an accident, its own included."""
MINUTES = range(1, 6)
"""The minutes before the present one, over which speeds are averaged."""
STOPPED = 4
"""A vehicle has stopped when so many reports in a row are from one place."""
LANE = 1 << 21
"""The first spot of a lane. A spot is a lane, a position and a direction as one number."""
FOLLOWS = f"old.at = time - {EVERY} and (old.mile >= {SEGMENTS}) = (mile >= {SEGMENTS})"
"""Whether a report continues the trip of the one before: it is 30 s later, in the same direction."""

CARS = au.table(
    "cars", "xway smallint, vid int, at int, mph tinyint, spot int, mile smallint, still int", ["xway", "vid"]
)
ROADS = au.table(
    "segments",
    "xway smallint, dir tinyint, seg tinyint, " + ", ".join(f"m{i} int, s{i} bigint, n{i} bigint" for i in MINUTES),
    ["xway", "dir", "seg"],
)
STOPS = au.table("stops", "xway smallint, spot int, vid_1 int, time_1 int, vid_2 int, time_2 int", ["xway", "spot"])
ACCIDENTS = au.table("accidents", "xway smallint, mile smallint, since int, until int", ["xway", "mile"])
QUOTES = au.table("quotes", "xway smallint, vid int, quote bigint, charge bigint", ["xway", "vid"])
ACCOUNTS = au.table("accounts", "vid int, balance bigint", ["vid"])


def network(past: PastTraffic | None = None) -> Network:
    """The whole network. Without a history, requests about the weeks before are answered as with an empty one."""
    messages = au.stream("sent", INPUT)
    reports, balances, expenditures, journeys = messages.route(
        f"type = {REPORT}", f"type = {BALANCE}", f"type = {EXPENDITURE}", f"type = {TRAVEL}", box="types"
    )[:4]
    cars = follow(reports)
    crossings = quote(warn(cars.filter("enters", box="crossings")))
    notified = crossings.filter(f"lane != {EXIT}", box="notified")
    define_functions(past)
    return au.network(
        statistics(cars),
        accidents(cars),
        charge(crossings),
        tolls=notified.map(type=str(TOLL), vid="vid", time="time", lav="lav", toll="toll", box="tolls"),
        alerts=notified.filter("accident is not null", box="alerted").map(
            type=str(ALERT), time="time", vid="vid", seg="accident", box="alerts"
        ),
        balances=balances.read(ACCOUNTS, box="account").map(
            type=str(BALANCE), time="time", qid="qid", balance="coalesce(balance, 0)", box="balances"
        ),
        expenditures=expenditures.map(
            type=str(EXPENDITURE), time="time", qid="qid", balance="lr_spent(vid, day, xway)", box="expenditures"
        ),
        journeys=journeys.map(
            type=str(TRAVEL),
            time="time",
            qid="qid",
            travel_time="lr_seconds(xway, sinit, send, dow, tod)",
            toll="lr_tolls(xway, sinit, send, dow, tod)",
            box="journeys",
        ),
    )


def follow(reports: Stream) -> Stream:
    """Compare each report with the last one of its vehicle: does it enter a segment, and how long has it stood still?

    A vehicle reports once or twice from a segment in a minute. The sum of `car` is the number of vehicles in it,
    and the sum of `speed` twice the sum of their averages: a second report adds half of the difference to an average.
    """
    observed = reports.map(
        xway="xway", vid="vid", time="time", minute="time div 60 + 1", began="time - time % 60", spd="spd", lane="lane",
        dir="dir", seg="seg", spot=f"cast(lane * {LANE} + pos * 2 + dir as int)",
        mile=f"cast(dir * {SEGMENTS} + seg as smallint)",
        box="reports",
    )  # fmt: skip
    again = "old.mile = mile and old.at >= began"
    still = f"case when {FOLLOWS} and old.spot = spot then old.still + 1 else 1 end"
    return observed.write(
        CARS,
        at="time", mph="spd", spot="spot", mile="mile", still=still,
        returning={
            "still": still,
            "enters": f"case when {FOLLOWS} and old.mile = mile then false else true end",
            "goes_on": f"case when {FOLLOWS} and old.spot < {EXIT * LANE} then true else false end",
            "car": f"case when {again} then 0 else 1 end",
            "speed": f"case when {again} then spd - old.mph else 2 * spd end",
        },
        box="cars",
    )  # fmt: skip


def statistics(cars: Stream) -> Stream:
    """The vehicles and speeds of the last five minutes that have any, by segment."""
    minutes = cars.aggregate(
        on="minute", size=1, by=["xway", "dir", "seg"], cars="sum(car)", speeds="sum(speed)", box="minutes"
    )
    shifted = {f"{name}{i}": f"old.{name}{i - 1}" for i in MINUTES if i > 1 for name in "msn"}
    first = {"m1": "minute", "s1": "speeds", "n1": "cars"}
    return minutes.write(ROADS, first | shifted, box="segments")


def accidents(cars: Stream) -> Stream:
    """Where two vehicles stand at one place of a travel lane, from which minute until which."""
    stopped = cars.filter(f"still >= {STOPPED} and lane between 1 and 3", box="stopped").write(
        STOPS,
        vid_1="vid", time_1="time",
        vid_2="case when old.vid_1 = vid then old.vid_2 else old.vid_1 end",
        time_2="case when old.vid_1 = vid then old.time_2 else old.time_1 end",
        box="stops",
    )  # fmt: skip
    met = stopped.filter(f"time_2 > time - {EVERY}", box="met").map(
        xway="xway", mile="mile", since_now="minute", until_now=f"(time_2 + {EVERY - 1}) div 60 + 1", box="accident"
    )
    return met.write(
        ACCIDENTS,
        since="case when old.until >= since_now - 1 then old.since else since_now end",
        until="case when old.until >= until_now then old.until else until_now end",
        box="accidents",
    )


def warn(crossings: Stream) -> Stream:
    """Add the segment of the nearest accident within reach in the minute before, or null."""
    columns = {name: name for name in ("xway", "vid", "time", "minute", "lane", "dir", "seg", "goes_on")}
    stream = crossings.map({**columns, "accident": "cast(null as tinyint)"}, box="entries")
    for ahead in range(AHEAD):
        there = f"case when dir = {EAST} then least(seg + {ahead}, 99) else greatest(seg - {ahead}, 0) end"
        at = stream.map({**columns, "accident": "accident", "mile": f"cast(dir * {SEGMENTS} + {there} as smallint)"})
        near = "since < minute and until >= minute - 1"
        warning = f"case when accident is null and {near} then cast(mile % {SEGMENTS} as tinyint) else accident end"
        stream = at.read(ACCIDENTS).map({**columns, "accident": warning})
    return stream


def quote(crossings: Stream) -> Stream:
    """Add the latest average velocity in the segment, and its toll."""
    columns = {name: name for name in crossings.schema.names}
    read = crossings.read(ROADS, box="statistics")
    there = [f"m{i} >= minute - {len(MINUTES)}" for i in MINUTES]
    recent = read.map(
        {
            **columns,
            "cars": "case when m1 = minute - 1 then n1 else 0 end",
            "minutes": " + ".join(f"case when {test} then 1 else 0 end" for test in there),
            **{f"s{i}": f"case when {test} then s{i} else 0 end" for i, test in zip(MINUTES, there, strict=True)},
            **{f"n{i}": f"case when {test} then n{i} else 1 end" for i, test in zip(MINUTES, there, strict=True)},
        },
        box="known",
    )
    # The sum of the fractions s / n, exactly, over twice the number of minutes.
    above = " + ".join(" * ".join([f"s{i}", *(f"n{j}" for j in MINUTES if j != i)]) for i in MINUTES)
    below = " * ".join(["2 * minutes", *(f"n{i}" for i in MINUTES)])
    averaged = recent.map(
        {**columns, "cars": "cars", "lav": f"case when minutes = 0 then -1 else ({above}) div ({below}) end"}
    )
    toll = "case when lav < 40 and cars > 50 and accident is null then 2 * (cars - 50) * (cars - 50) else 0 end"
    return averaged.map({**columns, "lav": "lav", "toll": toll}, box="quoted")


def charge(crossings: Stream) -> Stream:
    """Keep each vehicle's account: the quote of a segment is charged when the vehicle leaves it for the next."""
    left = crossings.write(QUOTES, charge="case when goes_on then old.quote else 0 end", quote="toll", box="quotes")
    return left.filter("charge > 0", box="charges").write(
        ACCOUNTS, balance="coalesce(old.balance, 0) + charge", box="accounts"
    )
