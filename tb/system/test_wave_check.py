# SPDX-License-Identifier: Apache-2.0
"""The pins of a run against the rules of the ONFI bus: while it runs (--check-pins), and from its waveform (wave check). And what
DQ carries: where contents are bytes, what is read is what was programmed."""
import re
import unittest

from support import CHECK_FAILED, OK, USER_ERROR, Result, SystemTest
from vcd import Vcd

# Two LUNs behind each chip enable, whose operations are suspended for reads: a resume has to select its LUN.
TWO_LUNS = """name = "two-luns"
[ftl]
user_capacity = "24MiB"
spare_blocks = 8
[gc]
soft_free_blocks = 4
hard_free_blocks = 2
[buffer]
size = "1MiB"
[scheduler]
suspend = "for_reads"
[nand]
bits_per_cell = 2
t_read = "75us"
t_program = "750us"
t_erase = "3.8ms"
[nand.geometry]
channels = 2
ways = 2
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 16
page_size = "4KiB"
spare_size = "224B"
unit_size = "4KiB"
[nand.onfi]
interface = "nv-ddr2"
rate = "533MT/s"
"""


class TwoLuns(SystemTest):
    def setUp(self):
        super().setUp()
        self.write("two_luns.toml", TWO_LUNS)

    def run_two_luns(self, *more, ios=1000, sets=()):
        job = self.job("mix", "rw=randrw", "rwmixread=60", "bs=4k", "iodepth=32", f"number_ios={ios}")
        arguments = [word for s in sets for word in ("--set", s)]
        return self.ssdtlm("run", "two_luns.toml", "-w", job, "-o", "out", *arguments, *more)

    def results(self):
        return Result(self.dir / "out")


class PinsOfARun(TwoLuns):
    def test_a_run_is_checked(self):
        done = self.run_two_luns("--check-pins")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        said = re.search(r"pins: (\d+) sequences with (\d+) strobes of data on 2 channels, no rule broken", done.stdout)
        self.assertTrue(said, done.stdout)
        self.assertGreater(int(said[1]), 1000)
        self.assertGreater(int(said[2]), 1000 * 4096)
        self.assertGreater(self.results().json()["counters"]["flash_suspends"], 20)

    def test_it_changes_no_result(self):
        self.run_two_luns()
        files = self.results().files()
        self.run_two_luns("--check-pins")
        self.assertEqual(self.results().files(), files)

    def test_losses_of_power_break_no_rule(self):
        done = self.run_two_luns("--check-pins", "--wave=channel[0].pins", sets=('host.power_cut_at=["4ms", "9ms"]', "host.power_off_time=1ms"))
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        checked = self.ssdtlm("wave", "check", "out/wave.vcd")
        self.assertEqual((checked.returncode, checked.stderr), (OK, ""), checked.stdout)

    def test_an_interface_without_pins_is_refused(self):
        done = self.run_two_luns("--check-pins", sets=("nand.onfi.interface=ideal",))
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("nand.onfi.interface", done.stderr)


