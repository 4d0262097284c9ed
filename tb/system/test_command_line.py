# SPDX-License-Identifier: Apache-2.0
"""The program at a prompt: help, man page, completion, names of any bytes, and an output that cannot be written."""
import json
import os
import re
import shutil
import subprocess
import unittest

from support import BINARY, JOBS, NOT_WRITTEN, OK, PRESETS, PROGRESS, TRACES, USER_ERROR, SystemTest

JOB = JOBS / "qd1_4k_randread.fio"
FULL = "/dev/full"


def commands(ssdtlm, path=()):
    """All commands that run something, from the help."""
    text = ssdtlm("help", *path).stdout
    below = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    if not below:
        return [path]
    names = re.findall(r"^  (\w+)", below[1], re.M)
    return [c for name in names for c in commands(ssdtlm, (*path, name))]


def long_options(ssdtlm, command):
    return set(re.findall(r"^  (?:-\w, )?(--[a-z][\w-]*)", ssdtlm("help", *command).stdout, re.M))


class Help(SystemTest):
    def text(self, *words):
        done = self.ssdtlm(*words)
        self.assertEqual((done.returncode, done.stderr), (OK, ""), words)
        return done.stdout

    def test_every_command_is_explained(self):
        all_commands = commands(self.ssdtlm)
        self.assertIn(("config", "show"), all_commands)
        for command in [(), ("config",), ("trace",), *all_commands]:
            page = self.text("help", *command)
            self.assertEqual(page, self.text(*command, "--help"))
            self.assertEqual(page, self.text(*command, "-h"))
            self.assertIn("\nusage: " + " ".join(("ssdtlm", *command)), page)
            self.assertLessEqual(max(map(len, page.splitlines())), 80, page)
            self.assertIn(page.splitlines()[0].split()[0], self.text("help", *command[:-1]))
        self.assertEqual(self.text("help"), self.text("--help"))

    def test_groups(self):
        page = self.text("help", "run")
        groups = re.findall(r"^(\w[\w ]*):$", page, re.M)
        for group in ("Device", "Workload", "Results", "Block traces", "Waveform"):
            self.assertIn(group, groups)
        self.assertEqual(groups[-1], "Options", "what every command has comes last")
        self.assertEqual(len(groups), len(set(groups)))

    def test_version(self):
        self.assertRegex(self.text("version"), r"^ssdtlm \d+\.\d+\.\d+\n$")
        for words in (["-v"], ["--version"]):
            self.assertEqual(self.text(*words), self.text("version"))

    def test_unknown_topic(self):
        done = self.ssdtlm("help", "config", "shw")
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertRegex(done.stderr, r"'ssdtlm config shw'.*check, show.*did you mean 'show'\?\n$")

    def test_man_page(self):
        page = self.text("manual")
        plain = page.replace("\\-", "-")
        for command in commands(self.ssdtlm):
            self.assertIn(".SS ssdtlm " + " ".join(command) + "\n", plain)
            for option in long_options(self.ssdtlm, command):
                self.assertIn(f"\\fB{option}\\fR", plain)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-Tascii"], input=page, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (OK, ""))
            self.assertIn("EXIT STATUS", re.sub(r".\x08|\x1b\[\d*m", "", done.stdout))


@unittest.skipUnless(shutil.which("bash"), "no bash")
class Completion(SystemTest):
    """What bash offers at the end of a line; bash splits words at '=' before it asks."""

    def offers(self, line):
        words = [w for part in line.split(" ") for w in re.split(r"(=)", part) if w != "" or "=" not in part]
        quoted = " ".join("'" + w + "'" for w in words)
        script = (f"source <('{BINARY}' completion bash)\nCOMP_WORDS=({quoted})\nCOMP_CWORD={len(words) - 1}\n"
                  "_ssdtlm\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
        path = os.path.dirname(BINARY) + os.pathsep + os.environ["PATH"]
        done = subprocess.run(["bash", "-u", "-c", script], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "PATH": path})
        self.assertEqual(done.stderr, "", line)
        return sorted(done.stdout.split("\n")[:-1]) if done.stdout.strip() else []

    def test_commands(self):
        self.assertEqual(self.offers("ssdtlm r"), ["report", "run"])
        self.assertEqual(self.offers("ssdtlm config s"), ["schema", "show"])
        self.assertEqual(self.offers("ssdtlm completion "), ["bash", "fish", "zsh"])

    def test_every_option_of_every_command(self):
        for command in commands(self.ssdtlm):
            offered = self.offers(" ".join(("ssdtlm", *command, "--")))
            self.assertEqual(set(offered), long_options(self.ssdtlm, command), command)

    def test_words_of_an_option(self):
        for line in ("ssdtlm run --replay ", "ssdtlm run tiny-test --replay=", "ssdtlm run --replay c"):
            self.assertEqual(self.offers(line), ["closed"] if line.endswith("c") else ["closed", "stamped"])
        self.assertIn("blkparse", self.offers("ssdtlm trace info x --trace-format "))
        self.assertEqual(self.offers("ssdtlm run --seed "), [])

    def test_files_and_presets(self):
        self.write("a job.fio", "")
        self.write("mine.toml", "")
        (self.dir / "folder").mkdir()
        self.assertEqual(self.offers("ssdtlm run tiny-test -w a"), ["a job.fio"])
        self.assertEqual(self.offers("ssdtlm run -o "), ["folder"])
        self.assertEqual(self.offers("ssdtlm run tiny-test --report=m"), ["mine.toml"])
        self.assertEqual(self.offers("ssdtlm run "), sorted(PRESETS + ["a job.fio", "mine.toml", "folder"]))
        self.assertEqual(self.offers("ssdtlm config check tiny"), ["tiny-test"])

    def test_parameters(self):
        self.assertEqual(self.offers("ssdtlm run tiny-test --set nand.t_r"), ["nand.t_read="])
        self.assertEqual(self.offers("ssdtlm run tiny-test --set nand.t_read="), [])
        self.assertEqual(self.offers("ssdtlm run tiny-test --set nand.t_read=6"), [])
        self.assertEqual(self.offers("ssdtlm run tiny-test --set nand.t_read=60us --replay-d"), ["--replay-depth"])


