# SPDX-License-Identifier: Apache-2.0
"""A user's mistakes: one line for each, with its place and a way out, exit code 2, nothing on standard output."""
import gzip
import json
import os
import pathlib
import re
import subprocess
import unittest

from support import BINARY, JOBS, OK, SANITIZED, TRACES, USER_ERROR, SystemTest

JOB = JOBS / "qd1_4k_randread.fio"


class ErrorTest(SystemTest):
    def refused(self, args, *patterns):
        """`args` end with exactly these lines (regular expressions) on standard error; returns them."""
        done = self.ssdtlm(*args)
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""), done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), len(patterns), done.stderr)
        for line, pattern in zip(lines, patterns):
            self.assertRegex(line, "^" + pattern)
        self.assertFalse((self.dir / "out").exists(), "a refused run left a result directory")
        return lines

    def run_args(self, device="tiny-test", workload=JOB, *more):
        devices = device if isinstance(device, list) else [device]
        return ["run", *devices, "-w", workload, "-o", "out", *more]


class ConfigErrors(ErrorTest):
    def device(self, text):
        return ["tiny-test", self.write("drive.toml", text)]

    def test_typo_in_key(self):
        self.refused(
            self.run_args(self.device('[nand]\nt_raed = "75us"\n')), r"drive\.toml:2:1: .*nand\.t_raed.*nand\.t_read'\?$"
        )

    def test_typo_in_table(self):
        self.refused(self.run_args(self.device("[nandd]\nx = 1\n")), r"drive\.toml:1:2: .*\[nandd\].*\[nand\]\?$")

    def test_unknown_unit(self):
        for value, unit in (("75uz", "uz"), ("75MiB", "MiB")):
            self.refused(
                self.run_args(self.device(f'[nand]\nt_read = "{value}"\n')),
                rf"drive\.toml:2:10: nand\.t_read: '{value}'.*unit '{unit}'; .*ns, us, ms",
            )

    def test_duplicate_key(self):
        self.refused(
            self.run_args(self.device('[nand]\nt_read = "75us"\nt_read = "76us"\n')), r"drive\.toml:3:1: .*t_read.*twice"
        )

    def test_out_of_range(self):
        self.refused(self.run_args(self.device("[nand]\nbits_per_cell = 9\n")), r"drive\.toml:2:17: .*9.*range; 1\.\.5$")

    def test_no_toml(self):
        self.refused(self.run_args(self.device("[nand\n")), r"drive\.toml:1:\d+: .*TOML")

    def test_all_at_once(self):
        text = '[nand]\nbits_per_cell = 9\nt_raed = 3\n[gc]\npolicy = "gredy"\n[nandd]\nx = 1\n'
        patterns = [
            r"drive\.toml:2:17: .*bits_per_cell",
            r"drive\.toml:3:1: .*t_raed",
            r"drive\.toml:5:10: .*gredy.*greedy",
            r"drive\.toml:6:2: .*nandd",
        ]
        self.refused(self.run_args(self.device(text)), *patterns)
        self.refused(["config", "check", *self.device(text)], *patterns)

    def test_two_files(self):
        self.write("a.toml", "[nand]\nbits_per_cell = 9\n")
        self.write("b.toml", '[gc]\npolicy = "gredy"\n')
        self.refused(self.run_args(["tiny-test", "a.toml", "b.toml"]), r"a\.toml:2:17: ", r"b\.toml:2:10: ")

    def test_check_as_json(self):
        done = self.ssdtlm("config", "check", *self.device("[nand]\nbits_per_cell = 9\n"), "--json")
        self.assertEqual(done.returncode, USER_ERROR)
        problems = json.loads(done.stdout)
        self.assertEqual([p["where"] for p in problems], ["drive.toml:2:17"])
        self.assertEqual(set(problems[0]), {"where", "found", "allowed", "repair"})

    def test_assignment(self):
        for assignment, pattern in (
            ("nand.t_raed=3us", r"--set nand\.t_raed=3us: .*nand\.t_read'\?$"),
            ("nand.t_read=3uz", r"--set nand\.t_read=3uz: .*unit 'uz'"),
            ("nand.t_read", r"--set nand\.t_read: .*key=value"),
            ("run.seed=-1", r"--set run\.seed=-1: .*range"),
        ):
            self.refused(self.run_args("tiny-test", JOB, "--set", assignment), pattern)

    def test_unknown_preset(self):
        self.refused(self.run_args("tiny-tset"), r"command line: .*tiny-tset.*mqsim-table3.*'tiny-test'\?$")

    def test_a_program_whose_tree_has_gone(self):
        """It says where it has looked and how to repair, for devices and for job files."""
        configs = f"{os.environ['SSDTLM_SOURCE']}/configs".encode()
        gone = b"/_" + configs[2:]  # the end of the text may be part of other texts, too
        program = self.dir / "bin" / "ssdtlm"
        program.parent.mkdir()
        image = pathlib.Path(BINARY).read_bytes()
        self.assertIn(configs + b"\0", image)
        program.write_bytes(image.replace(configs + b"\0", gone + b"\0"))
        program.chmod(0o755)
        for words, found, kind in ((["config", "presets"], "config presets: no presets", "device"), (["config", "presets", "--json"], "config presets: no presets", "device"),
                                   (["run", "s4500", "-w", self.job("few", "rw=read", "number_ios=1")], "command line: no device 's4500'", "device"),
                                   (["config", "show", "s4500"], "command line: no device 's4500'", "device"),
                                   (["run", self.write("d.toml", ""), "-w", "random_mix"], "no workload 'random_mix'", "workload")):
            with self.subTest(words):
                done = self.ssdtlm(*words, binary=program)
                self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
                self.assertIn(f"{found}, and nothing that comes with the program is in {self.dir}/share/ssdtlm/configs/{kind}, {gone.decode()}/{kind}; install again, or ", done.stderr)
        done = self.ssdtlm("config", "workloads", binary=program)
        self.assertEqual(done.returncode, OK)
        self.assertIn("tpcc", done.stdout)
        self.assertIn("config workloads: no job files, and nothing that comes with the program is in ", done.stderr)

    def test_missing_device_file(self):
        self.refused(self.run_args("nosuch.toml"), r"command line: .*nosuch\.toml")


