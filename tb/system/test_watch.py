# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm run --watch`: what is sent to the viewer against the results, what is on the terminal, and that a run that is watched is the
run that is not. A terminal is a pty; what it shows is worked out by pyte (`make python`)."""
import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest

from support import BINARY, INTERRUPTED, JOBS, OK, SETTINGS, SOURCE, USER_ERROR, Result, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
from ssdtlm.watching.view import View  # noqa: E402  pylint: disable=wrong-import-position

ENVIRONMENT = SOURCE / "build" / "python"
sys.path += map(str, ENVIRONMENT.glob("lib/python3*/site-packages"))
try:
    import pyte
except ImportError:
    pyte = None

MIX = ("rw=randrw", "bs=4k", "iodepth=16", "norandommap", "io_size=10g")
SATURATED = ("--set", "precondition.state=random")


class Terminal:
    """A run whose standard error is a terminal that it controls; standard output is a pipe."""

    def __init__(self, test, *args, width=80, height=24, python=sys.executable, term="xterm-256color"):
        self.width, self.height, self.seen = width, height, b""
        self.master, self.slave = pty.openpty()
        test.addCleanup(os.close, self.slave)
        self.resize(width, height)
        self.before = termios.tcgetattr(self.slave)
        environment = {**os.environ, "TERM": term, "LC_ALL": "C.UTF-8", "SSDTLM_PYTHON": str(python)}
        # The shell has the session, as in a window: the terminal outlives the run.
        words = ["sh", "-c", 'trap : INT TERM; "$0" "$@"; exit $?', BINARY, "run", *SETTINGS, "tiny-test", "-o", "out", *map(str, args)]
        self.program = subprocess.Popen(words, cwd=test.dir, env=environment, stdin=self.slave, stdout=subprocess.PIPE, stderr=self.slave, text=True,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        test.addCleanup(self._kill)
        threading.Thread(target=self._read, daemon=True).start()

    def _kill(self):
        if self.program.poll() is None:
            os.killpg(self.program.pid, signal.SIGKILL)
        self.program.communicate()

    def send(self, number):
        """To the run alone."""
        (run,) = pathlib.Path(f"/proc/{self.program.pid}/task/{self.program.pid}/children").read_text().split()
        os.kill(int(run), number)

    def resize(self, width, height):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def _read(self):
        while True:
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                return

    def press(self, key):
        os.write(self.master, key)

    def screen(self):
        """Lines that are on it now."""
        screen = pyte.Screen(self.width, self.height)
        pyte.ByteStream(screen).feed(self.seen)
        return screen.display

    def wait_for(self, text, timeout=60):
        """The screen as soon as it shows `text`."""
        begin = time.monotonic()
        while time.monotonic() < begin + timeout:
            lines = self.screen()
            if any(re.search(text, line) for line in lines):
                return lines
            time.sleep(0.05)
        raise AssertionError(f"no {text!r} on\n" + "\n".join(self.screen()))

    def end(self):
        """(exit code, standard output); the modes of the terminal are those of before."""
        out, _ = self.program.communicate(timeout=120)
        time.sleep(0.2)  # what is still on the way to the reader
        return self.program.returncode, out, termios.tcgetattr(self.slave) == self.before

    def given_back(self):
        """Of what xterm was told: the other screen is left, the cursor is seen."""
        return self.seen.count(b"\x1b[?1049h") == self.seen.count(b"\x1b[?1049l") and self.seen.rfind(b"\x1b[?25h") >= self.seen.rfind(b"\x1b[?25l")


class WatchTest(SystemTest):
    def watched(self, *job, options=SATURATED, **more):
        return Terminal(self, "-w", self.job("mix", *MIX, *job), "--watch", *options, **more)

    def recorder(self):
        """A viewer that writes down what it is sent."""
        path = self.dir / "recorder"
        path.write_text(f"""#!/bin/sh
[ "$3" = python ] && exit 0
exec "{sys.executable}" -c '
import socket
with socket.socket(fileno=3) as lines, open("sent", "wb") as file:
    while line := lines.recv(1 << 16):
        file.write(line + b"\\n")
