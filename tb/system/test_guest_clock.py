# SPDX-License-Identifier: Apache-2.0
"""The clock that is loaded into QEMU, alone: a small program reads it and waits by it while this test writes the page. Each reading
lies between two of the host's clock, so nothing here depends on how busy the machine is."""

import math
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["SSDTLM_SOURCE"], "python"))
from ssdtlm.guest import clock

SHIM, PROBE = os.environ["SSDTLM_GUEST_CLOCK_SHIM"], os.environ["SSDTLM_GUEST_CLOCK_PROBE"]
MS = 1_000_000


class GuestClock(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "clock"

    def start(self, *words, page=True):
        environment = dict(os.environ, LD_PRELOAD=SHIM)
        environment.pop("SSDTLM_GUEST_CLOCK", None)
        if page:
            environment["SSDTLM_GUEST_CLOCK"] = str(self.path)
        probe = subprocess.Popen([PROBE, *map(str, words)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(probe.kill)
        return probe

    def end(self, probe):
        """Returns the samples, and the word that a wait ended with."""
        text, errors = probe.communicate(timeout=60)
        self.assertEqual(probe.returncode, 0, errors)
        lines = [line.split() for line in text.splitlines()]
        return [tuple(map(int, line)) for line in lines if len(line) == 3], next((line[0] for line in lines if len(line) == 1), None)

    def on_line(self, page, samples):
        for before, now, after in samples:
            low, high = (page.base_ns + (wall - page.wall0_ns) * page.rate for wall in (before, after))
            self.assertGreaterEqual(now, math.floor(low) - 1)
            self.assertLessEqual(now, math.ceil(high) + 1)

    def test_time_is_on_the_line(self):
        for rate in (0.2, 1.0, 3.0, 0.0):
            with self.subTest(rate=rate):
                page = clock.Page(self.path, rate, base_ns=7_000 * MS)
                samples, _ = self.end(self.start("samples"))
                self.assertEqual(len(samples), 202)
                self.on_line(page, samples)

    def test_waits_are_in_guest_time(self):
        for what in ("poll", "ppoll", "condition"):
            with self.subTest(what=what):
                page = clock.Page(self.path, 0.2)
                samples, word = self.end(self.start(what, 20 * MS))
                self.assertEqual(word, "timeout")
                self.on_line(page, samples)
                begun, ended = samples
                self.assertGreaterEqual(ended[1] - begun[1], 20 * MS)
                self.assertGreaterEqual(ended[2] - begun[0], 100 * MS)

    def test_who_waits_does_not_wake_while_time_stands(self):
        for what in ("ppoll", "condition"):
            with self.subTest(what=what):
                page = clock.Page(self.path, 0.0)
                probe = self.start(what, 5 * MS)
                probe.stdout.readline()
                time.sleep(0.1)
                self.assertIsNone(probe.poll(), "it did not wait")
                page.set_rate(1.0)
                samples, word = self.end(probe)
                self.assertEqual(word, "timeout")
                self.assertGreaterEqual(samples[-1][2], page.wall0_ns + 5 * MS)

    def test_who_waits_sees_that_time_goes_faster(self):
        for what in ("ppoll", "condition"):
            with self.subTest(what=what):
                page = clock.Page(self.path, 1e-6)
                probe = self.start(what, 10 * MS)  # 10,000 s of wall time
                probe.stdout.readline()
                page.set_rate(1.0)
                self.assertEqual(self.end(probe)[1], "timeout")

    def test_a_signal_ends_a_wait(self):
        clock.Page(self.path, 0.0)
        self.assertEqual(self.end(self.start("condition", 1000 * MS, 20))[1], "signalled")

    def bounds(self, page, limit, taken):
        clock.BOUNDS.pack_into(page.memory, clock.BOUNDS_AT, limit, taken)

    def test_it_goes_no_further_than_the_model_allows(self):
        for what in ("ppoll", "condition"):
            with self.subTest(what=what):
                page = clock.Page(self.path, 1.0, base_ns=0)
                self.bounds(page, page.now() + 100 * MS, clock.NO_BOUNDS[1])
                probe = self.start(what, 200 * MS)
                probe.stdout.readline()
                time.sleep(0.3)
                self.assertIsNone(probe.poll(), "it waits for a time that is not allowed")
                self.bounds(page, *clock.NO_BOUNDS)
                self.assertEqual(self.end(probe)[1], "timeout")

    def test_a_message_stops_it_until_the_model_has_taken_it(self):
        page = clock.Page(self.path, 1.0)
        self.bounds(page, clock.NO_BOUNDS[0], 0)
        path = str(self.path) + ".socket"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            page.memory[clock.SOCKET_AT:clock.SOCKET_AT + len(path)] = path.encode()
            probe = self.start("message", path)
            model, _ = listener.accept()
            self.assertEqual(len(model.recv(100)), 40)
            stood = [probe.stdout.readline() for _ in range(10)]
            self.bounds(page, clock.NO_BOUNDS[0], 40)
            samples, _ = self.end(probe)
            model.close()
        self.assertEqual(len({line.split()[1] for line in stood[2:]}), 1, "it went on while the message was under way")
        self.assertGreater(samples[-1][1], int(stood[-1].split()[1]))

    def test_it_stands_until_who_was_woken_runs(self):
        """One thread wakes another under the mutex and keeps it for 30 ms: both see the time of the wake."""
        clock.Page(self.path, 1.0)
        samples, _ = self.end(self.start("woken", 30))
        woke, kept, runs, later = (now for _, now, _ in samples[1:5])
        self.assertGreaterEqual(samples[2][0] - samples[1][0], 30 * MS)
        self.assertEqual(kept, woke)
        self.assertLess(runs - woke, 10 * MS)
        self.assertGreaterEqual(later - runs, 20 * MS)

    def test_dates_are_the_hosts(self):
        clock.Page(self.path, 0.0)
        samples, word = self.end(self.start("date", 20 * MS))
        self.assertEqual(word, "timeout")
        self.assertEqual(samples[0][1], samples[1][1])

    def test_time_never_goes_back(self):
        page = clock.Page(self.path, 1.0, base_ns=900_000 * MS)
        probe = self.start("samples")
        probe.stdout.readline()
        page.base_ns -= 800_000 * MS
        page.set_rate(1.0)
        samples, _ = self.end(probe)
        times = [now for _, now, _ in samples]
        self.assertEqual(times, sorted(times))
        self.assertEqual(times[-1], times[-50], "it goes on before the line is there")

    def test_a_line_that_is_being_written_is_not_read(self):
        page = clock.Page(self.path, 0.0, base_ns=3_000 * MS)
        probe = self.start("samples")
        probe.stdout.readline()
        clock.COUNT.pack_into(page.memory, 0, clock.COUNT.unpack_from(page.memory, 0)[0] + 1)
        clock.LINE.pack_into(page.memory, clock.LINE_AT, 9_000 * MS, page.wall0_ns, 1.0)
        samples, _ = self.end(probe)
        self.assertEqual({now for _, now, _ in samples}, {3_000 * MS})

    def test_without_a_page_time_is_the_hosts(self):
        samples, _ = self.end(self.start("samples", page=False))
        for before, now, after in samples:
            self.assertTrue(before <= now <= after)

    def test_a_page_that_cannot_be_used_ends_the_program(self):
        def other_version():
            clock.COUNT.pack_into(clock.Page(self.path, 1.0).memory, clock.VERSION_AT, 1)
        for make, message in ((lambda: None, "cannot be opened"), (lambda: self.path.write_bytes(b"x"), "less than 4096 bytes"),
                              (other_version, "another version than 2")):
            with self.subTest(message=message):
                make()
                probe = self.start("samples")
                self.assertIn(message, probe.communicate(timeout=60)[1])
                self.assertEqual(probe.returncode, 2)


if __name__ == "__main__":
    unittest.main()
