#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Twelve devices, each with a job that uses its parts, run by two programs: every file of results is the same, byte for byte.

    tb/campaign/same_results.py --before OLD/ssdtlm --after NEW/ssdtlm [--only NAME ...]

A change that must not change results is checked so. What tells the time of the host (`wall_clock.json`) and the version of the
program is left out, and so are parameters that have their default. Each pair names counters that have to be other than 0: a part that did nothing proves nothing.
With `--renamed OLD=NEW` a name of a field may differ.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NOT_COMPARED = {"wall_clock.json"}
VERSION = re.compile(r'"ssdtlm": "[^"]*"')
SETTINGS = re.compile(r'"config_toml": "(?:[^"\\]|\\.)*"')

# Settings that most pairs share: two dies on each of two channels with two planes, so that nothing happens to be alone.
WIDE = ["nand.geometry.ways=2", "nand.geometry.planes_per_die=2", "ftl.user_capacity=48MiB", "gc.soft_free_blocks=6",
        "gc.hard_free_blocks=3"]
BYTES = ["run.data=bytes"]
# At work twice; the third one comes while the drive looks for its map.
CUTS = ['host.power_cut_at=["31ms", "290ms", "330ms"]', "host.power_off_time=2ms"]

MIXED = "rw=randrw rwmixread=40 bssplit=4k/50:8k/20:16k/20:64k/10 norandommap iodepth=16"


def job(*sections):
    """A job file. Each section is a line of options."""
    lines = ["[global]", "ioengine=libaio", "direct=1", "thread"]
    for number, options in enumerate(sections):
        lines += [f"[job{number}]", *options.split()]
    return "\n".join(lines) + "\n"


class Pair:
    """A device, which is a preset with settings, and a job. `counted`: keys of result.json, joined by dots, that are not 0."""

    def __init__(self, name, settings, text, counted, device="tiny-test"):
        self.name, self.settings, self.text, self.counted, self.device = name, settings, text, counted, device


