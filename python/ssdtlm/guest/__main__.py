# SPDX-License-Identifier: Apache-2.0
"""tools/guest.sh boot: boots a guest by hand, against a server that runs already or QEMU's own NVMe device."""

if __name__ == "__main__":
    from .. import interrupts
    interrupts.leave_at_once()

# pylint: disable=wrong-import-position
import argparse
import sys
from pathlib import Path

from . import machine


def main():
    parser = argparse.ArgumentParser(prog="tools/guest.sh boot", allow_abbrev=False)
    parser.add_argument("folder", type=Path, help="what `tools/guest.sh get` filled")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the results")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--script", type=Path, help="shell script that runs in the guest, in /out; its files there come back")
    what.add_argument("--with", dest="words", help="the same as text: 'nvme list'")
    parser.add_argument("--socket", type=Path, action="append", default=[], help="vfio-user socket of a drive; may be repeated")
    parser.add_argument("--own", type=int, action="append", default=[], metavar="MIB", help="a drive of QEMU's own of this size")
    parser.add_argument("--processors", type=int, default=1)
    parser.add_argument("--memory", type=int, default=512, metavar="MIB")
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="of wall time; default 600")
    parser.add_argument("--clock", type=Path, help="page of the model's time; needs --shim")
    parser.add_argument("--shim", type=Path, help="library that reads the page")
    parser.add_argument("--kernel", action="append", default=[], help="a word for the kernel's command line")
    options = parser.parse_args()
    if (options.clock is None) != (options.shim is None):
        parser.error("--clock and --shim belong together")
    script = options.script.read_bytes() if options.script else options.words.encode() + b"\n"
    outcome = machine.boot(machine.Plan(
        folder=options.folder, output=options.output, script=script,
        drives=[*options.socket, *(mib << 20 for mib in options.own)], processors=options.processors,
        memory_mib=options.memory, timeout_s=options.timeout, clock=options.clock, shim=options.shim,
        kernel_words=tuple(options.kernel)))
    sys.stdout.write(outcome.output)
    times = ", ".join(f"{name} {seconds} s" for name, seconds in outcome.guest_s.items())
    print(f"guest: {outcome.wall_s:.2f} s of wall time; by its clock: {times}", file=sys.stderr)
    if outcome.reason:
        print(f"guest: {outcome.reason}", file=sys.stderr)
    return 1 if outcome.code is None else outcome.code


if __name__ == "__main__":
    sys.exit(interrupts.run(main))
