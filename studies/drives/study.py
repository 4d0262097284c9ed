# SPDX-License-Identifier: Apache-2.0
"""Drives beside their data sheets. README.md has the sources, the table, and what stands behind each miss."""

import dataclasses
import pathlib
import statistics

from ssdtlm.studying import Figure, Point, Study, Trend, check
from ssdtlm.studying.derived import derive

GOAL_MEAN, GOAL_WORST = 3, 6  # per cent
MOST_PLACES = 14              # of one chart
# (rw, KiB, jobs, depth of all jobs together; 0: the drive's own), and the unit.
CELLS = {
    "seq_read": ("read", 128, 1, 32, "MB/s"), "seq_write": ("write", 128, 1, 32, "MB/s"), "past_cache_write": ("write", 128, 1, 32, "MB/s"),
    "rand_read": ("randread", 4, 8, 0, "kIOPS"), "rand_write": ("randwrite", 4, 8, 0, "kIOPS"), "steady_write": ("randwrite", 4, 8, 0, "kIOPS"),
    "qd1_read": ("randread", 4, 1, 1, "kIOPS"), "qd1_write": ("randwrite", 4, 1, 1, "kIOPS"),
    "seq_latency_read": ("read", 4, 1, 1, "us"), "seq_latency_write": ("write", 4, 1, 1, "us"),
}
NAMES = {"seq_read": "sequential reads", "seq_write": "sequential writes", "past_cache_write": "writes past the SLC cache", "rand_read": "random reads",
         "rand_write": "random writes", "steady_write": "random writes in steady state", "qd1_read": "random reads at depth 1", "qd1_write": "random writes at depth 1",
         "seq_latency_read": "latency of sequential reads", "seq_latency_write": "latency of sequential writes"}
SHORT = {"seq_read": "seq R", "seq_write": "seq W", "past_cache_write": "past cache", "rand_read": "rand R", "rand_write": "rand W", "steady_write": "steady W", "qd1_read": "R at 1",
         "qd1_write": "W at 1", "seq_latency_read": "latency R", "seq_latency_write": "latency W"}
# What an I/O of one fio job cost on the host of the SN730's matrix (wd-sn730-512g). The other presets have a host that takes no time; the data sheets' had.
HOST = {"host.submit_time": "7.28us", "host.completion_time": "7.385us", "host.submit_page_time_read": "92ns", "host.submit_page_time_write": "222ns",
        "host.completion_page_time_read": "15ns", "host.completion_page_time_write": "15ns"}
NO_HOST = dict.fromkeys(HOST, "0s")
NO_CACHE = {"slc.blocks": 0, "slc.dynamic_blocks": 0}
FILL = pathlib.Path(__file__).resolve().parent / "fill.fio"


@dataclasses.dataclass(frozen=True)
class Drive:
    """published: {cell: value}, in the cell's unit. used: {cell: the parameter that was made from it}; such a cell is shown and not judged. cache: the
    data sheet says that reads are from its SLC cache; else they are of a full drive. span: of the jobs. ramp_ms: until the write buffer no longer hides the flash. memory: the numbers are assumed, for the data sheet is known from memory
    alone."""

    preset: str
    published: dict
    used: dict = dataclasses.field(default_factory=dict)
    cache: bool = False
    span: str = ""
    deep: int = 128
    ramp_ms: int = 120
    memory: bool = False


