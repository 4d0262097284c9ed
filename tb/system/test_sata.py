# SPDX-License-Identifier: Apache-2.0
"""A Serial ATA drive behind an AHCI adapter as users run it: jobs whose data are compared, losses of power, COMRESETs, the rates of the link, what limits,
and what it refuses."""
import json
import os
import re
import signal
import subprocess
import unittest

from support import BINARY, INTERRUPTED, OK, USER_ERROR, SystemTest

SATA = ("--set", "frontend.kind=sata")
# Flash and firmware that keep any link busy.
FAST = tuple(word for setting in ("nand.t_read=3us", "firmware.clock=2GHz", "firmware.cores=4", "ecc.decode_time=0s", "nand.onfi.rate=533MT/s") for word in ("--set", setting))
MIX = """[global]
ioengine=libaio
[small]
rw=randrw
bs=4k
iodepth=16
{small}
[large]
rw=randwrite
bs=16k
iodepth=8
fsync=50
{large}
[trims]
rw=randtrim
bs=64k
iodepth=2
{trims}
"""
# Bytes of the frames around the data of a queued read, with CRC, SOF, EOF and ten dwords of primitives each: H2D and D2H Register, DMA Setup, Set Device Bits.
AROUND = 4 * 52 + 20 + 20 + 28 + 8


