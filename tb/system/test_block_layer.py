# SPDX-License-Identifier: Apache-2.0
"""The host's block layer over NVMe: every scheduler with integrity checked, over resets and losses of power; depth, merging and stages by formula;
virtual queues, weights, priorities and NASS; what is asked for in vain."""
import json
import re
import unittest

from support import OK, USER_ERROR, SystemTest

MIX = ("rw=randrw", "bs=4k", "iodepth=16", "numjobs=3", "number_ios=300", "norandommap", "size=8m", "fsync=40")
STREAM = ("rw=read", "bs=4k", "size=4m")
AT_THE_END = 32 * 4096  # bytes that each job of a depth of 32 has outstanding when time is up: they come when nobody asks any more
DEVICE = ("precondition.state=sequential", "buffer.size=256KiB")


def sets(*settings):
    return [word for s in settings for word in ("--set", s)]


class BlockLayer(SystemTest):
    def schedulers(self):
        """All that are linked, as the message about another one says."""
        done = self.ssdtlm("config", "show", "tiny-test", "--set", "block.scheduler=?")
        self.assertEqual(done.returncode, USER_ERROR)
        names = set(re.findall(r"[a-z]+(?:-[a-z]+)?", done.stderr.split("allowed", 1)[-1].split("\n")[0])) & {
            "none", "noop", "mq-deadline", "deadline", "kyber", "bfq", "cfq", "fiops", "flashfq"}
        self.assertTrue(names, done.stderr)
        return sorted(names)

    def run_job(self, job, *settings, output="out"):
        result = self.simulate("tiny-test", job, *sets(*DEVICE, *settings), output=output)
        return result, self.assert_right(result)

    def test_every_scheduler_over_resets_and_losses_of_power(self):
        job = self.job("mix", *MIX)
        for name in self.schedulers():
            for events in ((), ("host.reset_at=[\"1ms\",\"3ms\"]",), ("host.power_cut_at=[\"2ms\"]", "host.power_off_time=1ms"),
                           ("block.nass.aggre=true", "block.nass.anti=true", "block.nass.seq=true", "block.nass.window_completions=32", "host.reset_at=[\"2ms\"]")):
                with self.subTest(scheduler=name, events=events):
                    _, j = self.run_job(job, f"block.scheduler={name}", "block.queue_depth=8", "run.check_waiters=true", *events)
                    self.assertEqual(j["block"]["scheduler"], name)
                    self.assertGreater(j["integrity_checked_blocks"], 0)
                    self.assertEqual(j["block"]["completed"], j["commands_including_ramp"])
                    self.assertEqual(j["block"]["most_in_drive"], 8)
                    self.assertIn("block_queue", j["latency_us"]["read"])
                    self.assertEqual(j["block"]["requeued"] > 0, bool(events))

    def test_what_the_verdict_names_is_what_changes_the_result(self):
        """Each of the waits of the block layer: more of what is named brings more."""
        deep = self.job("deep", "rw=randread", "bs=4k", "iodepth=64", "number_ios=4000", "norandommap", "size=8m")
        # One that reads in sequence by itself, and is waited for; the others have the drive to themselves only without that.
        alone = ("rw=read", "bs=4k", "iodepth=1", "size=4m", "thinktime=300us", "time_based", "runtime=30ms")
        many = ("rw=randread", "bs=4k", "iodepth=16", "size=4m", "time_based", "runtime=30ms", "norandommap")
        waits = self.write("waits.fio", "\n".join(["[alone]", *alone, "cgroup_weight=500", "[many]", *many, ""]))
        cases = [
            ("queue depth of the block layer", "block.queue_depth", deep, ("block.scheduler=noop", "block.queue_depth=2"), "block.queue_depth=4"),
            ("queue depth of the block layer", "block.nr_requests", deep, ("block.scheduler=noop", "block.nr_requests=2"), "block.nr_requests=4"),
            ("queue depth of the block layer", "host.queue_entries", deep, ("block.scheduler=noop", "host.queue_pairs=1", "host.queue_entries=3"), "host.queue_entries=5"),
            ("queues of virtual machines", "block.vm_queue_depth", deep, ("block.scheduler=noop", "block.vm_queue_depth=2"), "block.vm_queue_depth=4"),
            ("I/O scheduler", "block.scheduler", waits, ("block.scheduler=cfq", "block.queue_depth=32", "host.tenants=by_job"), "block.scheduler=none"),
        ]
        for name, parameter, job, settings, more in cases:
            with self.subTest(name=name, parameter=parameter):
                _, before = self.run_job(job, *settings)
                self.assertEqual((before["limit"]["names"], before["limit"]["parameters"]), ([name], [parameter]), before["limiting"])
                _, after = self.run_job(job, *settings, more)
                self.assertGreater(after["read"]["iops"], 1.1 * before["read"]["iops"])

    def test_a_full_core_limits_though_the_scheduler_idles(self):
        """Two jobs fill the tags, and BFQ leaves the drive empty when it changes between them: a faster core brings more, and more tags do not."""
        two = self.write("two.fio", "[global]\nioengine=libaio\nrw=randread\nbs=4k\niodepth=32\ntime_based\nruntime=150ms\n[a]\ncgroup_weight=300\n[b]\ncgroup_weight=100\n")
        run = lambda *settings: self.simulate("s4500", two, *sets("block.scheduler=bfq", "host.tenants=by_job", *settings)).json()
        before = run()
        self.assertEqual((before["limit"]["kind"], before["limit"]["names"]), ("resource", ["firmware core"]), before["limiting"])
        self.assertIn("the I/O scheduler leaves the drive empty for", before["limiting"])
        clock = 2 * int(re.search(r'^clock = "(\d+)MHz"', before["config_toml"], re.M)[1])
        self.assertGreater(run(f"firmware.clock={clock}MHz")["read"]["iops"], 1.3 * before["read"]["iops"])

    def test_limits_of_nass_that_hold_requests_back_are_named(self):
        """Without AggreBDL nearly all tags are in use, with it few: the verdict names it, and the table has the limit over the run."""
        two = self.write("two.fio", "[global]\nioengine=libaio\nrw=randread\ntime_based\nruntime=200ms\n[small]\nbs=4k\niodepth=2\n[large]\nbs=128k\niodepth=32\n")
        settings = ("block.scheduler=fiops", "block.nass.window=10ms", "host.tenants=by_job")
        limited = self.simulate("s4500", two, *sets(*settings, "block.nass.aggre=true"), output="limited").json()
        plain = self.simulate("s4500", two, *sets(*settings), output="plain").json()
        self.assertGreater(plain["block"]["utilisation"], 3 * limited["block"]["utilisation"])
        self.assertEqual((limited["limit"]["names"], limited["limit"]["parameters"]), (["limits of NASS"], ["block.nass.aggre"]), limited["limiting"])
        self.assertGreater(plain["read"]["MB_per_s"], 1.1 * limited["read"]["MB_per_s"])
        self.assertNotIn("block.nass", plain["limiting"])
        for context in limited["block"]["contexts"]:
            self.assertLessEqual(context["limit_least"], context["limit_mean"])
            self.assertLessEqual(context["limit_mean"], 32)
        self.assertLess(limited["block"]["contexts"][1]["limit_least"], 32)
        self.assertNotIn("limit_mean", plain["block"]["contexts"][0])

    def test_stages_add_up_to_all_requests(self):
        """Little's law: the time of requests in and below the block layer is the sum of their latencies, and what the tags were held for is that less block_queue
        and without merging."""
        job = self.job("mix", *MIX)
        _, j = self.run_job(job, "block.scheduler=noop", "block.queue_depth=4", "block.merges=false")
        us = sum(op["total"]["mean"] * op["total"]["count"] for op in j["latency_us"].values())
        queue = sum(op.get("block_queue", {"mean": 0})["mean"] * op["total"]["count"] for op in j["latency_us"].values())
        window = j["measured_window_s"] * 1e6
        tags = sum(c["tags_mean"] for c in j["block"]["contexts"])
        self.assertAlmostEqual(sum(c["requests_mean"] for c in j["block"]["contexts"]) * window / us, 1, places=3)
        self.assertAlmostEqual(tags * window / (us - queue), 1, places=3)
        self.assertAlmostEqual(j["block"]["utilisation"], tags / 4, places=6)

    def test_merging_for_the_only_tag(self):
        """One 4 KiB request in the drive; the 31 others of the stream wait, and become one command: two commands for 32 requests."""
        job = self.job("stream", *STREAM, "iodepth=32")
        _, j = self.run_job(job, "block.scheduler=noop", "block.queue_depth=1", "block.nr_requests=64")
        self.assertEqual(j["read"]["ios"], 1024)
        self.assertEqual(j["counters"]["host_commands"], 1024 / 32 * 2)
        self.assertEqual(j["block"]["back_merges"], 1024 / 32 * 30)
        _, j = self.run_job(job, "block.scheduler=noop", "block.queue_depth=1", "block.merges=false")
        self.assertEqual(j["counters"]["host_commands"], 1024)

    def test_off_is_no_block_layer(self):
        job = self.job("mix", *MIX)
        result, j = self.run_job(job)
        self.assertNotIn("block", j)
        self.assertNotIn("block_queue", j["latency_us"]["read"])
        self.assertFalse((result.path / "block.csv").exists())

    def test_a_scheduler_that_has_nothing_to_do_costs_nothing(self):
        """At a depth that the drive takes at once requests wait for nobody: the run is the one without a block layer."""
        job = self.job("reads", "rw=randread", "bs=4k", "iodepth=4", "number_ios=500", "norandommap", "size=8m")
        _, off = self.run_job(job)
        _, on = self.run_job(job, "block.scheduler=noop")
        self.assertEqual(on["latency_us"], off["latency_us"])
        self.assertEqual(on["counters"], off["counters"])

    def two(self, *settings, first=(), second=(), output="two"):
        text = ("[global]\nioengine=libaio\nrw=randread\nbs=4k\niodepth=32\nnorandommap\nsize=8m\ntime_based\nruntime=60ms\n[one]\n" + "\n".join(first)
                + "\n[two]\n" + "\n".join(second) + "\n")
        return self.run_job(self.write("two.fio", text), *settings, output=output)

    def test_weights_of_fiops(self):
        """Nine parts of ten for the weight of nine, whoever gives it: the list, or the job."""
        for settings, second in ((("block.weights=[100,900]",), ()), ((), ("cgroup_weight=900",))):
            result, j = self.two("block.scheduler=fiops", "block.queue_depth=4", *settings, second=second)
            one, two = (job["read"]["io_bytes"] - AT_THE_END for job in result.json("fio.json")["jobs"])
            self.assertAlmostEqual(two / (one + two), 0.9, delta=0.02)
            self.assertEqual([c["weight"] for c in j["block"]["contexts"]], [100, 900])

    def test_shares_by_weight_under_bfq(self):
        """Two tenants with weights of 1 to 3 share the bytes as these."""
        result, j = self.two("block.scheduler=bfq", "block.queue_depth=4", "block.nr_requests=128", "block.bfq.timeout_sync=1ms", "block.bfq.max_budget=64", "block.weights=[100,300]",
                             "host.tenants=by_job")
        one, two = (job["read"]["io_bytes"] - AT_THE_END for job in result.json("fio.json")["jobs"])
        self.assertAlmostEqual(two / (one + two), 0.75, delta=0.04)
        self.assertEqual([c["name"] for c in j["block"]["contexts"]], ["one", "two"])

    def test_a_class_goes_first(self):
        """Of a realtime and an idle job the idle one has what is left: next to nothing of a drive that is full."""
        result, _ = self.two("block.scheduler=fiops", "block.queue_depth=2", first=("prioclass=1",), second=("prioclass=3",))
        one, two = (job["read"]["io_bytes"] for job in result.json("fio.json")["jobs"])
        self.assertLess(two, 0.05 * one)

    def test_a_virtual_machines_queue(self):
        """With two requests below its queue a machine has two tags at most, and waits for them in block_queue."""
        _, j = self.two("block.scheduler=noop", "block.vm_queue_depth=2", "host.tenants=by_job")
        for c in j["block"]["contexts"]:
            self.assertLessEqual(c["tags_mean"], 2)
            self.assertGreater(c["requests_mean"], 30)
        self.assertEqual(j["block"]["most_in_drive"], 4)

    def test_nass_frees_tags_for_the_one_that_is_not_intensive(self):
        """TEST5 of the study: depth 2 beside depth 32. With AggreBDL the first keeps more of its bandwidth, and the limit is half of the tags."""
        job = self.write("t5.fio", "[global]\nioengine=libaio\nrw=randread\nbs=4k\nnorandommap\nsize=8m\ntime_based\nruntime=100ms\n[few]\niodepth=2\n[many]\niodepth=32\n")
        figures = {}
        for aggre in ("false", "true"):
            result, j = self.run_job(job, "block.scheduler=noop", "block.queue_depth=16", "block.merges=false", f"block.nass.aggre={aggre}", "block.nass.window=5ms", output=f"a{aggre}")
            few, many = result.json("fio.json")["jobs"]
            figures[aggre] = few["read"]["io_bytes"], many["read"]["io_bytes"], j["block"], result
        self.assertGreater(figures["true"][0], 1.2 * figures["false"][0])
        block = figures["true"][2]
        self.assertEqual([c["limit"] for c in block["contexts"]], [16, 8])
        self.assertGreater(block["nass_windows"], 10)
        self.assertLess(block["contexts"][0]["starved"], figures["false"][2]["contexts"][0]["starved"])
        rows = figures["true"][3].rows("block.csv")
        self.assertEqual({r["name"] for r in rows}, {"few", "many"})
        self.assertIn("8", {r["limit"] for r in rows if r["name"] == "many"})
        self.assertTrue(all(0 <= float(r["starved"]) <= 1 and float(r["tags"]) <= float(r["requests"]) + 1e-6 for r in rows))

    def test_nass_frees_tags_for_the_small_one(self):
        """TEST3: 4 KiB beside 128 KiB. A command of the second costs 26 times as much, so it has one tag; the first then gets more of the drive."""
        job = self.write("t3.fio", "[global]\nioengine=libaio\nrw=randread\nnorandommap\nsize=8m\ntime_based\nruntime=100ms\niodepth=32\n[small]\nbs=4k\n[large]\nbs=128k\n")
        got = {}
        for aggre in ("false", "true"):
            result, _ = self.run_job(job, "block.scheduler=noop", "block.queue_depth=16", "block.merges=false", f"block.nass.aggre={aggre}", "block.nass.window=5ms", output=f"s{aggre}")
            # Until time is up; then the large ones that are left are alone.
            rows = [r for r in result.rows("block.csv") if 40000 <= float(r["time_us"]) <= 100000]
            limits = {name: {r["limit"] for r in rows if r["name"] == name} for name in ("small", "large")}
            got[aggre] = result.json("fio.json")["jobs"][0]["read"]["io_bytes"], limits
        self.assertEqual(got["false"][1], {"small": {""}, "large": {""}})
        self.assertEqual(got["true"][1], {"small": {"16"}, "large": {"1"}})
        self.assertGreater(got["true"][0], 1.5 * got["false"][0])

    def test_bandwidth_shares_against_alone(self):
        job = self.write("pair.fio", "[global]\nioengine=libaio\nrw=randread\nbs=4k\nnorandommap\nsize=8m\ntime_based\nruntime=30ms\n[few]\niodepth=2\n[many]\niodepth=32\n")
        done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "pair", "--alone", *sets(*DEVICE, "block.scheduler=noop", "block.queue_depth=8"))
        self.assertEqual(done.returncode, OK, done.stderr)
        j = json.loads((self.dir / "pair" / "result.json").read_text())
        kept = [f["over_alone"]["bandwidth"] for f in j["flows"]]
        for f, k in zip(j["flows"], kept):
            alone = f["alone"]["bytes"] / f["alone"]["active_s"]
            self.assertAlmostEqual(k, f["bytes"] / f["active_s"] / alone)
            self.assertAlmostEqual(f["over_alone"]["bandwidth_lost"], 1 - k)
        shares = j["bandwidth_shares"]
        self.assertAlmostEqual(shares["kept_sum"], sum(kept))
        self.assertAlmostEqual(shares["lost_sum"], 2 - sum(kept))
        self.assertAlmostEqual(shares["fairness"], 1 - abs(kept[0] - kept[1]))
        self.assertAlmostEqual(shares["least_over_most"], min(kept) / max(kept))
        self.assertIn(f"sum {sum(kept):.3f} ({2 - sum(kept):.3f})", done.stdout)

    def test_a_run_that_is_stopped(self):
        job = self.job("mix", *MIX)
        done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", "--stop-after-commands", "100", *sets(*DEVICE, "block.scheduler=noop", "block.queue_depth=2"))
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("block layer: noop", done.stdout)

    def test_notes_and_refusals(self):
        job = self.job("asks", *MIX, "prio=3", "ioscheduler=fiops")
        done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", *sets(*DEVICE, "block.queue_depth=4", "block.nass.aggre=true"))
        self.assertEqual(done.returncode, OK, done.stderr)
        for text in ("block.queue_depth acts only with block.scheduler", "block.nass.aggre acts only with", "ioscheduler=fiops has no effect", "prio or prioclass has no effect"):
            self.assertIn(text, done.stdout)
        alone = self.job("alone", "rw=randread", "bs=4k", "number_ios=50")
        done = self.ssdtlm("run", "tiny-test", "-w", alone, "-o", "out", *sets("block.scheduler=bfq", "block.nass.aggre=true", "block.weights=[1,2]"))
        self.assertEqual(done.returncode, OK, done.stderr)
        for text in ("block.weights has 2 weights, of which those behind the first 1 have no effect", "block.nass.aggre = true has no effect: the workload has one job"):
            self.assertIn(text, done.stdout)
        done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", *sets(*DEVICE, "block.scheduler=noop"))
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("ioscheduler=fiops", done.stderr)
        done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", *sets("block.scheduler=cgq"))
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("block.scheduler", done.stderr)


if __name__ == "__main__":
    unittest.main()
