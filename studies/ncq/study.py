# SPDX-License-Identifier: Apache-2.0
"""NCQ and the workloads that share a drive: Fan et al., "NCQ-Aware I/O Scheduling for Conventional Solid State Drives", IPDPS 2019, DOI
10.1109/IPDPS.2019.00062. README.md says what of it is known, and how these runs stand for its figures."""

import collections
import statistics

from ssdtlm.studying import Figure, Point, Study, Trend

DRIVES = {"intel": "intel-535-240", "toshiba": "toshiba-stand-in", "huawei": "huawei-stand-in"}
DEPTHS = (8, 16, 32)
SCHEDULERS = ("deadline", "bfq", "fiops", "flashfq")
# Each control with the ones before it, as the study adds them.
CONTROLS = {"plain": {}, "aggre": {"block.nass.aggre": True}, "anti": {"block.nass.aggre": True, "block.nass.anti": True},
            "seq": {"block.nass.aggre": True, "block.nass.anti": True, "block.nass.seq": True}}
FULL = "seq"
# The scheduler of the figures about NCQ itself. Others hold the workload of depth 2 back themselves when NCQ is short.
SHOWN = "fiops"
# Table 1: (rw, block size in KiB, iodepth) of both machines.
TESTS = {"TEST1": (("read", 4, 32), ("randread", 4, 32)), "TEST2": (("write", 4, 32), ("randwrite", 4, 32)),
         "TEST3": (("randread", 4, 32), ("randread", 128, 32)), "TEST4": (("randwrite", 4, 32), ("randwrite", 128, 32)),
         "TEST5": (("randread", 4, 2), ("randread", 4, 32)), "TEST6": (("randwrite", 4, 2), ("randwrite", 4, 32)),
         "TEST7": (("randread", 4, 32), ("randwrite", 4, 32)), "TEST8": (("read", 4, 32), ("write", 4, 32))}
UNUSED = 0.8  # EV of two that together leave a part of the drive unused
PATTERNS = ("read", "randread", "write", "randwrite")
# The study ran 60 s; the windows of the evaluation model last 100 ms.
TIMES = {False: ("500ms", "1s"), True: ("300ms", "300ms")}
HALF = "50%"


def job(name, workload, quick):
    rw, size, depth = workload
    ramp, runtime = TIMES[quick]
    return (name, f"[{name}]\nioengine=libaio\ndirect=1\nrw={rw}\nbs={size}k\niodepth={depth}\ntime_based\nramp_time={ramp}\nruntime={runtime}\nnorandommap\n")


def bandwidth(flow):
    """MB/s of a flow."""
    return flow["bytes"] / flow["active_s"] / 1e6