def bound_mb_s(bytes_per_command, rate):
    """Of reads, by the link alone: Data FISes of at most 8 KiB with 4 bytes of header, each 52 bytes more on the wire (A.7)."""
    frames = -(-bytes_per_command // 8192)
    return rate * bytes_per_command / (AROUND + bytes_per_command + frames * (4 + 52))


class Sata(SystemTest):
    def mix(self, n):
        return self.write("mix.fio", MIX.format(small=f"number_ios={20 * n}\nsize=4m\nio_size=1g", large=f"number_ios={3 * n}\noffset=4m\nsize=4m\nio_size=1g",
                                                trims=f"number_ios={n}\nsize=8m\nio_size=1g"))

    def settings(self, **more):
        return [word for key, value in more.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]

    def test_jobs_are_right(self):
        """Reads, writes, flushes and trims, queued and not, in signatures and in bytes; the program compares what it reads."""
        job = self.mix(100)
        for ncq, depth, data in (("true", 32, "signatures"), ("true", 3, "bytes"), ("false", 32, "bytes")):
            with self.subTest(ncq=ncq, depth=depth, data=data):
                result = self.simulate("tiny-test", job, *SATA, *self.settings(host__sata__ncq=ncq, host__sata__queue_depth=depth, run__data=data), output=f"{ncq}{depth}")
                j = self.assert_right(result)
                self.assertEqual(j["commands_including_ramp"], 2400 + 5)  # a flush after each 50 of 300 writes, but for the last
                whole = j["counters_whole_run"]
                # IDENTIFY twice, the transfer mode, and at the end a flush and the standby are the driver's own.
                self.assertEqual(whole["hba_commands"], whole["host_commands"] + 5)
                self.assertEqual(whole["hba_comresets"], 1)
                self.assertEqual(whole["host_error_recoveries"], 0)

    def test_losses_of_power(self):
        job = self.mix(250)
        cuts = [f"{at}ms" for at in range(20, 260, 60)]
        for mode, shutdown in (("write_back", "false"), ("write_back", "true"), ("protected", "false"), ("write_through", "false")):
            with self.subTest(mode=mode, shutdown=shutdown):
                result = self.simulate("tiny-test", job, *SATA, "--set", f"host.power_cut_at={json.dumps(cuts)}",
                                       *self.settings(host__power_off_time="10ms", run__data="bytes", buffer__mode=mode, host__power_cut_shutdown=shutdown, run__check_waiters="true"),
                                       output=mode + shutdown)
                j = self.assert_right(result)
                self.assertGreater(len(j["power_cuts"]), 1)
                self.assertEqual([cut["after_shutdown"] for cut in j["power_cuts"]], [shutdown == "true"] * len(j["power_cuts"]))
                # A COMRESET when the host starts the drive, and one after each loss, unless the next one is due at once.
                self.assertIn(j["counters_whole_run"]["hba_comresets"], range(2, 2 + len(j["power_cuts"])))

    def test_comresets(self):
        job = self.mix(250)
        resets = [f"{at}ms" for at in (3, 4, 50, 120, 121)]
        for shutdown in ("false", "true"):
            with self.subTest(shutdown=shutdown):
                j = self.assert_right(self.simulate("tiny-test", job, *SATA, "--set", f"host.reset_at={json.dumps(resets)}",
                                                    *self.settings(run__data="bytes", host__reset_shutdown=shutdown, run__check_waiters="true"), output=shutdown))
                whole = j["counters_whole_run"]
                self.assertGreater(whole["host_commands_cancelled"], 0 if shutdown == "false" else -1)
                self.assertEqual(whole["hba_comresets"], 1 + len(resets))

    def test_the_link_limits(self):
        """Reads at depth 32 with fast flash: the link's bound at each rate, from the sizes of its frames, and it is named."""
        for block, ios in ((4096, 20000), (131072, 1500)):
            job = self.job(f"read{block}", "rw=randread", f"bs={block}", "iodepth=32", f"number_ios={ios}", "norandommap=1")
            for rate, mega in (("1.5Gbps", 150), ("3Gbps", 300), ("6Gbps", 600)):
                with self.subTest(block=block, rate=rate):
                    j = self.simulate("mqsim-table3", job, *SATA, *FAST, "--set", f"frontend.sata.rate={rate}", output=f"{block}{rate}").json()
                    found, bound = j["read"]["MB_per_s"], bound_mb_s(block, mega)
                    print(f"[   FIGURE ] {block} B at {rate}: {found:.1f} MB/s of {bound:.1f}")
                    self.assertLessEqual(found, bound * 1.001)
                    self.assertGreater(found, bound * 0.97)
                    self.assertEqual(j["limit"]["parameters"], ["frontend.sata.rate"])

    def test_its_bounds_are_those_of_the_literature(self):
        self.assertAlmostEqual(bound_mb_s(4096, 600), 554, delta=0.5)
        self.assertAlmostEqual(bound_mb_s(131072, 600), 595, delta=1)

    def test_slots_limit_where_the_drive_could_do_more(self):
        job = self.job("read", "rw=randread", "bs=4k", "iodepth=64", "number_ios=4000")
        for few, more in (("host.sata.queue_depth=1", "host.sata.queue_depth=4"), ("frontend.sata.queue_depth=1", "frontend.sata.queue_depth=4"),
                          ("host.sata.ncq=false", "host.sata.queue_depth=4")):
            with self.subTest(few):
                one = self.simulate("mqsim-table3", job, *SATA, "--set", few, output="one").json()
                self.assertEqual(one["limit"]["parameters"], [few.split("=")[0]])
                self.assertEqual(one["limit"]["kind"], "wait", one["limiting"])
                four = self.simulate("mqsim-table3", job, *SATA, "--set", more, output="four").json()
                self.assertAlmostEqual(four["read"]["iops"] / one["read"]["iops"], 4, delta=0.8)
        slow = ("--set", "nand.t_read=400us")  # else the link would limit
        all_tags = self.simulate("mqsim-table3", job, *SATA, *slow, output="all").json()
        self.assertEqual(all_tags["limit"]["names"], ["queue slots"], all_tags["limiting"])
        self.assertEqual(all_tags["limit"]["parameters"], [], all_tags["limiting"])  # the protocol has no more
        self.assertIn("the 32 tags of NCQ limit throughput", all_tags["limiting"])
        full = self.simulate("mqsim-table3", self.job("full", "rw=randread", "bs=4k", "iodepth=32", "number_ios=4000"), *SATA, *slow, output="full").json()
        self.assertNotIn("frontend.kind", full["limiting"])
        self.assertIn("; the 32 tags of NCQ allow no more of them)", full["limiting"])
        nvme = self.simulate("mqsim-table3", job, *slow, output="nvme").json()
        self.assertGreater(nvme["read"]["iops"], 1.1 * all_tags["read"]["iops"])

    def test_without_queueing_requests_wait_in_the_host(self):
        """As with a depth of one: one command is in the drive, the others have no slot. Both bind when both are set, and both have to be lifted."""
        job = self.job("read", "rw=randread", "bs=4k", "iodepth=32", "number_ios=1000")
        found = {}
        for name, settings in (("ncq", {"host__sata__ncq": "false"}), ("depth", {"host__sata__queue_depth": 1}), ("both", {"host__sata__ncq": "false", "host__sata__queue_depth": 1})):
            found[name] = j = self.simulate("s4500", job, *self.settings(**settings), output=name).json()
            self.assertEqual((j["limit"]["kind"], j["limit"]["names"]), ("wait", ["queue slots"]), j["limiting"])
            self.assertGreater(j["latency_us"]["read"]["host_queue"]["mean"], 0.9 * j["latency_us"]["read"]["total"]["mean"])
            self.assertLess(j["latency_us"]["read"]["submit"]["mean"], 0.01 * j["latency_us"]["read"]["total"]["mean"])
        self.assertEqual(found["ncq"]["limit"]["parameters"], ["host.sata.ncq"])
        self.assertEqual(found["depth"]["limit"]["parameters"], ["host.sata.queue_depth"])
        self.assertEqual(found["both"]["limit"]["parameters"], ["host.sata.ncq", "host.sata.queue_depth"])

    def test_what_it_refuses(self):
        job = self.job("job", "rw=randread", "bs=4k", "number_ios=10")
        done = self.ssdtlm("run", "tiny-test", "-w", job, *SATA, "--set", "host.completion=poll")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn('host.completion: "poll" with frontend.kind = "sata"', done.stderr)
        done = self.ssdtlm("run", "tiny-test", "-w", job, *SATA, "--set", "host.queue_pairs=2", "-o", "out")
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn('host.queue_pairs=2 has no effect: frontend.kind = "sata" has one queue, and no registers, namespaces or streams of NVMe', done.stdout + done.stderr)

    def test_bounds_say_why(self):
        """And nothing is suggested that is not near."""
        for setting, message in (("host.sata.queue_depth=64", "64 is out of range; 1..32; Linux include/linux/libata.h ATA_MAX_QUEUE = 32"),
                                 ("frontend.sata.queue_depth=33", "33 is out of range; 1..32; Serial ATA 3.0, 13.6: at most 32"),
                                 ("host.sata.coalescing_commands=256", "256 is out of range; 0..255; Linux drivers/ata/libahci.c"),
                                 ("frontend.sata.rate=12Gbps", "is '12Gbps'; 1.5Gbps, 3Gbps or 6Gbps"), ("frontend.kind=sas", "is 'sas'; "),
                                 ("block.scheduler=bqf", "did you mean \"bfq\"?")):
            done = self.ssdtlm("config", "check", "s4500", "--set", setting)
            self.assertEqual(done.returncode, USER_ERROR)
            self.assertIn(message, done.stderr)
            self.assertEqual("did you mean" in message, "did you mean" in done.stderr.lower(), done.stderr)

    def test_what_acts_as_less_and_what_is_not_asked(self):
        """Caps are said, and rules of NVMe are none of Serial ATA."""
        job = self.job("job", "rw=randread", "bs=4k", "number_ios=10")
        done = self.ssdtlm("run", "tiny-test", "-w", job, *SATA, *self.settings(host__sata__queue_depth=16, frontend__sata__queue_depth=8, block__scheduler="noop",
                                                                                block__queue_depth=64, nvme__max_queue_pairs=1), "-o", "out")
        self.assertEqual(done.returncode, OK, done.stderr)
        said = done.stdout + done.stderr
        self.assertIn("host.sata.queue_depth=16 acts as 8: host and drive use what both have", said)
        self.assertIn("block.queue_depth=64 acts as 8: host and drive have no more tags", said)
        for most, acts in (("2MiB", "host.sata.max_transfer=2MiB acts as 1MiB: the drive is made for commands of at most nvme.max_transfer"), ("512KiB", None)):
            done = self.ssdtlm("run", "tiny-test", "-w", job, *SATA, *self.settings(host__sata__max_transfer=most, nvme__max_transfer="1MiB"), "-o", "out")
            self.assertEqual(acts is None, "host.sata.max_transfer" not in done.stdout, done.stdout)
            self.assertIn(acts or "", done.stdout)
        refused = self.ssdtlm("config", "check", "tiny-test", *SATA, *self.settings(host__sata__write_cache="off", buffer__mode="write_through"))
        self.assertEqual(refused.returncode, USER_ERROR)
        self.assertIn('host.sata.write_cache: "off", and the drive refuses it', refused.stderr)
        slow = self.ssdtlm("config", "check", "s4500", *self.settings(host__power_cut_at='["0.3s"]'))
        self.assertEqual(slow.returncode, OK, slow.stderr)  # no limit of NVMe's CAP.TO

    def test_orders_by_tenant_are_none(self):
        """The drive has one queue and cannot tell whose a command is. That is said, and the run is that of read_first."""
        job = self.mix(20)
        by_job = self.settings(host__tenants="by_job")
        plain = self.simulate("tiny-test", job, *SATA, *by_job, output="plain").files()
        for policy in ("weighted", "weighted_priorities", "priority_classes", "earliest_deadline"):
            with self.subTest(policy):
                done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", policy, *SATA, *by_job, *self.settings(scheduler__policy=policy))
                self.assertEqual(done.returncode, OK, done.stderr)
                self.assertIn(f"scheduler.policy={policy} acts as read_first", done.stdout)
                for name in ("latency.csv", "timeseries.csv", "fio.json"):
                    self.assertEqual((self.dir / policy / name).read_bytes(), plain[name])

    def test_rtl_in_the_loop(self):
        """The Verilated scheduler beside its C++ twin, which must agree at each clock; and the Verilated sequencer of a channel, bytes compared."""
        job = self.mix(20)
        for way in ({"scheduler__policy": "fifo", "scheduler__implementation": "compare"}, {"channel__rtl_sequencer": "[0]"}):
            with self.subTest(**way):
                settings = (*SATA, *self.settings(run__data="bytes", **way))
                probe = self.ssdtlm("config", "check", "tiny-test", *settings)
                if "Verilator" in probe.stderr:
                    self.skipTest("built without Verilator")
                self.assert_right(self.simulate("tiny-test", job, *settings, output=next(iter(way))))

    def test_a_saved_drive(self):
        """A drive has no protocol in its flash: what was written over one is read over the other."""
        read = self.job("read", "rw=read", "bs=64k", "iodepth=4")
        for first, then in (("sata", "sata"), ("sata", "nvme"), ("nvme", "sata")):
            with self.subTest(first=first, then=then):
                kind = self.settings(frontend__kind=first)
                self.assert_right(self.simulate("tiny-test", self.mix(50), *kind, "--save-drive", "drive", output="saved"))
                kind = self.settings(frontend__kind=then, precondition__from="drive")
                j = self.assert_right(self.simulate("tiny-test", read, *kind, output="read"))
                self.assertEqual(j["integrity_checked_blocks"], 12 * 1024 * 1024 // 512)

    def test_how_far_it_is_behind_a_loss_of_power(self):
        """The time of the workload goes on while the power is off: shares of it and of the simulated time agree."""
        job = self.job("long", "rw=randread", "bs=4k", "iodepth=32", "time_based", "runtime=10000s", "norandommap")
        terminal, end = os.openpty()  # on one, lines come often
        program = subprocess.Popen([BINARY, "run", "tiny-test", "-w", job, "-o", "out", *SATA, "--set", 'host.power_cut_at=["10ms"]', "--set", "host.power_off_time=1000s"],
                                   cwd=self.dir, stdout=subprocess.DEVNULL, stderr=end)
        os.close(end)
        said, found = "", None
        while not found:
            said += os.read(terminal, 4096).decode()
            found = re.search(r"(1\d\d\d\.\d+) s simulated +(\d+\.\d) %", said)
        program.send_signal(signal.SIGINT)
        program.wait(timeout=120)
        os.close(terminal)
        self.assertEqual(program.returncode, INTERRUPTED)
        self.assertAlmostEqual(float(found[2]), float(found[1]) / 100, delta=0.1)

    def test_a_scheduler_that_is_none(self):
        done = self.ssdtlm("run", "tiny-test", "-w", self.job("job", "rw=randread", "bs=4k", "number_ios=10", "ioscheduler=bqf"))
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("ioscheduler: no policy 'bqf'", done.stderr)
        self.assertIn("did you mean 'bfq'", done.stderr)


if __name__ == "__main__":
    unittest.main()
