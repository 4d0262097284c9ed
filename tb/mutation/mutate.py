#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How strong the tests are: one operator of the model is changed at random, the tests run, and a mutant that passes them
all is a survivor. See README.md. Exits 1 when fewer than --least per cent of the mutants are found.

A mutant meets the tests in three rounds and leaves with the first that fails: the unit tests of its organ, then runs of
the whole SSD (formulas, stress, some seeds of the campaign), then (--whole) all that CI runs.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]

# Organ: its files, and the unit tests that know it.
ORGANS = {
    "controller": (["controller/nvme", "controller/dma", "controller/cpu", "controller/commands", "controller/waiters",
                    "controller/destage", "controller/gc", "controller/write_buffer", "controller/channel_ctrl",
                    "controller/scheduler", "controller/ftl"],
                   {"controller/nvme": ["nvme_core_test", "nvme_front_end_test"],
                    "controller/dma": ["dma_engine_test", "dma_link_test", "both_directions_test"],
                    "controller/cpu": ["firmware_organs_test", "firmware_test", "firmware_random_test"],
                    "controller/commands": ["firmware_organs_test", "firmware_test", "firmware_failures_test", "firmware_random_test"],
                    "controller/waiters": ["firmware_organs_test", "firmware_test", "firmware_random_test"],
                    "controller/destage": ["firmware_test", "firmware_failures_test", "firmware_random_test",
                                        "firmware_random_failures_test"],
                    "controller/gc": ["firmware_test", "firmware_failures_test", "firmware_random_test",
                                   "firmware_random_failures_test"],
                    "controller/write_buffer": ["write_buffer_test", "firmware_test", "firmware_random_test"],
                    "controller/channel_ctrl": ["busy_meter_test", "bus_arbiter_test", "die_tracker_test", "sequence_builder_test",
                                                "wait_accounting_test", "checked_scheduler_test", "flash_status_test",
                                                "flash_backend_test", "flash_stress_test", "critical_path_test"],
                    "controller/scheduler": ["scheduler_contract_test", "clocked_scheduler_test", "bus_order_test",
                                             "grant_rules_test"],
                    "controller/ftl": ["ftl_test", "firmware_test", "firmware_failures_test", "firmware_random_test"]}),
    "link": (["host_pcie/link"], {"host_pcie/link": ["link_direction_test", "tlp_test", "credits_test", "link_path_test",
                                                     "dma_link_test", "both_directions_test"]}),
    "driver": (["host_pcie/driver"], {"host_pcie/driver": ["queue_pair_test", "prp_builder_test", "integrity_oracle_test",
                                                           "bring_up_test", "io_path_test", "nvme_driver_test", "host_memory_test",
                                                           "root_complex_test"]}),
    "die": (["nand/die", "nand/package", "nand/channel", "nand/onfi", "nand/array"],
            {"nand": ["die_test", "nand_package_test", "onfi_bus_test", "onfi_timing_test", "onfi_operation_test",
                      "spare_area_test", "array_faults_test", "flash_backend_test"]}),
}
WHOLE_SSD = ["unloaded_latency_test", "saturation_test", "stress_test", "reset_test", "failures_test"]

SWAPS = [("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"), ("||", "&&"),
         ("+", "-"), ("-", "+"), ("+=", "-="), ("-=", "+="), ("++", "--"), ("--", "++")]
# Text for people, and what the compiler alone looks at.
NO_CODE = re.compile(r'^\s*(//|#|\*|static_assert|template)|dump|fmt::format|to_string|Problem|problem|operator|CheckFailed|assert')


class Mutant:
    def __init__(self, path, number, column, old, new):
        self.path, self.number, self.column, self.old, self.new = path, number, column, old, new

    def name(self):
        return f"{self.path}:{self.number + 1}:{self.column + 1}: {self.old} -> {self.new}"


