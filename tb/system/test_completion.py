# SPDX-License-Identifier: Apache-2.0
"""What zsh and fish offer at the end of a line; bash is in test_command_line.py."""
import os
import subprocess
import unittest

from support import BINARY, PRESETS, SystemTest
from test_command_line import commands, long_options

# What the completion system of zsh would do with the words: print those that fit.
ZSH = """
compdef() {}
compset() { PREFIX=${PREFIX#*=} }
compadd() {
    while [[ $1 != -- ]]; do shift; done
    shift
    local word
    for word in "$@"; do [[ $word == ${PREFIX}* ]] && print -r -- $word; done
}
_files() { if [[ $1 == -/ ]]; then print -rl -- ${PREFIX}*(N/); else print -rl -- ${PREFIX}*(N); fi }
source <("$SSDTLM_BINARY" completion zsh)
"""


class Shell:
    def environment(self):
        return {**os.environ, "PATH": os.path.dirname(BINARY) + os.pathsep + os.environ["PATH"], "SSDTLM_BINARY": BINARY, "HOME": str(self.dir)}

    def test_commands(self):
        self.assertEqual(self.offers("ssdtlm r"), ["report", "run"])
        self.assertEqual(self.offers("ssdtlm config s"), ["schema", "show"])
        self.assertEqual(self.offers("ssdtlm completion "), ["bash", "fish", "zsh"])

    def test_every_option_of_every_command(self):
        for command in commands(self.ssdtlm):
            offered = {word for word in self.offers(" ".join(("ssdtlm", *command, "--"))) if word.startswith("--")}
            self.assertEqual(offered, long_options(self.ssdtlm, command), command)

    def test_values(self):
        self.write("a_job.fio", "")
        (self.dir / "folder").mkdir()
        self.assertEqual(self.offers("ssdtlm run --replay c"), ["closed"])
        self.assertEqual(self.offers("ssdtlm run --seed "), [])
        self.assertIn("a_job.fio", self.offers("ssdtlm run tiny-test -w a"))
        self.assertEqual([word.rstrip("/") for word in self.offers("ssdtlm run -o ")], ["folder"])
        self.assertTrue(set(PRESETS) <= set(self.offers("ssdtlm run ")))
        self.assertEqual(self.offers("ssdtlm config check tiny"), ["tiny-test"])

    def test_parameters(self):
        self.assertEqual(self.offers("ssdtlm run tiny-test --set nand.t_r"), ["nand.t_read="])
        self.assertEqual(self.offers("ssdtlm config show tiny-test --set gc.d_ch"), ["gc.d_choices.choices="])


class Zsh(Shell, SystemTest):
    def offers(self, line):
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        script = f"{ZSH}\nwords=({quoted}); CURRENT={len(words)}; PREFIX='{words[-1]}'\n_ssdtlm\n"
        done = subprocess.run(["zsh", "-f", "-c", script], cwd=self.dir, capture_output=True, text=True, env=self.environment(), check=False)
        self.assertEqual(done.stderr, "", line)
        return sorted(set(done.stdout.split()))


class Fish(Shell, SystemTest):
    def offers(self, line):
        script = f"source ('{BINARY}' completion fish | psub)\ncomplete -C '{line}'\n"
        done = subprocess.run(["fish", "--no-config", "-c", script], cwd=self.dir, capture_output=True, text=True, env=self.environment(), check=False)
        self.assertEqual(done.stderr, "", line)
        return sorted({row.split("\t")[0] for row in done.stdout.splitlines() if row})


if __name__ == "__main__":
    unittest.main()
