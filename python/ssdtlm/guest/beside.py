# SPDX-License-Identifier: Apache-2.0
"""fio's latencies in the guest beside the model's: what fio sees is the drive and the software above it."""

import json

OPERATIONS = ("read", "write", "trim")
NS = 1000.0  # nanoseconds in a microsecond


def fio_results(files):
    """{name: parsed JSON} of the results of fio among the files that came back from a guest. files: {name: path}."""
    found = {}
    for name, path in sorted(files.items()):
        if not name.endswith(".json"):
            continue
        text = path.read_text(errors="replace")
        try:
            result = json.loads(text[text.index("{"):])
        except ValueError:
            continue
        if isinstance(result, dict) and "fio version" in result and "jobs" in result:
            found[name] = result
    return found


def fio_rows(name, result):
    """Rows {"file", "job", "op", "count", "iops", "mean_us", "p50_us", "p99_us", ...} for each job and operation of a result of fio."""
    rows = []
    for job in result["jobs"]:
        for op in OPERATIONS:
            side = job.get(op, {})
            if not side.get("total_ios"):
                continue
            # The mean is of lat_ns, from the call to the end of the I/O, because a fast drive may end within the call.
            # Percentiles are of lat_ns if fio was told so (--lat_percentiles), else of clat_ns, which begins after the call.
            kind = "lat_ns" if "percentile" in side["lat_ns"] else "clat_ns"
            percentile = side[kind].get("percentile", {})
            rows.append({"file": name, "job": job["jobname"], "op": op, "count": side["total_ios"], "iops": side["iops"],
                         "mean_us": side["lat_ns"]["mean"] / NS, "percentiles_of": kind.removesuffix("_ns"),
                         "p50_us": percentile.get("50.000000", 0) / NS, "p99_us": percentile.get("99.000000", 0) / NS,
                         "error": job.get("error", 0)})
    return rows


def compare(files, result):
    """The rows of fio_rows() with the latencies of the drive ("drive_mean_us" and so on) and the difference "software_mean_us".

    files: {name: path} of what came back from the guest. result: the result.json of the model. It counts all commands of the guest, those
    of its boot too, so that both counts are in a row.
    """
    rows = [row for name, found in fio_results(files).items() for row in fio_rows(name, found)]
    latency = result.get("latency_us", {})
    for row in rows:
        drive = latency.get(row["op"], {}).get("total")
        if drive:
            stages = {stage: value["mean"] for stage, value in latency[row["op"]].items() if stage != "total"}
            row |= {"drive_count": drive["count"], "drive_mean_us": drive["mean"], "drive_p50_us": drive["p50"],
                    "drive_p99_us": drive["p99"], "stages_mean_us": stages, "software_mean_us": row["mean_us"] - drive["mean"]}
    return rows


def text(rows):
    """The rows as a table for the terminal; "" without rows."""
    if not rows:
        return ""
    lines = [f"{'fio job':<16} {'op':<5} {'IOPS':>9} {'fio mean':>10} {'p99':>10}   {'drive mean':>10} {'p99':>10}   {'software':>9}"]
    for row in rows:
        drive = (f"{row['drive_mean_us']:>10.1f} {row['drive_p99_us']:>10.1f}   {row['software_mean_us']:>9.1f}"
                 if "drive_mean_us" in row else f"{'-':>10} {'-':>10}   {'-':>9}")
        lines.append(f"{row['job']:<16} {row['op']:<5} {row['iops']:>9.0f} {row['mean_us']:>10.1f} {row['p99_us']:>10.1f}   {drive}")
    ours = {row["op"]: row["drive_count"] for row in rows if "drive_count" in row}
    theirs = {op: sum(row["count"] for row in rows if row["op"] == op) for op in ours}
    counts = ", ".join(f"{theirs[op]} of {ours[op]} {op}s of the drive" for op in ours)
    return "\n".join(lines) + "\n" + "times in us" + (f"; fio made {counts}" if counts else "") + "\n"