class Ncq(Study):
    title = "NCQ-aware I/O scheduling (Fan et al., IPDPS 2019)"
    source = "Fan, Wu, Ibrahim, Chen, Jin, Xiao, Guan: NCQ-Aware I/O Scheduling for Conventional Solid State Drives, IPDPS 2019. No numbers but those of the abstract are known; signs are judged."

    def points(self, quick):
        drives = ["toshiba"] if quick else list(DRIVES)
        depths = (8, 32) if quick else DEPTHS
        schedulers = ("fiops",) if quick else SCHEDULERS
        controls = ("plain", "aggre", FULL) if quick else tuple(CONTROLS)
        points = []
        for drive in drives:
            for ncq in depths:
                points += [self._single(drive, ncq, rw, control, quick) for rw in PATTERNS for control in ("plain", FULL)]
                for scheduler in schedulers:
                    for test in TESTS:
                        points += [self._point(drive, ncq, scheduler, test, "plain", only, quick) for only in ("vm1", "vm2")]
                        points += [self._point(drive, ncq, scheduler, test, control, "", quick) for control in controls]
        return points

    @staticmethod
    def _settings(ncq, scheduler, control):
        return {"block.scheduler": scheduler, "block.queue_depth": ncq, **CONTROLS[control]}

    def _single(self, drive, ncq, rw, control, quick):
        return Point({"drive": drive, "ncq": ncq, "scheduler": "fiops", "test": rw, "control": control, "only": "single"}, DRIVES[drive],
                     (job("vm1", (rw, 4, 32), quick),), self._settings(ncq, "fiops", control))

    def _point(self, drive, ncq, scheduler, test, control, only, quick):
        jobs = tuple(job(f"vm{i + 1}", workload, quick) for i, workload in enumerate(TESTS[test]))
        # Each virtual machine has a half of the drive of its own.
        settings = {"host.tenants": "by_job", "host.regions": f"0%-{HALF}, {HALF}-100%", **self._settings(ncq, scheduler, control)}
        return Point({"drive": drive, "ncq": ncq, "scheduler": scheduler, "test": test, "control": control, "only": only}, DRIVES[drive], jobs, settings,
                     ("--only", only) if only else ())

    def rows(self, ended):
        alone, rows = {}, []
        for point, result in ended:
            a = point.axes
            if a["only"] in ("vm1", "vm2"):
                alone[a["drive"], a["ncq"], a["scheduler"], a["test"], a["only"]] = total(result)
        for point, result in ended:
            a = point.axes
            if a["only"] == "single":
                rows.append({**a, "bandwidth": total(result), "utilisation": result.json["block"]["utilisation"]})
            elif not a["only"]:
                rates = [bandwidth(flow) for flow in result.flows]
                bdr = [rate / alone[a["drive"], a["ncq"], a["scheduler"], a["test"], f"vm{i + 1}"] for i, rate in enumerate(rates)]
                rows.append({**a, "bandwidth": sum(rates), "bandwidth1": rates[0], "bandwidth2": rates[1], "bdr1": bdr[0], "bdr2": bdr[1], "ev": sum(bdr),
                             "degradation1": 1 - bdr[0], "degradation2": 1 - bdr[1], "ev_degradation": 2 - sum(bdr), "fairness": 1 - abs(bdr[0] - bdr[1]),
                             "min_over_max": min(bdr) / max(bdr), "utilisation": result.json["block"]["utilisation"]})
        return rows

    # -----------------------------------------------------------------------------------------------------------------

    def figures(self, rows):
        figures = []
        depths = sorted({row["ncq"] for row in rows})
        for drive in dict.fromkeys(row["drive"] for row in rows):
            mine = [row for row in rows if row["drive"] == drive]
            single = [row for row in mine if row["only"] == "single"]
            both = [row for row in mine if not row["only"]]
            plain = [row for row in both if row["control"] == "plain"]
            figures.append(Figure(f"fig1-{drive}", f"Fig. 1: one workload, {drive}", "lines", [row for row in single if row["control"] == "plain"], "ncq", "bandwidth", "test", "MB/s"))
            figures.append(Figure(f"fig13-{drive}", f"Fig. 13: one workload, FIOPS(D) against FIOPS(32), {drive}", "bars",
                                  [{**row, "which": "FIOPS(D)" if row["control"] == FULL else "FIOPS(32)"} for row in single if row["ncq"] == depths[-1]], "test", "bandwidth", "which", "MB/s"))
            for number, tests in (("2-4", ("TEST1", "TEST2", "TEST7", "TEST8")), ("5-7", ("TEST3", "TEST4")), ("8-10", ("TEST5", "TEST6"))):
                for test in tests:
                    figures.append(Figure(f"fig{number}-{drive}-{test}", f"Fig. {number}: {test}, {drive}, fiops", "bars", three(plain, test, SHOWN, "ncq"), "ncq", "value", "what", "of alone"))
            for test in TESTS:
                modified = [row for row in both if row["ncq"] == depths[-1] and row["control"] in ("plain", FULL)]
                figures.append(Figure(f"fig11-{drive}-{test}", f"Fig. 11: {test}, {drive}, original and modified (D)", "bars", three(modified, test, None, None), "name", "value", "what", "of alone"))
            for number, before, after, word in (("12", "aggre", "anti", "AntiBDL"), ("14", "anti", FULL, "SeqBDL")):
                pair = [row for row in both if row["ncq"] == depths[-1] and row["control"] in (before, after)]
                if len({row["control"] for row in pair}) == 2:
                    figures.append(Figure(f"fig{number}-{drive}", f"Fig. {number}: {word}, {drive}, fiops", "bars",
                                          [{**row, "which": f"without {word}" if row["control"] == before else f"with {word}"} for row in pair if row["scheduler"] == SHOWN],
                                          "test", "ev", "which", "EV"))
        return figures

    def trends(self, rows):
        both = [row for row in rows if not row["only"]]
        depths = sorted({row["ncq"] for row in both})
        trends = []
        for test, sentence in (("TEST5", f"reads: the deeper NCQ is, the less a workload of depth 2 keeps beside one of depth 32, under {SHOWN}"), ("TEST6", "writes: the same")):
            trends.append(ordered([row for row in both if row["scheduler"] == SHOWN], test, "bdr1", depths, sentence))
        trends.append(compared("size: 4 KiB reads keep less than 128 KiB reads (TEST3)", [(row["bdr1"], row["bdr2"]) for row in both if row["test"] == "TEST3" and row["control"] == "plain"]))
        trends.append(compared("size: 4 KiB writes keep less than 128 KiB writes (TEST4)", [(row["bdr1"], row["bdr2"]) for row in both if row["test"] == "TEST4" and row["control"] == "plain"]))
        pairs = matched(both, "plain", "aggre", "fairness", tests=("TEST3", "TEST4", "TEST5", "TEST6"))
        trends.append(compared("AggreBDL makes TEST3 to TEST6 fairer", pairs))
        trends.append(unused(both))
        trends += self._summary(both)
        return trends

    def _summary(self, both):
        trends = []
        for name, word, low, high in (("min_over_max", "fairness", 11, 23), ("ev", "use of the device (EV)", 9, 29)):
            for drive in dict.fromkeys(row["drive"] for row in both):
                pairs = matched([row for row in both if row["drive"] == drive], "plain", FULL, name)
                gain = 100 * (statistics.mean(after for _, after in pairs) / statistics.mean(before for before, _ in pairs) - 1)
                trends.append(Trend(f"NASS raises {word} by {low} to {high} % over all tests and schedulers, {drive}", low <= gain <= high, f"{gain:+.1f} %", expected=False,
                                    why="The published numbers are of three drives and schedulers whose settings are not known; the sign is judged beside."))
                trends.append(Trend(f"the sign of that, {drive}", gain > 0, f"{gain:+.1f} %"))
        return trends