DRIVES = {
    "850 PRO 256": Drive("850pro-256", {"seq_read": 550, "seq_write": 520, "rand_read": 100, "rand_write": 90, "qd1_read": 10, "qd1_write": 36},
                         {"rand_read": "firmware.read_command", "rand_write": "firmware.write_command"}, span="8g", deep=32, ramp_ms=1500),
    "535 240": Drive("intel-535-240", {"seq_read": 540, "seq_write": 490, "rand_read": 45, "rand_write": 80},
                     {"rand_read": "firmware.read_command", "rand_write": "firmware.write_command"}, span="8g", deep=32),
    "S4500 480": Drive("s4500", {"seq_read": 500, "seq_write": 490, "rand_read": 72, "steady_write": 33, "qd1_read": 1000 / 110, "qd1_write": 1000 / 52,
                                 "seq_latency_read": 36, "seq_latency_write": 36},
                       {"rand_read": "firmware.read_command", "steady_write": "nand.geometry.blocks_per_plane", "qd1_read": "nand.t_read"}, deep=32, ramp_ms=200),
    "750 400": Drive("intel-750-400", {"seq_read": 2200, "seq_write": 900, "rand_read": 430, "rand_write": 230, "seq_latency_read": 20, "seq_latency_write": 20}, ramp_ms=450),
    "SN730 512": Drive("wd-sn730-512g", {"seq_read": 3400, "seq_write": 2700, "rand_read": 460, "rand_write": 400},
                       {"seq_write": "nand.slc.t_program", "rand_read": "firmware.read_command", "rand_write": "firmware.write_command"}),
    "970 PRO 512": Drive("samsung-970pro-512", {"seq_read": 3500, "seq_write": 2300, "rand_read": 370, "rand_write": 500, "qd1_read": 15, "qd1_write": 55}),
    "970 EVO 500": Drive("samsung-970evo-500", {"seq_read": 3400, "seq_write": 2300, "past_cache_write": 600, "rand_read": 370, "rand_write": 450, "qd1_read": 15,
                                                "qd1_write": 50}),
    "SN770 1T": Drive("wd-sn770-1t", {"seq_read": 5150, "seq_write": 4900, "rand_read": 740, "rand_write": 800}, {"seq_read": "nand.onfi.rate", "rand_write": "firmware.write_command"},
                     span="8g", ramp_ms=40),
    "670p 2T": Drive("intel-670p-2t", {"seq_read": 3500, "seq_write": 2700, "rand_read": 310, "rand_write": 340, "qd1_read": 20, "qd1_write": 54}, cache=True, deep=256,
                     ramp_ms=80),
    "T700 1T": Drive("crucial-t700-1t", {"seq_read": 11700, "seq_write": 9500, "rand_read": 1350, "rand_write": 1400}, {"seq_write": "nand.slc.t_program"}, deep=256,
                     ramp_ms=30),
    "CM6 3.84T": Drive("kioxia-cm6-3840", {"seq_read": 6900, "seq_write": 4200, "rand_read": 1400, "steady_write": 170}, deep=256),
    "P4500 2T": Drive("intel-p4500-2t", {"seq_read": 3200, "seq_write": 1050, "rand_read": 490, "steady_write": 38, "qd1_read": 1000 / 85, "qd1_write": 1000 / 20, "seq_latency_read": 10,
                                        "seq_latency_write": 13}, deep=256, ramp_ms=200),
    "P4510 2T": Drive("intel-p4510-2t", {"seq_read": 3200, "seq_write": 2000, "rand_read": 637, "steady_write": 81.5, "qd1_read": 1000 / 77, "qd1_write": 1000 / 18}, deep=256, ramp_ms=200,
                      memory=True),
    "P4610 1.6T": Drive("intel-p4610-1600", {"seq_read": 3200, "seq_write": 2080, "rand_read": 643, "steady_write": 199}, deep=256, ramp_ms=200, memory=True),
    "PM1725a 6.4T": Drive("samsung-pm1725a-6400", {"seq_read": 6200, "seq_write": 2600, "rand_read": 1000}, deep=256, ramp_ms=200),
    "PM9D3a 3.84T": Drive("samsung-pm9d3a-3840", {"seq_read": 12000, "seq_write": 6800, "rand_read": 2000}, deep=256),
    "P4320 7.68T": Drive("intel-p4320-7680", {"seq_read": 3200, "seq_write": 1000, "rand_read": 427}, deep=256, ramp_ms=200),
}
# Runs in which one thing is changed: what a miss goes back to. (drive, cell): {what: settings}
CHANGED = {
    ("850 PRO 256", "qd1_read"): {"firmware in hardware": {"firmware.read_command": 150}},
    ("850 PRO 256", "qd1_write"): {"firmware in hardware": {"firmware.write_command": 150}},
    ("535 240", "seq_write"): {"a buffer of 4 MiB": {"buffer.size": "4MiB"}},
    ("S4500 480", "seq_latency_read"): {"firmware in hardware": {"firmware.read_command": 150}},
    ("S4500 480", "seq_latency_write"): {"firmware in hardware": {"firmware.write_command": 150}},
    ("SN770 1T", "rand_read"): {"the whole map in memory": {"ftl.mapping": "page"}},
    ("670p 2T", "seq_write"): {"tPROG of 350 us in SLC mode": {"nand.slc.t_program": "350us"}},
    ("670p 2T", "rand_read"): {"one read at a time in a die": {"nand.independent_plane_read": False}, "firmware of 3.2 us on each core": {"firmware.read_command": 3000}},
    ("670p 2T", "rand_write"): {"the whole map in memory": {"ftl.mapping": "page"}},
    ("970 EVO 500", "seq_write"): {"cache program": {"nand.cache_program": True}},
    ("970 EVO 500", "past_cache_write"): {"tPROG of 870 us, by the 250 GB drive's 300 MB/s": {"nand.t_program": "870us"}},
    ("970 EVO 500", "rand_read"): {"one read at a time in a die": {"nand.independent_plane_read": False}},
    ("750 400", "seq_read"): {"bus of 267 MT/s, one mode lower": {"nand.onfi.rate": "267MT/s"}},
    ("750 400", "seq_latency_write"): {"the firmware's time of a read for a write": {"firmware.write_command": 834}},
    ("970 PRO 512", "rand_read"): {"all pages as fast as the fast ones": {"nand.t_read": "29.76us"}},
    ("970 PRO 512", "qd1_write"): {"a host that takes no time": NO_HOST},
    ("T700 1T", "seq_read"): {"bus of 1600 MT/s, one mode lower": {"nand.onfi.rate": "1600MT/s"}},
    ("970 EVO 500", "qd1_read"): {"tR of 45 us, as 256 Gb of 48 layers": {"nand.t_read": "45us"}},
    ("T700 1T", "rand_read"): {"tR of its SLC cache": {"nand.t_read": "27us"}},
}
ADAPTER, ONE_FRAME = {"an adapter at PCIe Gen2 x1": {"link.generation": 2, "link.lanes": 1}}, {"an adapter with room for one frame": {"host.sata.fifo_frames": 1}}
CHANGED |= {**{(drive, "seq_read"): ADAPTER for drive in ("850 PRO 256", "535 240", "S4500 480")}, **{(drive, "seq_write"): ONE_FRAME for drive in ("850 PRO 256", "S4500 480")},
            ("S4500 480", "qd1_write"): {"a firmware that takes twice as long for a write": {"firmware.write_command": 13700}},
            **{("P4500 2T", cell): {"a host that takes no time": NO_HOST} for cell in ("qd1_read", "seq_latency_read", "seq_latency_write")},
            ("P4500 2T", "qd1_write"): {"a firmware that takes 2 us longer for a write": {"firmware.write_command": 2150}}}
