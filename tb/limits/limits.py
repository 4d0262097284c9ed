#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is what a run says limits it what does? See README.md.

Each seed is a random device under a deep random load. It runs once; then what its verdict names is doubled, and then the load. The verdict is
right when the first raises throughput by 2 % or more. If the verdict names anything but the load, the load alone must not, at the same cost per
command.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from saturated_device import UNITS, doubled, random_case, with_twice_the_load

GAIN = 0.02
# Throughput between two instants of a run is known to about so much: commands end in groups.
NOISE = 0.005
INTERVAL = "50us"

Answer = collections.namedtuple("Answer", "throughput result")
Outcome = collections.namedtuple("Outcome", "seed wrong limit gain load_gain text")


def value(key, what):
    if isinstance(what, bool):
        return str(what).lower()
    return f"{what}{UNITS.get(key, '')}"


def arguments_of(case):
    found = ["run", "-"]
    return [f"--set={key}={value(key, what)}" for key, what in case.settings.items()] + [f"--{k}={v}" for k, v in case.job.items()] + [f"--number_ios={case.commands}"]


def throughput(folder):
    """Commands a second between a fifth and nine tenths of them, neither the start nor the end, when no more come: the slope of the line through the
    times at which each per cent of them had ended (least squares), because many end together."""
    rows = [(float(row["start_ms"]), float(row["interval_ms"]), int(row["read_ios"]) + int(row["write_ios"])) for row in csv.DictReader((folder / "timeseries.csv").open())]
    total = sum(ios for _, _, ios in rows)
    points, ended = [], 0
    percents = iter(range(20, 91))
    percent = next(percents)
    for start, length, ios in rows:
        while percent is not None and ended + ios >= percent * total / 100:
            points.append((start + length * (percent * total / 100 - ended) / max(ios, 1), percent * total / 100))
            percent = next(percents, None)
        ended += ios
    return 1000 * statistics.linear_regression(*zip(*points)).slope


def run(binary, case, folder):
    command = [binary, "run", str(folder.parent / "device.toml"), *arguments_of(case), f"--set=run.timeseries_interval={INTERVAL}", "-q", "-o", str(folder)]
    (folder.parent / "device.toml").write_text("# everything is set on the command line\n")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[-400:]}\n{' '.join(command)}")
    return Answer(throughput(folder), json.loads((folder / "result.json").read_text()))


def busy_gain(limit, loaded):
    """By how much the busy shares of what limits have grown. Throughput is busy share / cost of a command: where it grows by more, a command costs less."""
    return max(loaded["busy"].get(name, {"mean": 1})["mean"] / limit["busy"].get(name, {"mean": 1})["mean"] - 1 for name in limit["names"])


def cost(result):
    """What makes a command cheaper or dearer for the dies."""
    count, commands = result["counters"], result["commands"]
    programs = count["flash_host_page_programs"] + count["flash_gc_page_programs"]
    return f"{programs / commands:.3f} pages programmed a command, {count['flash_multi_plane_page_programs'] / max(programs, 1):.1%} of them several planes at a time"


def check(binary, seed):
    case = random_case(seed)
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        try:
            now = run(binary, case, place / "now")
            limit = now.result["limit"]
            loaded = run(binary, with_twice_the_load(case), place / "load")
            load = gain = loaded.throughput / now.throughput - 1
            if limit["names"] != ["depth"]:
                gain = run(binary, doubled(case, limit["names"]), place / "doubled").throughput / now.throughput - 1
        except RuntimeError as e:
            return Outcome(seed, True, "", 0, 0, str(e))
        except KeyError as e:
            return Outcome(seed, True, "", 0, 0, f"the verdict names {e}, and DOUBLE has no row for it")
    text = now.result["limiting"]
    more = limit["names"] != ["depth"] and load >= GAIN + NOISE
    if more and limit["kind"] == "resource":
        more = busy_gain(limit, loaded.result["limit"]) >= GAIN
        text += f" [twice the load: {cost(now.result)} -> {cost(loaded.result)}]"
    return Outcome(seed, more or gain < GAIN - NOISE, "+".join(limit["names"]), gain, load, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    a = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(a.parallel) as pool:
        outcomes = []
        for o in pool.map(lambda seed: check(a.binary, seed), range(a.first, a.first + a.runs)):
            outcomes.append(o)
            if o.wrong or a.verbose:
                print(f"{'WRONG' if o.wrong else 'right'} {o.seed}: {o.limit}: doubled {100 * o.gain:+.1f} %, twice the load {100 * o.load_gain:+.1f} %: {o.text}", flush=True)
    counts = collections.Counter(o.limit for o in outcomes if not o.wrong)
    print(", ".join(f"{n} {name}" for name, n in counts.most_common()))
    wrong = sum(o.wrong for o in outcomes)
    cheaper = sum("[twice the load" in o.text and not o.wrong for o in outcomes)
    print(f"{cheaper} devices of whose commands each costs less with twice the load, as what limits was no busier")
    print(f"{len(outcomes)} devices, {wrong} verdicts wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
