# SPDX-License-Identifier: Apache-2.0
"""The folder of a run: for one run at a time, never with results of two, and what happens when it cannot be written."""
import json
import os
import resource
import shutil
import signal
import subprocess
import unittest

from support import BINARY, INTERRUPTED, NOT_WRITTEN, OK, SETTINGS, USER_ERROR, Result, SystemTest

ALL = {"result.json", "latency.csv", "latency_bins.csv", "latency_by_job.csv", "slowest.json", "timeseries.csv", "fio.json", "wall_clock.json"}


class Folder(SystemTest):
    def setUp(self):
        super().setUp()
        self.long = self.job("long", "rw=randrw", "bs=4k", "iodepth=32", "runtime=100000", "time_based")
        self.short = self.job("short", "rw=randread", "bs=4k", "number_ios=1000", "norandommap")

    def command(self, job, *args, output="out"):
        return [BINARY, "run", *SETTINGS, "tiny-test", "-w", job, "-o", output, *args]

    def started(self, *args):
        program = subprocess.Popen(self.command(self.long, *args), cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.kill)
        self.let_run(program)
        return program

    def names(self, folder="out"):
        return {p.name for p in (self.dir / folder).iterdir()}

    def test_two_runs_in_one_folder(self):
        first = self.started("-q")
        for again in ("out", "./out/", str(self.dir / "out")):
            done = self.ssdtlm("run", "tiny-test", "-w", self.short, "-o", again)
            self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
            self.assertEqual(done.stderr, f"-o {again}: another run is writing its results there; a folder for each run; "
                                          "choose another one with -o, or wait for the end of that run\n")
        self.assertEqual(self.ssdtlm("run", "tiny-test", "-w", self.short, "-o", "other").returncode, OK)
        first.send_signal(signal.SIGINT)
        self.assertEqual(first.communicate(timeout=120), ("", ""))
        self.assertEqual(first.returncode, INTERRUPTED)
        self.assertEqual(Result(self.dir / "out").json()["workload"], "long.fio")
        self.simulate("tiny-test", self.short)
        self.assertEqual(Result(self.dir / "out").json()["workload"], "short.fio")
        self.assertEqual(self.names(), ALL)

    def test_nothing_of_two_runs(self):
        self.simulate("tiny-test", self.short)
        self.assertEqual(self.names(), ALL)
        # A run that is refused has not begun.
        self.assertEqual(self.ssdtlm("run", "tiny-test", "-w", self.write("bad.fio", "[j]\nrw=raed\n"), "-o", "out").returncode, USER_ERROR)
        self.assertEqual(self.names(), ALL)
        program = self.started("-q")
        self.assertEqual(self.names() & ALL, set())
        program.kill()
        program.communicate()
        self.assertEqual(self.names() & ALL, set())
        # The lock has gone with it, and what it left is cleared away.
        (self.dir / "out" / "result.json.part").write_text("half")
        self.simulate("tiny-test", self.short)
        self.assertEqual(self.names(), ALL)

    def refused(self, words, *args):
        before = {p: p.read_bytes() for p in self.dir.rglob("*") if p.is_file()}
        done = self.ssdtlm("run", *args)
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertIn(words, done.stderr)
        self.assertEqual({p: p.read_bytes() for p in self.dir.rglob("*") if p.is_file()}, before)

    def test_no_output_in_the_place_of_another_file(self):
        (self.dir / "ok").mkdir()
        self.write("device.toml", 'based_on = "tiny-test"\n')
        (self.dir / "link.toml").symlink_to("device.toml")
        run = ("device.toml", "-w", self.short, "-q", "-o", "ok")
        for option in ("--save-drive=", "--report="):
            for name in ("result.json", "latency.csv", "failed.json", "trace.json", "wave.names/1.txt", "rtl_scheduler_0.fst", "result.json.part", "../ok/./fio.json"):
                self.refused(f"{option[:-1]} ok/{name}: the results have a file of this name; a file of its own; give another path", *run, f"{option}ok/{name}")
            for path in ("device.toml", "./device.toml", "link.toml", str(self.dir / "device.toml")):
                self.refused(f"{option[:-1]} {path}: the run reads this file (the device)", *run, option + path)
            self.refused("the run reads this file (--workload)", *run, option + self.short)
        self.refused("--save-drive x: is the file of --report too", *run, "--save-drive=x", "--report=./x")
        for folder in ("new", "new/", "new/deeper"):
            self.refused("new: the results need a folder of this name", *run[:-1], folder, "--save-drive=new")
        (self.dir / "ok" / "fio.json").write_bytes((self.dir / self.short).read_bytes())
        self.refused("-o ok: the results would replace ok/fio.json, which the run reads (--workload)", "device.toml", "-w", "ok/fio.json", "-o", "ok")

    def test_a_drive_saved_beside_the_results(self):
        for name in ("new/drive", "deep/drive", "ok/drive"):
            folder = name.split("/")[0] + ("/er" if name.startswith("deep") else "")
            for _ in range(2):
                self.simulate("tiny-test", self.short, "--save-drive", name, output=folder)
                self.assertGreater((self.dir / name).stat().st_size, 1000)
            self.simulate("tiny-test", self.short, "--set", f"precondition.from={name}", "--save-drive", name, output=folder)

    def test_nothing_that_an_earlier_run_recorded(self):
        logs = self.job("logged", "rw=read", "bs=4k", "number_ios=200", "write_bw_log=a", "write_lat_log=a", "log_avg_msec=1")
        self.simulate("tiny-test", logs, "--wave", "--timeline", "--timeline-to", "1ms")
        recorded = {"wave.vcd", "wave.gtkw", "wave.names", "trace.json"} | {f"a_{kind}.1.log" for kind in ("bw", "clat", "slat", "lat")}
        self.assertEqual(self.names(), ALL | recorded)
        self.assertEqual(sorted(json.loads((self.dir / "out" / "wall_clock.json").read_text())["files"]), sorted(n for n in recorded if n.endswith(".log")))
        for mine in ("b_bw.1.log", "mine.json", "notes.log"):
            (self.dir / "out" / mine).write_text("mine")
        (self.dir / "out" / "report.html").write_text("of that run")
        (self.dir / "out" / "old_bw.1.log.part").write_text("of a run that was killed")
        # Refused: nothing has begun.
        self.assertEqual(self.ssdtlm("run", "tiny-test", "-w", self.short, "-o", "out", "--wave=die[99]").returncode, USER_ERROR)
        self.assertLessEqual(recorded, self.names())
        self.simulate("tiny-test", self.short)
        self.assertEqual(self.names(), ALL | {"b_bw.1.log", "mine.json", "notes.log"})

    def test_files_have_their_names_when_they_are_whole(self):
        job = self.job("logged", "rw=randrw", "bs=4k", "iodepth=32", "runtime=100000", "time_based", "write_iops_log=a")
        program = subprocess.Popen(self.command(job, "-q", "--timeline", "--timeline-to", "1ms", "--wave", "--wave-to", "1ms"), cwd=self.dir)
        self.addCleanup(program.kill)
        self.let_run(program)
        # The waveform ended with --wave-to: it is whole.
        self.assertEqual({n for n in self.names() if not n.endswith(".part")}, {"wave.vcd"})
        program.send_signal(signal.SIGINT)
        self.assertEqual(program.wait(timeout=120), INTERRUPTED)
        self.assertEqual(self.names(), ALL | {"wave.vcd", "wave.gtkw", "wave.names", "trace.json", "a_iops.1.log"})

    @unittest.skipUnless(os.geteuid() == 0, "needs a file system of its own")
    def test_disk_that_is_full_from_the_start(self):
        disk = self.dir / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode != 0:
            self.skipTest("may not mount")
        self.addCleanup(subprocess.run, ["umount", disk])
        try:
            (disk / "fill").write_bytes(bytes(1 << 20))
        except OSError:
            pass
        done = self.ssdtlm("run", "tiny-test", "-w", self.short, "-o", "disk/out")
        self.assertEqual(done.returncode, NOT_WRITTEN)
        self.assertEqual(done.stderr, "-o disk/out: cannot be written: No space left on device; make room, or choose another folder with -o\n")
        self.assertEqual(list((disk / "out").iterdir()), [])

    def test_folder_that_is_gone_at_the_end(self):
        for quiet in ((), ("-q",)):
            program = self.started(*quiet)
            shutil.rmtree(self.dir / "out")
            program.send_signal(signal.SIGINT)
            out, err = program.communicate(timeout=120)
            self.assertEqual(program.returncode, NOT_WRITTEN)
            self.assertRegex(out, r"^long\.fio on tiny-test, seed 1: \d+ commands in ")
            self.assertIn("latency, us", out)
            self.assertNotIn("results in", out)
            self.assertRegex(err, r"^out/\S+: cannot be written: No such file or directory; make room, or choose another folder with -o\n$")

    def limited(self, kilobytes, *args):
        """No file may grow beyond that: as on a disk that is full by then."""
        return subprocess.run(self.command(self.short, *args), cwd=self.dir, capture_output=True, text=True, timeout=120,
                              restore_signals=False,  # SIGXFSZ stays ignored, as Python has it
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, kilobytes << 10)))

    def test_full_disk_at_the_end(self):
        self.simulate("tiny-test", self.short)
        done = self.limited(4)
        self.assertEqual(done.returncode, NOT_WRITTEN, done.stderr)
        self.assertRegex(done.stdout, r"^short\.fio on tiny-test, seed 1: 1000 commands in ")
        self.assertRegex(done.stderr, r"^out/\S+: cannot be written: File too large; make room, or choose another folder with -o\n$")
        self.assertFalse(self.names() & ALL, self.names())
        self.assertEqual([n for n in self.names() if n.endswith(".part")], [])
        self.simulate("tiny-test", self.short)
        self.assertEqual(self.names(), ALL)

    def test_recording_that_cannot_be_finished(self):
        # 256 KiB of it stay in memory until the end.
        done = self.limited(48, "--timeline", "--timeline-to", "4ms", "--set", "run.slowest=1")
        self.assertEqual(done.returncode, NOT_WRITTEN, done.stderr)
        self.assertRegex(done.stdout, r"^short\.fio on tiny-test, seed 1: 1000 commands in .* \(results not written: results so far\)\n")
        self.assertRegex(done.stderr, r"^out/trace\.json: cannot be written: File too large; [^\n]*\n$")
        self.assertNotIn("result.json", self.names())
        j = json.loads((self.dir / "out" / "failed.json").read_text())
        self.assertEqual((j["failure"]["kind"], j["commands"]), ("results not written", 1000))

    def test_full_disk_in_the_middle(self):
        # The waveform meets the limit first; there is room for the numbers.
        done = self.limited(64, "--wave", "--set", "run.slowest=1")
        self.assertEqual(done.returncode, NOT_WRITTEN, done.stderr)
        self.assertRegex(done.stdout, r"^short\.fio on tiny-test, seed 1: \d+ commands in .* \(results not written: results so far\)\n")
        self.assertRegex(done.stderr, r"^out/wave\.vcd: cannot be written: File too large; [^\n]*\n$")
        j = json.loads((self.dir / "out" / "failed.json").read_text())
        self.assertEqual((j["failure"]["kind"], j["failure"]["exit_code"]), ("results not written", NOT_WRITTEN))
        self.assertNotIn("result.json", self.names())


if __name__ == "__main__":
    unittest.main()
