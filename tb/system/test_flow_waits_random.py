# SPDX-License-Identifier: Apache-2.0
"""As Flows.test_rows_are_the_waits, SSDTLM_FLOW_RUNS times."""
import os
import unittest

from support import SystemTest
from wait_sums import flow_waits


class FlowWaitsRandom(SystemTest):
    def test_rows_are_the_waits(self):
        flow_waits(self, int(os.environ.get("SSDTLM_FLOW_RUNS", "3")), first=1000)


if __name__ == "__main__":
    unittest.main()
