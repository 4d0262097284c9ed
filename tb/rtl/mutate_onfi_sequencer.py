#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that onfi_sequencer_test notices mistakes in the RTL: each mutant is a copy with one line changed, Verilated and
put through the test. Exits 1 when a mutant survives, or when a line to be changed is no longer there once.

mutate_onfi_sequencer.py --source SV --verilator BIN --cxx COMPILER --include DIR... --adapter CPP --objects O... --libs A...
                         [--parameters NAME=VALUE...] [--only NAME]"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# Name, text (must occur once), what is put in its place.
MUTANTS = [
    ("all other chips enabled", "ce_n[c] <= start_chip != c[5:0];", "ce_n[c] <= start_chip == c[5:0];"),
    ("multi-plane read confirmed as the last", "confirm = last ? 8'h30 : 8'h32;", "confirm = 8'h30;"),
    ("program confirmed as an erase", "confirm = last ? 8'h10 : 8'h11;", "confirm = last ? 8'hD0 : 8'h11;"),
    ("status enhanced sent as status", "s == SELECT_ENHANCED ? 8'h78 : 8'h70;", "8'h70;"),
    ("middle row address sent twice", "default: address = r[23:16];", "default: address = r[15:8];"),
    ("row of the first plane for all", "rows <= rows >> 24;", ""),
    ("column addresses in an erase", "wire has_column = kind != KIND_ERASE && kind", "wire has_column = kind"),
    ("WE# rises a clock late", "if (elapsed == t_we_rise - 16'd1)", "if (elapsed == t_we_rise)"),
    ("wait between planes a clock longer", "timer <= {1'b0, t_plane} - 17'd1;", "timer <= {1'b0, t_plane};"),
    ("tRR not waited after tCCS", "{1'b0, t_ccs} + {1'b0, t_rr} - 17'd1;", "{1'b0, t_ccs} - 17'd1;"),
    ("rounding of bursts adds up", "first_plane && late > 0;", "first_plane && 1'b0;"),
    ("rounding taken off forever", "if (shorten) late <= late - 22'sh100000;", ""),
    ("burst's end rounded down", "+ {12'd0, |burst_end[19:0]};", ";"),
    ("postamble of the other direction", "kind == KIND_PROGRAM ? post_in : post_out", "kind != KIND_PROGRAM ? post_in : post_out"),
    ("end of a burst a clock early", "(last_clock ? 29'd0 : ONE)", "ONE"),
    ("a transfer too many", "remaining > k[17:0];", "remaining >= k[17:0];"),
    ("transfer at the end of a clock played twice", "sum < {3'd0, ONE}", "sum <= {3'd0, ONE}"),
    ("bursts not counted down", "remaining <= remaining_next;", "remaining <= remaining_next | 18'd1;"),
    ("preamble of the other direction", "timer <= {1'b0, t_wpre} - 17'd1;", "timer <= {1'b0, t_rpre};"),
    ("RE# stays low after a burst", "POST: if (timer == 0) begin\n                re_n <= 1'b1;", "POST: if (timer == 0) begin"),
    ("ready without tRHW", "TURN: if (timer == 0) state <= IDLE;", "TURN: state <= IDLE;"),
    ("no prefix before the first plane", "slot <= slc_planes[0] ? SLOT_PREFIX : SLOT_OPCODE;", "slot <= SLOT_OPCODE;"),
    ("the first plane's mode for all", "slc <= slc >> 1;", "slc <= slc;"),
    ("prefix before data out", "start_kind == KIND_OUT || start_kind == KIND_STATUS ? '0 : start_slc", "start_slc"),
    ("opcode after a prefix as an address", "next_slot == SLOT_CONFIRM || next_slot == SLOT_OPCODE;", "next_slot == SLOT_CONFIRM;"),
    ("late rounding kept from the last transaction", "late <= '0;\n                first_plane", "first_plane"),
]


def command(args, **kwargs):
    return subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs)


def build(options, folder, source):
    """The test program with the RTL of `source`; raises on an error of a tool."""
    generated, unity, program = folder / "verilated", folder / "unity.cpp", folder / "test"

    def run(*step):
        done = command(step)
        if done.returncode != 0:
            raise RuntimeError(f"{step[0]} failed:\n{done.stdout}")

    run(options.verilator, "--cc", "--trace-fst", "-Wno-lint", "-O3", "--x-initial", "unique", "--x-assign", "unique",
        "--prefix", "Vonfi_sequencer", "--top", "onfi_sequencer", "--Mdir", generated,
        *[f"-G{p}" for p in options.parameters], source)
    unity.write_text("".join(f'#include "{p}"\n' for p in sorted(generated.glob("*.cpp"))))
    run(options.cxx, "-std=c++17", "-O1", "-w", "-DVM_TRACE=1", "-DVM_TRACE_FST=1", "-DVM_TRACE_VCD=0", "-DVM_SC=0",
        "-DVM_COVERAGE=0", f"-I{generated}", *[f"-I{i}" for i in options.include], unity, options.adapter,
        *options.objects, *options.libs, "-lz", "-pthread", "-o", program)
    return program


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "verilator", "cxx", "adapter"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("include", "objects", "libs", "parameters"):
        parser.add_argument(f"--{name}", nargs="+", default=[])
    parser.add_argument("--only")
    options = parser.parse_args()
    original = pathlib.Path(options.source).read_text(encoding="utf-8")
    survived = []
    chosen = [m for m in MUTANTS if options.only in (None, m[0])]
    for name, old, new in chosen:
        start = time.monotonic()
        if original.count(old) != 1:
            print(f"{name}: the line to change is there {original.count(old)} times")
            survived.append(name)
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            source = folder / "onfi_sequencer.sv"
            source.write_text(original.replace(old, new), encoding="utf-8")
            try:
                done = command([build(options, folder, source)], timeout=120)
                failed = re.findall(r"\[  FAILED  \] (\S+) \(", done.stdout)
                why = "by " + ", ".join(failed) if done.returncode != 0 else "SURVIVED"
            except subprocess.TimeoutExpired:
                why = "by coming to no end"
            survived += [name] if why == "SURVIVED" else []
            print(f"{name}: {why} [{time.monotonic() - start:.1f} s]", flush=True)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} mutants caught")
    return 1 if survived or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