# The same without a run, by the formula of `ssdtlm config derive`: the steady state takes minutes.
BY_FORMULA = {("CM6 3.84T", "steady_write"): {"spare of 15 %": {"ftl.over_provisioning": "15%"}}}
PAYLOAD = {"payload of 128 B a packet": {"link.max_payload": "128B", "link.completion_payload": "128B"}}
FEWER = {"one program of a die at a time": {"buffer.flush_depth_per_die": 1}}
CHANGED |= {**{(drive, "seq_read"): PAYLOAD for drive in ("P4500 2T", "P4510 2T", "P4610 1.6T", "PM1725a 6.4T", "P4320 7.68T")},
            **{(drive, "seq_write"): FEWER for drive in ("P4500 2T", "P4510 2T", "P4610 1.6T", "PM1725a 6.4T", "PM9D3a 3.84T", "P4320 7.68T")},
            ("PM1725a 6.4T", "rand_read"): {"a firmware of 1 us a command on one core": {"firmware.cores": 1, "firmware.read_command": 925}},
            ("PM9D3a 3.84T", "seq_read"): {"bus of 1600 MT/s": {"nand.onfi.rate": "1600MT/s"}},
            ("PM9D3a 3.84T", "rand_read"): {"one read at a time in a die": {"nand.independent_plane_read": False}},
            ("P4510 2T", "qd1_read"): {"a host that takes no time": NO_HOST},
            ("P4320 7.68T", "rand_read"): {"one read at a time in a die": {"nand.independent_plane_read": False}}}
