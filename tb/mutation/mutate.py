#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How strong the tests are: one operator of the model is changed at random, the tests run, and a mutant that passes them
all is a survivor. See README.md. Exits 1 when fewer than --least per cent of the mutants are found.

All mutants are in one build, and SSDTLM_MUTANT chooses. A mutant meets the tests in three rounds and leaves with the first
test that fails: the unit tests of its organ, then runs of the whole SSD (formulas, stress, some seeds of the campaign), then
(--whole) all that CI runs.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import signal
import sys
import time

from bench import Bench
from rounds import Runner, Stopped, campaign, tests_of
from sites import mutants_of

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]

# Subjects of the FTL that the tests of the FTL know.
SUBJECTS = ["map/blocks", "map/resident", "slc", "refresh", "wear", "streams", "precondition", "snapshot", "parity", "word_lines"]
FTL_TESTS = ["ftl_test", "firmware_test", "firmware_failures_test", "firmware_random_test",
             "firmware_random_failures_test", "power_cut_test", "saved_drive_test"]

# Organ: its files, and the unit tests that know it.
ORGANS = {
    "controller": (["controller/nvme", "controller/dma", "controller/cpu", "controller/commands", "controller/wait_queues", "controller/data",
                    "controller/destage", "controller/gc", "controller/write_buffer", "controller/channel_ctrl",
                    "controller/scheduler", "controller/ftl", *(f"controller/{subject}" for subject in SUBJECTS), "controller/map/cached",
                    "controller/journal", "controller/dram", "controller/mount", "controller/checkpoint", "controller/read_cache",
                    "controller/page_writer", "controller/shared_cache"],
                   {"controller/nvme": ["nvme_core_test", "nvme_front_end_test"],
                    "controller/dma": ["dma_engine_test", "dma_link_test", "both_directions_test"],
                    "controller/cpu": ["firmware_organs_test", "firmware_test", "firmware_random_test"],
                    "controller/commands": ["firmware_organs_test", "firmware_test", "firmware_failures_test", "firmware_random_test",
                                            "firmware_random_failures_test"],
                    "controller/wait_queues": ["firmware_organs_test", "firmware_test", "firmware_random_test"],
                    "controller/data": ["unit_data_test", "firmware_test", "firmware_random_test"],
                    "controller/map/cached": ["ftl_test", "cached_map_test", "power_cut_test", "saved_drive_test"],
                    "controller/destage": ["firmware_test", "gc_pace_test", "firmware_failures_test", "firmware_random_test",
                                        "firmware_random_failures_test"],
                    "controller/journal": ["ftl_test", "firmware_test", "firmware_failures_test", "firmware_random_test",
                                        "firmware_random_failures_test", "power_cut_test"],
                    "controller/dram": ["dram_test"],
                    "controller/read_cache": ["read_cache_test", "firmware_random_test", "saved_drive_test"],
                    "controller/mount": ["ftl_test", "mount_test", "power_cut_test"],
                    "controller/checkpoint": ["ftl_test", "power_cut_test"],
                    "controller/page_writer": ["firmware_test", "firmware_failures_test", "firmware_random_test", "firmware_random_failures_test"],
                    "controller/shared_cache": ["shared_cache_test", "read_cache_test", "firmware_random_test"],
                    "controller/gc": ["gc_pace_test", "firmware_test", "firmware_failures_test", "firmware_random_test",
                                   "firmware_random_failures_test"],
                    "controller/write_buffer": ["write_buffer_test", "firmware_test", "firmware_random_test"],
                    "controller/channel_ctrl": ["busy_meter_test", "bus_arbiter_test", "die_tracker_test", "sequence_builder_test",
                                                "wait_accounting_test", "checked_scheduler_test", "channel_controller_test",
                                                "flash_status_test", "flash_backend_test", "flash_stress_test", "critical_path_test",
                                                "suspend_test", "suspend_stress_test"],
                    "controller/scheduler": ["scheduler_contract_test", "clocked_scheduler_test", "bus_order_test",
                                             "grant_rules_test", "class_queues_test", "suspend_policy_test"],
                    **{f"controller/{subject}": FTL_TESTS for subject in SUBJECTS},
                    "controller/ftl": FTL_TESTS}),
    "link": (["host_pcie/link"], {"host_pcie/link": ["link_direction_test", "tlp_test", "credits_test", "link_path_test",
                                                     "link_parts_test", "link_protocol_test", "link_threads_test", "dma_link_test", "both_directions_test"]}),
    "driver": (["host_pcie/driver"], {"host_pcie/driver": ["queue_pair_test", "prp_builder_test", "integrity_oracle_test", "integrity_bytes_test",
                                                           "bring_up_test", "io_path_test", "nvme_driver_test", "host_memory_test",
                                                           "root_complex_test", "durable_versions_test", "queue_plan_test"]}),
    "die": (["nand/die", "nand/package", "nand/channel", "nand/onfi", "nand/array"],
            {"nand": ["die_test", "slc_mode_test", "nand_package_test", "onfi_bus_test", "onfi_timing_test", "onfi_operation_test",
                      "spare_area_test", "byte_store_test", "array_faults_test", "flash_backend_test", "saved_drive_test"]}),
    "snapshot": (["common/snapshot"], {"common/snapshot": ["snapshot_test", "saved_drive_test"]}),
}
WHOLE_SSD = ["unloaded_latency_test", "saturation_test", "stress_test", "reset_test", "failures_test", "mount_time_test", "restart_time_test", "cached_map_time_test"]
# All but those that look at the sources, which are not the project's own any more.
CI_TESTS = ["-LE", "nightly", "-E", "^(structure|mutation_rewriting)$"]


