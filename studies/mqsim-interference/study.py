# SPDX-License-Identifier: Apache-2.0
"""Flows that share one part of a drive: Tavakkol et al., "MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD Devices", FAST '18, Fig. 6
(write cache), Fig. 7 (cached map) and Fig. 8 (flash). README.md says what was published, and what the released simulator says."""

from ssdtlm.studying import Figure, Point, Study, Trend, flows

# Two columns: this model's default, and what the released MQSim does otherwise.
COLUMNS = {"dies overlap": "mqsim-table3", "chip as server": "mqsim-table3-released"}
# Few blocks: what the flows share is not the number of blocks, and the drive is built at once. A chip as server has those of two dies.
BLOCKS = {"dies overlap": 64, "chip as server": 128}
HALVES = {"ftl.nvm_sets": "C0-3, C4-7", "host.regions": "set 1, set 2", "ftl.static_dimensions": "none"}

# Released MQSim 7ec40e3, run by this project for 0.5 to 1 s of simulated time: depth of flow 2 -> S_1, S_2.
RELEASED_6 = {8: (2.0, 2.0), 16: (3.05, 1.49)}
RELEASED_8 = {2: (1.05, 1.05), 4: (1.10, 1.05), 8: (1.22, 1.06), 16: (1.50, 1.06), 32: (2.21, 1.05), 64: (3.85, 1.03), 128: (7.09, 1.02), 256: (13.9, 1.01)}
DEPTHS_6 = (8, 16, 32, 64, 128, 256)
SHARES = tuple(range(0, 101, 10))
PERIOD_MS, PERIODS = 10, 3
# A run of 2048 entries, which a miss brings in at most: it does not live from one use to the next. And the paper's 4 MiB.
CACHES = {"one run": "16KiB", "4 MiB": "4MiB"}


def small(column, gigabytes):
    return {"nand.geometry.blocks_per_plane": BLOCKS[column], "ftl.user_capacity": f"{gigabytes}GB", "host.tenants": "by_job"}


def phased(depth, share):
    """Flow 2 of Fig. 7: of each 10 ms the first `share` % at random, the rest in sequence, which goes on where it was."""
    text = f"[global]\nioengine=libaio\ndirect=1\nbs=8k\niodepth={depth}\ntime_based\n"
    parts = []
    for period in range(PERIODS):
        if share > 0:
            parts.append(f"rw=randread\nnorandommap\nrandseed={period + 5}\nruntime={PERIOD_MS * 10 * share}us\n")
        if share < 100:
            parts.append(f"rw=read\noffset={512 * period}m\nruntime={PERIOD_MS * 10 * (100 - share)}us\n")
    return ("two", text + "".join(f"[part{i}]\n{'stonewall' if i else ''}\n{part}" for i, part in enumerate(parts)))