# Without what the preset has of other drives with the same controller, as presets were before.
WITHOUT = {
    ("750 400", "rand_read"): {"firmware.cores": 3, "firmware.read_command": 150},
    ("970 PRO 512", "rand_write"): {"firmware.cores": 5, "firmware.write_command": 150},
    ("970 EVO 500", "rand_write"): {"firmware.cores": 5, "firmware.write_command": 150},
    ("T700 1T", "rand_write"): {"firmware.write_command": 150},
}
LIMIT = "without the controller's limit"
# Cells that are known to miss the goal: why. README.md has more.
PAUSES = "Neither drive nor adapter pauses between two frames, so the wire is the limit (595 MB/s). Which adapter was used is not known."
SERIAL = "The firmware's time of a command was made from IOPS at depth 32, as if none of it were pipelined, and the host is another machine's."
SLOWER_HOST = "The host is another machine's."
LARGER = "The controller's limit is that of another drive with it, which is a little faster."
NO_LIMIT = "Dies and bus would give as much; the controller's own limit is not known, and the preset has none."
POWER = "Drives for servers let no more dies program at once than their power allows, which the model does not have."
SMALL_PACKETS = "Packets of 256 B are assumed; with 128 B the model is nearer."
# Of these the model lacks the mechanism; of the others it has it, and a value is not known.
ABSENT = {
    **{(drive, "seq_read"): PAUSES for drive in ("850 PRO 256", "535 240", "S4500 480")},
    **{(drive, "seq_write"): PAUSES for drive in ("850 PRO 256", "S4500 480")},
    ("850 PRO 256", "qd1_read"): SERIAL + " The mean tR of SimpleSSD's configuration, 75 us, leaves no more than 13 kIOPS.",
    ("850 PRO 256", "qd1_write"): SERIAL,
    ("S4500 480", "seq_latency_read"): SERIAL,
    ("S4500 480", "seq_latency_write"): SERIAL,
    ("SN770 1T", "rand_read"): "The cached part of the map is empty at first; the drive's host memory buffer was warm, and what an access to it takes is not modelled.",
    **{(drive, cell): POWER for drive in ("P4500 2T", "P4510 2T", "P4610 1.6T") for cell in ("seq_write", "steady_write")},
    **{(drive, "seq_write"): POWER for drive in ("PM1725a 6.4T", "PM9D3a 3.84T", "P4320 7.68T")},
}
UNKNOWN = {
    ("S4500 480", "qd1_write"): "What the firmware takes for a write is assumed, the same as for a read. The drive's random writes take 16 us more than its sequential ones, which the model's buffer answers alike.",
    **{(drive, "seq_read"): SMALL_PACKETS for drive in ("P4500 2T", "P4510 2T", "P4610 1.6T", "PM1725a 6.4T", "P4320 7.68T")},
    **{("P4500 2T", cell): SLOWER_HOST for cell in ("qd1_read", "seq_latency_read", "seq_latency_write")},
    ("P4500 2T", "qd1_write"): SLOWER_HOST + " What a write takes of the controller is not known.",
    ("P4510 2T", "qd1_read"): SLOWER_HOST,
    ("PM1725a 6.4T", "rand_read"): NO_LIMIT,
    ("PM9D3a 3.84T", "seq_read"): "The bus limits; its rate is assumed.",
    ("PM9D3a 3.84T", "rand_read"): "Whether planes read each for itself is assumed, and the controller's own limit is not known.",
    ("P4320 7.68T", "rand_read"): "Whether planes read each for itself is assumed, and tR is that of another die.",
    ("535 240", "seq_write"): "The buffer of 1 MiB is assumed; with 4 MiB the model is above the data sheet.",
    ("750 400", "seq_read"): "The bus limits, whose rate and spare bytes are those of a configuration of SimpleSSD.",
    ("750 400", "seq_latency_write"): SLOWER_HOST + " What a write takes of the controller is not known.",
    ("970 PRO 512", "rand_read"): "tR is a mean of NVMeVirt's two kinds of page.",
    ("970 PRO 512", "qd1_write"): SLOWER_HOST,
    ("970 EVO 500", "past_cache_write"): "tPROG is that of another die, of 512 Gb.",
    ("970 EVO 500", "rand_read"): "Whether planes read each for itself is assumed.",
    ("970 EVO 500", "rand_write"): LARGER,
    ("970 EVO 500", "qd1_read"): "tR is that of another die, of 512 Gb.",
    ("670p 2T", "seq_write"): "The time of a program in SLC mode is assumed, as of TLC dies.",
    ("670p 2T", "rand_read"): "That planes read each for itself is assumed. " + NO_LIMIT,
    ("670p 2T", "rand_write"): "Three quarters of the flash's work is the map, whose cached part is empty at first.",
    ("T700 1T", "seq_read"): "The bus gives as much; the controller's own limit is not known.",
    ("T700 1T", "rand_read"): "Reads of TLC at 45 us on 48 planes end there; in the SLC cache they would not.",
    ("T700 1T", "rand_write"): LARGER,
    ("CM6 3.84T", "steady_write"): "By formula 295 kIOPS with 29 % of spare: how many dies there are is not known, and four on each channel are assumed.",
}
REASONS = {**ABSENT, **UNKNOWN}