PAIRS = (
    Pair("parity_bytes_cuts", WIDE + BYTES + CUTS + ["ftl.superblock=drive", "ftl.parity=die", "ftl.user_capacity=36MiB"],
         job(MIXED + " number_ios=6k fsync=40", "rw=randtrim bs=16k number_ios=600 iodepth=2"),
         ["power_cuts", "ftl.parity_pages", "ftl.trimmed_units", "ftl.journal_pages", "flush.ios"]),
    Pair("dftl_bytes_cuts",
         WIDE + BYTES + CUTS + ["ftl.mapping=dftl", "map.cache=8KiB", "map.power_protected=20%", "buffer.order=by_translation_page",
                                "buffer.prefer_dirty=true"],
         job(MIXED + " number_ios=4k fsync=100"),
         ["power_cuts", "counters.map_rows_held_back", "counters.map_translation_page_merge_reads"]),
    Pair("dftl_segmented_read_cache",
         WIDE + ["ftl.mapping=dftl", "map.cache=32KiB", "map.granularity=page", "map.replacement=segmented_lru", "read_cache.size=1MiB",
                 "read_cache.fill=both", "firmware.table_cache=1KiB"],
         job(MIXED + " number_ios=8k random_distribution=zipf:1.1"),
         ["counters.map_misses", "counters.read_cache_hits", "counters.table_cache_hits", "ftl.blocks_erased"]),
    Pair("fast_cuts", WIDE + CUTS + ["ftl.mapping=fast", "fast.random_log_blocks=4", "ftl.user_capacity=40MiB"],
         job(MIXED + " number_ios=1500"), ["power_cuts", "ftl.gc_pages"]),
    Pair("block_resets", WIDE + ["ftl.mapping=block", 'host.reset_at=["20ms", "70ms"]'],
         job("rw=write bs=64k iodepth=4 number_ios=800", "rw=randread bs=8k number_ios=900"),
         ["counters.controller_resets", "counters.host_commands_cancelled", "ftl.blocks_erased"]),
    Pair("slc_cuts",
         WIDE + CUTS + ["slc.blocks=4", "slc.dynamic_blocks=2", "nand.bits_per_cell=3", 'nand.t_read=["50us", "70us", "90us"]',
                        "nand.geometry.pages_per_block=36"],
         job(MIXED + " number_ios=5k"), ["power_cuts", "ftl.slc_blocks_folded"]),
    Pair("two_step_bytes", WIDE + BYTES + ["nand.two_step=true", "ftl.user_capacity=40MiB", 'nand.t_read=["40us", "60us"]'],
         job(MIXED + " number_ios=5k fdatasync=60"), ["ftl.padding_pages", "ftl.blocks_erased"]),
    Pair("checkpoints_shutdown",
         WIDE + CUTS + ["ftl.checkpoint_interval=8MiB", "ftl.checkpoint_at_shutdown=true", "host.power_cut_shutdown=true"],
         job(MIXED + " number_ios=6k"), ["power_cuts", "ftl.checkpoint_pages"]),
    Pair("streams_tenants_deadlines",
         WIDE + ["nvme.streams=4", "host.streams=true", "ftl.stream_frontiers=2", "host.tenants=by_job",
                 "host.queue_priorities=[0, 2, 3]", "scheduler.policy=earliest_deadline", 'nvme.latency_targets=["300us", "2ms", "5ms"]', "buffer.quotas=[20, 30, 40]"],
         job(MIXED + " number_ios=2500 write_hint=short", "rw=randwrite bs=4k iodepth=8 number_ios=2500 write_hint=extreme",
             "rw=randread bs=4k iodepth=4 number_ios=2500"),
         ["latency_us_by_stream", "latency_us_by_tenant", "ftl.blocks_erased"]),
    Pair("sets_tokens_suspends",
         WIDE + ["ftl.nvm_sets=C0, C1", "ftl.superblock=die", "gc.pace=tokens", "scheduler.suspend=for_reads",
                 "nand.independent_plane_read=true", "dram.model=banks"],
         job(MIXED + " number_ios=4k", "rw=randread bs=4k iodepth=4 number_ios=6k"),
         ["counters.flash_suspends", "counters.gc_pauses", "ftl.blocks_erased"]),
    Pair("faults_refresh_wear",
         WIDE + BYTES + ["ftl.spare_blocks=4", "ftl.user_capacity=40MiB", "nand.faults.program_fail=0.02%", "nand.faults.read_retry=2%",
                         "nand.faults.page_lost=0.01%", "refresh.reads=20", "wear.free_blocks=by_wear", "wear.most_spread=3",
                         "gc.policy=cost_benefit"],
         job(MIXED + " number_ios=8k"),
         ["counters.flash_program_failures", "counters.units_lost", "ftl.refresh_blocks_collected", "ftl.blocks_erased"]),
    Pair("preset_protected_clocked",
         ["precondition.state=random", "buffer.size=1MiB", "buffer.mode=protected", 'host.power_cut_at=["9ms"]',
          "scheduler.implementation=tlm_clocked", "nvme.interrupt_coalescing_threshold=4", "nvme.interrupt_coalescing_time=100us",
          "host.submit_time=1us"],
         job("rw=randrw bs=16k iodepth=32 number_ios=20k"), ["power_cuts", "counters.scheduler_grants"], device="hexa-16g"),
)


def execute(program, pair, folder):
    folder.mkdir()
    (folder / "job.fio").write_text(pair.text)
    command = [str(program), "run", pair.device, "-w", "job.fio", "-o", "out", "-q"]
    command += [word for setting in pair.settings for word in ("--set", setting)]
    (folder / "command").write_text(" ".join(command) + "\n")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)


def what_was_set(found):
    """The configuration without its defaults: a program may have parameters that the other one does not know."""
    return "\\n".join(line for line in found.group().split("\\n") if not line.endswith("# default") and line and not line.startswith("["))


