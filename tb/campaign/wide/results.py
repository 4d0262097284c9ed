# SPDX-License-Identifier: Apache-2.0
"""What the files of a run say, computed once more from each other. Each check yields the faults that it finds, one line each."""
import collections
import csv
import itertools
import json
import math

OPERATIONS = ("read", "write", "trim", "flush")
PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99")
BIN = 1 / 64 + 1e-6  # width of a latency bin, as a share of the latency
MEDIA_ERRORS = ("commands_unrecovered_read", "commands_write_fault", "commands_refused_read_only")
SIGNED = ("slope", "drift", "left", "right")
# Groups of tracks of the timeline, with the resource that each shows. (A slice of the link is a burst, with pauses between its packets.)
TRACKS = {3: ("firmware core",), 4: ("channel bus",), 5: ("die",)}


def near(a, b, absolute=1e-6, relative=1e-6):
    return abs(a - b) <= absolute + relative * max(abs(a), abs(b))


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def strict_json(path):
    """JSON without NaN and infinity, which JSON does not have."""
    def refuse(word):
        raise ValueError(f"{path.name} holds {word}")
    return json.loads(path.read_text(), parse_constant=refuse)


def numbers(value, path=""):
    if isinstance(value, dict):
        for key, below in value.items():
            yield from numbers(below, f"{path}.{key}")
    elif isinstance(value, list):
        for below in value:
            yield from numbers(below, path + "[]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def check_books(result):
    for line in result.get("books", []):
        if line["left"] != line["right"]:
            yield f"books: {line['line']}: {line['left']} and {line['right']}"
    status = sum(result["counters"].get(s, 0) for s in MEDIA_ERRORS)
    if result["error_status"] != status:
        yield f"error_status: {result['error_status']} commands ended with one, media errors are {status}"


def check_signs(result):
    """No count, time or share is below zero."""
    for path, value in numbers({k: v for k, v in result.items() if k != "config_toml"}):
        if value < 0 and path.rpartition(".")[2].rstrip("[]") not in SIGNED:
            yield f"negative: {path} is {value}"


def check_shares(result):
    for name, resource in result.get("resources", {}).items():
        busy = resource["busy"]
        if resource["members"] != len(busy):
            yield f"busy: {name} has {resource['members']} members and {len(busy)} shares"
        for share in (*busy, resource["busy_mean"], resource["busy_max"]):
            if not 0 <= share <= 1 + 1e-9:
                yield f"busy: {name} is busy for {share} of the time"
        if busy and not (near(resource["busy_mean"], sum(busy) / len(busy)) and near(resource["busy_max"], max(busy))):
            yield f"busy: mean or maximum of {name} is not that of its members"


def check_rates(result):
    for op in OPERATIONS:
        o = result[op]
        if o["active_s"] > 0 and not near(o["iops"], o["ios"] / o["active_s"], 1e-3):
            yield f"rates: {op} says {o['iops']} IOPS, {o['ios']} in {o['active_s']} s"
        if o["active_s"] > result["simulated_s"] + 1e-12:
            yield f"rates: {op} was active for longer than the run"


def check_latency(result, folder):
    """Sums of the stages, of the bins, and of the jobs."""
    by_op = collections.defaultdict(dict)
    for row in rows(folder / "latency.csv"):
        by_op[row["op"]][row["stage"]] = row
    for op, stages in by_op.items():
        total = stages.pop("total")
        count, mean = int(total["count"]), float(total["mean_us"])
        if any(int(s["count"]) != count for s in stages.values()):
            yield f"latency.csv: stages of {op} have not all the commands of its total"
        together = sum(float(s["mean_us"]) for s in stages.values())
        if not near(together, mean, 1e-6 * (len(stages) + 1)):
            yield f"latency.csv: stages of {op} sum to {together} us, its total is {mean} us"
        for name, row in (*stages.items(), ("total", total)):
            values = [float(row[f"{p}_us"]) for p in PERCENTILES]
            if any(a > b + 1e-9 for a, b in itertools.pairwise(values)):
                yield f"latency.csv: percentiles of {op} {name} fall: {values}"
            if values[-1] > float(row["max_us"]) * (1 + BIN) + 0.002:
                yield f"latency.csv: p99.99 of {op} {name} is above its maximum"
            if float(row["mean_us"]) > float(row["max_us"]) + 1e-6:
                yield f"latency.csv: mean of {op} {name} is above its maximum"
        if result is not None and result[op]["ios"] != count:
            yield f"latency.csv: {count} commands of {op}, result.json has {result[op]['ios']}"
    sums = collections.defaultdict(lambda: [0, 0])
    for row in rows(folder / "latency_bins.csv"):
        count, of_row = int(row["count"]), sum(int(v) for k, v in row.items() if k.endswith("_ps"))
        sums[row["op"]][0] += count
        sums[row["op"]][1] += of_row
        below = int(row["below_ns"] or 1 << 70)  # the last bin is open
        if not (int(row["from_ns"]) - 1) * 1000 * count <= of_row <= (below + 1) * 1000 * count:
            yield f"latency_bins.csv: stages of {op_of(row)} sum to {of_row / count / 1000} ns a command"
    for op, (count, ps) in sums.items():
        if count != int(by_op_count(folder, op)) or not near(ps / count / 1e6, by_op_mean(folder, op), 2e-6):
            yield f"latency_bins.csv: {count} commands of {op} with a mean of {ps / count / 1e6} us; latency.csv has others"


def op_of(row):
    return f"{row['op']} from {row['from_ns']} to {row['below_ns']} ns"


def total_of(folder, op):
    return next((r for r in rows(folder / "latency.csv") if r["op"] == op and r["stage"] == "total"), {"count": "0", "mean_us": "0"})


def by_op_count(folder, op):
    return total_of(folder, op)["count"]


def by_op_mean(folder, op):
    return float(total_of(folder, op)["mean_us"])


def check_jobs(result, folder):
    """Jobs, tenants and streams sum to the whole."""
    if not (folder / "latency_by_job.csv").exists():
        return
    sums = collections.defaultdict(lambda: [0, 0.0])
    for row in rows(folder / "latency_by_job.csv"):
        stages = sum(float(v) for k, v in row.items() if k.endswith("_us") and k.split("_us")[0] not in ("mean", "max", *PERCENTILES))
        if not near(stages, float(row["mean_us"]), 3e-5):
            yield f"latency_by_job.csv: stages of {row['of']} {row['number']} {row['op']} sum to {stages} us, its mean is {row['mean_us']} us"
        of = sums[row["of"], row["op"]]
        of[0] += int(row["count"])
        of[1] += int(row["count"]) * float(row["mean_us"])
    for (of, op), (count, us) in sums.items():
        if of == "job" and (count != result[op]["ios"] or (count and not near(us / count, by_op_mean(folder, op), 1e-5, 1e-5))):
            yield f"latency_by_job.csv: jobs have {count} commands of {op}, {result[op]['ios']} in all"


def check_series(result, folder, ramp):
    sums = collections.Counter()
    for row in rows(folder / "timeseries.csv"):
        for key in [*(f"{op}_ios" for op in OPERATIONS), "read_bytes", "write_bytes", "erased_blocks", "host_units", "flash_units", "moved_pages"]:
            sums[key] += int(row[key])
    for op in OPERATIONS:
        shown, whole = sums[f"{op}_ios"], result[op]["ios"]
        if shown < whole or (shown != whole and not ramp):
            yield f"timeseries.csv: {op}_ios sum to {shown}, result.json has {whole}"
        if op in ("read", "write") and not ramp and sums[f"{op}_bytes"] != result[op]["bytes"]:
            yield f"timeseries.csv: {op}_bytes sum to {sums[f'{op}_bytes']}, result.json has {result[op]['bytes']}"
    if sum(sums[f"{op}_ios"] for op in OPERATIONS) != result["commands_including_ramp"]:
        yield f"timeseries.csv: all I/Os sum to {sum(sums[f'{op}_ios'] for op in OPERATIONS)}, {result['commands_including_ramp']} commands in result.json"
    for key in ("host_units", "flash_units"):
        if not ramp and sums[key] > result["ftl"].get(key, math.inf):
            yield f"timeseries.csv: {key} sum to {sums[key]}, result.json has {result['ftl'][key]}"


def check_amplification(result):
    """`waf` is what its counters make of it: bytes by bytes where the result has bytes, else units by units."""
    f = result["ftl"]
    pairs = [(f"{prefix}_bytes", "host_bytes") for prefix in ("nand", "programmed", "flash")] + [("flash_units", "host_units")]
    for name in ("waf", "waf_units", "waf_in_units"):
        if f.get(name) is None:
            continue
        quotients = [f[a] / f[b] for a, b in pairs if f.get(a) is not None and f.get(b)]
        if name != "waf":
            quotients = [f["flash_units"] / f["host_units"]] if f.get("host_units") else []
        if quotients and not any(near(f[name], q, 1e-6) for q in quotients):
            yield f"waf: {name} is {f[name]}, its counters make {quotients}"


def check_fio(result, folder):
    """The jobs of fio.json sum to result.json, and each has its percentiles in order."""
    if not (folder / "fio.json").exists():
        return
    sums = collections.Counter()
    for job in strict_json(folder / "fio.json")["jobs"]:
        if not near(sum(job["iodepth_level"].values()), 100, 1.0) and any(job["iodepth_level"].values()):
            yield f"fio.json: iodepth_level of {job['jobname']} sums to {sum(job['iodepth_level'].values())} %"
        # With unified_rw_reporting=mixed fio writes "mixed" in place of the three.
        for op in ("mixed",) if "mixed" in job else ("read", "write", "trim"):
            o = job[op]
            sums[op] += o["total_ios"]
            sums[op, "bytes"] += o["io_bytes"]
            for kind in ("clat_ns", "lat_ns", "slat_ns"):
                values = list(o[kind].get("percentile", {}).values())
                if any(a > b for a, b in itertools.pairwise(values)):
                    yield f"fio.json: {kind} of {op} has percentiles that fall"
                if o[kind]["N"] and not o[kind]["min"] - 1 <= o[kind]["mean"] <= o[kind]["max"] + 1:
                    yield f"fio.json: {kind} of {op} has a mean of {o[kind]['mean']} outside of its bounds"
    if "mixed" in sums:
        for key in [key for key in sums if key != "mixed" and key != ("mixed", "bytes")]:
            sums["mixed" if isinstance(key, str) else ("mixed", "bytes")] += sums[key]
        whole = [sum(result[op][what] for op in ("read", "write", "trim")) for what in ("ios", "bytes")]
        if [sums["mixed"], sums["mixed", "bytes"]] != whole:
            yield f"fio.json: mixed has {sums['mixed']} I/Os of {sums['mixed', 'bytes']} bytes, result.json {whole[0]} of {whole[1]}"
        return
    for op in ("read", "write", "trim"):
        if sums[op] != result[op]["ios"] or sums[op, "bytes"] != result[op]["bytes"]:
            yield f"fio.json: {op} has {sums[op]} I/Os of {sums[op, 'bytes']} bytes, result.json {result[op]['ios']} of {result[op]['bytes']}"


def check_power(result):
    """Losses of power come one after the other, and what they count is in the counters."""
    cuts = result.get("power_cuts") or []
    if any(a["at_s"] > b["at_s"] for a, b in itertools.pairwise(cuts)):
        yield "power_cuts: are not in order"
    for cut in cuts:
        if cut["scan_s"] > 0 and cut.get("scan_page_reads", 1) < cut.get("translation_page_reads", 0):
            yield "power_cuts: more pages of the map read than pages"


def check_limit(result):
    """Nothing limits a run in which nothing was measured."""
    if result["commands"] == 0 and "limits throughput" in str(result.get("limiting", "")):
        yield f"limiting: {result['limiting']}, but no command was measured"


def check_timeline(result, folder):
    """Busy shares from the slices of a recorded run of which all was measured. A die is also busy between the cycles of a command and the array's work; work that is
    reserved when the window ends may count."""
    begin, window = result["bring_up_s"] * 1e6, result["measured_window_s"] * 1e6
    names, busy, longest = {}, collections.Counter(), collections.Counter()
    with open(folder / "trace.json", encoding="utf-8") as f:
        for line in f:
            line = line.strip().rstrip(",")
            event = json.loads(line) if line.startswith("{") else {"ph": ""}
            if event["ph"] == "M" and event["name"] == "thread_name":
                names[event["pid"], event["tid"]] = event["args"]["name"]
            elif event["ph"] == "X" and event["pid"] in TRACKS:
                start, end = max(event["ts"], begin), min(event["ts"] + event["dur"], begin + window)
                busy[event["pid"], event["tid"]] += max(0.0, end - start) / window
                longest[event["pid"]] = max(longest[event["pid"]], event["dur"] / window)
    shares = collections.defaultdict(list)
    for (group, track), share in busy.items():
        name = names.get((group, track), "")
        shares[next((r for r in TRACKS[group] if name.startswith(r)), TRACKS[group][0])].append(share)
        if share > 1 + 1e-6:
            yield f"timeline: {name} is busy for {share} of the time"
    if result.get("power_cuts"):
        return
    ends = {name: longest[group] for group, of in TRACKS.items() for name in of}
    for name, of in shares.items():
        said = result["resources"][name]
        shown = sum(of) / said["members"]
        if name == "die" and shown > said["busy_mean"] + 1e-3 or name != "die" and not near(shown, said["busy_mean"], 1e-3 + 2 * ends[name], 1e-2):
            yield f"timeline: {name} is busy for {shown} of the time, result.json says {said['busy_mean']}"


def faults_of(folder, ramp, recorded=False):
    """All that is wrong with the files of a whole run."""
    result = strict_json(folder / "result.json")
    yield from check_books(result)
    yield from check_signs(result)
    yield from check_shares(result)
    yield from check_rates(result)
    yield from check_latency(result, folder)
    yield from check_jobs(result, folder)
    yield from check_series(result, folder, ramp)
    yield from check_amplification(result)
    yield from check_fio(result, folder)
    yield from check_power(result)
    yield from check_limit(result)
    if recorded and not ramp:
        yield from check_timeline(result, folder)
    for part in folder.glob("*.part"):
        yield f"files: {part.name} is left"