def job(drive, cell):
    rw, size, jobs, depth, _ = CELLS[cell]
    depth = depth or drive.deep
    jobs = 1 if depth < 64 else jobs
    if cell == "steady_write":
        times = "time_based\nramp_time=15s\nruntime=10s"
    elif "write" in rw and depth > 1:
        times = f"time_based\nramp_time={drive.ramp_ms}ms\nruntime={max(drive.ramp_ms, 100)}ms"
    else:
        times = f"number_ios={(400 if depth == 1 else 12000 if size == 4 else 4000) // jobs}"
    span = drive.span or ("2g" if drive.cache and "read" in rw else "")
    lines = ["[cell]", "ioengine=libaio", "direct=1", f"rw={rw}", f"bs={size}k", f"iodepth={depth // jobs}", f"numjobs={jobs}", "group_reporting", "norandommap", times]
    return "\n".join(lines + ([f"size={span}"] if span else [])) + "\n"


def settings(drive, cell):
    found = {"run.slowest": 0}
    if drive.cache and "read" in cell:
        found.update({"precondition.workload": str(FILL), "precondition.fill_caches": False})
    if cell == "past_cache_write":
        found.update(NO_CACHE)
    if cell == "steady_write":
        found["precondition.state"] = "analytic"
    if CELLS[cell][3] == 1 and cell not in drive.used:
        found.update(HOST)
    return found


