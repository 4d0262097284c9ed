# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm report --pictures`: each chart of the page as a file."""
import json
import os
import re
import struct
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml
import zlib

from reports import PYTHON, ReportTest
from support import BINARY, OK, SOURCE, USER_ERROR

sys.path.insert(0, str(SOURCE / "python"))
from ssdtlm.reporting import pictures  # noqa: E402  pylint: disable=wrong-import-position

SVG = "{http://www.w3.org/2000/svg}"


def png_size(content):
    """(width, height) of a PNG whose every part has the right checksum (PNG specification, 5)."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, size, kinds = 8, None, []
    while at < len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        body = content[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack_from(">I", content, at + 8 + length)[0]
        size = struct.unpack_from(">II", body) if kind == b"IHDR" else size
        kinds.append(kind)
        at += 12 + length
    assert kinds[-1] == b"IEND"
    return size


class Names(unittest.TestCase):
    def test_files(self):
        """What a file's name must not have is replaced; no two charts have one file."""
        self.assertEqual(pictures.file_names(["map-job.a/b.read.iops", "map-job.a_b.read.iops", "map-job.a:b.read.iops", "mean-read", "line-x[1]"]),
                         ["map-job.a_b.read.iops", "map-job.a_b.read.iops_2", "map-job.a_b.read.iops_3", "mean-read", "line-x[1]"])
        self.assertFalse(any("/" in name for name in pictures.file_names(["../../x", "/"])))


@unittest.skipUnless(PYTHON.exists(), "make python")
class Files(ReportTest):
    def call(self, *words):
        return subprocess.run([BINARY, "report", *words], cwd=self.dir, capture_output=True, text=True, env={**os.environ, "SSDTLM_PYTHON": str(PYTHON)})

    def test_each_chart(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=2000", "norandommap", "io_size=100m")
        self.simulate("tiny-test", job)
        for kind in ("svg", "png"):
            done = self.call("out", "--pictures", "deep/" + kind, *(["--format", kind] if kind != "svg" else []))
            self.assertEqual((done.returncode, done.stderr), (OK, ""))
            names = json.loads(re.search(r'id="specs">(.*?)</script>', (self.dir / "out" / "report.html").read_text(), re.S)[1])
            self.assertEqual(done.stdout, f"report in out/report.html\n{len(names)} pictures in deep/{kind}/*.{kind}\n")
            files = {path.name: path.read_bytes() for path in (self.dir / "deep" / kind).iterdir()}
            self.assertEqual(set(files), {f"{name}.{kind}" for name in names})
            self.call("out", "--pictures", "again", "--format", kind)
            self.assertEqual({name: (self.dir / "again" / name).read_bytes() for name in files}, files, "the same each time")
            for name, content in files.items():
                if kind == "png":
                    width, height = png_size(content)
                else:
                    root = xml.fromstring(content)
                    self.assertEqual(root.tag, SVG + "svg")
                    width, height = 2 * float(root.get("width")), 2 * float(root.get("height"))
                    self.assertNotIn(b"currentColor", content)
                    self.assertTrue(any(e.text for e in root.iter(SVG + "text")), name)
                self.assertTrue(2 * 640 <= width <= 2 * 1000 and 60 <= height <= 2000, (name, width, height))

    def test_mistakes(self):
        self.simulate("tiny-test", self.job("mix", "rw=randread", "bs=4k", "number_ios=10"))
        (self.dir / "file").write_text("")
        for words, message in ((("--format", "png"), "--pictures"), (("--pictures", "p", "--format", "pgn"), "did you mean 'png'?"), (("--pictures", "file"), "cannot be written")):
            done = self.call("out", *words)
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (USER_ERROR, "", 1), done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
