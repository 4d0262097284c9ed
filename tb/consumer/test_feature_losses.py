# SPDX-License-Identifier: Apache-2.0
"""A feature from outside over losses of power, on four kinds of drive: test_feature_losses.py PROGRAM LOSSES. PROGRAM is the installed project's feature_losses,
which compares all bytes and books after each start. Here is asked whether the feature has done what it is for."""
import re
import subprocess
import sys

PROGRAM, LOSSES = sys.argv[1], int(sys.argv[2])
DRIVES = {
    "a superblock in each plane": (),
    "superblocks of two planes": ("nand.geometry.planes_per_die=2", "ftl.superblock=die", "ftl.user_capacity=20MiB"),
    "checkpoints, and a shutdown before each loss": ("ftl.checkpoint_interval=4MiB", "ftl.checkpoint_at_shutdown=true", "host.power_cut_shutdown=true", "ftl.user_capacity=8MiB"),
    "a map on the flash, checkpoints": ("ftl.mapping=dftl", "map.cache=64KiB", "ftl.checkpoint_interval=4MiB", "ftl.user_capacity=8MiB"),
}
# What each drive must have done per loss of power, at least.
LEAST = {"staging_pages": 20, "staging_superblocks_emptied": 0.5, "staging_units_moved": 5, "staging_lists_programmed": 0.5, "staging_lists_found": 0.1}


def main():
    wrong = 0
    for seed, (drive, settings) in enumerate(DRIVES.items(), 1):
        done = subprocess.run([PROGRAM, str(LOSSES), str(seed), *settings], capture_output=True, text=True, timeout=3500, check=False)
        print(f"{drive}:\n{done.stdout}{done.stderr}")
        counters = {name: int(value) for name, value in re.findall(r"^(staging_\w+) (\d+)$", done.stdout, re.M)}
        few = [name for name, least in LEAST.items() if counters.get(name, 0) < least * LOSSES]
        if few:
            print("too few:", *few)
        wrong += done.returncode != 0 or bool(few) or "all right" not in done.stdout
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