class Wave(SystemTest):
    def test_scopes_as_a_word_of_their_own(self):
        for words in (["--wave=all"], ["--wave", "all"], ["--wave"], ["--wave", "host,channel[0]"]):
            out = "-".join(words).strip("-")
            done = self.ssdtlm("run", *words, "tiny-test", "-w", JOB, "-o", out, "-q", "--wave-to", "1ms")
            self.assertEqual((done.returncode, done.stderr), (OK, ""), words)
        self.assertEqual((self.dir / "wave" / "wave.vcd").read_bytes(), (self.dir / "wave-all" / "wave.vcd").read_bytes())

    def test_mistyped_scope(self):
        done = self.ssdtlm("run", "--wave", "chanel[0]", "tiny-test", "-w", JOB, "-q")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertRegex(done.stderr, r"--wave scope 'chanel' does not exist.*'channel'")


class Output(SystemTest):
    def test_a_full_disk_is_no_success(self):
        """Of every command that prints, whether it prints little or much."""
        arguments = {("config", "check"): ["tiny-test"], ("config", "show"): ["tiny-test"], ("config", "derive"): ["tiny-test"], ("completion",): ["bash"],
                     ("run",): ["tiny-test", "-w", JOB, "-o", "out"], ("trace", "info"): [TRACES / "msr.csv"],
                     ("trace", "head"): [TRACES / "msr.csv", "-n", 200],
                     ("wave", "check"): ["seed1/wave.vcd"], ("compare",): ["seed1", "seed2"], ("explain",): ["seed1"],
                     ("sweep", "plan"): ["sweep.toml"], ("sweep", "status"): ["sweep.toml"]}
        self.write("sweep.toml", f'device = "tiny-test"\nworkload = "{JOB}"\n')
        for seed in (1, 2):
            self.simulate("tiny-test", JOB, "--seed", seed, "--wave=channel[0].pins", "--wave-to=1ms", output=f"seed{seed}")
        for command in commands(self.ssdtlm):
            if command in (("report",), ("config", "import"), ("python", "setup"), ("python", "check"), ("search",), ("fit",), ("study",), ("guest",), ("serve",)) or (command[0] == "sweep" and command not in arguments):
                continue  # they need what is not everywhere; they print by the same function as compare
            words = [*command, *arguments.get(command, [])]
            for more in ([], ["--json"]):
                if more and "--json" not in self.ssdtlm("help", *command).stdout:
                    continue
                with open(FULL, "w", encoding="utf-8") as full:
                    done = subprocess.run([BINARY, *map(str, words + more)], cwd=self.dir, stdout=full,
                                          stderr=subprocess.PIPE, text=True, timeout=600)
                self.assertEqual((done.returncode, done.stderr),
                                 (NOT_WRITTEN, "ssdtlm: standard output cannot be written\n"), words + more)

    def test_names_of_any_bytes(self):
        """Linux file names need not be UTF-8; what is written has to be."""
        name = b"j\xff\xfe".decode(errors="surrogateescape")
        shutil.copy(JOB, self.dir / f"{name}.fio")
        shutil.copy(TRACES / "msr.csv", self.dir / f"{name}.csv")
        shutil.copy(JOBS.parent / "device" / "hexa-16g.toml", self.dir / f"{name}.toml")
        for workload in ("fio", "csv"):
            for form in ("", "--json"):
                words = ["run", f"{name}.toml", "-w", f"{name}.{workload}", "-o", f"{name}-{workload}{form}", "--timeline",
                         "--wave=host", *([form] if form else [])]
                done = subprocess.run([BINARY, *words], cwd=self.dir, capture_output=True, timeout=600)
                self.assertEqual((done.returncode, PROGRESS.sub("", done.stderr.decode())), (OK, ""))
                if form:
                    json.loads(done.stdout.decode())
        for words in (["trace", "info", f"{name}.csv", "--json"], ["config", "show", f"{name}.toml", "--json"],
                      ["config", "check", name, "--json"], ["config", "check", "tiny-test", "--set", f"{name}=1", "--json"]):
            done = subprocess.run([BINARY, *words], cwd=self.dir, capture_output=True, timeout=600)
            self.assertIn(done.returncode, (OK, USER_ERROR))
            json.loads(done.stdout.decode())
        files = list(self.dir.rglob("*.json"))
        self.assertGreaterEqual(len(files), 4 * 3)
        for file in files:
            json.loads(file.read_text(encoding="utf-8"))

    def test_results_stay_in_results(self):
        for device in ("../../outside", "/etc/x", "..", "a/../../b", "new\nline"):
            self.write("device.toml", "name = " + json.dumps(device) + "\n")
            done = self.ssdtlm("run", "tiny-test", "device.toml", "-w", JOB, "-q")
            self.assertEqual((done.returncode, done.stderr), (OK, ""), device)
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["device.toml", "results"])
        results = [p.parent for p in self.dir.rglob("result.json")]
        self.assertEqual({p.parent for p in results}, {self.dir / "results"})
        self.assertEqual(len(results), 5)


if __name__ == "__main__":
    unittest.main()