def contents(folder, renamed):
    files = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in NOT_COMPARED):
        text = VERSION.sub('"ssdtlm": ""', path.read_text(errors="surrogateescape"))
        text = SETTINGS.sub(what_was_set, text)
        for old, new in renamed:
            text = text.replace(old, new)
        files[str(path.relative_to(folder))] = text
    return files


ECHO = re.compile(r'"config_toml": "((?:[^"\\]|\\.)*)"')


def parameters(lines):
    """(line, table and key) of each line of the configuration that says something."""
    table = ""
    for line in lines:
        if line.startswith("["):
            table = line
        if line:
            yield line, (table, line.split(" = ")[0])


def without_new_parameters(before, after):
    """Both result.json with the lines of their configurations whose keys the earlier program has, without empty ones."""
    found = [ECHO.search(text) for text in (before, after)]
    lines = [list(parameters(echo[1].split("\\n"))) for echo in found]
    known = {key for _, key in lines[0]}
    kept = ("\\n".join(line for line, key in some if key in known) for some in lines)
    return [text[:echo.start(1)] + part + text[echo.end(1):] for text, echo, part in zip((before, after), found, kept)]


def first_difference(one, other):
    for number, (a, b) in enumerate(zip(one.split("\n"), other.split("\n")), 1):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            begin = max(0, at - 60)
            return f"line {number}: before {a[begin:at + 60]!r}, after {b[begin:at + 60]!r}"
    return "one of the files is longer"


def value_of(result, key):
    for name in key.split("."):
        result = result.get(name, 0) if isinstance(result, dict) else 0
    return result


def idle_parts(pair, folder):
    result = json.loads((folder / "out" / "result.json").read_text())
    return [key for key in pair.counted if not value_of(result, key)]


def compare(pair, options, folder):
    """What is wrong, as lines; none when all files are the same."""
    ends = []
    for which, program in (("before", options.before), ("after", options.after)):
        done = execute(program, pair, folder / f"{pair.name}-{which}")
        if done.returncode not in (0, 1):
            return [f"{which} ended with {done.returncode}: {done.stderr.strip()[:400]}"]
        ends.append(done.returncode)
    if ends[0] != ends[1]:
        return [f"before ended with {ends[0]}, after with {ends[1]}"]
    wrong = [f"{key} is 0: this pair does not use what it is for" for key in idle_parts(pair, folder / f"{pair.name}-after")]
    one = contents(folder / f"{pair.name}-before" / "out", options.renamed)
    other = contents(folder / f"{pair.name}-after" / "out", [])
    one["result.json"], other["result.json"] = without_new_parameters(one["result.json"], other["result.json"])
    wrong += [f"{name} is only in one of them" for name in sorted(one.keys() ^ other.keys())]
    for name in sorted(one.keys() & other.keys()):
        if one[name] != other[name]:
            wrong.append(f"{name}: {first_difference(one[name], other[name])}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", required=True, type=pathlib.Path)
    parser.add_argument("--after", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="+", choices=[p.name for p in PAIRS], default=[p.name for p in PAIRS])
    parser.add_argument("--renamed", nargs="+", default=[], metavar="OLD=NEW", help="names of fields that differ")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the runs")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    options.before, options.after = options.before.resolve(), options.after.resolve()
    options.renamed = [tuple(pair.split("=", 1)) for pair in options.renamed]
    folder = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="same-results-"))
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [p for p in PAIRS if p.name in options.only]
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        answers = list(pool.map(lambda pair: compare(pair, options, folder.resolve()), chosen))
    for pair, wrong in zip(chosen, answers):
        print(f"{pair.name}: {'the same' if not wrong else 'DIFFERENT'}")
        for line in wrong:
            print(f"  {line}")
    if options.keep is None:
        shutil.rmtree(folder)
    different = sum(1 for wrong in answers if wrong)
    print(f"{len(chosen) - different} of {len(chosen)} pairs are the same")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
["counters.flash_program_failures", "counters.units_lost", "ftl.refresh_blocks_collected", "ftl.blocks_erased"]