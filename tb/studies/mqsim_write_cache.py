#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two flows of random writes that share nothing but the write cache: Tavakkol et al. (MQSim, FAST '18), Fig. 6.

Each flow has half of the channels (ftl.nvm_sets). Up to a depth of 16 the second one stays within 1 % of its half, which the cache
holds; from 32 on it writes all of it, as the files of the release (CMU-SAFARI/MQSim 7ec40e3) do. The paper prints no numbers: its
signs are judged. The release cannot run from depth 32 on; what it says below that is compared.

    mqsim_write_cache.py PROGRAM [--share]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

DEVICE = {  # 96 MiB hold both working sets of 1 %, and not the whole half of a drive
    "nand.geometry.blocks_per_plane": 32, "ftl.user_capacity": "5GB", "nand.geometry.unit_size": "8KiB", "buffer.size": "96MiB",
    "ftl.nvm_sets": "C0-3, C4-7", "host.regions": "set 1, set 2"}
DEPTHS = (8, 16, 32, 64, 128, 256)
RELEASE = {8: (2.0, 2.0), 16: (3.05, 1.49)}  # slow-down of flow 1 and flow 2


def job(name, depth):
    size = "1%" if depth <= 16 else "100%"
    return f"[{name}]\nioengine=libaio\nrw=randwrite\nbs=8k\niodepth={depth}\nnorandommap\nsize={size}\ntime_based\nramp_time=200ms\nruntime=400ms\n"


def run(program, folder, depth):
    folder = pathlib.Path(folder)
    (folder / "one.fio").write_text(job("one", 8))
    (folder / "two.fio").write_text(job("two", depth))
    words = [word for key, value in DEVICE.items() for word in ("--set", f"{key}={value}")]
    subprocess.run([program, "run", "mqsim-table3", "-w", "one.fio", "-w", "two.fio", "--alone", "-q", "-o", "out", *words], cwd=folder, check=True)
    result = json.loads((folder / "out" / "result.json").read_text())
    slowdowns = [flow["over_alone"]["slowdown"] for flow in result["flows"]]
    return (*slowdowns, result["interference"]["fairness"], result["interference"]["weighted_speedup"])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--share", action="store_true", help="three of the depths")
    options = p.parse_args()
    program = pathlib.Path(options.program).resolve()
    found = {}
    for depth in DEPTHS[:3] if options.share else DEPTHS:
        with tempfile.TemporaryDirectory() as folder:
            found[depth] = run(program, folder, depth)
        s1, s2, fairness, speedup = found[depth]
        print(f"[   FIGURE ] depth {depth:3}: S_1 {s1:.2f}, S_2 {s2:.2f}, F {fairness:.3f}, WS {speedup:.2f}" +
              (f" (released MQSim: S_1 {RELEASE[depth][0]}, S_2 {RELEASE[depth][1]})" if depth in RELEASE else ""))
    deep = [depth for depth in found if depth > 16]
    judged = [
        ("S_1 jumps beyond a depth of 16", all(found[depth][0] > 4 * found[16][0] for depth in deep)),
        ("S_1 rises with the depth", sorted(found, key=lambda depth: found[depth][0]) == sorted(found)),
        ("S_2 is near 1 beyond 16", all(abs(found[depth][1] - 1) < 0.05 for depth in deep)),
        ("fairness collapses", found[deep[-1]][2] < 0.1 * found[8][2]),
        ("slow-downs are the release's to 5 %", all(abs(found[depth][i] / RELEASE[depth][i] - 1) < 0.05 for depth in RELEASE for i in (0, 1)))]
    for what, met in judged:
        print(f"{what}: {'met' if met else 'NOT MET'}")
    print("Weighted speed-up falls by half in the paper. Here and in the release it is 1 from the smallest depth on: each flow alone fills the link.")
    return 0 if all(met for _, met in judged) else 1


if __name__ == "__main__":
    sys.exit(main())
