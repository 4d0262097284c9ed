# SPDX-License-Identifier: Apache-2.0
"""Many flows on one drive, with NVM Sets, quotas and weights, with resets and losses of power; and what each NVM Set was written."""
import json
import unittest

from support import OK, SystemTest
from wait_sums import WAITS, bins

CHANNELS, FLOWS = 8, 64
# Eight sets of one die each. As many queue pairs as there are flows.
DRIVE = (f"nand.geometry.channels={CHANNELS}", "ftl.user_capacity=48MiB", "ftl.nvm_sets=" + ", ".join(f"C{c}" for c in range(CHANNELS)), "host.queue_pairs=64",
         "nvme.max_queue_pairs=64", "precondition.state=random")
RESETS = ('host.reset_at=["2ms", "4ms"]',)
POWER = ('host.power_cut_at=["2ms", "6ms"]', "host.power_off_time=1ms")
UNIT = 4096


def sets(*settings):
    return [word for s in settings for word in ("--set", s)]


def one_each(count, value=lambda i: i):
    return "[" + ", ".join(str(value(i)) for i in range(count)) + "]"


class ManyFlows(SystemTest):
    def flows(self, count, *settings, ios=200, extra=(), output="out"):
        """Readers, writers, both and sequential readers in turn, flow i in set 1 + i % 8."""
        words = []
        for i in range(count):
            rw = ("randread", "randwrite", "randrw", "read")[i % 4]
            words += ["-w", self.write(f"f{i}.fio", f"[f{i}]\nioengine=libaio\nnorandommap\nsize=100%\nio_size=64m\nbs=4k\nrw={rw}\niodepth={1 + i % 8}\nnumber_ios={ios}\n")]
        regions = "host.regions=" + ", ".join(f"set {1 + i % CHANNELS}" for i in range(count))
        done = self.ssdtlm("run", "tiny-test", "-q", "-o", output, *words, *sets(*DRIVE, regions, *settings), *extra)
        self.assertEqual(done.returncode, OK, done.stderr)
        return json.loads((self.dir / output / "result.json").read_text())

    def test_sixty_four(self):
        """With weights, quotas of all caches and sets, on either map; undisturbed, with resets and with losses of power."""
        quotas = one_each(FLOWS, lambda i: 1)
        common = ("scheduler.policy=weighted", f"scheduler.weighted.weights={one_each(FLOWS, lambda i: 1 + i % 5)}", "buffer.size=1MiB", f"buffer.quotas={quotas}",
                  f"nvme.fetch_windows={one_each(FLOWS, lambda i: 1 + i % 3)}", "read_cache.size=1MiB", f"read_cache.quotas={quotas}")
        cached = ("ftl.mapping=dftl", "map.cache=64KiB", "map.entry_size=64B", f"map.quotas={quotas}")
        for number, more in enumerate((("run.slowest=1000",), cached, RESETS, POWER, (*cached, *POWER))):
            with self.subTest(more=more):
                result = self.flows(FLOWS, *common, *more, output=f"out{number}")
                self.assertEqual([f["name"] for f in result["flows"]], [f"f{i}" for i in range(FLOWS)])
                self.assertEqual([f["commands"] for f in result["flows"]], [200] * FLOWS)
                self.assertEqual(len(result.get("power_cuts", [])), 2 if POWER[0] in more else 0)
                waited = sum(row["stages"].get(stage, 0) for row in bins(self.dir / f"out{number}") for stage in WAITS)
                self.assertEqual(sum(row["total_ps"] for row in result["flow_waits"]), waited)
                ranges = [(s["offset_bytes"], s["offset_bytes"] + s["bytes"]) for s in result["ftl"]["nvm_sets"]]
                for c in json.loads((self.dir / f"out{number}" / "slowest.json").read_text())["commands"]:
                    low, high = ranges[int(c["flow"][1:]) % CHANNELS]
                    self.assertTrue(low <= c["offset"] and c["offset"] + c["bytes"] <= high, c)

    def test_alone_with_resets_and_losses_of_power(self):
        """Each run alone has the same resets and losses of power, as far as it lasts. Its figures are those of a run of it with --only."""
        for number, more in enumerate((RESETS, POWER, (*POWER, "ftl.mapping=dftl", "map.cache=64KiB", "map.entry_size=64B"))):
            with self.subTest(more=more):
                both = self.flows(3, *more, ios=600, extra=("--alone",), output=f"out{number}")
                for flow in both["flows"]:
                    only = self.flows(3, *more, ios=600, extra=("--only", flow["name"]), output=f"only{number}{flow['name']}")
                    alone = next(f for f in only["flows"] if f["commands"] != 0)
                    self.assertEqual((alone["name"], alone["response_ps"], alone["commands"]), (flow["name"], flow["alone"]["response_ps"], flow["alone"]["commands"]))
                    self.assertAlmostEqual(flow["over_alone"]["slowdown"], flow["response_ps"] / flow["commands"] / (alone["response_ps"] / alone["commands"]), places=9)

    def test_write_amplification_of_sets(self):
        """A set that is written at random collects; one that is written in order does not; one that is read has none. The sets add up to the drive."""
        words = []
        for name, rw in (("order", "write"), ("random", "randwrite"), ("reads", "randread")):
            words += ["-w", self.job(name, f"rw={rw}", "bs=4k", "iodepth=8", "size=100%", "io_size=30m", "norandommap")]
        done = self.ssdtlm("run", "tiny-test", "-o", "out", *words,
                           *sets("nand.geometry.channels=3", "ftl.user_capacity=18MiB", "ftl.nvm_sets=C0, C1, C2", "precondition.state=sequential", "buffer.size=64KiB",
                                 "precondition.fill_caches=false", "host.regions=set 1, set 2, set 3"))
        self.assertEqual(done.returncode, OK, done.stderr)
        ftl = json.loads((self.dir / "out" / "result.json").read_text())["ftl"]
        order, spread, reads = ftl["nvm_sets"]
        self.assertEqual(sum(s["host_units"] for s in ftl["nvm_sets"]), ftl["host_units"])
        self.assertEqual(sum(s["nand_bytes"] for s in ftl["nvm_sets"]), ftl["nand_bytes"])
        # Each writer has written 30 MiB, less what is in the buffer at the end or was written again there.
        for s in (order, spread):
            self.assertAlmostEqual(s["host_units"], (30 << 20) // UNIT, delta=(64 << 10) // UNIT * 4)
            self.assertEqual(s["unit_write_amplification"], s["nand_bytes"] / UNIT / s["host_units"])
        self.assertLess(order["unit_write_amplification"], 1.02)
        self.assertGreater(spread["unit_write_amplification"], 1.5)
        self.assertEqual((reads["host_units"], reads["nand_bytes"], reads["unit_write_amplification"]), (0, 0, None))
        # What is moved is of the set that is written at random.
        self.assertAlmostEqual(spread["nand_bytes"] / UNIT - spread["host_units"], ftl["gc_units_moved"] + ftl["gc_units_stale"], delta=(64 << 10) // UNIT)
        self.assertIn(f"NVM sets: write amplification in units {order['unit_write_amplification']:.3f} (C0), {spread['unit_write_amplification']:.3f} (C1)\n", done.stdout)
        done = self.ssdtlm("report", "out", "-o", "out.html")
        self.assertEqual(done.returncode, OK, done.stderr)
        page = (self.dir / "out.html").read_text()
        for text in ("NVM Sets", f"{spread['unit_write_amplification']:.3f}"):
            self.assertIn(text, page)


if __name__ == "__main__":
    unittest.main()
