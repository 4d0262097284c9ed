# SPDX-License-Identifier: Apache-2.0
"""A black-box FEMU drive under file benchmarks: five runs on a file system, what the drive's FTL counts each second, and the cliff where collection
begins. README.md says what is known of it, and how these runs stand for its figures."""

import csv
import io
import statistics

from ssdtlm.studying import Figure, Point, Study, Trend

# The device of FEMU, with what the host and FEMU's threads take: 6.7 us and 1.5 us for each command.
SETTINGS = {"precondition.state": "fresh", "run.timeseries_interval": "1s", "host.submit_time": "6.7us", "firmware.clock": "500MHz",
            "firmware.read_command": 750, "firmware.write_command": 750, "files.system": "ext4", "files.call_time": "1ns", "files.ext4.relatime": False}
FIO = "directory=/mnt/femu\ndirect=1\nbs=16k\nsize=576m\nnumjobs=4\ntime_based\ngroup_reporting\nnorandommap\n"
# sysbench fileio: 128 files that all threads share, 1.5 reads a write, an fsync behind each write of the file that was written. fio's fsync=1
# would be of the file whose turn is next, so that sync=1 stands for it.
SYSBENCH = ("directory=/mnt/femu\nfilename_format=test_file.$filenum\nnrfiles=128\nfilesize=18m\ndirect=1\nrw=randrw\nrwmixread=60\nbs=16k\nsync=1\n"
            "file_service_type=random\ntime_based\ngroup_reporting\nnorandommap\n")
PREPARE = {"files.layout_write": "16KiB", "files.layout_depth": 1}
RUNS = {
    "i": ("fio randread", FIO + "rw=randread\n", {}),
    "ii": ("fio randrw", FIO + "rw=randrw\n", {}),
    "iii": ("fio randwrite", FIO + "rw=randwrite\noverwrite=1\n", {}),
    "iv": ("sysbench rndrw, 4 threads", SYSBENCH + "numjobs=4\n", PREPARE),
    "v": ("sysbench rndrw, 32 threads", SYSBENCH + "numjobs=32\n", PREPARE)}
SECONDS = {False: dict.fromkeys(RUNS, 301), True: {"i": 6, "ii": 26, "iii": 26, "iv": 41, "v": 31}}
PUBLISHED_SECONDS = 300
MIB = 1 << 20
# Column, name of the picture, its file, colour (its own, but for the dark red, which a dark page would hide), seconds between points, digits.
PICTURES = (("iops", "IOPS over time", "IOPSData", "#D9423A", 1, 0), ("throughput", "Throughput over time", "throughputData", "#FF4500", 1, 3),
            ("erased_blocks", "Number of erased blocks over time", "GCData", "#228B22", 10, 0),
            ("moved_pages", "Number of moved valid pages over time", "WAFData", "#008B8B", 10, 0))
UNITS = {"iops": "IOPS", "throughput": "MiB/s", "erased_blocks": "blocks in 10 s", "moved_pages": "pages in 10 s"}


def seconds(result):
    """Rows of whole seconds: t counts from the first one that is only of the jobs; before it lies the layout. What happened in a stretch without
    commands is the second's that ends it, as in the study's log."""
    series = [row for row in result.time_series if row["interval_ms"] >= 999]
    begin = max([i + 1 for i, row in enumerate(series) if row["phase"] == "layout"], default=0)
    rows = []
    for i, row in enumerate(series):
        rows.append({"t": i - begin + 1, "phase": row["phase"], "read": row["read_ios"], "write": row["write_ios"], "read_MiB": row["read_bytes"] / MIB,
                     "write_MiB": row["write_bytes"] / MIB, "erased_blocks": row["erased_blocks"], "moved_pages": row["moved_pages"],
                     "free_lines": row["free_blocks"] / 16, "host_pages": row["host_units"], "flash_pages": row["flash_units"]})
    return rows


