# SPDX-License-Identifier: Apache-2.0
"""Nothing is silent, part two: each option of `ssdtlm run` changes what a run writes, and where it cannot a note names it."""
import re
import subprocess
import unittest

from support import BINARY, OK, SOURCE, USER_ERROR, SystemTest
from test_effects import Run

TRACES = str(SOURCE / "configs/workload/traces")
JOB = ("--rw=randrw", "--bs=4k", "--iodepth=4", "--ioengine=libaio", "--number_ios=200", "--size=4m", "--norandommap")
MSR = ("-w", f"{TRACES}/msr.csv", "--trace-beyond", "fold")
TWO_VOLUMES = ("-w", "two.csv", "--trace-columns", "time:us,op,offset,size,volume")
# Option of `run` -> (words of a run, words that are added and change it, words of a run on which the same has no effect and a note says so).
OPTIONS = {
    "--seed": (JOB, ("--seed", "2"), None),
    "--workload": (("-w", f"{TRACES}/msr.csv", "--trace-beyond", "scale"), None, None),
    "--section": (("-w", "two.fio"), ("--section", "b"), None),
    "--only": (("-w", "two.fio"), ("--only", "b"), None),
    "--alone": (("-w", "two.fio", "--set", "host.tenants=by_job"), ("--alone",), None),
    "--base": (("-w", "two.fio", "--set", "host.tenants=by_job"), ("--base", "a"), None),
    "--save-drive": (JOB, ("--save-drive", "saved"), None),
    "--stop-after-time": (JOB, ("--stop-after-time", "1ms"), (JOB, ("--stop-after-time", "100s"))),
    "--stop-after-commands": (JOB, ("--stop-after-commands", "10"), (JOB, ("--stop-after-commands", "10k"))),
    "--trace-format": (MSR, ("--trace-format", "spc"), None),
    "--trace-columns": (TWO_VOLUMES, ("--trace-columns", "time:ms,op,offset,size,volume"), None),
    "--trace-volume": (TWO_VOLUMES, ("--trace-volume", "a"), (("-w", "one.csv", "--trace-columns", "time:us,op,offset,size,volume"), ("--trace-volume", "a"))),
    "--trace-overlay": (TWO_VOLUMES, ("--trace-overlay",), (("-w", "one.csv", "--trace-columns", "time:us,op,offset,size,volume"), ("--trace-overlay",))),
    "--trace-spread": (TWO_VOLUMES, ("--trace-spread",), (("-w", "one.csv", "--trace-columns", "time:us,op,offset,size,volume"), ("--trace-spread",))),
    "--trace-skip-broken": (("-w", "broken.csv", "--trace-columns", "time:us,op,offset,size,volume"), ("--trace-skip-broken",), (TWO_VOLUMES, ("--trace-skip-broken",))),
    "--blkparse-action": (("-w", f"{TRACES}/blkparse.txt", "--trace-beyond", "fold"), ("--blkparse-action", "Q"), (MSR, ("--blkparse-action", "Q"))),
    "--trace-beyond": (MSR, ("--trace-beyond", "scale"), (TWO_VOLUMES, ("--trace-beyond", "fold"))),
    "--replay": (MSR, ("--replay", "closed"), None),
    "--replay-depth": ((*MSR, "--replay", "closed"), ("--replay-depth", "2"), (MSR, ("--replay-depth", "2"))),
    "--time-scale": (MSR, ("--time-scale", "0.01"), ((*MSR, "--replay", "closed"), ("--time-scale", "0.5"))),
    "--replay-gap": (MSR, ("--replay-gap", "1us"), ((*MSR, "--replay", "closed"), ("--replay-gap", "1us"))),
    "--replay-jobs": (TWO_VOLUMES, ("--replay-jobs", "2"), (("-w", "one.csv", "--trace-columns", "time:us,op,offset,size,volume"), ("--replay-jobs", "2"))),
    "--replay-loops": (MSR, ("--replay-loops", "2"), None),
    "--wave": (JOB, ("--wave",), None),
    "--wave-from": ((*JOB, "--wave"), ("--wave-from", "1ms"), ((*JOB, "--wave"), ("--wave-from", "100s"))),
    "--wave-to": ((*JOB, "--wave"), ("--wave-to", "1ms"), None),
    "--wave-trigger": ((*JOB, "--wave"), ("--wave-trigger", "command=20"), ((*JOB, "--wave"), ("--wave-trigger", "command=9999"))),
    "--wave-before": ((*JOB, "--wave", "--wave-trigger", "command=20"), ("--wave-before", "10us"), None),
    "--wave-after": ((*JOB, "--wave", "--wave-trigger", "command=20"), ("--wave-after", "10us"), None),
    "--wave-format": ((*JOB, "--wave"), ("--wave-format", "fst"), None),
    "--timeline": (JOB, ("--timeline",), None),
    "--timeline-from": ((*JOB, "--timeline"), ("--timeline-from", "1ms"), ((*JOB, "--timeline"), ("--timeline-from", "100s"))),
    "--timeline-to": ((*JOB, "--timeline"), ("--timeline-to", "1ms"), None),
}
# What they do is seen elsewhere: each parameter above, the terminal, the place of the results.
# A run that is checked has the same results (test_wave_check.py).
SEEN_ELSEWHERE = {"--set", "--output", "--quiet", "--watch", "--json", "--report", "--help", "--check-pins"}


