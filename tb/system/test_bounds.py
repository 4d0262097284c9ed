# SPDX-License-Identifier: Apache-2.0
"""How long a host waits: for a shutdown (RTD3E), and for CSTS.RDY (CAP.TO), behind slow DRAM, slow firmware and a map of which little is protected;
what it waits for while the drive has no power; and busy shares, which lie in 0 ... 1."""
import json
import random
import unittest

from support import OK, USER_ERROR, SystemTest

SLOW = (
    ("dram.bandwidth=2MB/s",),
    ("dram.bandwidth=1MB/s", "dram.model=banks"),
    ("firmware.clock=1MHz", "firmware.gc_victim=1000000", "precondition.state=random"),
    ("firmware.clock=1MHz", "firmware.flash_issue=20000", "firmware.cores=2"),
    ("ftl.mapping=dftl", "map.cache=64KiB", "map.power_protected=1%", "ftl.user_capacity=8MiB", "precondition.state=random", "nand.t_program=5ms"),
    ("ftl.mapping=dftl", "map.cache=64KiB", "ftl.user_capacity=8MiB", "dram.bandwidth=3MB/s"),
    ("buffer.merge_writes=false", "dram.bandwidth=2MB/s", "buffer.size=4MiB"),
)


class Bounds(SystemTest):
    def good(self, *words):
        done = self.ssdtlm("run", "tiny-test", "-q", "-o", "out", *words)
        self.assertEqual((done.returncode, done.stderr), (OK, ""), words)
        return self.result()

    def result(self):
        import json
        return json.loads((self.dir / "out" / "result.json").read_text())

    def shares(self, j):
        for name, r in j["resources"].items():
            for share in (r["busy_mean"], r["busy_max"], *r["busy"]):
                self.assertTrue(0 <= share <= 1, (name, share))

    def test_shutdown_and_reset_of_slow_drives(self):
        draw = random.Random("bounds")
        for settings in SLOW:
            for more in ((), (f'host.reset_at=["{draw.randrange(100, 30000)}us", "{draw.randrange(40, 80)}ms"]',), ('host.power_cut_at=["20ms"]',)):
                with self.subTest(settings=settings, more=more):
                    job = draw.choice((("--rw=write", "--bs=64k", "--iodepth=16"), ("--rw=randrw", "--bs=4k", "--iodepth=32"), ("--rw=randwrite", "--bs=4k", "--iodepth=8", "--fsync=7")))
                    words = [word for s in (*settings, *more) for word in ("--set", s)]
                    self.shares(self.good(*words, "--ioengine=libaio", "--norandommap=1", "--number_ios=300", "--io_size=1t", *job))

    def test_busy_shares(self):
        draw = random.Random("busy")
        for n in range(12):
            settings = [f"link.downstream_posted_headers={draw.choice((1, 2, 4, 127))}", f"link.credit_return_latency={draw.choice((1, 10, 100))}us",
                        f"link.upstream_posted_headers={draw.choice((1, 2, 8))}", f"link.generation={draw.choice((1, 3))}"]
            job = draw.choice((("--rw=trim", "--number_ios=5"), ("--rw=read", "--number_ios=40", "--ramp_time=1ms"), ("--rw=randrw", "--iodepth=16", "--number_ios=100", "--norandommap=1")))
            settings += draw.choice(([], ['host.reset_at=["200us"]'], ['host.power_cut_at=["300us"]']))
            with self.subTest(settings=settings, job=job):
                self.shares(self.good(*(word for s in settings for word in ("--set", s)), "--ioengine=libaio", "--bs=4k", *job))

    def test_seconds_that_pass_without_power(self):
        for options in (("--steadystate=iops:10%", "--ss_dur=2"), ("--rate_iops=5000",), ("--thinktime=500000", "--thinktime_blocks=50"), ("--write_iops_log=a", "--log_avg_msec=100"),
                        ("--time_based", "--runtime=4")):
            with self.subTest(options=options):
                self.shares(self.good("--ioengine=libaio", "--rw=randread", "--bs=4k", "--norandommap=1", "--number_ios=300", "--io_size=1t", *options,
                                      "--set", 'host.power_cut_at=["300us"]', "--set", "host.power_off_time=3s"))

    def test_preconditioning_whose_journal_asks_for_its_own_next_page(self):
        # Pages of one unit, many small deallocations: without time a page of the journal is placed within the call that asks for it.
        self.write("before.fio", "[j0]\nrw=randtrimwrite\nbs=16384\nnumber_ios=130\npercentage_random=91\n")
        g = "nand.geometry."
        settings = (f"{g}channels=16", f"{g}ways=4", f"{g}blocks_per_plane=16", f"{g}pages_per_block=64", f"{g}page_size=512B", f"{g}unit_size=512B", "ftl.user_capacity=18788352B",
                    "gc.soft_free_blocks=3", "gc.hard_free_blocks=2", "precondition.state=analytic", "run.seed=489939515310", "precondition.workload=before.fio")
        done = self.ssdtlm("run", "tiny-test", "-q", "-o", "out", *(word for s in settings for word in ("--set", s)), "--ioengine=libaio", "--rw=randread", "--bs=4k", "--number_ios=10", timeout=60)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))

    def test_preconditioning_without_end_is_refused(self):
        for line, words in (("time_based", "take time_based away"), ("time_based\nnumber_ios=4", "take time_based away")):
            self.write("before.fio", f"[before]\nrw=write\nbs=4k\nioengine=libaio\nruntime=1ms\n{line}\n")
            done = self.ssdtlm("run", "tiny-test", "-q", "-o", "out", "--set", "precondition.workload=before.fio", "--ioengine=libaio", "--rw=read", "--bs=4k", "--number_ios=4")
            self.assertEqual(done.returncode, USER_ERROR)
            self.assertIn(words, done.stderr)
        # What the message says is then accepted.
        self.write("before.fio", "[before]\nrw=write\nbs=4k\nioengine=libaio\nnumber_ios=4\n")
        self.good("--set", "precondition.workload=before.fio", "--ioengine=libaio", "--rw=read", "--bs=4k", "--number_ios=4")


if __name__ == "__main__":
    unittest.main()