class CommandLineErrors(ErrorTest):
    def test_unknown_option(self):
        self.refused(self.run_args("tiny-test", JOB, "--seeed", "4"), r"command line: .*--seeed.*'--seed'\?$")

    def test_unknown_subcommand(self):
        self.refused(["rnu", "tiny-test"], r"command line: .*'rnu'.*'run'\?$")
        self.refused(["config", "shw", "tiny-test"], r"command line: .*'shw'.*'show'\?$")

    def test_nothing(self):
        self.refused([], r"command line: no command.*run, serve, config, trace")
        self.refused(["run"], r"command line: .*device")
        self.refused(["run", "tiny-test"], r"command line: .*--workload")

    def test_value(self):
        for seed in ("x", "99999999999999999999999", "18446744073709551615", "-1", "1.5"):
            self.refused(self.run_args("tiny-test", JOB, f"--seed={seed}"), rf"--seed {seed}: run.seed: .*{seed}.*; (a whole number, )?0\.\.9223372036854775807$")
        trace = TRACES / "msr.csv"
        for option in ("--replay-depth", "--replay-loops", "--replay-jobs"):
            for number in ("x", "-1", "0", "1.5", "4294967296", "99999999999999999999999", "5k k"):
                self.refused(self.run_args("tiny-test", trace, f"{option}={number}"), rf"command line: {option} '{number}'; a whole number, 1\.\.4294967295; .*; for example \d+$")
        self.refused(["trace", "head", trace, "-n", "x"], r"command line: -n 'x'; a whole number, 0\.\.4294967295; ")
        for factor in ("x", "-1", "0", "nan", "inf", "1e300"):
            self.refused(self.run_args("tiny-test", trace, f"--time-scale={factor}"), rf"command line: --time-scale '{factor}'; a number above 0, at most 1e\+09, ")
            self.refused(["serve", "tiny-test", "--socket", "s", f"--rate={factor}"], rf"command line: --rate '{factor}'; a number above 0, at most 1000, ")
        self.refused(
            self.run_args("tiny-test", TRACES / "msr.csv", "--replay", "close"), r"command line: .*'close'.*'closed'\?$"
        )

    def test_several_values_that_are_no_list(self):
        self.refused(self.run_args("tiny-test", JOB, "--set", "nvme.namespaces=8GiB, 6GiB"),
                     r".*nvme\.namespaces: '8GiB, 6GiB' is no list; one value, or a list of them; write \[\"8GiB\", \"6GiB\"\]$")
        self.refused(self.run_args("tiny-test", JOB, "--set", "nvme.fetch_windows=4,8"), r".*nvme\.fetch_windows: .*'4,8' is no list; .*; write \[4, 8\]$")

    def test_a_hint_that_does_not_help_is_not_given(self):
        done = self.ssdtlm(*self.run_args("tiny-test", JOB, "--set", "ftl.mapping=fast"))
        self.assertIn("at most 11MiB", done.stderr)
        self.assertNotIn("gc.least_invalid", done.stderr)

    def test_names_that_were_typed(self):
        done = self.ssdtlm("run", "tiny-test", "-w", "-", "-o", "out", stdin="hello\n")
        self.assertRegex(done.stderr, r"^standard input: no known trace format")
        trace = (TRACES / "msr.csv").read_text()
        done = self.ssdtlm("run", "tiny-test", "-w", "-", "-o", "out", "--trace-format", "msr", stdin=trace + "x,y\n")
        self.assertRegex(done.stderr, r"^standard input:1: request of 8192 B")
        self.refused(self.run_args("tiny-test", JOB, "--only", "foo"), r"command line: --only foo; a flow: [^;]*$")
        words = ("--ioengine=libaio", "--rw=randread", "--bs=16k", "--size=64k", "--filesize=4m", "-o", "out")
        done = self.ssdtlm("run", "tiny-test", *words)
        self.assertIn("files of the jobs: 4194304 bytes", done.stdout)
        self.assertNotIn("filesize has no effect", done.stdout)
        done = self.ssdtlm("run", "tiny-test", *words, "--filename=/dev/nvme0n1")
        self.assertIn("filesize has no effect", done.stdout)

    def test_output_directory(self):
        self.write("file", "")
        for path in ("file/x", "file", "/proc/x", "/dev/null"):
            self.refused(["run", "tiny-test", "-w", JOB, "-o", path], rf"-o {path}: .*folder")

    def test_device_workload_and_output_at_once(self):
        self.write("file", "")
        job = self.write("job.fio", "[j]\nrw=randraed\nsize=1g\n")
        bad = ["tiny-test", self.write("drive.toml", '[nand]\nt_raed = "75us"\n')]
        lines = (r"drive\.toml:2:1: .*t_raed", r"job\.fio:2:1: .*randraed", r"-o file/x: .*folder")
        self.refused(["run", *bad, "-w", job, "-o", "file/x"], *lines)
        self.refused(["run", "tiny-test", "-w", job, "-o", "file/x"], lines[1], r"job\.fio:3:1: .*beyond the end", lines[2])
        self.refused(["run", *bad, "-w", job], *lines[:2])
        # What depends on the device is not said of a device that is not known.
        self.write("job.fio", "[j]\nrw=randread\nsize=1g\n")
        self.refused(["run", *bad, "-w", job, "-o", "out"], lines[0])
        self.refused(["run", *bad, "-w", "nosuch.csv", "-o", "file"], lines[0], r"-o file: .*folder")

    def test_default_output_directory(self):
        self.write("results", "")
        self.refused(["run", "tiny-test", "-w", JOB], r"default output folder results/tiny-test-qd1_4k_randread: ")


