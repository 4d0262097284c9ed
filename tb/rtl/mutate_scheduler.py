#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the random comparison notices mistakes in the RTL scheduler: each mutant is a copy with one line changed,
Verilated and run against the C++ policy until the first difference. Exits 1 when a mutant survives, or when a line to
be changed is no longer there once.

mutate_scheduler.py --source RTL_DIR --verilator BIN --cxx COMPILER --include DIR... --adapter CPP --objects O... --libs A...
                    [--parameters NAME=VALUE...] [--grants N] [--only NAME]"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

FILES = ["scheduler_pkg.sv", "channel_scheduler.sv", "scheduler_csr.sv", "transaction_scheduler.sv"]

# Name, file, text of one line (must occur once in the file), what is put in its place.
MUTANTS = [
    ("round robin starts over", "channel_scheduler.sv",
     "wire [DIES-1:0] in_turn = candidates & after_last[with_programs];",
     "wire [DIES-1:0] in_turn = candidates;"),
    ("one turn for both kinds of question", "channel_scheduler.sv",
     "with_programs <= (query_classes & PROGRAMS) != '0;",
     "with_programs <= 1'b0;"),
    ("look-ahead one short", "channel_scheduler.sv",
     "looked == cfg_look_ahead - 1'b1", "looked == cfg_look_ahead - 2'd2"),
    ("partner of another page", "channel_scheduler.sv",
     "else fits = taken == '0 || (!seen[plane] && page_of[entry] == first_page);",
     "else fits = taken == '0 || !seen[plane];"),
    ("partner passes an older one of its plane", "channel_scheduler.sv",
     "seen <= seen_now;", "if (fits) seen <= seen_now;"),
    ("busy plane granted", "channel_scheduler.sv",
     "if (plane_by_plane) fits = !seen[plane] && idle_planes_of_die[plane];",
     "if (plane_by_plane) fits = !seen[plane];"),
    ("tail kept when the last request leaves", "channel_scheduler.sv",
     "if (entry == tail[{die, cls}]) tail[{die, cls}] <= previous;", ""),
    ("younger counted as overtaken", "channel_scheduler.sv",
     "if (waiting[die][c] && cls != CLASS_BITS'(c) && is_older(head_age[{die, CLASS_BITS'(c)}], first_age)) begin",
     "if (waiting[die][c] && cls != CLASS_BITS'(c)) begin"),
    ("starvation one grant late", "channel_scheduler.sv",
     "+ 1'b1 >= cfg_starvation_limit) starved[die][c] <= 1'b1;",
     "+ 1'b1 > cfg_starvation_limit) starved[die][c] <= 1'b1;"),
    ("starvation count not cleared with its head", "channel_scheduler.sv",
     "starved[die][cls] <= 1'b0;", ""),
    ("starved classes ignored", "channel_scheduler.sv",
     "next_class = choose(starved[die] != '0 ? starved[die] : waiting[die], starved[die] != '0, ages);",
     "next_class = choose(waiting[die], 1'b0, ages);"),
    ("youngest first", "channel_scheduler.sv",
     "difference = a - b;", "difference = b - a;"),
    ("starved classes by urgency", "channel_scheduler.sv",
     "if (!by_age && urgency_a != urgency_b) older = urgency_a < urgency_b;",
     "if (urgency_a != urgency_b) older = urgency_a < urgency_b;"),
    ("age of the old head kept", "channel_scheduler.sv",
     "head_age[{die, cls}] <= age_of[head[{die, cls}]];", ""),
    ("urgent request does not change the choice", "channel_scheduler.sv",
     "(starved[push_die] == '0 && priority_of(push_class) < priority_of(push_chosen))) begin",
     "1'b0) begin"),
    ("push may overrule a starved class", "channel_scheduler.sv",
     "(starved[push_die] == '0 && priority_of(push_class) < priority_of(push_chosen))) begin",
     "priority_of(push_class) < priority_of(push_chosen)) begin"),
    ("entry given out twice", "channel_scheduler.sv",
     "if (free_count != '0) free_count <= free_count - 1'b1;",
     "if (free_count > 1) free_count <= free_count - 1'b1;"),
    ("other classes searched before a waiting program", "channel_scheduler.sv",
     "if (cfg_independent_reads && READS[picked_class] && (waiting[picked] & SLOW) == '0)",
     "if (cfg_independent_reads && READS[picked_class])"),
    ("one cycle more", "channel_scheduler.sv",
     "if (candidates == '0) begin", "if (candidates == '0 && passed_any) begin"),
    ("garbage collection before writes", "scheduler_csr.sv",
     "10'h006: cfg_priority <= PRIORITIES_BITS'(masked(32'(cfg_priority)));",
     "10'h006: cfg_priority <= PRIORITIES_BITS'(masked(32'(cfg_priority))) & 28'hFDF_FFFF;"),
    ("limit cut to 6 bits", "scheduler_csr.sv",
     "10'h005: cfg_starvation_limit <= LIMIT_BITS'(masked(32'(cfg_starvation_limit)));",
     "10'h005: cfg_starvation_limit <= LIMIT_BITS'(masked(32'(cfg_starvation_limit)) & 32'h3f);"),
    ("pages told apart by two bits", "transaction_scheduler.sv",
     ".push_page(push_page[c*PAGE_BITS+:PAGE_BITS]),", ".push_page(PAGE_BITS'(push_page[c*PAGE_BITS+:2])),"),
]


