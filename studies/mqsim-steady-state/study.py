# SPDX-License-Identifier: Apache-2.0
"""Why a simulated drive must begin in its steady state: Tavakkol et al., "MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD Devices",
FAST '18, Fig. 13. README.md says what was published."""

import statistics

from ssdtlm.studying import Figure, Point, Study, Trend

DRIVE = "mqsim-drive-b"
BLOCKS, PAGES = 160, 16
# Drive B with fewer and smaller blocks, so that it is written several times in a short time. Spare and dies stay.
SHARE = {"nand.geometry.blocks_per_plane": BLOCKS, "nand.geometry.pages_per_block": PAGES, "gc.soft_free_blocks": 2, "gc.hard_free_blocks": 1, "buffer.size": "4MiB"}
CHANNELS = {False: 8, True: 2}  # the quick form has a quarter of the dies, and as many requests outstanding for each
USER_OF_FLASH = 256060514304 / (16 * 2 * 1048 * 512 * 16384)
STATES = {"with preconditioning": "random", "without": "fresh"}
MORE = {"written once in sequence": "sequential"}  # in the full form: between both
# The paper draws a point for each second. Here a second of the whole drive is some milliseconds.
INTERVAL_MS = 50
WRITES = 2  # times the flash is written


def flash_bytes(quick):
    return CHANNELS[quick] * 2 * 2 * BLOCKS * PAGES * 16384


class SteadyState(Study):
    title = "A drive with and without preconditioning (MQSim, FAST '18, Fig. 13)"
    source = "Tavakkol, Gómez-Luna, Sadrosadati, Ghose, Mutlu: MQSim, FAST '18. No numbers were published: the curves' order and the point where they join are judged."

    def points(self, quick):
        user = int(flash_bytes(quick) * USER_OF_FLASH) // 65536 * 65536
        count = int(WRITES * flash_bytes(quick)) // 16384
        job = ("writes", f"[writes]\nioengine=libaio\ndirect=1\nrw=randwrite\nbs=16k\niodepth={8 * CHANNELS[quick]}\nnorandommap\nloops=100\nnumber_ios={count}\n")
        settings = {**SHARE, "nand.geometry.channels": CHANNELS[quick], "ftl.user_capacity": f"{user}B", "run.timeseries_interval": f"{INTERVAL_MS}ms"}
        return [Point({"state": state, "flash": flash_bytes(quick)}, DRIVE, (job,), {**settings, "precondition.state": how}) for state, how in (STATES if quick else STATES | MORE).items()]

    def rows(self, ended):
        rows = []
        for point, result in ended:
            written = 0
            for line in result.time_series:
                if not line["write_ios"]:
                    continue
                written += line["write_bytes"]
                rows.append({"state": point.axes["state"], "s": round((line["start_ms"] + line["interval_ms"]) / 1000, 3), "RT": line["write_mean_us"],
                             "written of the flash": round(written / point.axes["flash"], 3), "write amplification": line["waf"]})
        return rows

    def figures(self, rows):
        return [Figure("fig13", "Fig. 13: response time of random writes", "lines", rows, "s", "RT", "state", "us"),
                Figure("fig13-written", "The same over what was written, in multiples of the flash", "lines", rows, "written of the flash", "RT", "state", "us")]

    def trends(self, rows):
        steady, fresh = ([row for row in rows if row["state"] == state] for state in STATES)
        level = statistics.mean(row["RT"] for row in steady)
        start = statistics.mean(row["RT"] for row in fresh if row["written of the flash"] < 0.5)
        leaves = next((row["written of the flash"] for row in fresh if row["RT"] > 1.25 * start), float("inf"))
        joins = next((row["written of the flash"] for i, row in enumerate(fresh) if all(abs(later["RT"] / level - 1) < 0.15 for later in average(fresh[i:]))), float("inf"))
        return [Trend("with preconditioning the response time is steady from the start (15 %)", abs(statistics.mean(row["RT"] for row in steady[:5]) / level - 1) < 0.15,
                      f"{statistics.mean(row['RT'] for row in steady[:5]):.0f} us at the start, {level:.0f} us in all"),
                Trend("without it, the response time is lower at first", start < 0.7 * level, f"{start:.0f} us against {level:.0f} us"),
                Trend("without it, the response time leaves its first level when all flash was written (15 %)", 0.85 <= leaves <= 1.15, f"at {leaves:.2f} of the flash"),
                Trend("the curves join when all flash was written (15 %)", 0.85 <= joins <= 1.15, f"at {joins:.2f} of the flash", expected=False,
                      why="Random writes have then written two thirds of the addresses. The first victims hold much that was written again, and collection costs less for a while.")]


def average(rows):
    """Means of ten intervals: single ones vary."""
    return [{"RT": statistics.mean(row["RT"] for row in rows[i:i + 10])} for i in range(0, len(rows), 10) if len(rows[i:i + 10]) == 10 or i == 0]


STUDY = SteadyState()
