#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is what a run of a preset says limits it what does? See README.md.

Each case is a preset under one of ten plain jobs, shallow ones too. Its verdict's `limit.parameters` are relieved, all together: times halved, other
numbers doubled. A verdict without parameters has its load doubled: depth, or jobs where they wait for flushes. Either must raise throughput by 2 %.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

from limits import GAIN, NOISE

JOBS = {
    "random reads, one": {"rw": "randread", "bs": "4k", "iodepth": 1},
    "random reads, 64": {"rw": "randread", "bs": "4k", "iodepth": 64},
    "random reads, 1024": {"rw": "randread", "bs": "4k", "iodepth": 256, "numjobs": 4},
    "skewed reads, 8": {"rw": "randread", "bs": "4k", "iodepth": 8, "random_distribution": "zipf:1.3"},
    "random writes, one": {"rw": "randwrite", "bs": "4k", "iodepth": 1},
    "random writes, 32": {"rw": "randwrite", "bs": "4k", "iodepth": 32},
    "writes of 64 KiB, one": {"rw": "write", "bs": "64k", "iodepth": 1},
    "writes of 1 MiB, 4": {"rw": "write", "bs": "1m", "iodepth": 4},
    "reads of 128 KiB, one": {"rw": "read", "bs": "128k", "iodepth": 1},
    "writes with fsync": {"rw": "randwrite", "bs": "4k", "iodepth": 1, "fsync": 1},
}
PRESETS = pathlib.Path(__file__).resolve().parents[2] / "configs" / "device"
TIMES = ("ps", "ns", "us", "ms", "s")
# Parameters at the end of what an interface or a standard has cannot be relieved.
NO_MORE = re.compile(r"at most|is '|must be|no more than|allowed|out of range")


def relieved(value):
    """As --set takes it. None: nothing that can be halved or doubled."""
    if isinstance(value, list):
        values = [relieved(v) for v in value]
        return None if None in values else json.dumps(values)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(2 * value)
    number = re.match(r"([\d.]+)\s*([A-Za-z/]*)$", value) if isinstance(value, str) else None
    if number is None:
        return None
    return f"{float(number[1]) * (0.5 if number[2] in TIMES else 2):g}{number[2]}"


def value_of(config, key):
    for part in key.split("."):
        config = config.get(part) if isinstance(config, dict) else None
    return config


def run(binary, device, job, sets, folder):
    command = [binary, "run", device, "--ioengine=libaio", *(f"--{k}={v}" for k, v in job.items()), *(f"--set={s}" for s in sets), "-q", "-o", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2 and sets and NO_MORE.search(done.stderr):
        return None
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[-400:]}\n{' '.join(command)}")
    return json.loads((folder / "result.json").read_text())


def throughput(result):
    return sum(result[op]["iops"] for op in ("read", "write") if isinstance(result.get(op), dict))


def check(binary, device, name, commands):
    """(right, text); right is None where what limits cannot be relieved."""
    job = {"size": "100%", "io_size": "100g", **JOBS[name]}
    # Until a deep job has all of its commands under way, and at its end, the drive has less to do.
    job["number_ios"] = commands * (10 if job["iodepth"] > 32 else 1)
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        try:
            now = run(binary, device, job, [], place / "now")
            limit, config = now["limit"], tomllib.loads(now["config_toml"])
            if limit["kind"] == "load":
                more = {"depth": "iodepth", "flushes": "numjobs"}.get(limit["names"][0])
                if more is None or len(limit["names"]) > 1:
                    return None, f"{device}, {name}: {now['limiting']}"
                loaded = {**job, more: 2 * job.get(more, 1)}
                if more == "numjobs":  # else a small drive begins to collect
                    loaded["number_ios"] //= 2
                then, what = run(binary, device, loaded, [], place / "more"), f"twice the {more}"
            else:
                sets = [f"{p}={v}" for p in limit["parameters"] if (v := relieved(value_of(config, p))) is not None]
                then, what = run(binary, device, job, sets, place / "more") if sets else None, " ".join(sets)
        except RuntimeError as e:
            return False, f"{device}, {name}: {e}"
    if then is None:
        return None, f"{device}, {name}: {now['limiting']}"
    gain = throughput(then) / throughput(now) - 1
    return gain >= GAIN - NOISE, f"{device}, {name}: {what}: {100 * gain:+.1f} %: {now['limiting']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--devices", required=True, help="presets, with commas, or all")
    parser.add_argument("--commands", type=int, default=5000, help="of each job; ten times as many of those with a depth beyond 32")
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    a = parser.parse_args()
    counts = {True: 0, False: 0, None: 0}
    with concurrent.futures.ThreadPoolExecutor(a.parallel) as pool:
        devices = sorted(p.stem for p in PRESETS.glob("*.toml")) if a.devices == "all" else a.devices.split(",")
        cases = [(device, name) for device in devices for name in JOBS]
        for right, text in pool.map(lambda case: check(a.binary, *case, a.commands), cases):
            counts[right] += 1
            if right is False or a.verbose:
                print({True: "right", False: "WRONG", None: "fixed"}[right], text, flush=True)
    print(f"{len(cases)} verdicts: {counts[True]} right, {counts[None]} about what cannot be relieved, {counts[False]} wrong")
    return 1 if counts[False] or not counts[True] else 0


if __name__ == "__main__":
    sys.exit(main())
