# SPDX-License-Identifier: Apache-2.0
"""What the tests of `ssdtlm report` share: they write reports and ask a page in Chromium what it shows."""
import json
import os
import re
import subprocess

from support import BINARY, OK, SOURCE, SystemTest

PYTHON = SOURCE / "build" / "python" / "bin" / "python3"
# Columns of charts that hold text.
TEXT = {"resource", "bar", "stage", "line", "cause", "valid", "text", "ink"}


class ReportTest(SystemTest):
    def report(self, *args):
        done = subprocess.run([BINARY, "report", *map(str, args)], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "SSDTLM_PYTHON": str(PYTHON)})
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        return self.dir / re.fullmatch(r"report in (.*)\n", done.stdout)[1]

    def rows(self, browser, chart):
        """Of the chart's data, as its CSV has them."""
        found = browser.evaluate(f"views[{json.dumps(chart)}].data('table').map(row => ({{...row}}))")
        return [{k: v if k in TEXT else float(v) for k, v in row.items()} for row in found]

    def drawn(self, browser, chart, role):
        """What the marks of a drawing say of themselves: [{"busy (%)": "99.2", "resource": "die"}]."""
        labels = browser.evaluate(f"[...document.querySelectorAll('#{chart} svg [aria-roledescription=\"{role}\"]')].map(e => e.getAttribute('aria-label'))")
        return [dict(part.rsplit(": ", 1) for part in label.split("; ")) for label in labels]

    def screenshots(self, browser, path):
        """In the folder SSDTLM_SCREENSHOTS, where there is one."""
        folder = os.environ.get("SSDTLM_SCREENSHOTS")
        for name, width, dark in (("light", 1200, False), ("dark", 1200, True), ("narrow", 360, False)) if folder else ():
            browser.open(path, "window.drawn", width=width, dark=dark)
            browser.screenshot(type(path)(folder) / f"{path.stem}-{name}.png")
