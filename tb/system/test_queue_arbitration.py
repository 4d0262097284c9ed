# SPDX-License-Identifier: Apache-2.0
"""Weighted round robin among submission queues through the whole drive: where fetches are scarce, high, medium and low queues have commands as their weights
say, and an urgent one waits for no more than the fetch that is under way."""
import json
import unittest

from support import USER_ERROR, SystemTest

# One fetch at a time over a slow link, and reads of a fresh drive, which end at once: fetches limit, whatever the queues hold.
DEVICE = {"precondition.state": "fresh", "nvme.fetch_depth": 1, "nvme.fetch_burst": 1, "link.host_to_device_latency": "5us", "firmware.clock": "5GHz",
          "host.tenants": "by_job", "nvme.weighted_round_robin": True, "host.arbitration": "weighted"}
DEPTH = 200
GLOBAL = f"[global]\nioengine=libaio\nrw=randread\nbs=4k\niodepth={DEPTH}\nsize=4m\nnorandommap\ntime_based\nruntime=200ms\n"
URGENT = "[urgent]\niodepth=1\nthinktime=1000\n"


class QueueArbitration(SystemTest):
    def run_jobs(self, names, **settings):
        """(commands of each job while all asked, result.json)."""
        text = GLOBAL + "".join(URGENT if name == "urgent" else f"[{name}]\n" for name in names)
        words = [word for key, value in {**DEVICE, **settings}.items() for word in ("--set", f"{key}={json.dumps(value) if isinstance(value, bool) else value}")]
        result = self.simulate("tiny-test", self.write("jobs.fio", text), *words)
        self.assert_right(result)
        # What a queue holds at the end is fetched when the others ask no more.
        return [job["read"]["total_ios"] - DEPTH for job in result.json("fio.json")["jobs"]], result.json("result.json")

    def test_commands_as_the_weights_say(self):
        for weights in ([8, 4, 1], [1, 1, 1], [3, 5, 2], [100, 10, 1]):
            with self.subTest(weights=weights):
                got, result = self.run_jobs(("high", "medium", "low"), **{"host.queue_priorities": [1, 2, 3], "host.arbitration_weights": weights})
                self.assertEqual(result["limit"]["names"], ["fetches under way"])
                for commands, weight in zip(got, weights, strict=True):
                    # A round that has begun may count for one more round of this level, and another that has not.
                    self.assertAlmostEqual(commands, sum(got) * weight / sum(weights), delta=2 * weight)

    def test_the_urgent_one_waits_for_one_fetch_alone(self):
        jobs = ("urgent", "high", "medium", "low")
        priorities = {"host.queue_priorities": [0, 1, 2, 3], "host.arbitration_weights": [8, 4, 1]}
        _, result = self.run_jobs(jobs, **priorities)
        urgent = result["latency_us_by_job"][0]
        stages = urgent["stages"]
        # Each fetch is a read over the link: this job's own says how long they take, to the time on the wire beside data and completions of others.
        self.assertLess(stages["arbitration"], 1.05 * stages["fetch"])
        self.assertLess(urgent["max"], sum(stages.values()) - stages["arbitration"] + 1.1 * stages["fetch"])
        # In turn with the others it waits for bursts of eight of all three.
        _, plain = self.run_jobs(jobs, **{**priorities, "host.arbitration": "round_robin"})
        self.assertGreater(plain["latency_us_by_job"][0]["stages"]["arbitration"], 5 * stages["arbitration"])

    def test_what_is_refused(self):
        done = self.ssdtlm("config", "check", "tiny-test", "--set", "scheduler.policy=weighted_priorities", "--set", "scheduler.weighted_priorities.weights=[4,2]")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("scheduler.weighted_priorities.weights: 2 numbers; three: for queues of high, medium and low priority; write [4, 2, 1]", done.stderr)
        for settings, words in ((("nvme.weighted_round_robin=false",), ("host.arbitration: \"weighted\"", "nvme.weighted_round_robin = true")),
                                (("host.arbitration_weights=[8,4]",), ("host.arbitration_weights: 2 numbers", "[8, 4, 1]"))):
            done = self.ssdtlm("config", "check", "tiny-test", "--set", "host.tenants=by_job", "--set", "nvme.weighted_round_robin=true", "--set", "host.arbitration=weighted",
                               *[word for s in settings for word in ("--set", s)])
            self.assertEqual(done.returncode, USER_ERROR)
            for word in words:
                self.assertIn(word, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