def code_of(line):
    """The line with comments and literals blanked."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda m: '"' + " " * (len(m.group()) - 2) + '"', line)
    return re.sub(r"//.*", lambda m: " " * len(m.group()), line)


def mutants_of(folder):
    for path in sorted((SOURCE / "model" / folder).rglob("*")):
        if path.suffix not in (".cpp", ".h"):
            continue
        in_text = False  # of a function that only writes text, or of check_waiters(): it can only see more or less
        for number, line in enumerate(path.read_text().split("\n")):
            if re.match(r"^\S.*\b(dump\w*|check_waiters)\(", line):
                in_text = True
            elif line.startswith("}"):
                in_text = False
            if in_text or NO_CODE.search(line):
                continue
            code = code_of(line)
            for old, new in SWAPS:
                pattern = rf" {re.escape(old)} " if old not in ("++", "--") else rf"(?<![+\-]){re.escape(old)}(?=[A-Za-z_(])"
                for found in re.finditer(pattern, code):
                    column = found.start() + (1 if old not in ("++", "--") else 0)
                    yield Mutant(path.relative_to(SOURCE), number, column, old, new)


class Bench:
    """A copy of the tree with a build of its own."""

    def __init__(self, folder, jobs):
        self.tree, self.jobs = pathlib.Path(folder), jobs
        self.build = self.tree / "build" / "release"
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=SOURCE, check=True,
                                capture_output=True, text=True).stdout.split("\n")
        for name in filter(None, listed):
            here, there = SOURCE / name, self.tree / name
            if not here.is_file() or (there.exists() and there.read_bytes() == here.read_bytes()):
                continue  # what is the same keeps its time, and is not built again
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(here, there)
            shutil.copymode(here, there)
        subprocess.run(["cmake", "--preset", "release"], cwd=self.tree, check=True, stdout=subprocess.DEVNULL)

    def make(self, targets):
        return subprocess.run(["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target", *targets],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def passes(self, command, seconds):
        try:
            return subprocess.run(command, cwd=self.build, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=seconds).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def tests_pass(self, names, seconds=120):
        pattern = "^(" + "|".join(names) + ")$"
        return self.passes(["ctest", "-R", pattern, "--stop-on-failure", "--timeout", str(seconds), "-j", str(self.jobs)],
                           seconds * len(names))

    def campaign_passes(self, runs):
        return self.passes([sys.executable, "-B", str(self.tree / "tb/campaign/campaign.py"), "--binary", str(self.build / "ssdtlm"),
                            "--runs", str(runs), "--jobs", str(self.jobs)], 600)


def unit_tests(path):
    for folder, tests in (item for _, known in ORGANS.values() for item in known.items()):
        if str(path).startswith(f"model/{folder}"):
            return tests
    return []


def judge(bench, mutant, options):
    """Who found it; None: nobody; "": it does not compile."""
    for unit in unit_tests(mutant.path):  # most are found by the first: the others need not be built
        if not bench.make([unit]):
            return ""
        if not bench.tests_pass([unit]):
            return "unit tests"
    if not bench.make(["ssdtlm_app", *WHOLE_SSD]):
        return ""
    if not bench.campaign_passes(options.campaign) or not bench.tests_pass(WHOLE_SSD, 300):
        return "runs of the whole SSD"
    if options.whole:
        bench.make(["all"])
        if not bench.passes(["ctest", "-LE", "nightly", "--stop-on-failure", "-j", str(bench.jobs)], 3600):
            return "another test"
    return None


def explained():
    """Survivors that change nothing, by `path: line text: old -> new`."""
    text = (HERE / "equivalent.txt").read_text()
    return {line.split(" # ")[0].strip() for line in text.splitlines() if line.strip() and not line.startswith("#")}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--organ", choices=ORGANS, action="append", help="only of these")
    p.add_argument("--campaign", type=int, default=60, help="runs of the campaign")
    p.add_argument("--whole", action="store_true", help="third round: all tests of CI")
    p.add_argument("--least", type=float, default=95.0, help="per cent that must be found")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--bench", default="/tmp/ssdtlm-mutation", help="folder for the copy that is built")
    options = p.parse_args()

    folders = [f for organ in options.organ or ORGANS for f in ORGANS[organ][0]]
    chosen = [m for folder in folders for m in mutants_of(folder)]
    candidates = len(chosen)
    random.Random(options.seed).shuffle(chosen)
    known = explained()
    bench = Bench(options.bench, options.jobs)
    if not bench.make(["ssdtlm_app", *WHOLE_SSD]) or not bench.campaign_passes(options.campaign):
        sys.exit("the tree fails without a mutation")
    found, survivors, equivalent, broken = 0, [], 0, 0
    for mutant in chosen:
        if found + len(survivors) + equivalent == options.count:
            break
        target = bench.tree / mutant.path
        original = target.read_text()
        lines = original.split("\n")
        line = lines[mutant.number]
        key = f"{mutant.path}: {line.strip()}: {mutant.old} -> {mutant.new}"
        if key in known:
            equivalent += 1
            continue
        lines[mutant.number] = line[: mutant.column] + mutant.new + line[mutant.column + len(mutant.old):]
        begin = time.monotonic()
        try:
            target.write_text("\n".join(lines))
            who = judge(bench, mutant, options)
        finally:
            target.write_text(original)
        if who == "":
            broken += 1
            continue
        found += who is not None
        if who is None:
            survivors.append(mutant)
        print(f"{'SURVIVES' if who is None else 'found by ' + who}: {mutant.name()}  [{time.monotonic() - begin:.0f} s]\n    {line.strip()}",
              flush=True)
    judged = found + len(survivors)
    share = 100 * found / max(1, judged)
    print(f"{judged} mutants of {candidates}: {found} found ({share:.1f} %), {len(survivors)} survive, {equivalent} known to change "
          f"nothing, {broken} do not compile")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