class FioErrors(ErrorTest):
    def fio(self, text):
        return self.run_args("tiny-test", self.write("job.fio", text))

    def test_unknown_option(self):
        self.refused(self.fio("[j]\nrw=read\niodpeth=4\n"), r"job\.fio:3:1: .*iodpeth.*'iodepth'\?$")

    def test_wrong_value(self):
        self.refused(self.fio("[j]\nrw=randraed\n"), r"job\.fio:2:1: .*randraed.*'randread'\?$")

    def test_several(self):
        self.refused(
            self.fio("[j]\nrw=randraed\nioodepth=4\nbs=4q\n[k]\nrw=read\niodepth=0\n"),
            r"job\.fio:2:1: ",
            r"job\.fio:3:1: ",
            r"job\.fio:4:1: .*4q",
            r"job\.fio:7:1: .*iodepth=0",
        )

    def test_larger_than_the_device(self):
        capacity = 12 << 20
        for text in ("[j]\nrw=randread\nsize=1g\n", "[j]\nrw=randread\noffset=100m\n"):
            self.refused(self.fio(text), rf"job\.fio:\d+:1: job 'j': .*{capacity}")

    def test_no_job(self):
        for text in ("", "[global]\nrw=read\n"):
            self.refused(self.fio(text), r"job\.fio: no job")

    def test_missing(self):
        self.refused(self.run_args("tiny-test", "nosuch.fio"), r"nosuch\.fio: .*path")

    def test_no_text(self):
        (self.dir / "job.fio").write_bytes(bytes(range(256)))
        done = self.ssdtlm(*self.run_args("tiny-test", "job.fio"))
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertIsNone(re.search(r"[\x00-\x09\x0b-\x1f\x7f]", done.stderr))
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("job.fio"), line)


