# SPDX-License-Identifier: Apache-2.0
"""Response times to be held against measured ones: Tavakkol et al., "MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD Devices", FAST '18,
Fig. 3 (what traces write), Fig. 10 (response time over request size), Fig. 11 and Table 2 (traces). README.md says what was published and how measured curves come in."""

import json
import pathlib
import subprocess

from ssdtlm.binary import find_binary
from ssdtlm.studying import Figure, Point, Study, Trend, flows

DRIVES = {"A": "mqsim-drive-a", "B": "mqsim-drive-b", "C": "mqsim-drive-c", "D": "mqsim-drive-d"}
# And the drive of Table 3 as the released MQSim has it, which was run with the same requests.
PEER = "Table 3"
SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
OPERATIONS = {"read": "randread", "write": "randwrite"}
# Released MQSim 7ec40e3 on its Table 3 device, one flow at depth 1, cache off, fresh for writes: mean response time in whole us, run by this project.
RELEASED = {**dict(zip((("read", size) for size in SIZES), (88, 102, 104, 109, 119, 164, 253, 507, 864))),
            **dict(zip((("write", size) for size in SIZES), (763, 777, 779, 784, 794, 839, 929, 1784, 2071)))}
WHY = {"read": "In MQSim the data of a command leave for the host when its last page is in (291 us for 1 MiB), here page by page. 577 us and these are 868 us; MQSim has 864.",
       "write": "In MQSim the two dies of a chip program together when their commands come together; here a chip is one die. With both dies (mqsim-table3) 1 MiB takes 1975 us; MQSim has 2071."}
PERCENTILES = (5, 10, 25, 50, 75, 90, 95, 99, 99.9)


class Validation(Study):
    title = "Response times beside measured ones (MQSim, FAST '18, Fig. 3, 10, 11 and Table 2)"
    source = ("Tavakkol, Gómez-Luna, Sadrosadati, Ghose, Mutlu: MQSim, FAST '18. Its measured curves were not published as numbers: give yours with --measured, your traces with "
              "--trace.")
    takes_traces = True

    def points(self, quick):
        sizes = (4, 32, 256, 1024) if quick else SIZES
        points = [self.size(drive, operation, size, quick) for drive in (*DRIVES, PEER) for operation in OPERATIONS for size in sizes]
        return points + [self.trace(drive, trace) for trace in self.traces for drive in DRIVES]

    @staticmethod
    def size(drive, operation, size, quick):
        count = max(20, (400 if quick else 2000) // size)
        job = ("one", f"[one]\nioengine=libaio\ndirect=1\nrw={OPERATIONS[operation]}\nbs={size}k\niodepth=1\nnorandommap\nnumber_ios={count}\n")
        settings = {"precondition.state": "sequential" if operation == "read" or drive != PEER else "fresh"}
        return Point({"figure": "10", "drive": drive, "operation": operation, "KiB": size}, DRIVES.get(drive, "mqsim-table3-released"), (job,), settings)

    @staticmethod
    def trace(drive, trace):
        return Point({"figure": "11", "drive": drive, "trace": pathlib.Path(trace).name, "path": str(trace)}, DRIVES[drive], (), {"precondition.state": "analytic"},
                     ("--trace-beyond", "fold"), (str(trace),))

    def rows(self, ended):
        rows, volumes = [], {}
        for point, result in ended:
            axes = {name: value for name, value in point.axes.items() if name != "path"}
            if point.axes["figure"] == "10":
                peer = RELEASED.get((axes["operation"], axes["KiB"])) if axes["drive"] == PEER else None
                rows.append({**axes, "us": result.json["latency_us"][axes["operation"]]["total"]["mean"]} | ({"us MQSim": peer} if peer else {}))
                continue
            volumes[axes["trace"]] = point.axes["path"]
            for operation in OPERATIONS:
                rows += [{**axes, "operation": operation, "percentile": p, "us": us} for p, us in percentiles(result, operation)]
        return rows + [{"figure": "3", "trace": name, **volume(path)} for name, path in volumes.items()]

    def figures(self, rows):
        figures = [Figure(f"fig10-{operation}", f"Fig. 10: response time of one random {operation}", "lines",
                          [{**row, "line": f"drive {row['drive']}" if row["drive"] in DRIVES else row["drive"]} for row in flows.series(rows, figure="10", operation=operation)],
                          "KiB", "us", "line", "us") for operation in OPERATIONS]
        for trace in dict.fromkeys(row["trace"] for row in flows.series(rows, figure="11")):
            for operation in OPERATIONS:
                of = flows.series(rows, figure="11", trace=trace, operation=operation)
                figures += [Figure(f"fig11-{trace}-{operation}", f"Fig. 11: {operation}s of {trace}", "lines", [{**row, "line": f"drive {row['drive']}"} for row in of], "percentile",
                                   "us", "line", "us")] if of else []
        written = flows.series(rows, figure="3")
        return figures + ([Figure("fig3", "Fig. 3: what the traces write", "bars", written, "trace", "written GB", unit="GB")] if written else [])

    def trends(self, rows):
        trends = []
        for drive in (*DRIVES, PEER):
            for operation in OPERATIONS:
                of = flows.series(rows, figure="10", drive=drive, operation=operation)
                trends.append(flows.rises(f"Fig. 10: the response time of a {operation} rises with its size, {drive}", of, "KiB", "us", 0.02))
        for operation in OPERATIONS:
            of = [row for row in flows.series(rows, figure="10", drive=PEER, operation=operation) if "us MQSim" in row]
            sentence = f"Fig. 10: the response time of a {operation} is the released MQSim's, to 15 %"
            trends += [flows.near(f"{sentence}, up to 128 KiB", [row for row in of if row["KiB"] <= 128], "KiB", "us", "us MQSim", 0.15),
                       flows.near(f"{sentence}, beyond", [row for row in of if row["KiB"] > 128], "KiB", "us", "us MQSim", 0.15, expected=False, why=WHY[operation])]
        return trends


def percentiles(result, operation):
    """[(percentile, us)] of a run's commands, along a straight line inside a bin of latency_bins.csv."""
    bins = [row for row in result.latency_bins if row["op"] == operation]
    total, found = sum(row["count"] for row in bins), []
    for percentile in PERCENTILES if total else ():
        wanted, before = total * percentile / 100, 0
        for row in bins:
            if before + row["count"] >= wanted:
                end = row["below_ns"] or row["from_ns"]
                found.append((percentile, (row["from_ns"] + (end - row["from_ns"]) * (wanted - before) / row["count"]) / 1000))
                break
            before += row["count"]
    return found


def volume(path):
    """What a trace writes, and how much of it is requests of what size, by `ssdtlm trace info`."""
    said = json.loads(subprocess.run([find_binary(), "trace", "info", path, "--json"], capture_output=True, text=True, check=True).stdout)["operations"]
    return {"written GB": said["write"]["bytes"] / 1e9, "read GB": said["read"]["bytes"] / 1e9, "writes": said["write"]["records"], "reads": said["read"]["records"]}


STUDY = Validation()
