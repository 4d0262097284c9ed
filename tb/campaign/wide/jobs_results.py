# SPDX-License-Identifier: Apache-2.0
"""What a run's files must say because of its job: trims of trimwrite, logs."""
import json


def check_trims(jobs, folder):
    """trimwrite trims a range, then writes it: as many of both, and as many bytes."""
    if jobs is None or len(jobs) != 1 or not (folder / "fio.json").exists():
        return
    chosen = dict(jobs[0][1])
    kind = chosen.get("rw", "").partition(":")[0]
    if kind not in ("trimwrite", "randtrimwrite") or any(name in chosen for name in ("ramp_time", "rate_iops", "rate", "fsync", "verify", "zonemode")):
        return
    found = json.loads((folder / "fio.json").read_text())["jobs"]
    if any("trim" not in job for job in found):  # unified_rw_reporting=mixed
        return
    trims, writes = (sum(job[op]["total_ios"] for job in found) for op in ("trim", "write"))
    clones = int(chosen.get("numjobs", "1")) if chosen.get("numjobs", "1").isdigit() else 4096
    depth = int(chosen.get("iodepth", "1")) if chosen.get("iodepth", "1").isdigit() else 65536
    if abs(trims - writes) > clones * (depth + 1):
        yield f"trimwrite: {trims} trims and {writes} writes"


def check_logs(jobs, folder):
    """fio's logs count from the end of the ramp, to the end of the job."""
    if jobs is None or not (folder / "fio.json").exists():
        return
    found = json.loads((folder / "fio.json").read_text())["jobs"]
    # With unified_rw_reporting=mixed fio writes "mixed" in place of the three.
    longest = max((job[op]["runtime"] for job in found for op in ("read", "write", "trim", "mixed") if op in job), default=0)
    every = max((int(v) for _, chosen in jobs for k, v in chosen if k in ("log_avg_msec", "bwavgtime") and v.isdigit()), default=0)
    if any(k in ("startdelay", "thinktime", "stonewall", "loops") for _, chosen in jobs for k, _ in chosen):
        return
    for path in folder.glob("*.log"):
        for line in path.read_text().splitlines():
            at = int(line.split(",")[0])
            if longest and at > longest + every + 1:
                yield f"log: a sample at {at} ms in a job of {longest} ms"
                return
