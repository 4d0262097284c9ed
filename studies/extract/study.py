# SPDX-License-Identifier: Apache-2.0
"""A device as a black box: page, parallel units, channels, tR, tPROG, write buffer and map cache from I/Os and their latencies, on every preset."""

import importlib.util
import pathlib
import statistics

from ssdtlm.studying import Figure, Point, Study, check
from ssdtlm.studying.derived import capacities


def beside(name):
    spec = importlib.util.spec_from_file_location(f"ssdtlm_study_extract_{name}", pathlib.Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    import sys  # pylint: disable=import-outside-toplevel
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


benchmarks, estimates, held_out = beside("benchmarks"), beside("estimates"), beside("held_out")
KIB, MIB, GIB = 2**10, 2**20, 2**30
DRAWN, HELD_OUT = held_out.drives("drawn"), held_out.drives("held-out")
# Drives with the reason taken away for which a quantity is not seen: name -> (preset, settings, quantity that is seen then, benchmarks).
PROOFS = {"s4500, slow programs": ("s4500", {"nand.t_program": "6ms"}, "buffer", ("burst",)),
          "s4500, volatile buffer": ("s4500", {"buffer.mode": "write_back"}, "t_program", ("reads", "synced")),
          "s4500, one plane": ("s4500", {"nand.geometry.planes_per_die": 1, "nand.geometry.blocks_per_plane": 1784}, "page", ("reads",)),
          "intel-p4510-2t, four dies of a channel": ("intel-p4510-2t", {"nand.geometry.ways": 4, "nand.geometry.blocks_per_plane": 342}, "units", ("reads", "pairs")),
          "kioxia-cm6-3840, 16 channels": ("kioxia-cm6-3840", {"nand.geometry.channels": 16, "nand.geometry.blocks_per_plane": 2050}, "chunk", ("reads", "pairs")),
          "crucial-t700-1t, four planes": ("crucial-t700-1t", {"nand.geometry.planes_per_die": 4, "nand.geometry.blocks_per_plane": 755}, "chunk", ("reads", "pairs")),
          **{f"{drive}, the whole map in DRAM": (drive, {"ftl.mapping": "page"}, "chunk", ("reads", "pairs")) for drive in ("intel-670p-2t", "wd-sn770-1t")},
          "intel-670p-2t, the whole map in DRAM, programs": ("intel-670p-2t", {"ftl.mapping": "page"}, "t_program", ("reads", "synced")),
          "crucial-t700-1t, 256 MiB of buffer": ("crucial-t700-1t", {"buffer.size": "256MiB"}, "buffer", ("burst",)),
          **{f"{drive}, fast DRAM": (DRAWN[drive][0], {**DRAWN[drive][1], "dram.bandwidth": "51200MB/s"}, "buffer", ("burst",)) for drive in ("drawn-1", "drawn-8")}}
# In the quick form only for a drive with a cached map and the same one without.
RANGES_QUICK = ("mqsim-table3", "mqsim-table3-cmt")
UNITS = {"chunk": "KiB", "page": "KiB", "units": "", "channels": "", "t_read": "us", "t_program": "us", "buffer": "MiB", "map_cache": "MiB"}
NAMES = {"chunk": "bytes in sequence on a die", "page": "page", "units": "parallel units", "channels": "channels", "t_read": "tR", "t_program": "tPROG", "buffer": "write buffer",
         "map_cache": "map cache"}
CLOSE = 0.05
# What is found wrong, and why.
MILLISECONDS = "the log counts whole milliseconds, in each of which the link brings a large part of the buffer"
MISSES = "part of the map is in DRAM: a read that misses takes two reads of the flash, and the longer a benchmark lasts the more of them it has"
KNOWN = {("wd-sn730-512g", "t_program"): "what is taken off for transfer and command is large beside a short program in SLC mode, and so is its error",
         **{(drive, "buffer"): MILLISECONDS for drive in ("crucial-t700-1t", "intel-p4320-7680", "samsung-pm9d3a-3840", "wd-sn770-1t")}}
BY_STRIDES = ("chunk", "units", "channels", "t_read")
# The same of drives drawn at random: quantity -> (drives, why).
KNOWN_OF_DRAWN = {
    "page": ({"held-out-5"}, MISSES),
    "chunk": ({"drawn-5", "drawn-6", "held-out-6", "held-out-8"}, "where one reading of a page serves both reads, or pages are as short as a read, the slopes find what is in sequence on a channel, and ways, dies or planes "
              "come before channels there"),
    "units": ({"drawn-5", "drawn-6", "held-out-6", "held-out-8"}, "it is the stripe over what is in sequence on a die"),
    "t_read": ({"held-out-8"}, "the transfer that is taken off is that of the slopes"),
    "t_program": ({"drawn-5", "held-out-6"}, "planes of a die that are written one after the other take a program each, and 16 KiB are then programs of several planes"),
    "buffer": ({"drawn-1", "drawn-4", "drawn-7", "drawn-8", "held-out-2"}, "the line of the slow phase is followed back to time 0. While drawn-1 and drawn-8 fill, the DRAM has less for the flash than later; the others are full "
               "within a few ms of the log")}
COLUMNS = ("drive", "quantity", "found", "true", "unit", "error", "verdict", "why", "series", "x", "y")
US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
BYTES = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB}


