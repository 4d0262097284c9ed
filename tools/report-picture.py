#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A picture of a report, or of a part of it: report-picture.py REPORT.html PICTURE.png [--part '#heat' ...] [--width 1200] [--dark].
Parts are CSS selectors; the picture is of the smallest rectangle that holds them. Needs Chromium."""
import argparse
import base64
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tb" / "system"))
from browser import Browser  # noqa: E402  pylint: disable=wrong-import-position

RECTANGLE = """(parts => {
  const boxes = parts.flatMap(p => [...document.querySelectorAll(p)]).map(e => e.getBoundingClientRect());
  const left = Math.max(0, Math.min(...boxes.map(b => b.left)) - 12), top = Math.max(0, Math.min(...boxes.map(b => b.top + scrollY)) - 4);
  return {x: left, y: top, width: Math.max(...boxes.map(b => b.right)) + 12 - left, height: Math.max(...boxes.map(b => b.bottom + scrollY)) + 12 - top, scale: 1};
})(%s)"""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("report", type=pathlib.Path)
    options.add_argument("picture", type=pathlib.Path)
    options.add_argument("--part", action="append", default=[])
    options.add_argument("--width", type=int, default=1200)
    options.add_argument("--dark", action="store_true")
    o = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder)
        try:
            browser.open(o.report, "document.querySelectorAll('.chart svg').length > 0", width=o.width, dark=o.dark)
            missing = [part for part in o.part if not browser.evaluate(f"document.querySelector({part!r}) !== null")]
            if missing:
                sys.exit(f"--part {missing[0]}: is not in {o.report}")
            rectangle = browser.evaluate(RECTANGLE % o.part) if o.part else None
            more = {"clip": rectangle} if rectangle else {}
            data = browser.call("Page.captureScreenshot", captureBeyondViewport=True, **more)["data"]
        finally:
            browser.close()
    o.picture.write_bytes(base64.b64decode(data))


if __name__ == "__main__":
    main()
