# SPDX-License-Identifier: Apache-2.0
"""The sweep of configs/sweep/over_provisioning.toml: 200 points in steady state on hexa-16g, in at most half an hour on two cores.
SSDTLM_SWEEP_WHERE thins it out; SSDTLM_SWEEP_OUTPUT keeps it, with its report."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import time
import tomllib
import unittest

import sweeps
from support import BINARY, OK, SOURCE, SystemTest

SPEC = SOURCE / "configs" / "sweep" / "over_provisioning.toml"
WHERE = os.environ.get("SSDTLM_SWEEP_WHERE", "")
WORKERS, MOST_SECONDS, POINTS = 2, 1800, 200


@unittest.skipUnless(sweeps.can_sweep(), "make python")
class SteadyState(SystemTest):
    def test_over_provisioning(self):
        spec = self.dir / "spec.toml"
        text = SPEC.read_text().replace('workload = "', f'workload = "{SPEC.parent}/').replace("[set]", f'where = ["{WHERE}"]\n[set]' if WHERE else "[set]")
        spec.write_text(text)
        output = os.environ.get("SSDTLM_SWEEP_OUTPUT") or self.dir / "out"
        began = time.monotonic()
        done = subprocess.run([BINARY, "sweep", "run", spec, "-o", output, "-q", "--workers", str(WORKERS)], env=sweeps.ENVIRONMENT, capture_output=True, text=True)
        wall = time.monotonic() - began
        self.assertEqual(done.returncode, OK, done.stdout + done.stderr)
        records = sweeps.records(output)
        self.assertEqual(len(records), POINTS if not WHERE else len(records))
        waf, policies = collections.defaultdict(dict), set()
        for key, record in records.items():
            p, result = record["point"], json.loads((pathlib.Path(output) / "runs" / key / "result.json").read_text())
            waf[p["gc.policy"], p["fio.iodepth"]][float(p["ftl.over_provisioning"].removesuffix("%"))] = result["ftl"]["waf"]
            policies.add(p["gc.policy"])
        seconds = sum(r["seconds"] for r in records.values())
        print(f"{len(records)} points, {len(policies)} policies: {wall:.0f} s on {WORKERS} workers, {seconds / len(records):.1f} s a simulation", file=sys.stderr)
        # More spare flash, less to move; and no policy moves less than the one that takes the emptiest block, for uniform random writes.
        for (policy, depth), by_spare in waf.items():
            values = [by_spare[spare] for spare in sorted(by_spare, reverse=True)]
            for less, more in zip(values, values[1:]):
                self.assertLessEqual(less, 1.02 * more, (policy, depth, values))
            for spare, value in by_spare.items():
                # At low depths collection comes in bursts, and the window sees a few.
                least = 0.97 if depth >= 16 else 0.9
                self.assertGreaterEqual(value, least * waf["greedy", depth][spare], (policy, depth, spare))
        report = subprocess.run([BINARY, "sweep", "report", spec, "-o", output, "--metric", "write.iops", "--metric", "read.total.p99", "--metric", "ftl.waf"],
                                env=sweeps.ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual((report.returncode, report.stderr), (OK, ""))
        if not WHERE:
            self.assertLess(wall, MOST_SECONDS)

    def test_the_specification(self):
        table = tomllib.loads(SPEC.read_text())
        count = 1
        for values in (table["zip"][0]["fio"]["iodepth"], table["grid"]["ftl"]["over_provisioning"], table["grid"]["gc"]["policy"]):
            count *= len(values)
        self.assertEqual(count, POINTS)


if __name__ == "__main__":
    unittest.main()
