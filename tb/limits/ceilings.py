#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what `config derive` says hold in a run? See README.md.

Each seed is a random device under a deep load of one of the four kinds that `config derive` has ceilings for. No throughput may exceed a
ceiling. Where the verdict names a resource that is busy all the time, its ceiling has to be reached.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from limits import run, value
from saturated_device import random_case

ABOVE = 0.005
REACHED = 0.02
BUSY = 0.99
KINDS = {"read": "sequential 128 KiB reads", "write": "sequential 128 KiB writes", "randread": "random 4 KiB reads", "randwrite": "random 4 KiB writes"}

Outcome = collections.namedtuple("Outcome", "seed kind wrong text reached")


def saturating_case(seed):
    """The device of a random case under one of the kinds: reads of a drive that was written once in ascending order, writes to an empty one that
    they do not fill."""
    case, draw = random_case(seed), random.Random(f"ceilings {seed}")
    s, job = case.settings, case.job
    job["rw"] = draw.choice(sorted(KINDS))
    job["bs"] = 4096 if job["rw"].startswith("rand") else 131072
    if "write" in job["rw"]:
        room = lambda: s["nand.geometry.blocks_per_plane"] * flash_of_a_block(s)
        s["nand.geometry.blocks_per_plane"] = max(s["nand.geometry.blocks_per_plane"], min(2000, 32 + (1 << 30) // flash_of_a_block(s)))
        s["ftl.user_capacity"] = int(room() * (1 - 12 / s["nand.geometry.blocks_per_plane"]) * 0.9) // 131072 * 131072
    s["precondition.state"] = "fresh" if "write" in job["rw"] else "sequential"
    s["precondition.fill_caches"] = False
    s["host.queue_pairs"] = job["numjobs"]  # each job has a core
    others = random.Random(f"front end and DRAM {seed}")
    if others.random() < 0.15:
        s["frontend.kind"] = others.choice(("sata", "raw"))
    if others.random() < 0.15:
        s["dram.model"] = "banks"
    user = s["ftl.user_capacity"]
    job["size"] = job["offset_increment"] = user // job["numjobs"] // job["bs"] * job["bs"]
    commands = 60000 if job["bs"] == 4096 else 8192
    commands = max(commands, 60 * job["iodepth"] * job["numjobs"])
    if "write" in job["rw"]:
        commands = min(commands, user // job["bs"] * 9 // 10)
    case.commands = commands // job["numjobs"]
    job["io_size"] = case.commands * job["bs"]
    return case


def flash_of_a_block(s):
    """Bytes of one block of each plane."""
    planes = 1
    for name in ("channels", "ways", "dies_per_chip", "planes_per_die"):
        planes *= s[f"nand.geometry.{name}"]
    return planes * s["nand.geometry.pages_per_block"] * s["nand.geometry.page_size"]


def derived(binary, case, folder):
    (folder / "device.toml").write_text("# everything is set on the command line\n")
    words = [binary, "config", "derive", str(folder / "device.toml"), *(f"--set={k}={value(k, v)}" for k, v in case.settings.items()), "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[-400:]}\n{' '.join(words)}")
    return json.loads(done.stdout)


def check(binary, seed):
    case = saturating_case(seed)
    kind = case.job["rw"]
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        try:
            ceilings = derived(binary, case, place)["ceilings"][KINDS[kind]]["resources"]
            now = run(binary, case, place / "now")
        except RuntimeError as e:
            return Outcome(seed, kind, True, str(e), ())
    limit = now.result["limit"]
    wrong, reached, texts = False, [], []
    # What the write buffer holds at the end was no work of the flash.
    left = case.settings["buffer.size"] / (case.commands * case.job["numjobs"] * case.job["bs"]) if "write" in kind else 0
    for c in ceilings:
        share = now.throughput / c["iops"]
        if share > 1 + ABOVE + left:
            wrong = True
            texts.append(f"above {c['resource']}: {share:.4f} of its ceiling")
        busy = limit["busy"].get(c["resource"], {"mean": 0})["mean"]
        if c["resource"] not in limit["names"] or busy < BUSY:
            continue
        least = c["iops_when_it_limits"]
        sure = least is not None and now.throughput >= (1 - REACHED) * least
        reached.append((c["resource"], share >= 1 - REACHED, least is not None))
        wrong = wrong or (least is not None and not sure)
        texts.append(f"{c['resource']} is {busy:.1%} busy: {share:.4f} of its ceiling" + ("" if least is None else f", {now.throughput / least:.4f} of what it gives when it limits"))
    return Outcome(seed, kind, wrong, "; ".join(texts) or now.result["limiting"], tuple(reached))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    a = parser.parse_args()
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(a.parallel) as pool:
        for o in pool.map(lambda seed: check(a.binary, seed), range(a.first, a.first + a.runs)):
            outcomes.append(o)
            if o.wrong or a.verbose:
                print(f"{'WRONG' if o.wrong else 'right'} {o.seed} {o.kind}: {o.text}", flush=True)
    named, near = collections.Counter(), collections.Counter()
    for o in outcomes:
        for resource, is_near, _ in o.reached:
            named[resource] += 1
            near[resource] += is_near
    for resource, n in named.most_common():
        print(f"{resource}: busy all the time and named {n} times, within {REACHED:.0%} of its ceiling {near[resource]} times")
    # Each of the others has reached what it gives when commands share nothing by chance, or its device is wrong.
    print(f"named {sum(named.values())} times, within {REACHED:.0%} of the ceiling {sum(near.values())} times, else of what it gives without what is shared by chance")
    wrong = sum(o.wrong for o in outcomes)
    print(f"{len(outcomes)} devices, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
