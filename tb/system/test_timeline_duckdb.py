# SPDX-License-Identifier: Apache-2.0
"""The timeline in DuckDB (from PyPI): the query of docs/waveforms.md gives what result.json says."""
import json
import re
import subprocess
import venv

from support import SOURCE, SystemTest


class DuckDb(SystemTest):
    def test_query_of_the_documents(self):
        venv.create(self.dir / "venv", with_pip=True)
        python = self.dir / "venv" / "bin" / "python"
        got = subprocess.run([python, "-m", "pip", "install", "--quiet", "duckdb"], capture_output=True, text=True)
        if got.returncode != 0:
            self.skipTest("no duckdb: " + got.stderr.strip().splitlines()[-1])
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=2000")
        result = self.simulate("tiny-test", job, "--timeline", output="results/mix").json()
        text = (SOURCE / "docs" / "waveforms.md").read_text()
        query = re.search(r"```sql\n(.*?)```", text, re.S)[1]
        code = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.stdin.read()).fetchall(), default=str))"
        done = subprocess.run([python, "-c", code], input=query, cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row[0]: row[1:] for row in json.loads(done.stdout)}
        counters = result["counters_whole_run"]
        self.assertEqual(rows["host_read"][0], counters["flash_host_page_reads"])
        self.assertEqual(rows["host_program"][0], counters["flash_host_page_programs"])
        self.assertAlmostEqual(float(rows["host_read"][1]), 75e-3 * counters["flash_host_page_reads"], places=6)
