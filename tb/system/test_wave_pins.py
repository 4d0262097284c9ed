# SPDX-License-Identifier: Apache-2.0
"""One page read in NV-DDR2 mode 8, read back from the waveform, against the timing diagrams of ONFI 3.2 (read page,
data output): order of the pins, bytes latched, and each timing parameter; from the timing model and from the sequencer
in RTL."""
from support import OK, SystemTest
from vcd import Vcd

NS = 1000  # ps
MT = 533   # NV-DDR2 mode 8
BYTES = 4096
T_READ = 75_000 * NS
# The parameters in use, in ns, as `nand.onfi` is set below.
PARAMETERS = {"t_cs": 20, "t_wc": 25, "t_wb": 100, "t_rr": 20, "t_rpre": 15, "t_dqsre": 25, "t_rpsth": 15, "t_rhw": 100}
T_CS, T_WC, T_WB, T_RR, T_RPRE, T_DQSRE, T_RPSTH, T_RHW = (v * NS for v in PARAMETERS.values())
# Not parameters of the model (Micron L06B): pulse widths, set-up and hold of CLE, ALE and DQ, DQS driven, release.
T_WP = T_WH = 11 * NS
T_CALS, T_CALH, T_CAS, T_CAH = 15 * NS, 5 * NS, 5 * NS, 5 * NS
T_DQSD = (5 * NS, 18 * NS)
T_CHZ = 30 * NS


class Pins:
    """The pins of the channel that the first read goes to."""

    def __init__(self, vcd):
        for channel in range(2):
            self.prefix = f"ssd.channel_{channel}.pins."
            self.vcd = vcd
            if self["ce_n_0"].changes():
                return
        raise AssertionError("no channel enable ever fell")

    def __getitem__(self, name):
        return self.vcd[self.prefix + name]

    def edges(self, name, value, begin, end):
        """Times in [begin, end] at which a pin takes the value."""
        return [t for t, v in self[name].changes() if v == value and begin <= t <= end]

    def last_change(self, name, before):
        """The last change at or before a time."""
        times = self[name].times
        return max((t for t in times if t <= before), default=0)