class Interference(Study):
    title = "Flows that share a write cache, a map or the flash (MQSim, FAST '18, Fig. 6 to 8)"
    source = "Tavakkol, Gómez-Luna, Sadrosadati, Ghose, Mutlu: MQSim, FAST '18; beside it the released simulator, CMU-SAFARI/MQSim 7ec40e3, as this project ran it."

    def points(self, quick):
        points = []
        for column in COLUMNS:
            points += [self.cache(column, depth, quick) for depth in ((16, 32, 256) if quick else DEPTHS_6)]
            points += [self.flash(column, depth, quick) for depth in ((2, 16, 256) if quick else RELEASED_8)]
        for cache in CACHES:
            points += [self.map(cache, depth, share) for depth in ((8,) if quick else (8, 16)) for share in ((0, 50, 100) if quick else SHARES)]
        return points

    @staticmethod
    def cache(column, depth, quick):
        # As the released files have it: from depth 32 on flow 2 writes everywhere, and its data do not stay in the cache.
        times = ("100ms", "100ms") if quick else ("200ms", "400ms")
        settings = {**small(column, 5), **HALVES, "nand.geometry.blocks_per_plane": BLOCKS[column] // 2, "nand.geometry.unit_size": "8KiB", "buffer.mode": "write_back",
                    "buffer.size": "96MiB"}
        jobs = (flows.job("one", "randwrite", 8, 8, *times, "norandommap", "size=1%"),
                flows.job("two", "randwrite", 8, depth, *times, "norandommap", "size=1%" if depth <= 16 else "size=100%"))
        return Point({"figure": "6", "column": column, "depth": depth}, COLUMNS[column], jobs, settings, ("--alone",))

    @staticmethod
    def flash(column, depth, quick):
        times = ("20ms", f"{100 if quick else 300}ms" if depth < 64 else f"{200 if quick else 1000}ms")
        jobs = tuple(flows.job(name, "randread", 8, d, *times, "norandommap") for name, d in (("one", 2), ("two", depth)))
        return Point({"figure": "8", "column": column, "depth": depth}, COLUMNS[column], jobs, {**small(column, 12), "buffer.mode": "write_through", "buffer.size": "64MiB"}, ("--alone",))

    @staticmethod
    def map(cache, depth, share):
        column = "dies overlap"
        # A miss brings in the entries behind it, up to the end of its translation page. Released MQSim brings in one, and has no hits to lose.
        settings = {**small(column, 12), **HALVES, "nand.geometry.unit_size": "8KiB", "map.prefetch": 65536, "map.cache": CACHES[cache], "buffer.mode": "write_through",
                    "buffer.size": "64MiB"}
        jobs = (flows.job("one", "read", 8, depth, f"{PERIOD_MS}ms", f"{(PERIODS - 1) * PERIOD_MS}ms"), phased(depth, share))
        return Point({"figure": "7", "column": f"map cache of {cache}, depth {depth}", "share": share}, "mqsim-table3-cmt", jobs, settings, ("--alone",))

    def rows(self, ended):
        rows = [{**point.axes, **flows.pair(result)} for point, result in ended]
        made = []
        for key in dict.fromkeys((row["figure"], row["column"]) for row in rows):
            of = flows.series(rows, figure=key[0], column=key[1])
            for row in flows.normalised(of, of[0]):
                released = (RELEASED_8 if key[0] == "8" else RELEASED_6 if key[0] == "6" else {}).get(row.get("depth"))
                made.append(row | ({"S_1 released": released[0], "S_2 released": released[1]} if released else {})
                            | ({f"hits_{n} over the first": row[f"map hits_{n}"] / of[0][f"map hits_{n}"] for n in (1, 2)} if key[0] == "7" else {}))
        return made

    def figures(self, rows):
        figures = flows.charts("fig6", "Fig. 6: flows that share the write cache", flows.series(rows, figure="6"), "depth", "column")
        figures += flows.charts("fig8", "Fig. 8: flows that share the flash", flows.series(rows, figure="8"), "depth", "column",
                                [("chip queues, shared over alone", ("chip queue_1", "chip queue_2"), "")])
        for column in dict.fromkeys(row["column"] for row in flows.series(rows, figure="7")):
            of = flows.series(rows, figure="7", column=column)
            name = "fig7-" + "".join(c if c.isalnum() else "-" for c in column)
            for word, columns in (("map hits over the first point", ("hits_1 over the first", "hits_2 over the first")), ("slow-down", ("S_1", "S_2")),
                                  ("fairness and weighted speed-up", ("F", "WS"))):
                figures.append(Figure(f"{name}-{word.split()[0]}", f"Fig. 7: flows that share the map, {column}: {word}", "lines", flows.lines(of, "share", columns), "share", "value",
                                      "line", word))
        return figures

    def trends(self, rows):
        trends = []
        for column in COLUMNS:
            trends += self._cache(flows.series(rows, figure="6", column=column), column)
            trends += self._flash(flows.series(rows, figure="8", column=column), column)
        one, chip = (flows.series(rows, figure="8", column=column) for column in COLUMNS)
        trends.append(Trend("Fig. 8: where dies overlap, flow 1 suffers less than where a chip is the server", all(a["S_1"] < b["S_1"] * 1.02 for a, b in zip(one, chip)),
                            f"{one[-1]['S_1']:.2f} and {chip[-1]['S_1']:.2f} at {one[-1]['depth']}"))
        for column in dict.fromkeys(row["column"] for row in flows.series(rows, figure="7")):
            trends += self._map(flows.series(rows, figure="7", column=column), column)
        return trends

    @staticmethod
    def _cache(of, column):
        start, deep = [row for row in of if row["depth"] <= 16], [row for row in of if row["depth"] > 16]
        return [Trend(f"Fig. 6: S_1 jumps beyond a depth of 16, {column}", all(row["S_1"] > 4 * start[-1]["S_1"] for row in deep), flows.change(of, "depth", "S_1")),
                flows.near(f"Fig. 6: S_2 is near 1 beyond 16 (5 %), {column}", deep, "depth", "S_2", 1, 0.05),
                Trend(f"Fig. 6: fairness collapses, {column}", deep[-1]["F"] < 0.2 * start[-1]["F"], flows.change(of, "depth", "F")),
                Trend(f"Fig. 6: WS falls by more than half, {column}", of[-1]["WS"] < 0.5 * of[0]["WS"], flows.change(of, "depth", "WS"), expected=False,
                      why="Each flow alone fills the link (here) or the DRAM (in the release) at depth 8 already, so WS is 1 from the first point on."),
                flows.near(f"Fig. 6: S_1 is the released simulator's, to 25 %, {column}", start, "depth", "S_1", "S_1 released", 0.25),
                flows.near(f"Fig. 6: S_2 is the released simulator's, to 10 %, {column}", start, "depth", "S_2", "S_2 released", 0.10)]

    @staticmethod
    def _flash(of, column):
        deep = [row for row in of if row["depth"] > 4]
        chip = column == "chip as server"
        why = {} if chip else {"expected": False, "why": "Twice as many servers: the dies of a chip work side by side here. The column beside has chips as servers."}
        return [flows.rises(f"Fig. 8: S_1 rises with the depth of flow 2, {column}", of, "depth", "S_1"),
                flows.near(f"Fig. 8: S_2 is near 1 above a depth of 4 (10 %), {column}", deep, "depth", "S_2", 1, 0.10),
                flows.rises(f"Fig. 8: more of flow 1 waits at the chips, {column}", of, "depth", "chip queue_1"),
                flows.falls(f"Fig. 8: fairness falls, {column}", of, "depth", "F", 0.01), flows.falls(f"Fig. 8: weighted speed-up falls, {column}", of, "depth", "WS"),
                flows.near(f"Fig. 8: S_1 is the released simulator's, to 25 %, {column}", of, "depth", "S_1", "S_1 released", 0.25, **why),
                flows.near(f"Fig. 8: S_2 is the released simulator's, to 10 %, {column}", of, "depth", "S_2", "S_2 released", 0.10),
                flows.near(f"Fig. 8: S_1 is the paper's 14.4 at a depth of 256, to 25 %, {column}", of[-1:], "depth", "S_1", 14.4, 0.25, **why)]

    @staticmethod
    def _map(of, column):
        paper = "4 MiB" in column
        why = {"expected": False, "why": "4 MiB hold 256 runs, so a run lives far longer than the time between two uses. The cache of one run shows the trend."} if paper else {}
        # Beyond a certain share all hits of flow 1 are gone, and the rest is noise.
        return [flows.falls(f"Fig. 7: flow 1 has fewer hits, {column}", of, "share", "map hits_1", 0.05, **why), flows.rises(f"Fig. 7: S_1 rises, {column}", of, "share", "S_1", 0.05, **why),
                flows.near(f"Fig. 7: S_1 is the paper's 2.1 when flow 2 is always random, to 25 %, {column}", of[-1:], "share", "S_1", 2.1, 0.25, **why),
                flows.falls(f"Fig. 7: fairness falls, {column}", of, "share", "F", 0.05, **why), flows.falls(f"Fig. 7: weighted speed-up falls, {column}", of, "share", "WS", 0.05, **why)]


STUDY = Interference()
