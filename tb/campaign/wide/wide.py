#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Devices from the whole parameter table, jobs from all options of fio, and what users do besides: see README.md.

What is refused must be repairable as its message says; what is accepted must end well, and its files must agree with each other.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case as cases
from advice import shape
from options import Options
from table import Table
from trial import Trial

REGRESSIONS = pathlib.Path(__file__).resolve().parent.parent / "regressions"
MOST_KEPT = 3          # cases of a kind
MOST_SMALLER = 120     # runs to make a case smaller
SMALLER_SECONDS = 30
SHARED = {}            # of a worker process


def prepare(program, table, options, checks_jobs):
    SHARED.update(program=program, table=table, options=options, checks_jobs=checks_jobs)


def trial(case, seed):
    return Trial(SHARED["program"], SHARED["table"], SHARED["options"], seed, SHARED["checks_jobs"]).run(case)


def made_smaller(case, fault, seed):
    """The case without whatever the same fault does not need."""
    tries, end = 0, time.monotonic() + SMALLER_SECONDS
    found = True
    while found:
        found = False
        for smaller in cases.parts(case):
            if tries >= MOST_SMALLER or time.monotonic() > end:
                return case
            tries += 1
            outcome = trial(smaller, seed)
            if shape(fault) in map(shape, outcome.faults):
                case, found = smaller, True
                break
    return case


def run_seed(seed):
    case = cases.drawn_case(random.Random(f"wide {seed}"), SHARED["table"], SHARED["options"])
    begin = time.monotonic()
    outcome = trial(case, seed)
    return seed, outcome, case, time.monotonic() - begin


def kept_case(drawn, repaired, fault, smaller):
    """The case that shows a fault: as it was repaired, or as it was drawn when the fault was found on the way."""
    case = repaired if shape(fault) in map(shape, trial(repaired, 0).faults) else drawn
    return made_smaller(case, fault, 0) if smaller else case


def run_kept(path):
    case = json.loads((path / "case.json").read_text())
    begin = time.monotonic()
    outcome = trial(case, 0)
    return path.name, outcome, case, time.monotonic() - begin


def keep(case, fault, folder, table):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
    (folder / "fault").write_text(fault + "\n")
    (folder / "command").write_text(cases.command_line(case) + "\n")
    cases.write_files(case, folder, table)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", default=os.environ.get("SSDTLM", "ssdtlm"))
    p.add_argument("--first", type=int, default=0, help="first seed; from 0 on, the kept regressions run too")
    p.add_argument("--runs", type=int, default=200)
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    p.add_argument("--keep", help="folder for the case of each fault")
    p.add_argument("--smaller", action="store_true", help="make the first case of each kind smaller while its fault stays")
    p.add_argument("--fio-options", help="the listing of `config fio --json`, for a program that has none")
    p.add_argument("cases", nargs="*", help="kept folders to run again, instead of seeds")
    options = p.parse_args()
    program = str(pathlib.Path(shutil.which(options.binary) or options.binary).resolve())
    table = Table.of(program)
    listing = pathlib.Path(options.fio_options).read_text() if options.fio_options else None
    known = Options.of(program, listing)
    checks_jobs = "--workload" in os.popen(f"{program} help config check").read()

    begin, kinds, firsts = time.monotonic(), collections.Counter(), {}
    ran, accepted, processes, slowest = 0, 0, 0, (0.0, "")
    keeping = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=prepare, initargs=(program, table, known, checks_jobs)) as pool:
        if options.cases:
            pending = [pool.submit(run_kept, pathlib.Path(c)) for c in options.cases]
        else:
            kept = sorted(p.parent for p in REGRESSIONS.glob("*/case.json")) if options.first == 0 else []
            pending = [pool.submit(run_kept, path) for path in kept]
            pending += [pool.submit(run_seed, seed) for seed in range(options.first, options.first + options.runs)]
        for name, outcome, case, seconds in (p.result() for p in pending):
            ran, processes, accepted = ran + 1, processes + outcome.runs, accepted + outcome.accepted
            slowest = max(slowest, (seconds, str(name)))
            for fault in outcome.faults:
                kind = shape(fault)
                kinds[kind] += 1
                if kinds[kind] == 1:
                    firsts[kind] = (ran, name)
                    print(f"run {ran}, seed {name}: {fault}", flush=True)
                if options.keep and kinds[kind] <= MOST_KEPT:
                    found = pool.submit(kept_case, case, outcome.case, fault, options.smaller and kinds[kind] == 1)
                    keeping.append((found, fault, pathlib.Path(options.keep) / f"{name}-{len(keeping)}"))
        for found, fault, folder in keeping:
            keep(found.result(), fault, folder, table)
    print(f"{ran} runs ({accepted} accepted, {processes} processes), {sum(kinds.values())} wrong in {len(kinds)} ways; slowest {slowest[0]:.1f} s (seed {slowest[1]}); {time.monotonic() - begin:.0f} s in all")
    for kind, count in kinds.most_common():
        print(f"{count:6d} x, first in run {firsts[kind][0]} (seed {firsts[kind][1]}): {kind}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