class ReadInNvDdr2(SystemTest):
    def record(self, *settings):
        # Depth 4: the next command follows a data output as soon as tRHW allows.
        job = self.job("reads", "rw=randread", "bs=4k", "iodepth=4", "number_ios=8")
        sets = ["nand.onfi.interface=nv-ddr2", f"nand.onfi.rate={MT}MT/s", "nand.transfer_spare=false",
                "nand.t_read=75us", "scheduler.implementation=tlm"]
        sets += [f"nand.onfi.{name}={value}ns" for name, value in PARAMETERS.items()] + list(settings)
        arguments = [word for s in sets for word in ("--set", s)]
        done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", "--wave=channel[*].pins", *arguments)
        if "built without Verilator" in done.stderr:
            self.skipTest("built without Verilator")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        return Pins(Vcd(self.dir / "out" / "wave.vcd"))

    def test_from_the_timing_model(self):
        self.check(self.record(), rounding=0)

    def test_from_the_sequencer_in_rtl(self):
        # Its clock: 2.5 ns. Command times are whole clocks; the burst's end is rounded up to one.
        self.check(self.record("channel.rtl_sequencer=[0, 1]", "channel.sequencer_clock=400MHz"), rounding=2500)

    def check(self, pin, rounding):
        begin = pin.edges("ce_n_0", 0, 0, pin.vcd.end)[0]
        issued = self.check_command(pin, begin)
        ready = self.check_array(pin, begin, issued)
        self.check_data(pin, ready, rounding)

    # --- 00h-5A-30h ---------------------------------------------------------------------------------------------------

    def check_command(self, pin, begin):
        """CE# low at `begin`; returns when WE# rises for 30h."""
        # At the fall of CE# the command is on its way: CLE high, 00h on DQ; RE# and WE# are high, nobody drives DQS.
        levels = {"cle": 1, "ale": 0, "we_n": 1, "re_n": 1, "dq": 0x00, "dqs": None, "rb_n_0": 1}
        self.assertEqual({name: pin[name].at(begin) for name in levels}, levels)

        end = pin.edges("ce_n_0", 1, begin, pin.vcd.end)[0]
        self.assertEqual(end - begin, T_CS + 7 * T_WC)  # 195 ns
        falls, rises = pin.edges("we_n", 0, begin, end), pin.edges("we_n", 1, begin, end)
        self.assertEqual((len(falls), len(rises)), (7, 7))
        for i, (fall, rise) in enumerate(zip(falls, rises)):
            slot = begin + T_CS + i * T_WC
            self.assertTrue(slot <= fall < rise <= slot + T_WC, i)
            self.assertGreaterEqual(rise - fall, T_WP)
            self.assertGreaterEqual(rise - max(pin.last_change("cle", rise), pin.last_change("ale", rise)), T_CALS)
            self.assertGreaterEqual(rise - pin.last_change("dq", rise), T_CAS)
            for name, hold in (("cle", T_CALH), ("ale", T_CALH), ("dq", T_CAH)):
                self.assertEqual(pin[name].at(rise + hold - 1), pin[name].at(rise), name)
        for fall, rise, next_fall in zip(falls, rises, falls[1:]):
            self.assertGreaterEqual(next_fall - fall, T_WC)
            self.assertGreaterEqual(next_fall - rise, T_WH)

        # What the rises of WE# latch: the command, two column and three row addresses, the confirmation.
        latched = [(pin["cle"].at(t), pin["ale"].at(t), pin["dq"].at(t)) for t in rises]
        self.assertEqual([(cle, ale) for cle, ale, _ in latched], [(1, 0)] + 5 * [(0, 1)] + [(1, 0)])
        self.assertEqual([latched[i][2] for i in (0, 1, 2, 6)], [0x00, 0x00, 0x00, 0x30])
        for _, _, row in latched[3:6]:
            self.assertIn(row, range(256))
        return rises[-1]

    # --- tWB, tR ------------------------------------------------------------------------------------------------------

    def check_array(self, pin, begin, issued):
        """Returns when R/B# rises."""
        fall = pin.edges("rb_n_0", 0, begin, pin.vcd.end)[0]
        self.assertTrue(issued < fall <= issued + T_WB)
        rise = pin.edges("rb_n_0", 1, fall, pin.vcd.end)[0]
        # The model starts the array tWB after the last cycle, whose rest is some nanoseconds.
        self.assertTrue(issued + T_WB + T_READ <= rise <= issued + T_WB + T_READ + T_WC)
        return rise

    # --- data output --------------------------------------------------------------------------------------------------

    def check_data(self, pin, ready, rounding):
        chip = pin.edges("ce_n_0", 0, ready, pin.vcd.end)[0]
        strobe = pin.edges("re_n", 0, chip, pin.vcd.end)[0]
        end = pin.edges("ce_n_0", 1, strobe, pin.vcd.end)[0]
        self.assertGreaterEqual(strobe - ready, T_RR)
        self.assertEqual({n: pin[n].at(strobe) for n in ("cle", "ale", "we_n", "dqs")},
                         {"cle": 0, "ale": 0, "we_n": 1, "dqs": None})

        # Preamble: RE# low for tRPRE, the die drives DQS low within tDQSD.
        toggles = [t for t, _ in pin["re_n"].changes() if strobe < t < end]
        self.assertEqual(len(toggles), BYTES)
        self.assertGreaterEqual(toggles[0] - strobe, T_RPRE)
        strobes = [(t, v) for t, v in pin["dqs"].changes() if strobe < t < end]
        driven, strobes = strobes[0], strobes[1:]
        self.assertEqual(driven[1], 0)
        self.assertTrue(T_DQSD[0] <= driven[0] - strobe <= T_DQSD[1])

        # One edge of RE# and one of DQS per byte, at the data rate, the first of each rising, DQS within tDQSRE.
        transfer = 1_000_000 / MT
        step = rounding / 2**20  # the sequencer counts a transfer's time in such steps
        for k, t in enumerate(toggles):
            self.assertAlmostEqual(t - toggles[0], k * transfer, delta=1.001 + k * step, msg=str(k))
        self.assertEqual([v for _, v in strobes], [1, 0] * (BYTES // 2))
        self.assertEqual(pin["re_n"].at(toggles[0]), 1)
        for re, (dqs, _) in zip(toggles, strobes):
            self.assertTrue(0 < dqs - re <= T_DQSRE, f"{re} {dqs}")
        # DQ's bytes begin with a strobe, the first one with the first rise; nobody drives it before.
        edges = {t for t, _ in strobes}
        changes = [t for t, v in pin["dq"].changes() if strobe < t < end]
        self.assertEqual(changes[0], strobes[0][0])
        self.assertTrue(edges.issuperset(changes))

        # Postamble: RE# rests low for tRPST, CE# rises tRPSTH later; then the die lets go of DQ and DQS.
        last = toggles[-1]
        self.assertEqual(pin["re_n"].at(last), 0)
        idle = pin.edges("re_n", 1, last, pin.vcd.end)[0]
        t_rpst = T_DQSRE + transfer
        self.assertGreaterEqual(idle - last, t_rpst)
        self.assertGreaterEqual(end - last, t_rpst + T_RPSTH)
        self.assertEqual(pin["dqs"].at(end - 1), 0)
        for name in ("dq", "dqs"):
            self.assertIsNone(pin[name].at(end + T_CHZ))

        # From R/B# high (or CE# low, when the bus was busy then) to the end, as the model counts it.
        formula = T_RR + T_RPRE + T_DQSRE + BYTES * transfer + (T_DQSRE + transfer) + T_RPSTH
        self.assertTrue(formula <= end - chip <= formula + rounding + 1, (end - chip, formula))

        # The next command on any chip enable.
        following = pin.edges("we_n", 0, end, pin.vcd.end)[0]
        self.assertGreaterEqual(following - end, T_RHW)
