# SPDX-License-Identifier: Apache-2.0
"""A scheduler of one's own that is added to a build compiles that block and what lists the blocks, and nothing else of the program.
Usage: check_added_block.py CMAKE NINJA SOURCE"""
import pathlib
import re
import subprocess
import sys
import tempfile

CMAKE, NINJA, SOURCE = sys.argv[1:]
EXAMPLE = pathlib.Path(SOURCE) / "rtl/examples/round_robin_scheduler.sv"


def compiled(build, *options):
    """Object file -> command, of all that the program is made of."""
    subprocess.run([CMAKE, "-S", SOURCE, "-B", build, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={NINJA}", "-DCMAKE_BUILD_TYPE=Release", "-DSSDTLM_BUILD_TESTS=OFF", *options],
                   check=True, stdout=subprocess.DEVNULL)
    commands = subprocess.run([NINJA, "-C", build, "-t", "commands", "ssdtlm_app"], check=True, capture_output=True, text=True).stdout
    return {found[1]: line for line in commands.splitlines() if (found := re.search(r" -o (\S+\.o) -c ", line))}


with tempfile.TemporaryDirectory() as folder:
    block = pathlib.Path(folder) / "my_scheduler.sv"
    block.write_text(EXAMPLE.read_text().replace(EXAMPLE.stem, block.stem))
    build = f"{folder}/build"
    before = compiled(build)
    schedulers = pathlib.Path(build, "rtl/rtl_schedulers.cpp").read_text()
    after = compiled(build, f"-DSSDTLM_RTL_SCHEDULERS={EXAMPLE};{block}")
    assert pathlib.Path(build, "rtl/rtl_schedulers.cpp").read_text() != schedulers, "the block was not added"
    again = sorted(name for name, line in after.items() if before.get(name) != line)
    others = [name for name in again if block.stem not in name]
    print(f"{len(again)} of {len(after)} files are compiled anew, and rtl_schedulers.cpp", *others, sep="\n")
    assert len(before) > 100 and any(block.stem in name for name in again), "the program's files were not found"
    sys.exit(bool(others))
