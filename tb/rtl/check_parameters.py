#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every scheduler in rtl/ passes `verilator -Wall` for all sizes that a user may build: one die, one plane, one request,
and numbers that are no power of two. Prints the warnings of each size that does not; exits 1 when there is one.

    check_parameters.py <verilator>
"""

import itertools
import pathlib
import subprocess
import sys

RTL = pathlib.Path(__file__).resolve().parents[2] / "rtl"
BLOCKS = {
    "transaction_scheduler": [RTL / "scheduler" / f"{name}.sv" for name in (
        "scheduler_pkg", "channel_scheduler", "scheduler_csr", "transaction_scheduler")],
    "round_robin_scheduler": [RTL / "examples" / "round_robin_scheduler.sv"],
    "tenant_bytes_scheduler": [RTL / "examples" / "tenant_bytes_scheduler.sv"],
}
DIES = (1, 3, 16)
PLANES = (1, 3, 8)
DEPTHS = (1, 7, 256)


def lint(verilator, top, files, dies, planes, depth):
    command = [verilator, "--lint-only", "-Wall", "--assert", "--x-initial", "unique", "--x-assign", "unique",
               "--top-module", top, "-GCHANNELS=1", f"-GDIES={dies}", f"-GPLANES={planes}", f"-GDEPTH={depth}",
               "-GTAG_BITS=32", "-GPAGE_BITS=32", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    bad = sizes = 0
    for top, files in BLOCKS.items():
        for dies, planes, depth in itertools.product(DIES, PLANES, DEPTHS):
            sizes += 1
            run = lint(sys.argv[1], top, files, dies, planes, depth)
            if run.returncode:
                bad += 1
                print(f"{top}, {dies} dies, {planes} planes, {depth} requests:\n{run.stderr}")
    print(f"{sizes} sizes of {len(BLOCKS)} blocks, {bad} with warnings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