def command(args, **kwargs):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs)


def build(options, folder, sources):
    """The comparison program with the RTL of `sources`; raises on an error of a tool."""
    generated = folder / "verilated"
    for step in (
        [options.verilator, "--cc", "--trace-fst", "-Wno-lint", "-O3", "--x-initial", "unique", "--x-assign", "unique",
         "--prefix", "Vtransaction_scheduler", "--top", "transaction_scheduler", "--Mdir", generated,
         *[f"-G{p}" for p in options.parameters], *sources],
        None,
    ):
        if step is None:
            unity = folder / "unity.cpp"
            unity.write_text("".join(f'#include "{p}"\n' for p in sorted(generated.glob("*.cpp"))))
            step = [options.cxx, "-std=c++17", "-O1", "-w", "-DVM_TRACE=1", "-DVM_TRACE_FST=1", "-DVM_TRACE_VCD=0", "-DVM_SC=0",
                    "-DVM_COVERAGE=0", f"-I{generated}", *[f"-I{i}" for i in options.include], unity, options.adapter,
                    *options.objects, *options.libs, "-lz", "-pthread", "-o", folder / "compare"]
        done = command(step)
        if done.returncode != 0:
            raise RuntimeError(f"{step[0]} failed:\n{done.stdout}")
    return folder / "compare"


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "verilator", "cxx", "adapter"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("include", "objects", "libs", "parameters"):
        parser.add_argument(f"--{name}", nargs="+", default=[])
    parser.add_argument("--grants", default="1000000")
    parser.add_argument("--only")
    options = parser.parse_args()
    survived = []
    chosen = [m for m in MUTANTS if options.only in (None, m[0])]
    for name, file, old, new in chosen:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            sources = []
            for source in FILES:
                text = (pathlib.Path(options.source) / source).read_text()
                if source == file:
                    if text.count(old) != 1:
                        print(f"{name}: the line to change is {text.count(old)} times in {file}")
                        survived.append(name)
                        break
                    text = text.replace(old, new)
                (folder / source).write_text(text)
                sources.append(folder / source)
            else:
                done = command([build(options, folder, sources), "--grants", options.grants])
                lines = done.stdout.splitlines()
                why = next((s for s in lines if "question" in s or "panic" in s.lower()), lines[0] if lines else "no output")
                if done.returncode == 0:
                    survived.append(name)
                    why = "SURVIVED: " + why
                print(f"{name}: {why.strip()} [{time.monotonic() - start:.1f} s]", flush=True)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} mutants caught")
    return 1 if survived or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
