# SPDX-License-Identifier: Apache-2.0
"""Shares of tenants: what scheduler.policy = weighted gives to each is its weight, whatever the sizes and depths that they ask with; lists as values
of a policy on the command line, in sweeps and in the documents; sixty-four tenants on one drive."""
import json
import subprocess
import unittest

import sweeps
from support import BINARY, OK, USER_ERROR, SystemTest

# Two channels of two dies with pages of 16 KiB, so that the dies limit: times of the array and of a byte on the bus.
T_READ, BUS = 75e-6, 333e6
DEVICE = ("nand.geometry.ways=2", "nand.geometry.page_size=16KiB", "nand.geometry.spare_size=896B", "ftl.user_capacity=96MiB", f"nand.t_read={T_READ * 1e6:.0f}us",
          "precondition.state=sequential", "host.tenants=by_job")
GLOBAL = "[global]\nioengine=libaio\nrw=randread\nnorandommap\nsize=96m\ntime_based\n"
WITHIN = 0.05


def sets(*settings):
    return [word for s in settings for word in ("--set", s)]


class TenantShares(SystemTest):
    def bytes_of(self, jobs, *settings, runtime="400ms", output="out"):
        """Bytes that each job read while all were reading: what is outstanding at the end comes when nobody asks any more. `jobs`: (bs in KiB, depth)."""
        text = GLOBAL + f"runtime={runtime}\n" + "".join(f"[t{i}]\nbs={size}k\niodepth={depth}\n" for i, (size, depth) in enumerate(jobs))
        result = self.simulate("tiny-test", self.write("jobs.fio", text), *sets(*DEVICE, f"host.queue_pairs={len(jobs)}", *settings), output=output)
        self.assert_right(result)
        return [job["read"]["io_bytes"] - size * 1024 * depth for job, (size, depth) in zip(result.json("fio.json")["jobs"], jobs, strict=True)]

    def expect(self, got, parts):
        """Each has its part of the whole, to within 5 %."""
        for i, (value, part) in enumerate(zip(got, parts, strict=True)):
            wanted = part / sum(parts)
            self.assertLess(abs(value / sum(got) / wanted - 1), WITHIN, f"tenant {i + 1} has {value / sum(got):.4f}; {wanted:.4f} is its share")

    def weighted(self, jobs, weights, *settings, **more):
        return self.bytes_of(jobs, "scheduler.policy=weighted", f"scheduler.weighted.weights={weights}", *settings, **more)

    def test_small_against_large(self):
        """4 KiB against 16 KiB, each at a depth of 64: bytes as the weights. Without weights the large ones get four times as much."""
        jobs = [(4, 64), (16, 64)]
        plain = self.bytes_of(jobs)
        self.assertGreater(plain[1], 3 * plain[0])
        for weights in ([1, 1], [1, 3], [3, 1], [4, 1]):
            self.expect(self.weighted(jobs, weights), weights)

    def test_by_die_time(self):
        """The same by the time that a die needs for each: array and bus. Bytes are then as the weights by the time of a byte."""
        jobs = [(4, 64), (16, 64)]
        time = [T_READ + size * 1024 / BUS for size, _ in jobs]
        for weights in ([1, 1], [1, 2], [3, 1]):
            got = self.weighted(jobs, weights, "scheduler.weighted.share_of=die_time")
            self.expect(got, [w / t * size for w, t, (size, _) in zip(weights, time, jobs)])

    def test_shallow_against_deep(self):
        """A depth of 8 against 256: the weights hold, too. Without them each gets as its depth."""
        jobs = [(4, 8), (4, 256)]
        plain = self.bytes_of(jobs)
        self.assertAlmostEqual(plain[0] / sum(plain), 8 / 264, delta=0.01)
        for weights in ([1, 1], [1, 3], [1, 9]):
            self.expect(self.weighted(jobs, weights), weights)

    def test_what_one_does_not_want_others_get(self):
        """A tenant with one read at a time cannot use nine tenths: it waits at most for what is under way, and nothing is left idle."""
        jobs = [(4, 1), (4, 256)]
        plain, got = self.bytes_of(jobs), self.weighted(jobs, [9, 1])
        self.assertLess(got[0] / sum(got), 0.2)
        self.assertGreater(got[0], 5 * plain[0])
        self.assertGreater(sum(got), 0.97 * sum(plain))

    def test_on_a_clock(self):
        """The same policy with the cycles of the RTL: each channel has an instance of it."""
        self.expect(self.weighted([(4, 64), (16, 64)], [1, 3], "scheduler.implementation=tlm_clocked"), [1, 3])

    def test_sixty_four_tenants(self):
        """Half of them with thrice the weight. Each is in the results, with as many reads as fio.json counts."""
        weights = [1 + 2 * (i % 2) for i in range(64)]
        got = self.weighted([(4, 32)] * 64, weights, runtime="2s")
        self.expect(got, weights)
        listed = json.loads((self.dir / "out" / "result.json").read_text())["latency_us_by_tenant"]
        self.assertEqual([t["tenant"] for t in listed], list(range(1, 65)))
        self.assertEqual([(t["count"] - 32) * 4096 for t in listed], got)
        done = self.ssdtlm("report", "out", "-o", "out.html")
        self.assertEqual(done.returncode, OK, done.stderr)
        page = (self.dir / "out.html").read_text()
        self.assertTrue(all(f"t{i}" in page for i in range(64)))

    def test_priorities(self):
        """An urgent tenant of eight reads is served as if the low one were not there, but for what is under way."""
        jobs = [(4, 8), (4, 256)]
        got = self.bytes_of(jobs, "scheduler.policy=priority_classes", "host.queue_priorities=[0, 3]", "scheduler.starvation_limit=0")
        same = self.bytes_of(jobs, "scheduler.policy=priority_classes", "host.queue_priorities=[3, 3]", "scheduler.starvation_limit=0")
        self.assertAlmostEqual(same[0] / sum(same), 8 / 264, delta=0.01)
        # Each of its reads waits for one that runs and for those of its own, and takes as long: less than three times.
        time = T_READ + 4096 / BUS
        dies, each = 4, 8 / 4
        self.assertGreater(got[0] / 4096 / 0.4, dies / time * each / (each + 1) / 1.6)
        self.assertGreater(got[0], 8 * same[0])

    def test_shares_of_priorities(self):
        """High, medium and low readers share the dies 4:2:1 as in MQSim, or as the weights say; an urgent one beside them has all that it asks for."""
        for weights in ([4, 2, 1], [1, 1, 1]):
            got = self.bytes_of([(4, 64)] * 3, "scheduler.policy=weighted_priorities", "host.queue_priorities=[1, 2, 3]", f"scheduler.weighted_priorities.weights={weights}")
            self.expect(got, weights)
        jobs = [(4, 8), (4, 64), (4, 64)]
        three = self.bytes_of(jobs, "scheduler.policy=weighted_priorities", "host.queue_priorities=[0, 1, 3]", "scheduler.starvation_limit=0")
        same = self.bytes_of(jobs, "scheduler.policy=weighted_priorities", "host.queue_priorities=[3, 3, 3]", "scheduler.starvation_limit=0")
        self.assertGreater(three[0], 4 * same[0])
        self.assertGreater(three[1], 3 * three[2])  # where a die has no high one at the moment, a low one takes its turn

    def test_a_list_is_a_value_as_any_other(self):
        """In `config check`, `show`, `schema` and the reference, and as an axis of a sweep."""
        ok = sets("scheduler.policy=weighted", "host.tenants=by_job")
        done = self.ssdtlm("config", "check", "tiny-test", *ok, *sets("scheduler.weighted.weights=[1, 2, 4]"))
        self.assertEqual(done.returncode, OK, done.stderr)
        done = self.ssdtlm("config", "show", "tiny-test", *ok, *sets("scheduler.weighted.weights=[1, 2, 4]"))
        self.assertIn("weights = [1, 2, 4]", done.stdout)
        done = self.ssdtlm("config", "check", "tiny-test", *ok, *sets("scheduler.weighted.weights=[1, 0, 1001, 4]"))
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("scheduler.weighted.weights: 0 is out of range; 1..1000", done.stderr)
        self.assertIn("scheduler.weighted.weights: 1001 is out of range; 1..1000", done.stderr)
        weights = json.loads(self.ssdtlm("config", "schema").stdout)["properties"]["scheduler"]["properties"]["weighted"]["properties"]["weights"]
        self.assertEqual(weights["oneOf"][1]["items"], weights["oneOf"][0])
        self.write("d.toml", '[scheduler]\npolicy = "weighted"\n[scheduler.weighted]\nweights = [7, 9]\nothers = 2\n[host]\ntenants = "by_job"\n')
        self.assertIn("weights = [7, 9]", self.ssdtlm("config", "show", "tiny-test", "d.toml").stdout)
        self.write("s.toml", 'device = "tiny-test"\n[fio]\nrw = "randread"\nbs = "4k"\nnumber_ios = 100\n[set]\nscheduler.policy = "weighted"\nhost.tenants = "by_job"\n'
                             "[grid]\nscheduler.weighted.weights = [[1], [1, 3], []]\n")
        if sweeps.can_sweep():
            done = subprocess.run([BINARY, "sweep", "plan", "s.toml", "--json"], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertEqual([r["values"]["scheduler.weighted.weights"] for r in json.loads(done.stdout)["runs"]], [[1], [1, 3], []])


if __name__ == "__main__":
    unittest.main()