def tens(rows, name):
    """[(t, sum)] of each ten whole seconds of the jobs, and of the layout before them."""
    found = []
    for end in range(rows[0]["t"] // 10 * 10 + 10, rows[-1]["t"] + 1, 10):
        part = [row[name] for row in rows if end - 10 < row["t"] <= end]
        found.append((end, sum(part)))
    return found


def table(columns, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


class FemuBenchmarks(Study):
    title = "A black-box FEMU drive under file benchmarks"
    source = "Five runs of fio and sysbench on a file system of a FEMU black-box drive of 3 GiB (MoatLab/FEMU, hw/femu/bbssd/ftl.c, 2023). The pictures hold most of the published values; of run (iv) 37 s are known as numbers."

    def points(self, quick):
        points = []
        for run, (name, job, more) in RUNS.items():
            text = f"[{'fio_test' if name.startswith('fio') else 'sysbench'}]\n{job}runtime={SECONDS[quick][run]}\n"
            points.append(Point({"run": run, "what": name}, "femu-4g", ((run, text),), {**SETTINGS, **more}))
        return points

    def files(self, ended):
        """The four files of each run, whole and cut, as the study wrote and cut them."""
        files = {}
        for point, result in ended:
            every = seconds(result)
            cut = [row for row in every if row["t"] >= 1]
            for prefix, rows in (("", every), ("new", cut)):
                of = f"{point.axes['run']}/{prefix}"
                files[f"{of}IOPSData.csv"] = table(("time", "read", "write"), [(r["t"], r["read"], r["write"]) for r in rows])
                files[f"{of}throughputData.csv"] = table(("time", "readThroughput", "writeThroughput"), [(r["t"], f"{r['read_MiB']:.6f}", f"{r['write_MiB']:.6f}") for r in rows])
                files[f"{of}GCData.csv"] = table(("time", "reclaimedBlocks"), tens(rows, "erased_blocks"))
                files[f"{of}WAFData.csv"] = table(("time", "GCWrite"), tens(rows, "moved_pages"))
        return files

    def rows(self, ended):
        """One for each run, then one for each second of it, then one for each ten seconds."""
        summaries, details = [], []
        for point, result in ended:
            run, every = point.axes["run"], seconds(result)
            summaries.append(summary(run, point.axes["what"], result, every))
            details += [{"run": run, "kind": "second", "t": r["t"], "phase": r["phase"], "iops": r["read"] + r["write"], "throughput": r["read_MiB"] + r["write_MiB"], **
                         {k: r[k] for k in ("read", "write", "read_MiB", "write_MiB", "free_lines")}} for r in every]
            sums = zip(tens(every, "erased_blocks"), tens(every, "moved_pages"))
            details += [{"run": run, "kind": "ten", "t": t, "erased_blocks": erased, "moved_pages": moved} for (t, erased), (_, moved) in sums]
        return summaries + details

    def figures(self, rows):
        figures = []
        runs = [row for row in rows if row["kind"] == "run"]
        for column, title, file, colour, step, digits in PICTURES:
            for run in runs:
                mine = [row for row in rows if row["run"] == run["run"] and row["kind"] == ("second" if step == 1 else "ten")]
                first = min(row["t"] for row in mine)
                bands = ((first, 1, "layout"),) if first < 1 else ()
                flat = 10.0 if run["run"] == "i" and step == 10 else 0.0
                figures.append(Figure(f"{run['run']}-{file}", f"{title}, ({run['run']}) {run['what']}", "time", [{"Seconds": row["t"], column: row[column]} for row in mine],
                                      "Seconds", column, unit=UNITS[column], top=flat, bands=bands, points=step == 10, digits=digits, colour=colour))
        for name, title, unit, columns in (("latency", "Mean latency of the drive's commands", "us", ("read_us", "write_us")),
                                           ("iops", "Commands of the drive in a second, mean", "IOPS", ("read_iops", "write_iops"))):
            bars = [{"run": f"({run['run']})", "value": run[c], "of": c.split("_")[0] + "s"} for run in runs for c in columns if run[c] is not None]
            figures.append(Figure(name, title, "bars", bars, "run", "value", "of", unit))
        return figures

    def trends(self, rows):
        of = {row["run"]: row for row in rows if row["kind"] == "run"}
        series = {run: [row for row in rows if row["run"] == run and row["kind"] == "second" and row["t"] >= 1] for run in RUNS}
        return trends_of(of, series)


def summary(run, what, result, every):
    jobs = [row for row in every if row["t"] >= 1]
    layout = [row["write_MiB"] for row in every if row["phase"] == "layout" and row["read"] == 0]
    latency = result.json["latency_us"]
    # Behind the cliff and its floor, where collection has become steady.
    late = [row for row in jobs if row["t"] > cliff(jobs) + 8] or jobs[-1:]
    # The published means are of 300 s: what a shorter run lacks is as its steady part.
    rest = max(PUBLISHED_SECONDS - len(jobs), 0)
    mean = lambda name: (sum(row[name] for row in jobs) + rest * statistics.mean(row[name] for row in late)) / (len(jobs) + rest)
    per_ten = lambda name: 10 * statistics.mean(row[name] for row in late)
    host = sum(row["host_pages"] for row in late)
    return {"run": run, "kind": "run", "what": what, "t": len(jobs), "iops": mean("read") + mean("write"), "throughput": mean("read_MiB") + mean("write_MiB"),
            "read_iops": mean("read"), "write_iops": mean("write"), "read_MiB": mean("read_MiB"), "write_MiB": mean("write_MiB"),
            "read_us": latency.get("read", {}).get("total", {}).get("mean"), "write_us": latency.get("write", {}).get("total", {}).get("mean"),
            "layout_MiB": statistics.median(layout[1:-1] or layout or [0.0]), "cliff": cliff(jobs), "erased_blocks": per_ten("erased_blocks"), "moved_pages": per_ten("moved_pages"),
            "wa": sum(row["flash_pages"] for row in late) / host if host else None, "free_lines": min(row["free_lines"] for row in late),
            "free_lines_most": max(row["free_lines"] for row in late), "before_iops": level(jobs, lambda row: row["read"] + row["write"]), "before_MiB": level(jobs, lambda row: row["write_MiB"]),
            "late_iops": statistics.mean(row["read"] + row["write"] for row in late), "late_MiB": statistics.mean(row["write_MiB"] for row in late)}


def cliff(jobs):
    """The first second in which a block was erased; without one, past the end."""
    return next((row["t"] for row in jobs if row["erased_blocks"]), jobs[-1]["t"] + 1)


def level(jobs, value):
    """Mean of the whole seconds before the cliff."""
    return statistics.mean(value(row) for row in [row for row in jobs if row["t"] < cliff(jobs)] or jobs[:1])


def near(sentence, value, published, tolerance, digits=1, unit="", **more):
    """Within a share of a published number, or of one end of a published range."""
    low, high = published if isinstance(published, tuple) else (published, published)
    met = value is not None and low * (1 - tolerance) <= value <= high * (1 + tolerance)
    wanted = f"{low:,g}" if low == high else f"{low:,g} to {high:,g}"
    return Trend(f"{sentence}: {wanted}{unit} within {tolerance:.0%}", met, "none" if value is None else f"{value:,.{digits}f}{unit}", **more)


def between(sentence, value, low, high, digits=2, **more):
    return Trend(f"{sentence}: {low:g} to {high:g}", low <= value <= high, f"{value:.{digits}f}", **more)


# Why (iv) has more commands behind the cliff than FEMU: README.md has the runs.
MORE_COMMANDS = ("throughput is 10 % above the published one, of which 4 % are collection that goes on among the host's operations instead of at one instant, and a command carries "
                 "6 % fewer bytes: commits are more and smaller")


def trends_of(of, series):
    trends = [near("layout of (iv), one thread, 16 KiB", of["iv"]["layout_MiB"], (75.2, 75.8), 0.02, unit=" MiB/s")]
    trends += [near(f"({run}) mean IOPS", of[run]["iops"], iops, 0.10, 0, expected=run != "iv", why=MORE_COMMANDS) for run, iops in (("iv", 8337), ("v", 13490))]
    trends += [near(f"({run}) mean throughput", of[run]["throughput"], rate, tolerance, unit=" MiB/s") for run, rate, tolerance in (("iv", 118, 0.15), ("v", 213, 0.10))]
    trends += [between(f"eight times the threads give far less than eight times the {what}", of["v"][column] / of["iv"][column], 1.4, 2.3) for column, what in
               (("iops", "IOPS"), ("throughput", "throughput"))]
    before = [row for row in series["iv"] if row["t"] < of["iv"]["cliff"]]
    for column, published in (("read_MiB", (110.4, 111.7)), ("write_MiB", (113.0, 114.1))):
        trends.append(near(f"(iv) before the cliff, {column.split('_')[0]}s", statistics.mean(row[column] for row in before), published, 0.20, unit=" MiB/s"))
    trends.append(between("(iv) the cliff begins after so many seconds", of["iv"]["cliff"], 4, 10, 0))
    trends += shape(of["iv"], series["iv"])
    trends.append(between("(iv) bytes read for each byte written", of["iv"]["read_MiB"] / of["iv"]["write_MiB"], 0.94, 1.02, 3, expected=False,
                          why="for each write of data the journal has 7.4 KiB here and 8.5 KiB there, in fewer and larger commits"))
    trends += [near(f"({run}) KiB a command", 1024 * of[run]["throughput"] / of[run]["iops"], kib, 0.10) for run, kib in (("iv", 14.5), ("v", 16.2))]
    reads = [row["iops"] for row in series["i"]]
    trends.append(Trend("(i) has no cliff: flat within 1 %", max(reads) <= 1.01 * min(reads), f"{min(reads):,.0f} to {max(reads):,.0f} IOPS"))
    trends.append(near("(i) IOPS, by a small program", of["i"]["iops"], 60800, 0.15, 0))
    trends.append(Trend("(i) erases and moves nothing", of["i"]["erased_blocks"] == of["i"]["moved_pages"] == 0, f"{of['i']['erased_blocks']:.0f} blocks, {of['i']['moved_pages']:.0f} pages"))
    for run in ("ii", "iii", "iv", "v"):
        trends.append(Trend(f"({run}) has a cliff, and erases and moves behind it", of[run]["late_iops"] < 0.8 * of[run]["before_iops"] and of[run]["moved_pages"] > 0,
                            f"{of[run]['before_iops']:,.0f} IOPS before, {of[run]['late_iops']:,.0f} behind, {of[run]['moved_pages']:,.0f} pages moved in 10 s"))
    return trends + model(of)


def shape(iv, rows):
    """Two steps down: a floor some seconds behind the cliff, then a plateau a little above it."""
    behind = [row["write_MiB"] for row in rows if row["t"] >= iv["cliff"]]
    step, floor, plateau = statistics.mean(behind[1:4]), min(behind[2:12]), statistics.mean(behind[14:34] or behind[-1:])
    return [near("(iv) writes in the first step behind the cliff", step, (68, 73), 0.20, unit=" MiB/s"), between("(iv) floor over plateau", floor / plateau, 0.8, 0.95),
            near("(iv) writes on the plateau", plateau, (55, 64), 0.20, unit=" MiB/s")]


# What a small, independent program of the same rules gives (README.md): not published, the values are in the pictures alone.
MODEL = {"ii": {"before_iops": 25200, "late_iops": (11000, 12000), "erased_blocks": 2100, "moved_pages": (290e3, 320e3), "wa": (2.21, 2.48)},
         "iii": {"before_iops": 19200, "late_iops": (6800, 7700), "erased_blocks": 2620, "moved_pages": (370e3, 400e3), "wa": (2.22, 2.49)},
         "iv": {"erased_blocks": 1530, "moved_pages": 260e3, "wa": (2.73, 2.87)}, "v": {"erased_blocks": 2410, "moved_pages": 380e3, "wa": (2.43, 2.56)}}
TOLERANCE = {"before_iops": 0.15, "late_iops": 0.15, "erased_blocks": 0.20, "moved_pages": 0.20, "wa": 0.10}
WORDS = {"before_iops": "IOPS before the cliff", "late_iops": "IOPS behind it", "erased_blocks": "blocks erased in 10 s", "moved_pages": "pages moved in 10 s", "wa": "write amplification"}


def model(of):
    trends = [near(f"({run}) {WORDS[name]}, by a small program", of[run][name], value, TOLERANCE[name], 2 if name == "wa" else 0) for run, values in MODEL.items()
              for name, value in values.items()]
    trends += [Trend(f"({run}) free lines while collection works: 64 to 65", 63 <= of[run]["free_lines"] and of[run]["free_lines_most"] <= 66,
                     f"{of[run]['free_lines']:.1f} to {of[run]['free_lines_most']:.1f}") for run in MODEL]
    return trends


STUDY = FemuBenchmarks()
