# SPDX-License-Identifier: Apache-2.0
"""Flows of sequential reads with submission queues of their own: Tavakkol et al., "MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD
Devices", FAST '18, Fig. 2 (four real drives) and Fig. 12 (fetch window). README.md says what was published, and what the released simulator says."""

from ssdtlm.studying import Figure, Point, Study, Trend, flows

DRIVES = {"A": "mqsim-drive-a", "B": "mqsim-drive-b", "C": "mqsim-drive-c", "D": "mqsim-drive-d"}
FIRST = 8  # depth of flow 1
DEPTHS_2 = (8, 16, 32, 64, 128, 256, 512, 1024)
DEPTHS_12 = (8, 16, 32, 64, 128, 256)
WINDOWS = (1024, 16)
# Where flow 2 is not fast enough to pass flow 1.
CONVOY = 16
CONVOY_WHY = ("Both flows read in sequence, so they walk the dies in one order. Flow 2 meets flow 1 and then stays behind it: flow 1 is as fast as alone, flow 2 hardly faster. "
              "At 32 it has requests for the dies before flow 1 as well. With random reads at 16 nobody walks (drive A: S_1 1.17, S_2 1.07).")
COLUMNS = {"dies overlap": "mqsim-table3", "chip as server": "mqsim-table3-released"}
BLOCKS = {"dies overlap": 64, "chip as server": 128}
# The released files read 4 KiB at random, aligned to 8 KiB, from half of the chips. The paper says: in sequence, from all of them.
FLOWS = {"released files": ("randread", 2, ("norandommap", "blockalign=8k")), "as in the paper": ("read", 4, ())}
# Released MQSim 7ec40e3, run by this project: (flows, window) -> S_1 at each depth; S_2 of the released files.
RELEASED_1 = {("released files", 1024): (1.32, 1.68, 2.46, 4.11, 7.51, 13.9), ("released files", 16): (1.32, 1.68, 1.69, 1.69, 1.69, 1.69),
              ("as in the paper", 1024): (1.02, 1.45, 1.92, 2.86, 4.80, 7.52), ("as in the paper", 16): (1.02, 1.45, 1.45, 1.45, 1.45, 1.45)}
RELEASED_2 = {("released files", 1024): (1.32, 1.28, 1.21, 1.12, 1.06, 1.03), ("released files", 16): (1.32, 1.28, 1.28, 1.28, 1.28, 1.28)}


