# SPDX-License-Identifier: Apache-2.0
"""Waveforms: the file is valid, says what result.json says, and recording changes nothing."""
import json
import re
import shutil
import subprocess

from support import BINARY, OK, USER_ERROR, SystemTest
from vcd import Vcd

# flash_class and die_state of the translation files.
HOST_READ, GC_READ, HOST_PROGRAM, GC_PROGRAM, ERASE = 1, 5, 3, 6, 7
MIX = ("rw=randrw", "rwmixread=50", "bs=4k", "iodepth=8", "number_ios=4000", "norandommap")


def names(folder, enum):
    """The labels of a translation file by value."""
    labels = {}
    for line in (folder / "wave.names" / f"{enum}.txt").read_text().splitlines():
        value, label = line.split(" ", 1)
        labels[int(value, 16)] = label.rsplit("?", 1)[-1]
    return labels


def merged(signal, end):
    """Stretches in which a signal is not 0."""
    spans = []
    for begin, stop, value in zip(signal.times, signal.times[1:] + [end], signal.values):
        if value and spans and spans[-1][1] == begin:
            spans[-1] = (spans[-1][0], stop)
        elif value:
            spans.append((begin, stop))
    return spans


class Waves(SystemTest):
    def wave(self, device, job, *args, output="wave"):
        scopes = [] if any(a.startswith("--wave=") for a in args) else ["--wave"]
        done = self.ssdtlm("run", device, "-w", job, "-o", output, *scopes, *args)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        return self.dir / output, done.stdout

    def test_says_what_the_results_say(self):
        job = self.job("mix", *MIX)
        folder, text = self.wave("tiny-test", job)
        vcd = Vcd(folder / "wave.vcd")
        result = json.loads((folder / "result.json").read_text())
        counters = result["counters_whole_run"]
        self.assertIn("waveform:", text)
        self.assertGreater(counters["gc_victims"], 0)
        classes = names(folder, "flash_class")
        self.assertEqual([classes[i] for i in (HOST_READ, GC_READ, HOST_PROGRAM, GC_PROGRAM, ERASE)],
                         ["host_read", "gc_read", "host_program", "gc_program", "erase"])
        states = {label: value for value, label in names(folder, "die_state").items()}

        # Each operation is a stretch of its state on a die (one plane: no multi-plane operations here).
        def operations(label):
            return sum(len(vcd[f"ssd.die_{c}_0.state"].spans(states[label], vcd.end)) for c in range(2))

        self.assertEqual(operations("host_read"), counters["flash_host_page_reads"])
        self.assertEqual(operations("gc_read"), counters["flash_gc_page_reads"])
        self.assertEqual(operations("host_program"), counters["flash_host_page_programs"])
        self.assertEqual(operations("gc_program"), counters["flash_gc_page_programs"])
        self.assertEqual(operations("erase"), counters["flash_block_erases"])

        # R/B# is low exactly while the array works, for exactly the array time.
        times = {"host_read": 75_000_000, "gc_read": 75_000_000, "host_program": 750_000_000, "gc_program": 750_000_000,
                 "erase": 3_800_000_000}
        for c in range(2):
            state, rb_n, planes = (vcd[f"ssd.die_{c}_0.{n}"] for n in ("state", "rb_n", "busy_planes"))
            busy = sorted(s for label in times for s in state.spans(states[label], vcd.end))
            self.assertEqual(busy, rb_n.spans(0, vcd.end))
            self.assertEqual(busy, planes.spans(1, vcd.end))
            for label, time in times.items():
                self.assertEqual({b - a for a, b in state.spans(states[label], vcd.end)}, {time}, label)

        # The end: everything counted, nothing waiting, all wires idle.
        def last(name):
            return vcd["ssd." + name].values[-1]

        self.assertEqual(last("host.completed"), counters["host_commands"])
        self.assertEqual(last("host.interrupts"), counters["host_interrupts"])
        self.assertEqual(last("gc.victims"), counters["gc_victims"])
        self.assertEqual(last("gc.moved_pages"), counters["flash_gc_page_programs"])
        self.assertEqual(len(vcd["ssd.host.sq1_doorbell"].changes()), counters["host_sq_doorbells"])
        for name in ("host.outstanding", "gc.active_planes", "firmware.buffer_used", "firmware.core0", "link.to_host.tlp",
                     "link.to_device.tlp", "link.to_host.posted_header_credits_out", "link.to_host.posted_data_credits_out",
                     "link.to_host.nonposted_header_credits_out", "link.to_device.posted_header_credits_out"):
            self.assertEqual(last(name), 0, name)
        for name, signal in vcd.signals.items():
            if "waiting" in name or re.search(r"channel_\d\.(bus|class)$", name):
                self.assertEqual(signal.values[-1], 0, name)

        # A doorbell reaches the controller after it was stored, with the same value.
        stored, arrived = vcd["ssd.host.sq1_doorbell"].changes(), vcd["ssd.nvme.sq1_tail"].changes()
        self.assertEqual([v for _, v in stored], [v for _, v in arrived][:len(stored)])
        self.assertTrue(all(a[0] < b[0] for a, b in zip(stored, arrived)))

        # The bus: data phases of the channels add up to their bytes, and the die that is named is selected or sends.
        bus = {label: value for value, label in names(folder, "bus_state").items()}
        reads = counters["flash_host_page_reads"] + counters["flash_gc_page_reads"]
        programs = counters["flash_host_page_programs"] + counters["flash_gc_page_programs"]
        self.assertEqual(sum(len(vcd[f"ssd.channel_{c}.bus"].spans(bus["data_out"], vcd.end)) for c in range(2)), reads)
        self.assertEqual(sum(len(vcd[f"ssd.channel_{c}.bus"].spans(bus["data_in"], vcd.end)) for c in range(2)), programs)
        for c in range(2):
            for begin, _ in vcd[f"ssd.channel_{c}.bus"].spans(bus["data_out"], vcd.end):
                self.assertEqual(vcd[f"ssd.die_{c}_0.state"].at(begin), states["data_out"])

    def test_recording_changes_nothing_and_is_the_same_each_time(self):
        job = self.job("mix", *MIX)
        plain = self.simulate("tiny-test", job, output="plain").files()
        ahead, _ = self.wave("tiny-test", job, output="ahead")
        for name, content in plain.items():
            self.assertEqual((ahead / name).read_bytes(), content, name)
        again, _ = self.wave("tiny-test", job, output="again")
        lockstep, _ = self.wave("tiny-test", job, "--set", "run.agenda=lockstep", output="lockstep")
        for other in (again, lockstep):
            self.assertEqual((ahead / "wave.vcd").read_bytes(), (other / "wave.vcd").read_bytes())
            self.assertEqual((ahead / "wave.gtkw").read_bytes(), (other / "wave.gtkw").read_bytes())

    def test_window_is_a_part_of_the_whole(self):
        job = self.job("mix", *MIX)
        whole = Vcd(self.wave("tiny-test", job, output="whole")[0] / "wave.vcd")
        begin, end = 300_000_000_000, 310_000_000_000
        part = Vcd(self.wave("tiny-test", job, "--wave-from", "300ms", "--wave-to", "310ms", output="part")[0] / "wave.vcd")
        self.assertEqual((part.begin, part.end), (begin, end))
        self.assertEqual(part.signals.keys(), whole.signals.keys())
        for name, signal in part.signals.items():
            expected = [(t, v) for t, v in whole[name].changes() if begin < t <= end]
            self.assertEqual(signal.changes(), expected, name)
            self.assertEqual(signal.values[0], whole[name].at(begin), name)

    def test_triggers(self):
        job = self.job("mix", *MIX)
        whole = Vcd(self.wave("tiny-test", job, output="whole")[0] / "wave.vcd")

        def window(*args):
            folder, text = self.wave("tiny-test", job, "--wave-before", "200us", "--wave-after", "100us", *args, output="part")
            marker = int(re.search(r"^\*-\d+\.\d+ (\d+)", (folder / "wave.gtkw").read_text(), re.M)[1])
            vcd = Vcd(folder / "wave.vcd")
            self.assertEqual((vcd.begin, vcd.end), (marker - 200_000_000, marker + 100_000_000))
            for name in ("ssd.host.completed", "ssd.die_0_0.state", "ssd.die_1_0.rb_n", "ssd.firmware.buffer_used"):
                inside = [(t, v) for t, v in whole[name].changes() if vcd.begin < t <= vcd.end]
                self.assertEqual(vcd[name].changes(), inside, name)
            return marker

        self.assertEqual(window("--wave-trigger", "gc"), whole["ssd.gc.victims"].times[1])
        at = window("--wave-trigger", "command=1500")
        in_flight = whole["ssd.host.completed"].at(at) + whole["ssd.host.outstanding"].at(at)
        self.assertGreaterEqual(in_flight, 1500)
        self.assertLess(in_flight, 1500 + 8)
        late = window("--wave-trigger", "latency=3ms")
        self.assertIn(late, whole["ssd.host.completed"].times)
        over = window("--wave-trigger", "overtake")
        self.assertTrue(any(whole[f"ssd.scheduler.channel_{c}.grant_passes"].at(over) > 0 and
                            whole[f"ssd.scheduler.channel_{c}.waiting_gc_program"].at(over) > 0 and
                            whole[f"ssd.scheduler.channel_{c}.grant"].at(over) == HOST_READ for c in range(2)))

    def test_losses_of_power(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=16", "number_ios=1200", "fsync=50")
        idle = {"bus": 0, "state": 0, "class": 0, "rb_n": 1, "busy_planes": 0, "waiting": 0, "tlp": 0, "posted_header_credits_out": 0,
                "posted_data_credits_out": 0, "nonposted_header_credits_out": 0, "core0": 0, "commands_in_firmware": 0, "ready": 0,
                "ce_n_0": 1, "rb_n_0": 1, "cle": 0, "ale": 0, "dq": None, "sq1_tail": 0, "cq1_head": 0, "sq1_in_flight": 0}
        for name, first, last, *protected in (("lost", "0ms", "8ms"), ("capacitors", "42ms", "46ms", "--set", "buffer.mode=protected")):
            cuts = ("--set", 'host.power_cut_at=["3ms", "5.5ms", "60ms"]', "--set", "host.power_off_time=2ms", *protected)
            plain = self.simulate("tiny-test", job, *cuts, output=f"{name}_plain").files()
            folder, _ = self.wave("tiny-test", job, "--wave=all,channel[*].pins", "--wave-from", first, "--wave-to", last, *cuts, output=name)
            all_of_it, _ = self.wave("tiny-test", job, *cuts, output=f"{name}_whole")
            for file, content in plain.items():
                self.assertEqual((folder / file).read_bytes(), content, file)
                self.assertEqual((all_of_it / file).read_bytes(), content, file)
            lockstep, _ = self.wave("tiny-test", job, "--set", "run.agenda=lockstep", *cuts, output=f"{name}_lockstep")
            self.assertEqual((all_of_it / "wave.vcd").read_bytes(), (lockstep / "wave.vcd").read_bytes())
            whole, pins = Vcd(all_of_it / "wave.vcd"), Vcd(folder / "wave.vcd")
            result = json.loads((folder / "result.json").read_text())
            off = whole["ssd.host.powered"].spans(0, whole.end)
            # Of a drive that goes off when the host's power is back already nothing is to be seen.
            self.assertEqual([begin for begin, _ in off],
                             [round((result["bring_up_s"] + c["at_s"] + c["on_capacitors_s"]) * 1e12) for c in result["power_cuts"]
                              if c["on_capacitors_s"] < 2e-3])
            looked_at = set()
            for vcd in (whole, pins):
                for begin, end in off:
                    if begin < vcd.begin or end > vcd.end:
                        continue
                    for path, signal in vcd.signals.items():
                        leaf = path.split(".")[-1]
                        if leaf in idle:
                            looked_at.add(leaf)
                            self.assertEqual(signal.at(begin), idle[leaf], path)
                            self.assertFalse([t for t in signal.times if begin < t < end], path)
            self.assertEqual(looked_at, idle.keys())
            # What is looked at behind the last of them are the organs that work then.
            self.assertGreater(whole["ssd.die_0_0.rb_n"].spans(0, whole.end)[-1][0], off[-1][1])
            for signal in ("sq1_tail", "sq1_fetch", "sq1_head", "cq1_tail", "cq1_head"):
                self.assertGreater(len([t for t in whole[f"ssd.nvme.{signal}"].times if t > off[-1][1]]), 100, signal)
            shown, _ = self.wave("tiny-test", job, "--wave-trigger", "power", *cuts, output=f"{name}_trigger")
            marker = int(re.search(r"^\*-\d+\.\d+ (\d+)", (shown / "wave.gtkw").read_text(), re.M)[1])
            self.assertEqual(marker, off[0][0])

    def test_trigger_that_never_comes(self):
        job = self.job("few", "rw=read", "bs=4k", "number_ios=10")
        for trigger in ("gc", "latency=1s", "command=11", "power"):
            later = ["--set", "host.power_cut_at=10s"] if trigger == "power" else []
            folder, text = self.wave("tiny-test", job, "--wave-trigger", trigger, *later)
            self.assertIn(f"no waveform: the trigger {trigger} never came", text)
            self.assertFalse((folder / "wave.vcd").exists())

    def test_window_without_anything(self):
        job = self.job("few", "rw=read", "bs=4k", "number_ios=10", "rate_iops=1000")
        folder, text = self.wave("tiny-test", job, "--wave=die,host")
        self.assertLess(float(re.search(r"0\.000000 ms to (\d+\.\d+) ms", text)[1]), 20)
        for begin in ("12ms", "60ms", "100ms", "5s"):
            folder, text = self.wave("tiny-test", job, "--wave=die,host", "--wave-from", begin)
            self.assertRegex(text, r"no waveform: the run ended at 11\.\d+ ms, before --wave-from")
            self.assertFalse((folder / "wave.vcd").exists())
        folder, text = self.wave("tiny-test", job, "--wave=gc", "--wave-from", "2ms", "--wave-to", "3ms")
        self.assertIn("the waveform is empty: nothing of what it records changes between 2.000000 ms and 3.000000 ms", text)
        self.assertTrue((folder / "wave.vcd").exists())

    def test_scopes(self):
        job = self.job("few", "rw=read", "bs=4k", "number_ios=10")

        def scopes(text):
            folder, _ = self.wave("femu-4g", job, f"--wave={text}", output="scoped")
            return {name.split(".")[1] for name in Vcd(folder / "wave.vcd").signals}

        self.assertEqual(scopes("host"), {"host"})
        self.assertEqual(scopes("link, nvme"), {"link", "nvme"})
        self.assertEqual(scopes("channel[1],die[0][3]"), {"channel_1", "die_0_3"})
        self.assertEqual(scopes("die[1][*]"), {f"die_1_{d}" for d in range(8)})
        self.assertEqual(scopes("channel"), {"channel_0", "channel_1"})
        self.assertEqual(scopes("firmware,gc,scheduler[0]"), {"firmware", "gc", "scheduler"})

    def test_a_part_that_the_device_lacks_is_refused(self):
        """Each scope of each front end: it is in the waveform, or the message names those that the device has."""
        job = self.job("few", "rw=randrw", "bs=4k", "number_ios=10")
        common = ["all", "host", "firmware", "gc", "scheduler", "channel", "die"]
        own = {"nvme": ["link", "nvme"], "sata": ["link", "sata_link"], "raw": []}
        self.assertIn("sata_link (FISes)", " ".join(self.ssdtlm("run", "--help").stdout.split()))
        for kind, more in own.items():
            for scope in [*common, "link", "nvme", "sata_link"]:
                with self.subTest(kind=kind, scope=scope):
                    done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", "--set", f"frontend.kind={kind}", f"--wave={scope}")
                    if scope in common + more:
                        self.assertEqual((done.returncode, done.stderr), (OK, ""))
                        found = {name.split(".")[1] for name in Vcd(self.dir / "out" / "wave.vcd").signals}
                        self.assertEqual({p for p in ("link", "nvme", "sata_link") if p in found},
                                         set(more) if scope == "all" else {scope} & set(more) | ({"sata_link"} if (kind, scope) == ("sata", "link") else set()))
                        self.assertTrue(found)
                    else:
                        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
                        self.assertIn(f"command line: --wave scope '{scope}': a device with frontend.kind = \"{kind}\" has none; all, host, ", done.stderr)
                        self.assertIn("; record '" + {"nvme": "link", "sata": "sata_link", "raw": "host"}[kind] + "'", done.stderr)
                        self.assertFalse(any(f"{other}," in done.stderr.split(";")[1] for other in ("link", "nvme", "sata_link") if other not in more and other != "link"))

    def test_planes(self):
        """Several planes of a die, joined or each on its own: R/B# is low while any of them works."""
        planes = ("--set", "nand.geometry.planes_per_die=4", "--set", "nand.geometry.blocks_per_plane=32", "--set",
                  "ftl.user_capacity=20MiB", "--set", "precondition.state=random")
        for job, more in ((self.job("writes", "rw=randwrite", "bs=64k", "iodepth=4", "number_ios=200"), ()),
                          (self.job("reads", "rw=randrw", "bs=4k", "iodepth=32", "number_ios=2000"),
                           ("--set", "nand.independent_plane_read=true"))):
            folder, _ = self.wave("tiny-test", job, *planes, *more)
            vcd = Vcd(folder / "wave.vcd")
            states = names(folder, "die_state")
            several = 0
            for c in range(2):
                rb_n, busy, state = (vcd[f"ssd.die_{c}_0.{n}"] for n in ("rb_n", "busy_planes", "state"))
                self.assertEqual(rb_n.spans(0, vcd.end), merged(busy, vcd.end))
                for t in sorted({*rb_n.times, *state.times}):
                    working = states[state.at(t)].endswith(("_read", "_program", "erase"))
                    self.assertEqual(working, rb_n.at(t) == 0, (t, states[state.at(t)]))
                several += sum(v.bit_count() > 1 for v in busy.values)
            self.assertGreater(several, 10)
            counters = json.loads((folder / "result.json").read_text())["counters_whole_run"]
            pages = sum(1 for c in range(2) for a, b in zip([0] + vcd[f"ssd.die_{c}_0.busy_planes"].values,
                                                            vcd[f"ssd.die_{c}_0.busy_planes"].values)
                        for p in range(4) if b >> p & 1 and not a >> p & 1)
            kinds = ("flash_host_page_reads", "flash_gc_page_reads", "flash_host_page_programs", "flash_gc_page_programs",
                     "flash_block_erases")
            # A plane that goes from one operation to the next at one instant counts once: none does, commands take time.
            self.assertEqual(pages, sum(counters[k] for k in kinds))

    def test_cached_programs(self):
        """ARDY is low for exactly the array times, R/B# (RDY) rises in between, and no rule of the pins is broken."""
        job = self.job("mix", "rw=randrw", "rwmixread=30", "bs=4k", "iodepth=64", "number_ios=1200", "norandommap")
        folder, text = self.wave("tiny-test", job, "--set", "nand.cache_program=true", "--check-pins", "--set", "precondition.state=random")
        self.assertIn("no rule broken", text)
        vcd, states = Vcd(folder / "wave.vcd"), names(folder, "die_state")
        counters = json.loads((folder / "result.json").read_text())["counters_whole_run"]
        idle_array = taken_over = worked = 0
        for die in ("ssd.die_0_0", "ssd.die_1_0"):
            rb_n, ardy, busy, state = (vcd[f"{die}.{n}"] for n in ("rb_n", "ardy", "busy_planes", "state"))
            low = ardy.spans(0, vcd.end)
            self.assertEqual(low, merged(busy, vcd.end))
            worked += sum(b - a for a, b in low)
            for t in sorted({*rb_n.times, *ardy.times, *state.times}):
                self.assertEqual(states[state.at(t)].endswith(("_read", "_program", "erase")), ardy.at(t) == 0, (t, states[state.at(t)]))
                idle_array += rb_n.at(t) == 0 and ardy.at(t) == 1
                taken_over += rb_n.at(t) == 1 and ardy.at(t) == 0
        self.assertEqual(idle_array, 0)
        self.assertGreater(taken_over, 200)
        programs = counters["flash_host_page_programs"] + counters["flash_gc_page_programs"]
        reads = counters["flash_host_page_reads"] + counters["flash_gc_page_reads"]
        self.assertEqual(worked, 750_000_000 * programs + 75_000_000 * reads + 3_800_000_000 * counters["flash_block_erases"])

    def test_suspends(self):
        """What a die is at agrees with its R/B#, and with what was counted. (Of suspends that come too late: campaign_recorded.)"""
        job = self.job("mix", "rw=randrw", "rwmixread=50", "bs=4k", "iodepth=64", "number_ios=4000", "norandommap")
        suspends = ("--set", "scheduler.suspend=for_reads", "--set", "scheduler.for_reads.least_run=0s", "--set", "scheduler.for_reads.least_left=0s",
                    "--set", "nand.geometry.ways=4", "--set", "ftl.user_capacity=50MiB", "--set", "precondition.state=random")
        folder, _ = self.wave("tiny-test", job, *suspends)
        vcd, states = Vcd(folder / "wave.vcd"), names(folder, "die_state")
        counters = json.loads((folder / "result.json").read_text())["counters_whole_run"]
        self.assertGreater(counters["flash_suspends"], 100)
        slow = {"host_program": "flash_host_page_programs", "gc_program": "flash_gc_page_programs", "erase": "flash_block_erases"}
        begun = 0
        for die in (f"ssd.die_{c}_{w}" for c in range(2) for w in range(4)):
            rb_n, busy, state = (vcd[f"{die}.{n}"] for n in ("rb_n", "busy_planes", "state"))
            self.assertEqual(rb_n.spans(0, vcd.end), merged(busy, vcd.end))
            for t in sorted({*rb_n.times, *state.times}):
                self.assertEqual(states[state.at(t)].endswith(("_read", "_program", "erase")), rb_n.at(t) == 0, (t, states[state.at(t)]))
            begun += sum(states[v] in slow for v in state.values)
        # Each is seen to begin, and to go on after each time that it was suspended; suspends that came too late are counted as well.
        operations = sum(counters[name] for name in slow.values())
        self.assertGreater(begun, operations)
        self.assertLessEqual(begun, operations + counters["flash_suspends"])

    def test_pins(self):
        job = self.job("few", "rw=randrw", "bs=4k", "iodepth=4", "number_ios=40")
        folder, _ = self.wave("tiny-test", job, "--wave=channel[0],channel[0].pins,die[0]")
        vcd = Vcd(folder / "wave.vcd")
        pins = "ssd.channel_0.pins."
        self.assertGreater(len(vcd[pins + "we_n"].changes()), 10)
        # The pin is the die's R/B#; it falls tWB after the last WE# edge, which is up to one cycle before the cycle's end.
        pin, die = vcd[pins + "rb_n_0"].changes(), vcd["ssd.die_0_0.rb_n"].changes()
        self.assertEqual([v for _, v in pin], [v for _, v in die])
        for (at, value), (expected, _) in zip(pin, die):
            self.assertTrue(at == expected if value else expected - 25_000 < at <= expected, (at, expected))
        # A chip is enabled only while its bus is not idle.
        states = {label: value for value, label in names(folder, "bus_state").items()}
        for begin, end in vcd[pins + "ce_n_0"].spans(0, vcd.end):
            self.assertIn(vcd["ssd.channel_0.bus"].at(begin), (states["cmd"], states["data_out"]))
        self.assertIsNone(vcd[pins + "dq"].values[0])

    def test_rtl_blocks(self):
        job = self.job("few", "rw=randrw", "bs=4k", "iodepth=4", "number_ios=100")
        rtl = ["--set", "scheduler.implementation=rtl", "--set", "channel.rtl_sequencer=[1]"]
        probe = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "probe", *rtl)
        if "Verilator" in probe.stderr:
            self.skipTest("built without Verilator")
        (self.dir / "wave").mkdir()
        (self.dir / "wave" / "rtl_scheduler_0_after_2.fst").write_text("of an earlier run")
        folder, text = self.wave("tiny-test", job, "--wave=scheduler.rtl,channel[1].rtl,die", *rtl)
        self.assertIn("signals of RTL blocks", text)
        self.assertEqual({p.name for p in folder.glob("rtl_*")}, {"rtl_scheduler_0.fst", "rtl_scheduler_1.fst", "rtl_channel_1.fst"})
        self.assertEqual((folder / "result.json").read_bytes(), (self.dir / "probe" / "result.json").read_bytes())
        if shutil.which("fst2vcd") is None:
            self.skipTest("no fst2vcd")
        # The same time base: the sequencer's WE# rises for the last time within one cycle plus tWB of R/B# falling.
        back = subprocess.run(["fst2vcd", folder / "rtl_channel_1.fst"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(back, r"\$timescale\s+1\s?ps\s+\$end")
        times = [int(t) for t in re.findall(r"^#(\d+)", back, re.M)]
        falls = [t for t, v in Vcd(folder / "wave.vcd")["ssd.die_1_0.rb_n"].changes() if v == 0]
        self.assertGreater(len(falls), 10)
        for fall in falls:
            self.assertTrue(any(fall - 150_000 < t <= fall for t in times), fall)

    # A busy channel's sequences follow each other without a gap: the clock restarts while it is still high.
    def test_every_clock_of_a_busy_sequencer_is_in_its_file(self):
        job = self.job("busy", "rw=randrw", "bs=4k", "iodepth=32", "number_ios=200")
        rtl = ["--set", "channel.rtl_sequencer=[0]"]
        probe = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "probe", *rtl)
        if "Verilator" in probe.stderr:
            self.skipTest("built without Verilator")
        done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", "--wave=channel[0].rtl", *rtl)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertNotIn("%Warning", done.stdout)
        if shutil.which("fst2vcd") is None:
            self.skipTest("no fst2vcd")
        back = subprocess.run(["fst2vcd", self.dir / "out" / "rtl_channel_0.fst"], capture_output=True, text=True, check=True).stdout
        def values(name):
            sign = re.search(rf"\$var \w+ 1 (\S+) {name} \$end", back).group(1)
            return re.findall(rf"^([01]){re.escape(sign)}$", back, re.M)
        starts, clocks = values("start_valid").count("1"), values("clk").count("1")
        self.assertGreater(starts, 150)  # of 200 pages, half on this channel: command and data out of reads, programs
        self.assertGreater(clocks, 40 * starts)

    def test_mistakes(self):
        job = self.job("few", "rw=read", "bs=4k", "number_ios=10")
        for args, message in (
            (["--wave=chanel[3]"], "command line: --wave scope 'chanel' does not exist; all, host, link, nvme, firmware, gc, "
                                   "scheduler, channel, die; did you mean 'channel'?"),
            (["--wave=host,die[0][8]"], "command line: --wave scope 'die[0][8]': die 8 does not exist; 0 to 7, or *"),
            (["--wave=channel[9]"], "command line: --wave scope 'channel[9]': channel 9 does not exist; 0 to 1, or *"),
            (["--wave=channel[0].pin"], "did you mean '.pins'?"),
            (["--wave=scheduler.rtl"], "command line: --wave scope 'scheduler.rtl': the scheduler of this device is 'tlm'; add --set "
                                       "scheduler.implementation=rtl, or record 'scheduler'"),
            (["--wave=channel[1].rtl"], "command line: --wave scope 'channel[1].rtl': that channel has no RTL sequencer"),
            (["--wave=host[0]"], "command line: --wave scope 'host[0]' has too many indices; host"),
            (["--wave=channel[0"], "is not understood"),
            (["--wave", "--wave-from", "5"], "--wave-from '5'"),
            (["--wave", "--wave-from", "5ms", "--wave-to", "1ms"], "--wave-to is before --wave-from"),
            (["--wave", "--wave-trigger", "latncy=5ms"], "did you mean 'latency'?"),
            (["--wave", "--wave-trigger", "latency=5"], "--wave-trigger 'latency=5'"),
            (["--wave", "--wave-trigger", "power"], "command line: --wave-trigger 'power': this run has no loss of power; command=N, gc, latency=TIME, overtake, "
                                                    "overtake=N, error; add --set host.power_cut_at=TIME"),
            (["--wave", "--wave-trigger", "command=0"], "'0' is no count"),
            (["--wave", "--wave-trigger", "error=5"], "--wave-trigger 'error=5': takes no value; error"),
            (["--wave", "--wave-trigger", "overtake=x"], "overtake=N with N from 1 on"),
            (["--wave", "--wave-before", "5ms"], "without --wave-trigger"),
            (["--wave", "--wave-format", "fts"], "did you mean 'fst'?"),
            (["--wave-trigger", "gc"], "options of the wave without a wave"),
        ):
            done = self.ssdtlm("run", "femu-4g", "-w", job, "-o", "out", *args)
            self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""), args)
            self.assertIn(message, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_fst(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=4", "number_ios=200")
        done = subprocess.run(["env", "PATH=/nowhere", BINARY, "run", "tiny-test", "-w", job, "-o",
                               "none", "--wave", "--wave-format", "fst"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("vcd2fst is not installed", done.stderr)
        self.assertIn("apt-get install gtkwave", done.stderr)
        if shutil.which("vcd2fst") is None or shutil.which("fst2vcd") is None:
            self.skipTest("no vcd2fst")
        vcd, _ = self.wave("tiny-test", job, output="vcd")
        fst, _ = self.wave("tiny-test", job, "--wave-format", "fst", output="fst")
        self.assertFalse((fst / "wave.vcd").exists())
        self.assertLess((fst / "wave.fst").stat().st_size, (vcd / "wave.vcd").stat().st_size / 2)
        self.assertIn('wave.fst"', (fst / "wave.gtkw").read_text())
        back = subprocess.run(["fst2vcd", fst / "wave.fst"], capture_output=True, text=True, check=True).stdout

        def changes(text):
            body = text.split("$enddefinitions $end")[1]
            return sum(line[:1] in ("0", "1", "b", "z") for line in body.splitlines())

        self.assertEqual(changes(back), changes((vcd / "wave.vcd").read_text()))
