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
INTERVAL_MS = 10
STEP = 0.05  # of the flash, for a row
TIMES = {False: 4, True: 3}  # times as much as all flash holds is written. With loops= the same addresses would come again in the same order


def flash_bytes(quick):
    return CHANNELS[quick] * 2 * 2 * BLOCKS * PAGES * 16384


class SteadyState(Study):
    title = "A drive with and without preconditioning (MQSim, FAST '18, Fig. 13)"
    source = "Tavakkol, Gómez-Luna, Sadrosadati, Ghose, Mutlu: MQSim, FAST '18. No numbers were published: the curves' order and the point where they join are judged."

    def points(self, quick):
        user = int(flash_bytes(quick) * USER_OF_FLASH) // 65536 * 65536
        job = ("writes", f"[writes]\nioengine=libaio\ndirect=1\nrw=randwrite\nbs=16k\niodepth={8 * CHANNELS[quick]}\nnorandommap\nio_size={TIMES[quick] * flash_bytes(quick)}\n")
        settings = {**SHARE, "nand.geometry.channels": CHANNELS[quick], "ftl.user_capacity": f"{user}B", "run.timeseries_interval": f"{INTERVAL_MS}ms"}
        return [Point({"state": state, "flash": flash_bytes(quick)}, DRIVE, (job,), {**settings, "precondition.state": how}) for state, how in (STATES if quick else STATES | MORE).items()]

    def rows(self, ended):
        """A row for each 5 % of the flash that was written."""
        rows = []
        for point, result in ended:
            written, ios, waited = 0, 0, 0.0
            for line in result.time_series:
                if not line["write_ios"]:
                    continue
                written, ios, waited = written + line["write_bytes"], ios + line["write_ios"], waited + line["write_ios"] * line["write_mean_us"]
                share = written / point.axes["flash"]
                if int(share / STEP) > sum(row["state"] == point.axes["state"] for row in rows):
                    rows.append({"state": point.axes["state"], "written of the flash": round(int(share / STEP) * STEP, 2), "s": (line["start_ms"] + line["interval_ms"]) / 1000,
                                 "RT": waited / ios})
                    ios, waited = 0, 0.0
        return rows

    def figures(self, rows):
        end = max(row["s"] for row in rows)
        binned = {(row["state"], min(19, int(20 * row["s"] / end))): row["RT"] for row in rows}
        over_time = [{"s": round((place + 1) * end / 20, 2), "RT": value, "state": state} for (state, place), value in binned.items()]
        return [Figure("fig13", "Fig. 13: response time of random writes", "curves", over_time, "s", "RT", "state", "us"),
                Figure("fig13-written", "The same over what was written, in multiples of the flash", "curves", rows[::2], "written of the flash", "RT", "state", "us")]

    def trends(self, rows):
        steady, fresh = ([row for row in rows if row["state"] == state] for state in STATES)
        level = statistics.mean(row["RT"] for row in steady)
        start = statistics.mean(row["RT"] for row in fresh if row["written of the flash"] < 0.5)
        leaves = next((row["written of the flash"] for row in fresh if row["RT"] > 1.25 * start), float("inf"))
        joins = next((row["written of the flash"] for i, row in enumerate(fresh[:-4]) if all(abs(mean / level - 1) < 0.15 for mean in average(fresh[i:]))), float("inf"))
        return [Trend("with preconditioning the response time is steady from the start (15 %)", abs(statistics.mean(row["RT"] for row in steady[:5]) / level - 1) < 0.15,
                      f"{statistics.mean(row['RT'] for row in steady[:5]):.0f} us at the start, {level:.0f} us in all"),
                Trend("without it, the response time is lower at first", start < 0.7 * level, f"{start:.0f} us against {level:.0f} us"),
                Trend("without it, the response time leaves its first level when all flash was written (15 %)", 0.85 <= leaves <= 1.15, when(leaves)),
                Trend("the curves join when all flash was written (15 %)", 0.85 <= joins <= 1.15, f"{when(joins)}; at the end {100 * fresh[-1]['RT'] / level:.0f} % of the level",
                      expected=False, why="Uniform random writes reach an address with probability 1 - exp(-written / capacity): two thirds have been written then, and victims hold little that is "
                      "valid. The paper's workload, which is not known, may write all addresses once.")]


def when(share):
    return f"at {share:.2f} of the flash" if share < float("inf") else "never in the run"


def average(rows):
    """Means of four rows behind each other: single ones vary."""
    return [statistics.mean(row["RT"] for row in rows[i:i + 4]) for i in range(len(rows) - 3)]


STUDY = SteadyState()