class Multiqueue(Study):
    title = "Flows with queues of their own (MQSim, FAST '18, Fig. 2 and 12)"
    source = "Tavakkol, Gómez-Luna, Sadrosadati, Ghose, Mutlu: MQSim, FAST '18; beside it the released simulator, CMU-SAFARI/MQSim 7ec40e3, as this project ran it."

    def points(self, quick):
        points = []
        for drive in DRIVES:
            points += [self.drive(drive, depth, quick) for depth in ((8, 64, 1024) if quick else DEPTHS_2)]
            points += [self.many(drive, count, quick) for count in ((1, 8) if quick else (1, 2, 4, 8))]
        for column in COLUMNS:
            for kind in FLOWS:
                points += [self.window(column, kind, window, depth, quick) for window in WINDOWS for depth in ((8, 32, 256) if quick else DEPTHS_12)]
        return points

    @staticmethod
    def drive(drive, depth, quick):
        times = ("5ms", "15ms" if quick else "50ms")
        jobs = tuple(flows.job(name, "read", 4, d, *times) for name, d in (("one", FIRST), ("two", depth)))
        return Point({"figure": "2", "column": drive, "depth": depth}, DRIVES[drive], jobs, {"host.tenants": "by_job", "host.regions": "0%-50%, 50%-100%"}, ("--alone",))

    @staticmethod
    def many(drive, count, quick):
        """Equal flows: what one of them gets of all that the drive gives."""
        times = ("5ms", "10ms" if quick else "50ms")
        jobs = tuple(flows.job(f"flow{i}", "read", 4, 256, *times) for i in range(count))
        regions = ", ".join(f"{i * (100 // count)}%-{(i + 1) * (100 // count)}%" for i in range(count))
        return Point({"figure": "2 flows", "column": drive, "flows": count}, DRIVES[drive], jobs, {"host.tenants": "by_job", "host.regions": regions})

    @staticmethod
    def window(column, kind, window, depth, quick):
        rw, ways, more = FLOWS[kind]
        long = depth >= 64 and window > 16
        times = ("20ms", f"{(150 if long else 60) if quick else (800 if long else 300)}ms")
        settings = {"nand.geometry.ways": ways, "nand.geometry.blocks_per_plane": BLOCKS[column], "ftl.user_capacity": f"{3 * ways}GB", "nvme.fetch_window": window,
                    "buffer.mode": "write_through", "buffer.size": "64MiB", "host.tenants": "by_job"}
        jobs = tuple(flows.job(name, rw, 4, d, *times, *more) for name, d in (("one", FIRST), ("two", depth)))
        return Point({"figure": "12", "column": column, "flows": kind, "window": window, "depth": depth}, COLUMNS[column], jobs, settings, ("--alone",))

    def rows(self, ended):
        rows = [{**point.axes, **(flows.pair(result) if "depth" in point.axes else
                                  {"kIOPS of one": result.json["read"]["iops"] / 1000 / point.axes["flows"], "kIOPS of all": result.json["read"]["iops"] / 1000})} for point, result in ended]
        made = []
        for key in dict.fromkeys(self.series_of(row) for row in rows):
            of = [row for row in rows if self.series_of(row) == key]
            made += of if key[0] == "2 flows" else [row | self.released(row) for row in flows.normalised(of, of[0])]
        return made

    @staticmethod
    def series_of(row):
        return (row["figure"], row["column"], row.get("flows") if row["figure"] == "12" else None, row.get("window"))

    @staticmethod
    def released(row):
        if row["figure"] != "12":
            return {}
        place, key = DEPTHS_12.index(row["depth"]), (row["flows"], row["window"])
        return {"S_1 released": RELEASED_1[key][place]} | ({"S_2 released": RELEASED_2[key][place]} if key in RELEASED_2 else {})

    def figures(self, rows):
        figures = []
        for drive in DRIVES:
            figures += flows.charts(f"fig2-{drive}", f"Fig. 2, drive {drive}", flows.series(rows, figure="2", column=drive), "depth", "")
        shares = flows.series(rows, figure="2 flows")
        figures.append(Figure("fig2-flows", "Fig. 2: throughput of one of several equal flows", "bars", [{**row, "drive": f"drive {row['column']}"} for row in shares], "flows",
                              "kIOPS of one", "drive", "kIOPS of one flow"))
        for kind in FLOWS:
            for window in WINDOWS:
                figures += flows.charts(f"fig12-{kind.replace(' ', '-')}-{window}", f"Fig. 12, {kind}, fetch window {window}",
                                        flows.series(rows, figure="12", flows=kind, window=window), "depth", "column")
        return figures

    def trends(self, rows):
        trends = []
        for drive in DRIVES:
            trends += self._drive(flows.series(rows, figure="2", column=drive), flows.series(rows, figure="2 flows", column=drive), drive)
        for column in COLUMNS:
            for kind in FLOWS:
                wide, narrow = (flows.series(rows, figure="12", column=column, flows=kind, window=window) for window in WINDOWS)
                trends += self._window(wide, narrow, column, kind)
        return trends

    @staticmethod
    def _drive(of, shares, drive):
        if drive == "D":
            share = shares[0]["kIOPS of one"] / max(row["kIOPS of all"] for row in shares)
            return [Trend("Fig. 2, D: one flow gets at most a quarter of the drive", share <= 0.25, f"{100 * share:.0f} %"),
                    Trend("Fig. 2, D: S_1 stays small", of[-1]["S_1"] < 1.5, flows.change(of, "depth", "S_1")),
                    Trend("Fig. 2, D: fairness stays high", of[-1]["F"] > 0.7, flows.change(of, "depth", "F"))]
        return [flows.rises(f"Fig. 2, {drive}: flow 2 gets more with its depth, up to what the drive can do", of, "depth", "kIOPS_2", 0.03),
                Trend(f"Fig. 2, {drive}: S_2 goes to 1", of[-1]["S_2"] < 1.1, flows.change(of, "depth", "S_2")),
                flows.rises(f"Fig. 2, {drive}: S_1 grows large", of, "depth", "S_1"), Trend(f"Fig. 2, {drive}: S_1 is above 4 at the end", of[-1]["S_1"] > 4, f"{of[-1]['S_1']:.2f}"),
                flows.falls(f"Fig. 2, {drive}: fairness falls", [row for row in of if row["depth"] != CONVOY], "depth", "F", 0.03),
                *(flows.falls(f"Fig. 2, {drive}: fairness falls, and not below the next at depth {CONVOY}", of[:3], "depth", "F", 0.03, expected=False, why=CONVOY_WHY)
                  for row in of if row["depth"] == CONVOY)]

    @staticmethod
    def _window(wide, narrow, column, kind):
        what = f"{kind}, {column}"
        miss = {} if column == "chip as server" else {"expected": False, "why": "Twice as many servers: the dies of a chip work side by side here. The column beside has chips as servers."}
        trends = [flows.rises(f"Fig. 12: with a window of 1024 S_1 grows, as on drives A to C ({what})", wide, "depth", "S_1"),
                  Trend(f"Fig. 12: with a window of 16 S_1 stays below 2, as on drive D ({what})", max(row["S_1"] for row in narrow) < 2, flows.change(narrow, "depth", "S_1")),
                  Trend(f"Fig. 12: fairness at the end is higher with the small window ({what})", narrow[-1]["F"] > 2 * wide[-1]["F"], f"{narrow[-1]['F']:.2f} against {wide[-1]['F']:.2f}"),
                  flows.near(f"Fig. 12: S_1 is the released simulator's, to 25 %, window 1024 ({what})", wide, "depth", "S_1", "S_1 released", 0.25, **miss),
                  flows.near(f"Fig. 12: S_1 is the released simulator's, to 25 %, window 16 ({what})", narrow, "depth", "S_1", "S_1 released", 0.25, **miss)]
        if kind == "released files":
            trends += [flows.near(f"Fig. 12: S_2 is the released simulator's, to 10 %, window {row[0]['window']} ({what})", row, "depth", "S_2", "S_2 released", 0.10, **miss)
                       for row in (wide, narrow)]
        return trends


STUDY = Multiqueue()
