# SPDX-License-Identifier: Apache-2.0
"""A signal ends every phase of a run soon, with exit code 130, what is known until then, and no word of books that do not balance.

How soon is counted in the processor time of the program, which a busy machine does not shorten."""
import json
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

from support import BINARY, INTERRUPTED, SANITIZED, SETTINGS, SystemTest

MOST_SECONDS = 3.0 if SANITIZED else 0.3
LONG = ("rw=randrw", "bs=4k", "iodepth=32", "runtime=100000", "time_based")
# Preconditioning that takes minutes, of each kind.
BIG = ("nand.geometry.blocks_per_plane=4096", "ftl.user_capacity=700MiB")
STARTS = {
    "random": (*BIG, "precondition.state=random", "precondition.overwrite=10000%"),
    "log blocks": (*BIG, "ftl.user_capacity=600MiB", "ftl.mapping=fast", "precondition.state=random", "precondition.overwrite=10000%"),
    "played": (*BIG, "precondition.workload=before.fio"),
}


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Signals(SystemTest):
    def started(self, device, job, *settings, more=()):
        words = [word for s in settings for word in ("--set", s)]
        program = subprocess.Popen([BINARY, "run", *SETTINGS, device, "-w", job, "-o", "out", "-q", *words, *more], cwd=self.dir,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.kill)
        return program

    def ends_soon(self, program, send):
        """Sends it, and returns standard error."""
        before = cpu_seconds(program.pid)
        program.send_signal(send)
        used = before
        while program.poll() is None:
            try:
                used = cpu_seconds(program.pid)
            except (FileNotFoundError, ProcessLookupError):
                break
            self.assertLess(used - before, MOST_SECONDS, "it goes on")
            time.sleep(0.002)
        out, err = program.communicate(timeout=60)
        self.assertEqual((program.returncode, out), (INTERRUPTED, ""), err)
        self.assertNotIn("balance", err)
        print(f"ended after {used - before:.2f} s of its time", flush=True)
        return err

    def test_preconditioning_of_each_kind(self):
        self.write("before.fio", "[before]\nrw=randwrite\nbs=4k\nnumber_ios=100m\nnorandommap\nio_size=1t\n")
        job = self.job("short", "rw=randread", "bs=4k", "number_ios=10")
        for name, settings in STARTS.items():
            for send in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(start=name, signal=send.name):
                    program = self.started("tiny-test", job, *settings)
                    self.let_run(program, 0.5)
                    err = self.ends_soon(program, send)
                    self.assertEqual(err, "ssdtlm: interrupted while the drive was prepared; out/failed.json says so\n")
                    j = json.loads((self.dir / "out" / "failed.json").read_text())
                    self.assertEqual((j["ended_by"], j["failure"]["kind"], j["failure"]["exit_code"]), ("interrupt", "interrupted", INTERRUPTED))
                    self.assertEqual([p.name for p in (self.dir / "out").iterdir()], ["failed.json"])

    def test_search_after_a_loss_of_power_and_any_other_moment(self):
        draw = random.Random("signals")
        job = self.job("long", *LONG)
        for n in range(4):
            program = self.started("femu-4g", job, 'host.power_cut_at=["1ms"]', "host.power_off_time=1ms")
            self.let_run(program, draw.uniform(0.05, 1.2))
            self.ends_soon(program, draw.choice((signal.SIGINT, signal.SIGTERM)))
            names = {p.name for p in (self.dir / "out").iterdir()}
            self.assertTrue(names & {"result.json", "failed.json"}, names)
            self.assertFalse([name for name in names if name.endswith(".part")], names)
            if "result.json" in names:
                j = json.loads((self.dir / "out" / "result.json").read_text())
                self.assertIs(j["interrupted"], True)
                for line in j.get("books") or []:
                    self.assertEqual(line["left"], line["right"], line)

    def test_requests_that_wait_in_the_host_are_dropped(self):
        program = self.started("tiny-test", self.job("long", *LONG, "numjobs=4"), "host.queue_pairs=1", "host.queue_entries=4")
        self.let_run(program, 0.3)
        self.ends_soon(program, signal.SIGINT)
        books = {b["line"]: b for b in json.loads((self.dir / "out" / "result.json").read_text())["books"]}
        self.assertEqual(books["requests issued = completed"]["left"], books["requests issued = completed"]["right"])

    def test_saving(self):
        program = self.started("tiny-test", self.job("short", "rw=randread", "bs=4k", "number_ios=10"), *BIG, "precondition.state=random",
                               "precondition.overwrite=100%", more=("--save-drive", "drive"))
        end = time.monotonic() + 120
        while not (self.dir / "drive.part").exists() and program.poll() is None and time.monotonic() < end:
            pass
        if program.poll() is not None:
            return  # it was saved before anybody could look
        self.ends_soon(program, signal.SIGTERM)
        self.assertFalse((self.dir / "drive.part").exists())
        j = json.loads((self.dir / "out" / "result.json").read_text())
        self.assertEqual(j["commands"], 10)
        self.assertEqual((self.dir / "drive").exists(), not any("not saved" in n for n in j["notes"]))

    def test_before_anything_has_begun(self):
        os.mkfifo(self.dir / "never.fio")
        program = self.started("tiny-test", "never.fio")
        time.sleep(0.2)
        self.assertEqual(self.ends_soon(program, signal.SIGTERM), "")
        self.assertFalse((self.dir / "out").exists())


if __name__ == "__main__":
    unittest.main()