class RecordedPins(TwoLuns):
    def record(self, *more):
        done = self.run_two_luns("--wave=channel[0].pins", *more, ios=600)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        return self.dir / "out" / "wave.vcd"

    def check(self, *more):
        return self.ssdtlm("wave", "check", "out/wave.vcd", *more)

    def test_a_waveform_is_checked(self):
        self.record()
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (OK, ""), done.stdout)
        self.assertRegex(done.stdout, r"ssd\.channel_0\.pins, \d+\.\d+ to \d+\.\d+ us, \d+ strobes of data: no rule broken")

    def test_one_that_begins_in_the_middle_is_checked(self):
        self.record("--wave-from=2.3455ms", "--wave-to=4ms")
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (OK, ""), done.stdout)

    def test_a_moved_edge_is_found(self):
        wave = self.record()
        lines = wave.read_text().splitlines()
        code = next(line.split()[3] for line in lines if line.startswith("$var") and " we_n " in line)
        body = lines.index("$enddefinitions $end")
        rises = [i for i, line in enumerate(lines) if i > body and line == "1" + code]
        # A latch edge that is not there: its cycle is missing.
        del lines[rises[len(rises) // 2]]
        wave.write_text("\n".join(lines) + "\n")
        done = self.check()
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertRegex(done.stdout, r"rules broken \d+ times\n\d+\.\d{3} ns: ")

    def test_the_device_may_be_named(self):
        self.record()
        (self.dir / "out" / "result.json").unlink()
        done = self.check()
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("name the device that was recorded", done.stderr)
        self.assertEqual(self.check("two_luns.toml").returncode, OK)
        # Another device's rules are others.
        slower = self.check("two_luns.toml", "--set", "nand.onfi.t_wc=30ns")
        self.assertEqual(slower.returncode, CHECK_FAILED)
        self.assertIn("tWC", slower.stdout)
        self.assertEqual(self.check("two_luns.toml", "--set", "nand.geometry.ways=1", "--set", "ftl.user_capacity=12MiB").returncode, USER_ERROR)

    def test_what_is_no_waveform_is_refused(self):
        self.record()
        for text, found in (("hello\n", "is no value change dump"), ("", "ends where"), ("$enddefinitions $end\n", "has no pins")):
            self.write("out/other.vcd", text)
            done = self.ssdtlm("wave", "check", "out/other.vcd")
            self.assertEqual(done.returncode, USER_ERROR)
            self.assertIn(found, done.stderr)
        self.assertEqual(self.ssdtlm("wave", "check", "nowhere.vcd", "tiny-test").returncode, USER_ERROR)


class BytesOnDq(SystemTest):
    """Bursts by (chip enable, row, column), decoded from the waveform alone."""

    def bursts(self):
        vcd = Vcd(self.dir / "out" / "wave.vcd")
        for channel in range(2):
            prefix = f"ssd.channel_{channel}.pins."
            pins = {name: vcd[prefix + name] for name in ("cle", "ale", "we_n", "re_n", "dqs", "dq", "ce_n_0")}
            events = [(t, 1, "latch") for t, v in pins["we_n"].changes() if v == 1]
            events += [(t, 2, "strobe") for t, v in pins["dqs"].changes() if v is not None and pins["dqs"].at(t - 1) is not None]
            events += [(t, 0, "end") for t, v in pins["ce_n_0"].changes() if v == 1]
            told, data = [], []
            for t, _, kind in sorted(events):
                if kind == "latch":
                    told.append(("c" if pins["cle"].at(t) else "a", pins["dq"].at(t)))
                elif kind == "strobe":
                    data.append(pins["dq"].at(t))
                else:
                    if data:
                        yield channel, told, data
                    told, data = [], []

    def test_what_is_read_is_what_was_programmed(self):
        self.write("job.fio", """[global]
ioengine=libaio
bs=4k
size=256k
[write]
rw=write
end_fsync=1
[read]
stonewall
rw=randread
number_ios=40
""")
        # The flush leaves nothing in the buffer: reads come from the flash.
        done = self.ssdtlm("run", "tiny-test", "-w", "job.fio", "-o", "out", "--wave=channel[*].pins", "--set", "run.data=bytes",
                           "--set", "nand.onfi.interface=nv-ddr2", "--set", "nand.onfi.rate=400MT/s", "--set", "scheduler.implementation=tlm")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        programmed = {}
        for channel, told, data in self.bursts():
            if told and told[0] == ("c", 0x80):
                programmed[channel, tuple(byte for kind, byte in told if kind == "a")[2:5]] = data
                self.assertGreater(len(set(data[:512])), 100, "DQ repeats itself")
        self.assertGreater(len(programmed), 50)
        self.compare_reads(programmed)

    def compare_reads(self, programmed):
        """Data out follows 00h-5A-30h in a sequence of its own."""
        vcd = Vcd(self.dir / "out" / "wave.vcd")
        compared = 0
        for channel in range(2):
            prefix = f"ssd.channel_{channel}.pins."
            pins = {name: vcd[prefix + name] for name in ("cle", "ale", "we_n", "re_n", "dqs", "dq")}
            latches = [(t, pins["cle"].at(t), pins["dq"].at(t)) for t, v in pins["we_n"].changes() if v == 1]
            reads = [i for i, (_, cle, byte) in enumerate(latches) if cle and byte == 0x00]
            for i in reads:
                address = [byte for _, cle, byte in latches[i + 1:i + 6]]
                begin = latches[i + 6][0]
                until = latches[i + 7][0] if i + 7 < len(latches) else vcd.end
                strobes = [t for t, v in pins["dqs"].changes() if begin < t < until and v is not None and pins["dqs"].at(t - 1) is not None]
                data = [pins["dq"].at(t) for t in strobes]
                written = programmed.get((channel, tuple(address[2:5])))
                if written is None or not data:
                    continue
                column = address[0] | address[1] << 8
                self.assertEqual(data, written[column:column + len(data)])
                compared += 1
        self.assertGreater(compared, 20)


if __name__ == "__main__":
    unittest.main()
