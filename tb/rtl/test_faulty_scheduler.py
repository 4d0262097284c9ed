# SPDX-License-Identifier: Apache-2.0
"""A user's RTL scheduler that is wrong in every way there is (faulty_scheduler.sv): the run ends with exit code 1 and one
message that says module, channel, die, tag, rule, simulated time and clock cycle."""
import re
import unittest

from support import CHECK_FAILED, OK, SystemTest

GRANT = r"grant of die \d+, [a-z_]+, tags "
# scheduler.starvation_limit -> what the message says behind the clock cycle.
FAULTS = {
    1: GRANT + r"\d+( 0){7}: 12 requests in one grant; 1 to 2, the planes of a die",
    2: GRANT[:-1] + r": 0 requests in one grant",
    3: GRANT + r"3735928559: tag 3735928559 does not wait",
    4: GRANT + r"(?P<tag>\d+): tag (?P=tag) (does not wait: it was .* granted already|waits for die|passes tag)",
    5: r"grant of die 15, .*: there is no such die; the channel has 0 to 1",
    6: GRANT + r"\d+: the die is busy; idle dies: \d",
    7: r"grant of die \d+, class 7, tags \d+: there is no such class; 0 to 6",
    8: GRANT + r"\d+: the class was not asked for; asked for were ",
    9: GRANT + r"(?P<tag>\d+): tag (?P=tag) passes tag \d+, which came before it; a class of a die goes in order of arrival",
    10: r"answered that nothing can start, but die \d+ is idle and all that waits there \(.*\) was asked for",
    11: r"grant_valid is low for 100000 clock cycles after a question",
    12: r"push_ready is low for 100000 clock cycles with \d+ of 256 requests held",
    13: r"query_ready is low for 100000 clock cycles after a question",
    14: r"grant_valid is high, but no question is pending|grant_valid is high before query_ready",
    15: r"grant_valid is high before query_ready: an answer before the question was taken",
    16: r".*faulty_scheduler\.sv:\d+: Assertion failed in .*: an assertion of the user's",
    17: r".*faulty_scheduler\.sv:\d+: Assertion failed in .*: a fatal of the user's|.*a fatal of the user's",
    18: r".*faulty_scheduler\.sv:\d+: Verilog \$finish",
}
# What only the examination before the run shows.
EXAMINED = {
    20: r"grant_valid is high in reset",
    21: r"grant_valid falls (while grant_ready is low|when grant_ready rises)",
    22: r"\d+ requests that it took are never granted when it was given requests until it was full|.*, when it was given requests until it was full",
    23: r".*, after a reset, which has to empty it",
}
# Two dies on a channel, two planes each: one can be busy while the other is asked for.
GEOMETRY = ["--set", "nand.geometry.ways=2", "--set", "nand.geometry.planes_per_die=2"]
WORKLOAD = """[global]
ioengine=libaio
rw=randrw
bs=4k
iodepth=32
number_ios=3000
[job]
"""


class FaultyScheduler(SystemTest):
    def run_with(self, fault, implementation="rtl", *more):
        (self.dir / "job.fio").write_text(WORKLOAD)
        return self.ssdtlm("run", "tiny-test", "-w", "job.fio", "-o", f"out{fault}", "-q",
                           "--set", f"scheduler.implementation={implementation}", "--set", "scheduler.rtl_module=faulty_scheduler",
                           "--set", "scheduler.compare_cycles=false", "--set", f"scheduler.starvation_limit={fault}", *GEOMETRY, *more)

    def check(self, fault, done):
        self.assertEqual(done.returncode, CHECK_FAILED, f"fault {fault}: {done.stdout}{done.stderr}")
        self.assertEqual(done.stdout, "")
        lines = [line for line in done.stderr.strip().splitlines() if not line.startswith("ssdtlm: the results so far are in")]
        self.assertEqual(len(lines), 1, done.stderr)
        head = r"ssdtlm: check failed: scheduler faulty_scheduler \(RTL\), channel (\d+), at (\d+\.\d{6}) us, clock cycle (\d+): "
        self.assertRegex(lines[0], head + f"({FAULTS[fault]}).*; the contract is in controller/ports/scheduler_port.h")
        _, at, cycle = re.match(head, lines[0]).groups()
        self.assertEqual(round(float(at) * 1e6), int(cycle) * 2500)  # 400 MHz
        return lines[0]

    def test_without_a_fault_it_works(self):
        self.assertEqual(self.run_with(0).returncode, OK)

    def test_every_fault_is_one_message(self):
        for fault in FAULTS:
            with self.subTest(fault=fault):
                print(self.check(fault, self.run_with(fault)))

    def test_stress_before_the_run_finds_what_the_traffic_does_not(self):
        head = r"ssdtlm: check failed: scheduler faulty_scheduler \(RTL\), channel 0, at 0\.000000 us: when it was examined before the run " \
               r"\(its registers began with random bits of seed \d\): "
        for fault, found in EXAMINED.items():
            with self.subTest(fault=fault):
                done = self.run_with(fault)
                self.assertEqual(done.returncode, CHECK_FAILED, done.stderr)
                self.assertRegex(done.stderr, head + f"({found})")
                print(done.stderr.splitlines()[0])

    def test_what_it_displays_goes_to_standard_error(self):
        done = self.run_with(19)
        self.assertEqual(done.returncode, OK)
        self.assertEqual(done.stdout, "")
        self.assertIn("a word of the user's", done.stderr)

    def test_compare_finds_the_broken_rule_before_the_difference(self):
        for fault in (1, 3, 7, 16):
            with self.subTest(fault=fault):
                done = self.run_with(256 + fault, "compare")
                self.assertEqual(done.returncode, CHECK_FAILED)
                self.assertRegex(done.stderr, FAULTS[fault])

    def test_lockstep_says_the_same(self):
        self.assertEqual(self.check(3, self.run_with(3, "rtl", "--set", "run.agenda=lockstep")), self.check(3, self.run_with(3)))


if __name__ == "__main__":
    unittest.main()