def unit_tests(path):
    for folder, tests in (item for _, known in ORGANS.values() for item in known.items()):
        if str(path).startswith(f"model/{folder}"):
            return tests
    return []


def explained():
    """Survivors that change nothing, by `path: line text: old -> new`."""
    text = (HERE / "equivalent.txt").read_text()
    return {line.split(" # ")[0].strip() for line in text.splitlines() if line.strip() and not line.startswith("#")}


class Results:
    """Who found which mutant: name of a test, None: nobody, "": it does not compile. One line of a file each."""

    def __init__(self, path, head, resume):
        self.known = {}
        if resume and path.exists():
            lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
            if not lines or lines[0] != head:
                sys.exit(f"{path} is of another tree or of other options; name another file")
            self.known = {line["mutant"]: line["found"] for line in lines[1:]}
        path.parent.mkdir(parents=True, exist_ok=True)
        # Without the line that was being written when the run was interrupted.
        written = [head] + [{"mutant": mutant, "found": found} for mutant, found in self.known.items()]
        path.write_text("".join(json.dumps(line) + "\n" for line in written))
        self.file = path.open("a")

    def add(self, mutant, found):
        self.known[mutant.name()] = found
        print(json.dumps({"mutant": mutant.name(), "found": found}), file=self.file, flush=True)


def draw(chosen, count, broken, known):
    """The numbers of those to judge and of those known to change nothing, `count` in all, and how many were passed by."""
    judged, equivalent, passed_by = [], [], 0
    for number, mutant in enumerate(chosen, 1):
        if len(judged) + len(equivalent) == count:
            break
        if mutant.key() in known:
            equivalent.append(number)
        elif number in broken:
            passed_by += 1
        else:
            judged.append(number)
    return judged, equivalent, passed_by


