#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The data sheets of three SATA drives beside their presets: sequential and random throughput at depth 32, and at depth 1.

A preset is arithmetic from the data sheet where internals are not public, so this shows what the rest of the model adds. Random IOPS are those
that the preset's firmware times were made from. Sequential reads come to the bound of the wire (595 MB/s), because neither drive nor adapter
pauses between two frames here; the data sheets' 500 to 550 MB/s leave 8 to 16 % for that. The S4500 says 52 us for a random write at depth 1:
what it does in that time is not known, the model's buffer answers in 28 us. --share runs one drive.

    sata_data_sheets.py PROGRAM [--share]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# (rw, KiB, depth): published, and the part by which the model may differ. MB/s for sequential cells, kIOPS for random ones.
DRIVES = {
    "850pro-256": {("read", 128, 32): (550, 0.10), ("write", 128, 32): (520, 0.15), ("randread", 4, 32): (100, 0.05), ("randwrite", 4, 32): (90, 0.15),
                   ("randread", 4, 1): (10, 0.20), ("randwrite", 4, 1): (36, 0.30)},
    "intel-535-240": {("read", 128, 32): (540, 0.12), ("write", 128, 32): (490, 0.15), ("randread", 4, 32): (45, 0.10), ("randwrite", 4, 32): (80, 0.15)},
    "s4500": {("read", 128, 32): (500, 0.20), ("write", 128, 32): (490, 0.10), ("randread", 4, 32): (72, 0.05), ("randwrite", 4, 32): (33, 0.15),
              ("randread", 4, 1): (1000 / 110, 0.15), ("randwrite", 4, 1): (1000 / 52, 0.90)},
}
# The S4500's random writes are those of a drive in steady state; client drives are measured fresh, on 8 GB.
STEADY = {"s4500": {"precondition.state": "analytic"}}
SPAN = {"850pro-256": "size=8g\n", "intel-535-240": "size=8g\n", "s4500": ""}


def job(drive, rw, size, depth):
    # A buffer of 384 MiB hides the flash for 0.8 s, and a drive in steady state takes longer until its collection keeps step.
    steady = drive in STEADY and (rw, depth) == ("randwrite", 32)
    ramp, runtime = ("15s", "10s") if steady else ("1500ms", "500ms") if "write" in rw and depth > 1 else ("20ms", "200ms")
    return f"[cell]\nioengine=libaio\ndirect=1\nrw={rw}\nbs={size}k\niodepth={depth}\n{SPAN[drive]}norandommap\ntime_based\nramp_time={ramp}\nruntime={runtime}\n"


def run(program, folder, drive, cell):
    name = f"{drive}-{cell[0]}-{cell[1]}-{cell[2]}"
    path = pathlib.Path(folder) / f"{name}.fio"
    path.write_text(job(drive, *cell))
    sets = STEADY.get(drive, {}) if cell[0] == "randwrite" and cell[2] == 32 else {}
    words = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    subprocess.run([program, "run", drive, "-q", "-w", str(path), "-o", str(path.with_suffix("")), *words], check=True)
    result = json.loads((path.with_suffix("") / "result.json").read_text())
    flow = result["read" if "read" in cell[0] else "write"]
    return (flow["MB_per_s"] if cell[0] in ("read", "write") else flow["iops"] / 1e3), result["limit"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--share", action="store_true", help="one drive")
    options = p.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    cells = [(drive, cell) for drive, of in list(DRIVES.items())[:1 if options.share else None] for cell in of]
    met = True
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda dc: run(program, folder, *dc), cells))
    for (drive, cell), (value, _) in zip(cells, found):
        published, bound = DRIVES[drive][cell]
        difference = value / published - 1
        met = met and abs(difference) <= bound
        unit = "MB/s" if cell[0] in ("read", "write") else "kIOPS"
        print(f"[   FIGURE ] {drive} {cell[0]} {cell[1]} KiB, depth {cell[2]}: {value:.1f} {unit}, data sheet {published:.1f}, {100 * difference:+.1f} %" +
              ("" if abs(difference) <= bound else f" (more than {100 * bound:.0f} %)"))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
