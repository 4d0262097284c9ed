# SPDX-License-Identifier: Apache-2.0
"""The notebooks, executed as a reader would: they end, they show their charts, and they stop when the model does not keep their
formulas. SSDTLM_NOTEBOOKS=FOLDER keeps them with their outputs."""
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

from support import BINARY, SOURCE, SystemTest

PYTHON = SOURCE / "build" / "python" / "bin" / "python3"
FOLDER = SOURCE / "notebooks"
MOST_SECONDS = 180
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
EXECUTE = """
import sys, nbformat, nbclient
from jupyter_client import KernelManager
book = nbformat.read(sys.argv[1], 4)
nbformat.validate(book)
manager = KernelManager(kernel_name="python3", transport="ipc")
try:
    nbclient.NotebookClient(book, km=manager, timeout=300, resources={"metadata": {"path": "."}}).execute()
except nbclient.exceptions.CellExecutionError as error:
    print(error.ename, error.evalue)
    sys.exit(1)
nbformat.write(book, sys.argv[2])
"""


def can_execute():
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", "import nbclient, ipykernel"], capture_output=True).returncode == 0


def source(cell):
    return "".join(cell["source"])


class Notebooks(SystemTest):
    def execute(self, book):
        """Returns (seconds, exit code, what it printed); the executed notebook is out.ipynb."""
        (self.dir / "in.ipynb").write_text(json.dumps(book))
        home = self.dir / "home"
        environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(SOURCE / "python"), "SSDTLM_BINARY": BINARY, "IPYTHONDIR": str(home / "ipython"),
                       # Sockets have short names.
                       "JUPYTER_RUNTIME_DIR": str(self.dir / "run"), "http_proxy": "http://localhost:9", "https_proxy": "http://localhost:9"}
        home.mkdir(exist_ok=True)
        began = time.monotonic()
        done = subprocess.run([PYTHON, "-c", EXECUTE, "in.ipynb", "out.ipynb"], cwd=self.dir, env=environment, capture_output=True, text=True)
        return time.monotonic() - began, done.returncode, done.stdout + done.stderr

    @unittest.skipUnless(can_execute(), "make python")
    def check(self, name, charts, broken):
        """`broken`: (text, what replaces it) of changes that its checks have to notice."""
        book = json.loads((FOLDER / f"{name}.ipynb").read_text())
        seconds, code, printed = self.execute(book)
        self.assertEqual(code, 0, printed)
        shown = json.loads((self.dir / "out.ipynb").read_text())
        if os.environ.get("SSDTLM_NOTEBOOKS"):
            (pathlib.Path(os.environ["SSDTLM_NOTEBOOKS"]) / f"{name}.ipynb").write_text(json.dumps(shown, indent=1))
        outputs = [output for cell in shown["cells"] for output in cell.get("outputs", [])]
        self.assertEqual(sum("image/svg+xml" in output.get("data", {}) for output in outputs), charts)
        self.assertEqual([output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"], [])
        self.assertTrue((self.dir / "results" / f"{name}.html").is_file())
        print(f"{name}: {seconds:.0f} s", file=sys.stderr)
        self.assertLess(seconds, MOST_SECONDS)
        for old, new in broken:
            text = json.dumps(book)
            self.assertEqual(text.count(json.dumps(old)[1:-1]), 1, old)
            _, code, printed = self.execute(json.loads(text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])))
            self.assertEqual(code, 1, f"{name} does not notice {new}")
            self.assertTrue(printed.startswith("AssertionError"), printed)

    def test_first_run(self):
        self.check("first_run", 3, [('idle.config["nand.t_read"].removesuffix("us"))', 'idle.config["nand.t_read"].removesuffix("us")) + 0.1'),
                                    ("dies = 64", "dies = 32")])

    def test_over_provisioning(self):
        # Runs of the sweep that are there are not repeated.
        self.check("over_provisioning", 2, [("BLOCKS - free_blocks(result) - DIES", "BLOCKS - DIES"),
                                            ('waf * (us("nand.t_program")', 'waf * (0.95 * us("nand.t_program")')])

    def test_as_they_are_kept(self):
        self.assertEqual(NAMES, ["first_run", "over_provisioning"])
        for name in NAMES:
            cells = json.loads((FOLDER / f"{name}.ipynb").read_text())["cells"]
            self.assertFalse([cell for cell in cells if cell.get("outputs") or cell.get("execution_count")], f"{name}: without outputs")
            self.assertGreater(sum(source(cell).count("assert ") for cell in cells if cell["cell_type"] == "code"), 2)
            for cell in cells:
                if cell["cell_type"] == "code":
                    compile(source(cell), name, "exec")


if __name__ == "__main__":
    unittest.main()