class Drives(Study):
    title = "Drives beside their data sheets"
    source = "Data sheets and reviews; studies/drives/README.md names the source of each number, configs/device that of each parameter."

    def points(self, quick):
        points = []
        for name, drive in DRIVES.items():
            for cell in drive.published:
                if quick and cell == "steady_write":
                    continue
                variants = {"": {}, **CHANGED.get((name, cell), {}), **({LIMIT: WITHOUT[name, cell]} if (name, cell) in WITHOUT else {})}
                points += [Point({"drive": name, "cell": cell, "changed": what}, drive.preset, ((cell, job(drive, cell)),), {**settings(drive, cell), **more})
                           for what, more in variants.items()]
        return points

    def rows(self, ended):
        rows = []
        for point, result in ended:
            a = point.axes
            drive, unit = DRIVES[a["drive"]], CELLS[a["cell"]][4]
            ours = measured(result.json, CELLS[a["cell"]][0], unit)
            published = drive.published[a["cell"]]
            rows.append({"drive": a["drive"], "cell": a["cell"], "changed": a["changed"], "unit": unit, "published": round(published, 2), "source": "assumed, from memory" if drive.memory else "published", "ours": round(ours, 2),
                         "ratio": round(ours / published, 4), "error_percent": round(100 * (ours / published - 1), 1), "used_for": drive.used.get(a["cell"], ""),
                         "limit": result.json["limiting"]})
        return rows

    def figures(self, rows):
        plain = [row for row in rows if not row["changed"]]
        figures = []
        for name, title, cells in (("bandwidth", "sequential reads and writes", ("seq_read", "seq_write", "past_cache_write")),
                                   ("iops", "random reads and writes", ("rand_read", "rand_write", "steady_write")),
                                   ("depth1", "one command at a time", ("qd1_read", "qd1_write", "seq_latency_read", "seq_latency_write"))):
            of = [{**row, "number": NAMES[row["cell"]] + (" (used)" if row["used_for"] else "")} for row in plain if row["cell"] in cells]
            figures.append(Figure(name, f"Ours over published: {title}", "bars", of, "drive", "ratio", "number", "ours / published", 1.2))
        changed = [row for row in rows if row["changed"]]
        for part in range(0, len(changed), MOST_PLACES):
            both = [{**row, "place": f"{row['drive']}, {SHORT[row['cell']]}" + again(changed, row), "which": which, "value": row["ratio"] if which == "changed" else before(rows, row)}
                    for row in changed[part:part + MOST_PLACES] for which in ("as preset", "changed")]
            figures.append(Figure(f"changed-{part // MOST_PLACES + 1}", f"One thing changed: what misses go back to, {part // MOST_PLACES + 1}", "bars", both, "place", "value", "which", "ours / published", 1.2))
        return figures

    def trends(self, rows):
        judged = [row for row in rows if not row["changed"] and not row["used_for"]]
        trends = []
        for row in judged:
            why = REASONS.get((row["drive"], row["cell"]), "")
            trends.append(Trend(f"{row['drive']}: {NAMES[row['cell']]} {row['published']:g} {row['unit']}{' (assumed, from memory)' if DRIVES[row['drive']].memory else ''}, within {GOAL_WORST} %", abs(row["error_percent"]) <= GOAL_WORST,
                                f"{row['ours']:g}, {row['error_percent']:+.1f} %", not why, why))
        near = [abs(row["error_percent"]) for row in judged if (row["drive"], row["cell"]) not in REASONS]
        everything = [abs(row["error_percent"]) for row in judged]
        trends.append(check(f"numbers without a stated reason to miss: {GOAL_MEAN} % off at most, on average", statistics.mean(near) <= GOAL_MEAN,
                            f"{statistics.mean(near):.1f} % over {len(near)}; over all {len(everything)} it is {statistics.mean(everything):.1f} %, {max(everything):.1f} % at worst"))
        for what, inside in (("whose mechanism the model has", lambda place: place not in ABSENT), ("whose mechanism it lacks", lambda place: place in ABSENT),
                             ("whose data sheet or review is at hand", lambda place: not DRIVES[place[0]].memory)):
            errors = [abs(row["error_percent"]) for row in judged if inside((row["drive"], row["cell"]))]
            trends.append(check(f"numbers {what}: {GOAL_MEAN} % off on average, {GOAL_WORST} % at worst", statistics.mean(errors) <= GOAL_MEAN and max(errors) <= GOAL_WORST,
                                f"{statistics.mean(errors):.1f} % over {len(errors)}, {max(errors):.1f} % at worst", False, "Each number above says what is not known, or what the model lacks."))
        for (name, cell), changes in BY_FORMULA.items():
            published, was = DRIVES[name].published[cell], steady_by_formula(DRIVES[name].preset, {})
            for what, more in changes.items():
                now = steady_by_formula(DRIVES[name].preset, more)
                trends.append(check(f"{name}, {NAMES[cell]}, by formula: {what} decides it", abs(now / published - 1) < abs(was / published - 1), f"{100 * (was / published - 1):+.1f} % -> {100 * (now / published - 1):+.1f} %"))
        for row in rows:
            if row["changed"] == LIMIT:
                was, now = before(rows, row) - 1, row["ratio"] - 1
                trends.append(check(f"{row['drive']}, {NAMES[row['cell']]}: the limit of another drive with this controller brings it nearer", abs(was) < abs(now), f"{100 * now:+.1f} % -> {100 * was:+.1f} %"))
            elif row["changed"]:
                was, now = before(rows, row) - 1, row["ratio"] - 1
                trends.append(check(f"{row['drive']}, {NAMES[row['cell']]}: {row['changed']} decides it (nearer, or the data sheet is between both)",
                                    abs(now) < abs(was) or (now < 0) != (was < 0), f"{100 * was:+.1f} % -> {100 * now:+.1f} %"))
        return trends


def measured(result, rw, unit):
    op = "read" if "read" in rw else "write"
    if unit == "us":
        return result["latency_us"][op]["total"]["mean"]
    return result[op]["MB_per_s"] if unit == "MB/s" else result[op]["iops"] / 1e3


def steady_by_formula(preset, settings):
    """kIOPS of random writes of a unit."""
    return derive(preset, settings)["figures"]["steady state of random writes"]["values"]["steady_random_write_iops"]["value"] / 1e3


def again(changed, row):
    """Tells changes of the same number apart."""
    same = [one["changed"] for one in changed if (one["drive"], one["cell"]) == (row["drive"], row["cell"])]
    return f" ({same.index(row['changed']) + 1})" if len(same) > 1 else ""


def before(rows, changed):
    return next(row["ratio"] for row in rows if (row["drive"], row["cell"], row["changed"]) == (changed["drive"], changed["cell"], ""))


STUDY = Drives()