def number(text, units):
    """Mean of a value or a list of values, in the first unit of the table that has 1."""
    values = text if isinstance(text, list) else [text]
    found = []
    for value in values:
        digits = str(value).rstrip("%abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        found.append(float(digits) * units[str(value)[len(digits):]])
    return statistics.fmean(found)


def truth(config):
    """{quantity: value} by the configuration of a run."""
    g = {name: config[f"nand.geometry.{name}"] for name in ("channels", "ways", "dies_per_chip", "planes_per_die")}
    page = number(config["nand.geometry.page_size"], BYTES) / KIB
    # Planes that come first in the order hold consecutive pages of their die, whether they are written as one or not.
    together = g["planes_per_die"] if config["ftl.superblock"] != "plane" or config["ftl.allocation"].startswith("P") else 1
    slc = float(config["slc.blocks"]) > 0
    return {"chunk": page * together, "page": page, "units": g["channels"] * g["ways"] * g["dies_per_chip"] * g["planes_per_die"] // together, "channels": g["channels"],
            "t_read": number(config["nand.t_read"], US), "t_program": number(config["nand.slc.t_program" if slc else "nand.t_program"], US),
            "buffer": 0 if config["buffer.mode"] == "write_through" else number(config["buffer.size"], BYTES) / MIB,
            # A cache of single entries has the number of each beside it.
            "map_cache": number(config["map.cache"], BYTES) / number(config["map.entry_size"], BYTES) / (2 if config["map.granularity"] == "entry" else 1)
            * number(config["nand.geometry.unit_size"], BYTES) / MIB if config["ftl.mapping"] == "dftl" else 0}


def odd_part(kib):
    number = int(kib) // 4
    while number and number % 2 == 0:
        number //= 2
    return number


def reason(drive, quantity, found, config, true):
    """Why a quantity is not seen, or is another one, by what the drive is; "" where that is not known."""
    if (drive, quantity) in KNOWN:
        return KNOWN[drive, quantity]
    if quantity in (*BY_STRIDES, "page", "t_program") and true["map_cache"] and found:
        return MISSES
    if quantity == "page":
        if found and found == true["chunk"]:
            return "the planes of a die hold consecutive pages and read together: a row of them is like one large page"
        if isinstance(config["nand.t_read"], list):
            return "pages are of several speeds, and blocks of different sizes have met different ones"
        return "no block size ends at a page"
    if quantity in BY_STRIDES and odd_part(true["chunk"]) != 1:
        return f"a die has {true['chunk']:g} KiB in sequence, which is no power of two, as strides are"
    if quantity in BY_STRIDES and odd_part(true["chunk"] * true["units"]) not in (1, 3):
        return f"all units together have {true['chunk'] * true['units']:g} KiB in sequence, {odd_part(true['chunk'] * true['units'])} times a power of two: strides of 1 and 3 times one meet several of them"
    if quantity == "t_program" and found is None:
        return "flushes end at once: the buffer is protected from losses of power" if config["buffer.mode"] == "protected" else "a program is too short to be told from an end in the buffer"
    if found is not None:
        return ""
    if quantity == "channels":
        if config["nand.onfi.interface"] == "ideal":
            return "the bus takes no time"
        if true["channels"] == true["units"]:
            return "each channel has one die: no two dies share a bus"
        return "the link takes as long for 4 KiB as the bus: who waits for the one has waited for the other"
    if quantity == "t_read":
        return "no block size and no stride separates the array from the transfer"
    if quantity == "buffer":
        return "writes go through" if not true["buffer"] else "the link is no faster than the flash programs: the buffer never fills"
    return ""


class Extract(Study):
    title = "A drive as a black box"
    source = ("After Chen, Lee, Zhang: Essential roles of exploiting internal parallelism of flash memory based solid state drives, HPCA 2011, which reads at strides. "
              "No numbers of the paper are compared: what is found is compared with the preset.")

    def points(self, quick):
        points = []
        for drive, capacity in capacities().items():
            kinds = ("reads", "pairs", "synced", "burst") + (("ranges",) if not quick or drive in RANGES_QUICK else ())
            points += [self._point(drive, drive, {}, kind, quick, capacity) for kind in kinds]
        for drive, (preset, settings, capacity) in {**DRAWN, **HELD_OUT}.items():
            points += [self._point(drive, preset, settings, kind, quick, capacity) for kind in (("reads", "pairs") if quick and drive in HELD_OUT else ("reads", "pairs", "synced", "burst", "ranges"))]
        for name, (drive, settings, _, kinds) in PROOFS.items():
            points += [self._point(name, drive, settings, kind, quick, DRAWN[name.split(",")[0]][2] if name.startswith("drawn") else capacities()[drive]) for kind in kinds]
        return points

    @staticmethod
    def _point(name, drive, settings, kind, quick, capacity):
        text = {"reads": lambda: benchmarks.reads(capacity, quick), "pairs": lambda: benchmarks.pairs(capacity), "synced": lambda: benchmarks.synced(capacity), "burst": lambda: benchmarks.burst(capacity, quick), "ranges": lambda: benchmarks.ranges(capacity, quick)}[kind]()
        return Point({"drive": name, "kind": kind}, drive, ((kind, text),), settings)

    def rows(self, ended):
        results = {}
        for point, result in ended:
            results.setdefault(point.axes["drive"], {})[point.axes["kind"]] = result
        quantities, series = [], []
        for drive, runs in results.items():
            config = next(iter(runs.values())).config
            true, found = truth(config), self._found(runs)
            wanted = [PROOFS[drive][2]] if drive in PROOFS else list(found)
            quantities += [self._row(drive, name, found[name], true, config) for name in wanted]
            series += self._series(drive, runs)
        blank = dict.fromkeys(COLUMNS, "")
        return [{**blank, **row} for row in quantities + series]

    @staticmethod
    def _found(runs):
        found, transfer = {}, 0.0
        if "reads" in runs:
            reads = reads_of(runs)
            found.update(chunk=reads.chunk(), page=reads.page(), units=reads.units(), channels=reads.channels(), t_read=reads.t_read())
            # What one channel has of a write of 16 KiB.
            transfer = (reads.transfer() or 0.0) * min(16, found["chunk"]) / 4
        if "synced" in runs:
            found["t_program"] = estimates.t_program(runs["synced"].fio["jobs"], log_of(runs["synced"], "synced"), transfer, -(-16 // (reads.stripe() or 16)))
        if "burst" in runs:
            found["buffer"] = estimates.buffer(log_of(runs["burst"], "burst"))
        if "ranges" in runs:
            found["map_cache"] = estimates.map_cache(ranges_of(runs["ranges"]), reads.interval())
        return found

    @staticmethod
    def _row(drive, name, found, true, config):
        row = {"drive": drive, "quantity": name, "found": "" if found is None else round(found, 2), "true": round(true[name], 2), "unit": UNITS[name]}
        if found is None and not true[name]:
            return {**row, "verdict": "found", "why": "there is none, and none is seen"}
        if found is not None and true[name] and abs(found / true[name] - 1) <= CLOSE:
            return {**row, "error": found / true[name] - 1, "verdict": "found"}
        why = reason(drive, name, found, config, true)
        if found is None:
            return {**row, "verdict": "not seen", "why": why}
        row["error"] = found / true[name] - 1 if true[name] else ""
        return {**row, "verdict": "row of planes" if name == "page" and found == true["chunk"] else "wrong", "why": why}

    @staticmethod
    def _series(drive, runs):
        rows = []
        if "reads" in runs:
            reads = reads_of(runs)
            rows += [{"drive": drive, "series": "two reads a stride apart", "x": kib, "y": reads.between(kib)} for kib in sorted(reads.apart)]
            rows += [{"drive": drive, "series": "rate by stride", "x": kib, "y": iops / 1e3} for kib, iops in sorted(reads.rate.items())]
            rows += [{"drive": drive, "series": "latency by block size", "x": kib, "y": us} for kib, us in sorted(reads.latency.items())]
            rows += [{"drive": drive, "series": "one unit by block size", "x": kib, "y": us} for kib, us in sorted(reads.far.items())]
        if "burst" in runs:
            curve = estimates.filling(log_of(runs["burst"], "burst"))
            rows += [{"drive": drive, "series": "written over time", "x": ms, "y": mib} for ms, mib in curve[::max(1, len(curve) // 60)]]
        if "ranges" in runs:
            rows += [{"drive": drive, "series": "latency by range", "x": mib, "y": part["lat_ns"]["mean"] / 1e3} for mib, part in sorted(estimates.by_prefix(runs["ranges"].fio["jobs"], "range").items())]
        return rows

    # -----------------------------------------------------------------------------------------------------------------

    def figures(self, rows):
        figures = []
        for series, y, x in (("rate by stride", "thousand reads/s", "stride (KiB)"), ("two reads a stride apart", "between their ends (us)", "stride (KiB)"), ("latency by block size", "latency (us)", "block (KiB)"),
                             ("one unit by block size", "time of a read (us)", "block (KiB)"), ("written over time", "written (MiB)", "time (ms)"), ("latency by range", "mean latency (us)", "range (MiB)")):
            for drive in dict.fromkeys(row["drive"] for row in rows if row["series"] == series):
                mine = [{x: row["x"], y: row["y"], "which": family(row["x"]) if "stride" in series else ""} for row in rows if row["series"] == series and row["drive"] == drive]
                figures.append(Figure(f"{series}-{drive}".replace(" ", "-").replace(",", ""), f"{drive}: {series}", "lines", mine, x, y, "which" if "stride" in series else "", y))
        return figures

    def trends(self, rows):
        trends = []
        quantities = [row for row in rows if row["quantity"]]
        of_presets = [row for row in quantities if row["drive"] in capacities()]
        for name in UNITS:
            mine = [row for row in of_presets if row["quantity"] == name]
            seen = [row for row in mine if row["verdict"] != "not seen"]
            right = [row for row in mine if row["verdict"] == "found"]
            wrong = [f"{row['drive']} {short(row['found'])} for {short(row['true'])}" for row in seen if row["verdict"] == "wrong"]
            hidden = [row["drive"] for row in mine if row["verdict"] == "not seen"]
            rows_of_planes = [f"{row['drive']} {short(row['found'])} for {short(row['true'])}" for row in seen if row["verdict"] == "row of planes"]
            unknown = [row for row in seen if row["verdict"] == "wrong" and not row["why"]]
            why = "; ".join(f"{row['drive']}: {row['why']}" for row in seen if row["verdict"] == "wrong" and row["why"])
            trends.append(check(f"{NAMES[name]}: what is seen is right to 5 %" + (", or a row of planes" if name == "page" else ""), not wrong, f"{len(right)} of {len(mine)} found" + (f", wrong: {'; '.join(wrong)}" if wrong else "")
                                + (f", a row of planes in its place: {'; '.join(rows_of_planes)}" if rows_of_planes else "") + (f", not seen: {', '.join(hidden)}" if hidden else ""), expected=bool(unknown) or not wrong, why=why))
        for drives, which in ((DRAWN, "drawn at random"), (HELD_OUT, "held out")):
            for name in UNITS:
                mine = [row for row in quantities if row["drive"] in drives and row["quantity"] == name]
                wrong = {row["drive"]: f"{row['drive']} {short(row['found'])} for {short(row['true'])}" for row in mine if row["verdict"] == "wrong"}
                right = sum(row["verdict"] == "found" for row in mine)
                known, why = KNOWN_OF_DRAWN.get(name, (set(), ""))
                if mine:
                    trends.append(check(f"{NAMES[name]}, drives {which}: what is seen is right to 5 %", not wrong, f"{right} of {len(mine)} found" + (f", wrong: {'; '.join(wrong.values())}" if wrong else ""),
                                        expected=not wrong or not known.issuperset(wrong), why=why))
        for row in quantities:
            if row["drive"] in PROOFS:
                trends.append(check(f"{row['drive']}: {NAMES[row['quantity']]} is seen", row["verdict"] == "found", f"{row['found'] or 'nothing'} for {row['true']} {row['unit']}".strip()))
        return trends


def short(value):
    """A number without zeros behind its point."""
    return f"{value:g}" if isinstance(value, float) else value


def family(kib):
    return f"{4 * odd_part(kib)} KiB x a power of two"


def log_of(result, name):
    """Rows of fio's lat log: (ms, ns, direction, bytes, offset)."""
    # fio numbers the logs by job.
    (path,) = result.path.glob(f"{name}_lat.*.log")
    return [tuple(int(field) for field in line.split(",")[:5]) for line in path.read_text(encoding="utf-8").splitlines()]


def ranges_of(result):
    """{MiB: us of each read within that range}."""
    sizes = [int(job["jobname"].removeprefix("range")) for job in result.fio["jobs"] if job["jobname"].startswith("range")]
    return {size: [row[1] / 1e3 for row in log_of(result, f"range{size}")] for size in sizes}


def reads_of(runs):
    logs = {}
    if "pairs" in runs:
        logs = {int(job["jobname"].removeprefix("pair")): log_of(runs["pairs"], job["jobname"]) for job in runs["pairs"].fio["jobs"]}
    return estimates.Reads.of(runs["reads"].fio["jobs"], logs)


STUDY = Extract()