'
""")
        path.chmod(0o755)
        return path


class Refused(WatchTest):
    def test_no_terminal(self):
        done = self.ssdtlm("run", "tiny-test", "-w", JOBS / "qd1_4k_randread.fio", "--watch", "-o", "out")
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertEqual(done.stderr, "--watch: standard error is not a terminal; a terminal to draw on; leave it out: a line every 10 s then "
                                      "says how far the run is\n")
        self.assertFalse((self.dir / "out").exists())

    def test_with_quiet(self):
        done = self.ssdtlm("run", "tiny-test", "-w", JOBS / "qd1_4k_randread.fio", "--watch", "-q")
        self.assertEqual((done.returncode, done.stderr), (USER_ERROR, "command line: --watch and --quiet; give one of them\n"))

    def test_terminals_that_cannot_be_drawn_on(self):
        for term in ("dumb", "no-such-terminal", ""):
            terminal = self.watched("number_ios=10", term=term)
            code, out, restored = terminal.end()
            self.assertEqual((code, out, restored), (USER_ERROR, "", True), terminal.seen)
            self.assertIn(f"ssdtlm run --watch: TERM is '{term}', a terminal that cannot be drawn on".encode(), terminal.seen)
            self.assertFalse((self.dir / "out").exists())

    def test_without_python(self):
        terminal = self.watched("number_ios=10", python="/nowhere/python3")
        self.assertEqual(terminal.end(), (USER_ERROR, "", True))
        self.assertIn(b"--watch: is written in Python, and /nowhere/python3 cannot be started", terminal.seen)


class Sent(WatchTest):
    def test_intervals_add_up_to_the_run(self):
        """Counts of all intervals and of the rest after the last are those of the results; busy times too."""
        terminal = self.watched("number_ios=1500k", python=self.recorder())
        code, _, _ = terminal.end()
        self.assertEqual(code, OK, terminal.seen)
        result = Result(self.dir / "out").json()
        head, *lines = [json.loads(line) for line in (self.dir / "sent").read_text().splitlines()]
        self.assertEqual(head, {"device": "tiny-test", "workload": "mix.fio", "seed": 1})
        self.assertGreater(len(lines), 3)
        end = lines[-1]["simulated_s"]
        self.assertAlmostEqual(sum(line["interval_s"] for line in lines), end, places=9)
        rows = Result(self.dir / "out").rows("timeseries.csv")
        for op in ("read", "write"):
            ios = sum(line["operations"][op]["ios"] for line in lines)
            until = [sum(int(r[f"{op}_ios"]) for r in rows if float(r["start_ms"]) + (float(r["interval_ms"]) if whole else 0) <= end * 1e3) for whole in (1, 0)]
            self.assertTrue(until[0] <= ios <= until[1], (op, until, ios))
            mean = sum(line["operations"][op]["ios"] * line["operations"][op]["mean_us"] for line in lines) / ios
            self.assertAlmostEqual(mean, result["latency_us"][op]["total"]["mean"], delta=0.1 * mean)
            self.assertTrue(all(o["p99_us"] >= o["mean_us"] for o in (line["operations"][op] for line in lines)))
            p99 = sorted(line["operations"][op]["p99_us"] for line in lines)
            self.assertTrue(p99[0] * 0.9 <= result["latency_us"][op]["total"]["p99"] <= p99[-1] * 1.1, p99)
            self.assertEqual(lines[-1]["operations"][op]["bytes"], 4096 * lines[-1]["operations"][op]["ios"])
        self.assertLessEqual(sum(line["erased_blocks"] for line in lines), result["ftl"]["blocks_erased"])
        self.assertGreater(sum(line["moved_pages"] for line in lines), 0.5 * result["ftl"]["gc_pages"])
        self.assertTrue(all(0 <= line["outstanding"] <= 16 for line in lines))
        for name, found in result["resources"].items():
            busy = sum(line["interval_s"] * r["mean"] for line in lines for r in line["resources"] if r["name"] == name)
            self.assertLessEqual(busy, found["busy_mean"] * result["simulated_s"] * 1.001)
            self.assertAlmostEqual(busy / end, found["busy_mean"], delta=0.05)
        fractions = [line["fraction"] for line in lines]
        self.assertEqual(fractions, sorted(fractions))
        self.assertLessEqual(max(b - a for a, b in zip([0] + [line["wall_s"] for line in lines], [line["wall_s"] for line in lines])), 5)
        print(f"{len(lines)} lines of {len(json.dumps(lines[-1]))} characters in {lines[-1]['wall_s']:.1f} s", flush=True)

    def test_the_results_are_those_of_any_run(self):
        job = self.job("mix", *MIX, "number_ios=100k")
        terminal = Terminal(self, "-w", job, "--watch", *SATURATED, python=self.recorder())
        code, out, restored = terminal.end()
        self.assertEqual((code, restored), (OK, True), terminal.seen)
        plain = self.simulate("tiny-test", job, *SATURATED, output="plain")
        self.assertEqual(Result(self.dir / "out").files(), plain.files())
        self.assertEqual(out.splitlines()[-1], "results in out")

    def test_a_viewer_that_ends(self):
        """The run goes on, and the terminal is given back."""
        path = self.dir / "mortal"
        path.write_text('#!/bin/sh\n[ "$3" = python ] && exit 0\nprintf "\\033[?1049h\\033[?25l" >&2; stty raw -echo <&2; kill -9 $$\n')
        path.chmod(0o755)
        terminal = self.watched("number_ios=300k", python=path)
        code, out, restored = terminal.end()
        self.assertEqual((code, restored, terminal.given_back()), (OK, True, True), terminal.seen)
        self.assertIn(b"ssdtlm: the live view ended with exit code 137; the run goes on without it", terminal.seen)
        self.assertEqual(Result(self.dir / "out").json()["commands"], 300 * 1024)
        self.assertIn("results in out", out)

    def test_a_viewer_that_does_not_read(self):
        """The run does not wait for it before its end."""
        path = self.dir / "sleeper"
        path.write_text(f'#!/bin/sh\n[ "$3" = python ] && exit 0\nuntil [ -e "{self.dir}/release" ]; do sleep 0.1; done\n')
        path.chmod(0o755)
        terminal = self.watched("number_ios=50k", python=path)
        begin = time.monotonic()
        while not (self.dir / "out" / "result.json").exists() and time.monotonic() < begin + 60:
            time.sleep(0.02)
        self.assertEqual(Result(self.dir / "out").json()["commands"], 50 * 1024)
        self.assertIsNone(terminal.program.poll(), "it waits for the viewer when the results are written")
        self.write("release", "")
        code, out, restored = terminal.end()
        self.assertEqual((code, restored), (OK, True), terminal.seen)
        self.assertIn("results in out", out)


@unittest.skipUnless(pyte, "make python")
class OnTheScreen(WatchTest):
    def test_page(self):
        terminal = self.watched("runtime=1000", "time_based")
        lines = terminal.wait_for(r"blocks/s erased, WAF \d")
        self.assertEqual(lines[0].rstrip(), "mix.fio on tiny-test, seed 1")
        self.assertRegex(lines[1], r"^\[█*░+\] +\d+\.\d %  ETA \d")
        self.assertRegex(lines[2], r"^simulated \d+\.\d{6} s in ")
        for op in ("read", "write"):
            (row,) = [line.split() for line in lines if line.startswith(op + " ")]
            self.assertEqual(len(row), 5)
            self.assertGreater(float(row[4]), float(row[3]))
        self.assertTrue(any(re.match(r"\d+ commands outstanding", line) for line in lines))
        busy = [float(line[18:24]) for line in lines if re.match(r"(die|channel bus|link|firmware core|DRAM)", line)]
        self.assertEqual(len(busy), 6)
        self.assertEqual(busy, sorted(busy, reverse=True))
        # A smaller terminal, in the middle of it.
        terminal.resize(40, 10)
        time.sleep(1.5)
        terminal.send(signal.SIGTERM)
        code, out, restored = terminal.end()
        self.assertEqual((code, restored, terminal.given_back()), (INTERRUPTED, True, True))
        self.assertIn("interrupted", out.splitlines()[0])
        print("\n".join(line.rstrip() for line in lines), flush=True)

    def test_interrupt_key(self):
        """Ctrl-C as the terminal sends it, to all of the group."""
        terminal = self.watched("runtime=1000", "time_based")
        terminal.wait_for("commands outstanding")
        terminal.press(b"\x03")
        code, out, restored = terminal.end()
        self.assertEqual((code, restored, terminal.given_back()), (INTERRUPTED, True, True), terminal.seen[-500:])
        j = self.assert_right(Result(self.dir / "out"))
        self.assertEqual(j["ended_by"], "interrupt")
        self.assertGreater(j["commands"], 0)
        self.assertIn("results in out", out)
        self.assertNotIn(b"Traceback", terminal.seen)

    def test_a_run_that_is_killed(self):
        """Nobody closes the view: it sees the end itself."""
        terminal = self.watched("runtime=1000", "time_based")
        terminal.wait_for("commands outstanding")
        terminal.send(signal.SIGKILL)
        begin = time.monotonic()
        while not terminal.given_back() and time.monotonic() < begin + 30:
            time.sleep(0.05)
        _, _, restored = terminal.end()
        self.assertTrue(restored and terminal.given_back(), terminal.seen[-500:])


class Page(unittest.TestCase):
    """The page alone."""

    def message(self, **more):
        return {"wall_s": 10.0, "fraction": 0.25, "commands": 123456, "simulated_s": 0.5, "interval_s": 0.01,
                "operations": {"read": {"ios": 100, "bytes": 409600, "mean_us": 80.5, "p99_us": 91.25},
                               "write": {"ios": 50, "bytes": 204800, "mean_us": 12.0, "p99_us": None}},
                "resources": [{"name": "die", "members": 4, "mean": 0.5, "max": 0.9, "busiest": "die 3"},
                              {"name": "link to host", "members": 1, "mean": 0.75, "max": 0.75, "busiest": "link to host"}],
                "outstanding": 7, "moved_pages": 20, "erased_blocks": 2, "free_blocks": 99, "waf": 1.5, **more}

    def lines(self, view, width=79, height=24):
        return [text for text, _ in view.lines(width, height, 3.0)]

    def test_numbers(self):
        view = View(unicode=False)
        view.take({"device": "d", "workload": "w.fio", "seed": 3})
        self.assertEqual(self.lines(view), ["w.fio on d, seed 3", "preparing the device: 3 s"])
        view.take(self.message())
        text = self.lines(view)
        self.assertIn(" 25.0 %  ETA 30 s", text[1])
        self.assertEqual(text[2], "simulated 0.500000 s in 10 s, 123.5k commands, 12.35k commands/s of host time")
        self.assertEqual([line.split() for line in text if line.startswith(("read", "write"))],
                         [["read", "10k", "41.0", "80.50", "91.25"], ["write", "5000", "20.5", "12.00", "ramp"]])
        self.assertEqual([line.split()[:4] for line in text if "%" in line][1:], [["link", "to", "host", "75.0"], ["die", "50.0", "%", "############............"]])
        self.assertIn("GC: 2000 pages/s moved, 200 blocks/s erased, WAF 1.500, 99 free blocks", text)
        view.take(self.message(interval_s=0.02))  # half the throughput
        self.assertEqual(self.lines(view)[-2], "IOPS    #=")
        self.assertTrue(view.lines(79, 24, 0)[0][1] and [bold for text, bold in view.lines(79, 24, 0) if text.startswith("die")][0])
        view.take(self.message(free_blocks=None))
        self.assertIn("GC: 2000 pages/s moved, 200 blocks/s erased, WAF 1.500, no free blocks known", self.lines(view))

    def test_any_terminal(self):
        view = View()
        view.take({"device": "d" * 50, "workload": "w" * 50, "seed": 1})
        for i in range(500):
            view.take(self.message(operations={} if i % 3 == 0 else self.message()["operations"], resources=[] if i % 5 == 0 else self.message()["resources"],
                                   waf=None if i % 2 else 1.0, interval_s=0.0 if i % 7 == 0 else 0.01, fraction=i / 499))
            for width, height in ((1, 1), (39, 10), (79, 24), (300, 60)):
                lines = self.lines(view, width, height)
                self.assertLessEqual(len(lines), height)
                self.assertLessEqual(max(map(len, lines)), width)


if __name__ == "__main__":
    unittest.main()
