#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Synthesizes the RTL blocks with Yosys and compares area and longest path with the table in rtl/README.md.

check_synthesis.py YOSYS

Every script in rtl/synth is run in rtl/. Another version of Yosys than the table's may find other numbers: then they are
printed, and only that every block synthesizes is checked."""

import pathlib
import re
import subprocess
import sys

RTL = pathlib.Path(__file__).resolve().parents[2] / "rtl"


def main():
    yosys = sys.argv[1]
    version = re.search(r"Yosys (\S+)", subprocess.run([yosys, "-V"], capture_output=True, text=True).stdout).group(1)
    readme = (RTL / "README.md").read_text(encoding="utf-8")
    same_version = f"Yosys {version}" in readme
    failed = False
    for script in sorted((RTL / "synth").glob("*.ys")):
        done = subprocess.run([yosys, script], cwd=RTL, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{script.name}: {done.stdout[-2000:]}{done.stderr}")
            failed = True
            continue
        stat = done.stdout[done.stdout.rindex("Number of cells:"):]
        cells = int(re.search(r"Number of cells:\s+(\d+)", stat).group(1))
        flops = sum(int(n) for n in re.findall(r"\$_S?DFFE?\S*\s+(\d+)", stat))
        path = int(re.search(r"Longest topological path in \S+ \(length=(\d+)\)", stat).group(1))
        row = f"| `{script.stem}` | {cells - flops} | {flops} | {path} |"
        stated = row in readme
        print(f"{row} {'as stated' if stated else 'NOT in rtl/README.md'}")
        failed = failed or (same_version and not stated)
    print(f"Yosys {version}{'' if same_version else ', not the version of rtl/README.md'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