class Options(SystemTest):
    def setUp(self):
        super().setUp()
        self.write("two.fio", "[global]\nioengine=libaio\nbs=4k\nsize=1m\nnumber_ios=50\n[a]\nrw=randread\n[b]\nrw=randwrite\n")
        lines = [f"{i // 2 * 100},{'RW'[i % 3 == 0]},{i * 37 % 200 * 4096},4096,{'ab'[i % 2]}" for i in range(60)]
        self.write("two.csv", "\n".join(lines) + "\n")
        self.write("one.csv", "\n".join(f"{i * 100},R,{i * 4096},4096,a" for i in range(60)) + "\n")
        self.write("broken.csv", "\n".join([*lines, "no line of a trace"]) + "\n")

    def run_with(self, name, *words):
        done = subprocess.run([BINARY, "run", "tiny-test", *words, "-q", "-o", name], cwd=self.dir, capture_output=True, text=True, timeout=120, check=False)
        found = Run(done, self.dir / name)
        extra = sorted(p for p in [*(self.dir / name).glob("wave.*"), *self.dir.glob("saved")] if p.is_file())
        return found, [(p.name, p.read_bytes() if p.suffix == ".vcd" else b"") for p in extra]

    def test_table_has_all_options(self):
        options = set(re.findall(r"(?m)^ +(?:-\w, )?(--[\w-]+)", self.ssdtlm("help", "run").stdout))
        self.assertEqual(options - OPTIONS.keys() - SEEN_ELSEWHERE, set(), "options without an entry")
        self.assertEqual((OPTIONS.keys() | SEEN_ELSEWHERE) - options, set(), "entries that are no options")

    def test_each_option_acts(self):
        silent = []
        for option, (words, second, _) in OPTIONS.items():
            before, after = self.run_with("a", *words), self.run_with("b", *words, *(second or ()))
            if option == "--trace-skip-broken":
                self.assertTrue(before[0].refused)
            elif before[0].code != OK:
                silent.append(f"{option}: {before[0].error}")
            if second and after[0].code not in (OK, USER_ERROR):
                silent.append(f"{option}: {after[0].code} {after[0].error}")
            elif second and (before[0].digest, before[1]) == (after[0].digest, after[1]):
                silent.append(f"{option}: nothing changes")
            for path in self.dir.glob("saved*"):
                path.unlink()
        if silent:
            self.fail("\n" + "\n".join(silent))

    def test_where_it_does_not_act_a_note_says_so(self):
        silent = []
        for option, (words, _, idle) in ((o, row) for o, row in OPTIONS.items() if row[2]):
            words, second = idle
            run, _ = self.run_with("a", *words, *second)
            said = [note for note in run.notes if option in note or "never came" in note or "no part of the run" in note]
            if run.code != OK or len(said) != 1:
                silent.append(f"{option}: {run.notes} {run.error}")
        if silent:
            self.fail("\n" + "\n".join(silent))

    def test_what_never_came_is_said_aloud(self):
        """A waveform that was asked for and is not there: on standard error, also of a quiet run."""
        for words, text in ((("--wave-trigger", "gc"), "no waveform: the trigger gc never came"), (("--wave-from", "100s"), "before --wave-from")):
            done = self.ssdtlm("run", "tiny-test", *JOB, "--wave", *words, "-q", "-o", "quiet")
            self.assertEqual((done.returncode, done.stdout), (OK, ""))
            self.assertRegex(done.stderr, f"^warning: no waveform.*{text}\n$" if "before" in text else f"^warning: {text}\n$")
            done = self.ssdtlm("run", "tiny-test", *JOB, "--wave", *words, "-o", "loud")
            self.assertIn(text, done.stdout)
            self.assertEqual(done.stdout.count("no waveform"), 1)


if __name__ == "__main__":
    unittest.main()