def total(result):
    """MB/s of a run."""
    return sum(result.json[op]["MB_per_s"] for op in ("read", "write") if result.json.get(op, {}).get("ios"))


def three(rows, test, scheduler, axis):
    """Bars of BDR of both machines and of EV."""
    bars = []
    for row in rows:
        if row["test"] != test or (scheduler and row["scheduler"] != scheduler):
            continue
        name = row[axis] if axis else row["scheduler"] + (" (D)" if row["control"] == FULL else "")
        bars += [{axis or "name": name, "what": what, "value": row[column]} for what, column in (("BDR1", "bdr1"), ("BDR2", "bdr2"), ("EV", "ev"))]
    return bars


def matched(rows, before, after, name, tests=tuple(TESTS)):
    """(before, after) of the same drive, depth, scheduler and test."""
    found = collections.defaultdict(dict)
    for row in rows:
        if row["test"] in tests:
            found[row["drive"], row["ncq"], row["scheduler"], row["test"]][row["control"]] = row[name]
    return [(by[before], by[after]) for by in found.values() if before in by and after in by]


def compared(sentence, pairs):
    """Of the pairs most must rise, and so must their mean."""
    rises = sum(after > before for before, after in pairs)
    means = [statistics.mean(column) for column in zip(*pairs)]
    return Trend(sentence, means[1] > means[0] and rises > len(pairs) / 2, f"{rises} of {len(pairs)}, means {means[0]:.3f} and {means[1]:.3f}")


def unused(rows):
    """EV can rise where the machines together get less of the drive than each gets of it alone."""
    pairs = matched(rows, "plain", FULL, "ev")
    gains = []
    for some in ([p for p in pairs if p[0] < UNUSED], [p for p in pairs if p[0] >= UNUSED]):
        before, after = (statistics.mean(column) for column in zip(*some))
        gains.append(100 * (after / before - 1))
    return Trend(f"NASS raises EV where it is below {UNUSED} without it, more than elsewhere", gains[0] > max(gains[1], 0), f"{gains[0]:+.1f} %, else {gains[1]:+.1f} %")


def ordered(rows, test, name, depths, sentence):
    """The mean falls from depth to depth."""
    means = [statistics.mean(row[name] for row in rows if row["test"] == test and row["ncq"] == depth and row["control"] == "plain") for depth in depths]
    return Trend(sentence, all(b < a for a, b in zip(means, means[1:])), ", ".join(f"{mean:.3f} at {depth}" for depth, mean in zip(depths, means)))


STUDY = Ncq()
