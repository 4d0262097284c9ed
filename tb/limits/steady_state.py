#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write amplification and IOPS of random writes in steady state: what `config derive` has by formula against runs of small drives, one for each
choice of victims, whose flash was overwritten six times before. Both may differ by 2 %: small drives have few blocks, of which some are open."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

MOST = 0.02
CASES = ((0.15, "greedy"), (0.28, "greedy"), (0.28, "fifo"), (0.28, "random"), (0.28, "d_choices"))
JOB = "[w]\nioengine=libaio\nrw=randwrite\nbs=4k\niodepth=32\nnorandommap\nnumber_ios=60000\n"
DEVICE = {"nand.geometry.channels": 2, "nand.geometry.ways": 1, "nand.geometry.planes_per_die": 1, "nand.geometry.blocks_per_plane": 512,
          "nand.geometry.pages_per_block": 64, "nand.geometry.page_size": "4KiB", "nand.t_read": "10us", "nand.t_program": "100us", "buffer.size": "256KiB",
          "buffer.merge_writes": "false", "gc.soft_free_blocks": 4, "gc.hard_free_blocks": 2, "precondition.state": "random", "precondition.overwrite": "600%"}
RAW = 2 * 512 * 64 * 4096


def both(binary, folder, spare, policy):
    """((write amplification, IOPS) by formula, and of the run)."""
    settings = {**DEVICE, "ftl.user_capacity": f"{int(RAW / (1 + spare)) // 4096 * 4096}B", "gc.policy": policy}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    derived = subprocess.run([binary, "config", "derive", "tiny-test", *words, "--json"], capture_output=True, text=True, check=True).stdout
    values = json.loads(derived)["figures"]["steady state of random writes"]["values"]
    subprocess.run([binary, "run", "tiny-test", "-q", "-w", str(folder / "w.fio"), "-o", str(folder / "out"), *words], check=True)
    result = json.loads((folder / "out" / "result.json").read_text())
    return ((values["write_amplification"]["value"], values["steady_random_write_iops"]["value"]),
            (result["ftl"]["unit_write_amplification"], result["write"]["iops"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    binary = str(pathlib.Path(parser.parse_args().binary).resolve())
    right = True
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "w.fio").write_text(JOB)
        for spare, policy in CASES:
            formula, run = both(binary, folder, spare, policy)
            near = all(abs(b / a - 1) <= MOST for a, b in zip(formula, run))
            right = right and near
            print(f"{'right' if near else 'WRONG'} {spare:.0%} spare, {policy}: write amplification {formula[0]:.3f} by formula, {run[0]:.3f} in a run; "
                  f"{formula[1]:.0f} IOPS, {run[1]:.0f}", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