class TraceErrors(ErrorTest):
    def broken(self):
        lines = (TRACES / "msr.csv").read_text().splitlines()
        lines[4] = lines[4].replace("Read", "Raed").replace("Write", "Wriet")
        lines[6] = re.sub(r",\d+$", ",x", lines[6])
        lines[8] = "junk"
        return self.write("broken.csv", "\n".join(lines) + "\n"), lines

    def test_broken_lines(self):
        path, lines = self.broken()
        columns = [len(",".join(lines[4].split(",")[:3])) + 2, len(lines[6]), 1]
        patterns = [rf"broken\.csv:{n}:{c}: found '.*'; expected " for n, c in zip((5, 7, 9), columns)]
        patterns.append(rf"broken\.csv: 3 lines of {len(lines)} .*--trace-skip-broken")
        self.refused(self.run_args("mqsim-table3", path), *patterns)
        self.refused(["trace", "info", path], *patterns)

    def test_beyond_the_device(self):
        first = (TRACES / "msr.csv").read_text().splitlines()[0].split(",")
        done = self.ssdtlm(*self.run_args("tiny-test", TRACES / "msr.csv"))
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], rf"msr\.csv:1: request of {first[5]} B at {first[4]} B .*{12 << 20} B")
        self.assertRegex(lines[-1], r"msr\.csv: \d+ requests .*--trace-beyond")
        self.assertLessEqual(len(lines), 11, "a long trace must not flood the terminal")

    def test_missing(self):
        self.refused(self.run_args("tiny-test", "nosuch.csv"), r"nosuch\.csv: .*No such file")

    def test_no_trace(self):
        self.write("odd.csv", "hello\nworld\n")
        self.refused(self.run_args("tiny-test", "odd.csv"), r"odd\.csv: no known trace format.*msr.*systor.*mqsim.*blkparse.*trace formats")

    def test_columns(self):
        path = TRACES / "msr.csv"
        self.refused(self.run_args("tiny-test", path, "--trace-columns", "tiem:s,op"), r".*'tiem' has no meaning.*'time'\?$",
                     r".*no column 'offset'", r".*no column 'size'")
        self.refused(self.run_args("tiny-test", path, "--trace-format", "columns"), r"command line: .*--trace-columns$")
        self.refused(self.run_args("tiny-test", path, "--trace-format", "msr", "--trace-columns", "op,offset,size"),
                     r"command line: .*give one of them$")

    def test_first_column_wrong_in_every_line(self):
        lines = [line.replace("1", "I", 1) for line in (TRACES / "msr.csv").read_text().splitlines()]
        path = self.write("broken.csv", "\n".join(lines) + "\n")
        patterns = [rf"broken\.csv:{n}:1: found 'I\d+'; expected a timestamp .*column 1 of 7" for n in range(1, 11)]
        patterns.append(rf"broken\.csv: {len(lines)} lines of {len(lines)} lines cannot be read as msr")
        self.refused(self.run_args("mqsim-table3", path), *patterns)

    @unittest.skipIf(SANITIZED, "what a sanitizer keeps of freed memory is more than the limit")
    def test_a_line_without_end(self):
        """As .gz a few kilobytes; read as it stands it would fill the memory."""
        with gzip.open(self.dir / "endless.gz", "wb", 1) as out:
            out.write((TRACES / "msr.csv").read_bytes())
            for _ in range(256):
                out.write(b"7" * (1 << 20))
        for more, code in (([], USER_ERROR), (["--trace-skip-broken"], OK)):
            with open(self.dir / "said", "w+", encoding="utf-8") as said:
                words = [BINARY, "trace", "info", "endless.gz", *more]
                child = subprocess.Popen(words, cwd=self.dir, stdout=said, stderr=said)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                said.seek(0)
                text = said.read()
            self.assertEqual(child.returncode, code, text)
            self.assertRegex(text, r"1 line that cannot be read" if more else
                             r"^endless\.gz:161:65537: found a line of more than 64 KiB")
            self.assertLess(usage.ru_maxrss, 128 << 10, "KiB; the line has 256 MiB")

    def test_wrong_format(self):
        self.refused(
            self.run_args("tiny-test", TRACES / "msr.csv", "--trace-format", "mrs"), r"command line: .*'mrs'.*'msr'\?$"
        )


if __name__ == "__main__":
    unittest.main()