def build(bench, chosen, options, results, targets):
    """Numbers of the mutants to judge, all of which are in the build; how many change nothing; how many do not compile."""
    known = explained()
    broken = {number for number, mutant in enumerate(chosen, 1) if results.known.get(mutant.name()) == ""}
    without = set()  # the same build when a run is resumed: what it found broken is not in the first draw
    while True:
        # Some more than are wanted: to build once more for the last one takes long.
        drawn = (draw(chosen, options.count + options.count // 20 + 2, without, known)[0] or [0])[-1]
        mutants = {n: m for n, m in enumerate(chosen[:drawn], 1) if n not in broken and m.key() not in known}
        more = bench.make_what_compiles(mutants, targets)
        for number in sorted(more):
            results.add(chosen[number - 1], "")
        broken |= more
        judged, equivalent, passed_by = draw(chosen, options.count, broken, known)
        if not judged or judged[-1] <= drawn:
            return judged, len(equivalent), passed_by
        without = broken


class Judge:
    """Meets mutants of a build with tests. What a round finds is printed and kept as soon as it is known."""

    def __init__(self, bench, runner, chosen, judged, options, results):
        self.runner, self.chosen, self.judged, self.options, self.results = runner, chosen, judged, options, results
        known = tests_of(bench.build)
        self.first = {name: known[name] for number in judged for name in unit_tests(chosen[number - 1].path)}
        self.second = [known[name] for name in WHOLE_SSD] + list(campaign(bench.tree, bench.build, options.campaign))
        self.third = []
        if options.whole:
            self.third = [known[name] for name in tests_of(bench.build, CI_TESTS) if name not in WHOLE_SSD]

    def measure(self):
        """Without a mutant, and with as much else on the machine as later. No test may fail."""
        begin = time.monotonic()
        failing = self.runner.measure([*self.first.values(), *self.second])
        failing += self.runner.measure([test for test in self.third if test.seconds is None], None)
        if failing:
            sys.exit("fail without a mutant: " + ", ".join(test.name for test in failing))
        print(f"{len(self.first)} + {len(self.second)} + {len(self.third)} tests pass without a mutant  [{time.monotonic() - begin:.0f} s]",
              file=sys.stderr, flush=True)

    def say(self, number, took):
        mutant = self.chosen[number - 1]
        who = self.results.known[mutant.name()]
        print(f"{'SURVIVES' if who is None else 'found by ' + who}: {mutant.name()}  [{took}, SSDTLM_MUTANT={number}]\n    {mutant.line.strip()}",
              flush=True)

    def settle(self, number, test, seconds):
        self.results.add(self.chosen[number - 1], test and test.name)
        self.say(number, f"{seconds:.0f} s")

    def two_rounds(self, number):
        """Who found it, and how long that took."""
        begin = time.monotonic()
        tests = [self.first[name] for name in unit_tests(self.chosen[number - 1].path)]
        who = self.runner.finder(number, tests) or self.runner.finder(number, self.second)
        return who, time.monotonic() - begin

    def all(self):
        """How many are found."""
        passed = []
        with self.runner.pool() as pool:
            pending = {}
            for number in self.judged:
                if self.chosen[number - 1].name() in self.results.known:
                    self.say(number, "earlier")
                else:
                    pending[pool.submit(self.two_rounds, number)] = number
            for future in concurrent.futures.as_completed(pending):
                who, seconds = future.result()
                if who is None and self.options.whole:
                    passed.append((pending[future], seconds))
                else:
                    self.settle(pending[future], who, seconds)
        for number, seconds in sorted(passed):  # one after the other: some of these tests have a folder in the build to themselves
            begin = time.monotonic()
            who = self.runner.finder_of_many(number, self.third)
            self.settle(number, who, seconds + time.monotonic() - begin)
        return sum(self.results.known[self.chosen[number - 1].name()] is not None for number in self.judged)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--organ", choices=ORGANS, action="append", help="only of these")
    p.add_argument("--campaign", type=int, default=60, help="runs of the campaign")
    p.add_argument("--whole", action="store_true", help="third round: all tests of CI")
    p.add_argument("--least", type=float, default=95.0, help="per cent that must be found")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time, and compilers")
    p.add_argument("--bench", default="/tmp/ssdtlm-mutation", help="folder for the copy that is built")
    p.add_argument("--resume", metavar="FILE", help="goes on with the results in FILE (else they are written to results.jsonl of the bench)")
    p.add_argument("--build-only", action="store_true", help="says how many compile")
    options = p.parse_args()

    folders = [f for organ in options.organ or ORGANS for f in ORGANS[organ][0]]
    chosen = [m for folder in folders for m in mutants_of(SOURCE, folder)]
    random.Random(options.seed).shuffle(chosen)
    bench, runner = Bench(SOURCE, options.bench, options.jobs), Runner(options.jobs)
    path = pathlib.Path(options.resume) if options.resume else bench.tree / "results.jsonl"
    results = Results(path, {"tree": bench.digest(), "campaign": options.campaign, "whole": options.whole}, options.resume is not None)

    units = sorted({unit for m in chosen for unit in unit_tests(m.path)})
    begin = time.monotonic()
    judged, equivalent, broken = build(bench, chosen, options, results, ["all"] if options.whole else ["ssdtlm_app", *WHOLE_SSD, *units])
    print(f"{len(judged)} mutants in one build, {broken} do not compile  [{time.monotonic() - begin:.0f} s]", file=sys.stderr, flush=True)
    if options.build_only:
        return 0

    def interrupted(*_):
        runner.stop()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    judge = Judge(bench, runner, chosen, judged, options, results)
    try:
        judge.measure()
        found = judge.all()
    except (KeyboardInterrupt, Stopped):
        sys.exit(f"interrupted; --resume {path} goes on")
    share = 100 * found / max(1, len(judged))
    print(f"{len(judged)} mutants of {len(chosen)}: {found} found ({share:.1f} %), {len(judged) - found} survive, {equivalent} known to change "
          f"nothing, {broken} do not compile")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
