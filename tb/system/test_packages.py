# SPDX-License-Identifier: Apache-2.0
"""The wheel and the Debian package, unpacked where nothing else of the project is. SSDTLM_PACKAGES names a folder with both
(make wheel deb)."""
import email
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import unittest
import zipfile

from support import BINARY, JOBS, OK, SOURCE, USER_ERROR, SystemTest

PACKAGES = pathlib.Path(os.environ.get("SSDTLM_PACKAGES", SOURCE / "build" / "packages"))
JOB = JOBS / "qd1_4k_randread.fio"


def version():
    return subprocess.run([BINARY, "version"], capture_output=True, text=True, check=True).stdout.split()[1]


class Packages(SystemTest):
    def package(self, pattern):
        found = sorted(PACKAGES.glob(pattern))
        if not found:
            self.skipTest(f"no {pattern} in {PACKAGES}: make wheel deb")
        size = found[-1].stat().st_size
        print(f"{found[-1].name}: {size} bytes", file=sys.stderr)
        self.assertLess(size, 30_000_000)
        return found[-1]

    def must(self, *command, **environment):
        done = subprocess.run([str(c) for c in command], cwd=self.dir, capture_output=True, text=True, env={"HOME": str(self.dir), **environment})
        self.assertEqual(done.returncode, OK, done.stdout + done.stderr)
        return done.stdout

    def check(self, program, python, repair):
        """A run without Python, a comparison with the standard library, and what a report says that lacks its extra."""
        self.must(program, "run", "tiny-test", "-w", JOB, "-o", "a", "-q", PATH="/nowhere")
        self.must(program, "run", "tiny-test", "-w", JOB, "-o", "b", "-q", "--set", "nand.t_read=100us", PATH="/nowhere")
        self.assertIn("read.array.mean", self.must(program, "compare", "a", "b", PATH="/usr/bin:/bin", SSDTLM_PYTHON=python))
        done = subprocess.run([program, "report", "a"], cwd=self.dir, capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.dir), "SSDTLM_PYTHON": python})
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertRegex(done.stderr, rf"which .* does not have; {repair} -m pip install 'altair>=6,<7' 'vl-convert-python>=1.9,<2'`\n$")
        presets = self.must(program, "config", "presets", PATH="/nowhere")
        self.assertIn("mqsim-table3", presets)

    def test_wheel(self):
        wheel = self.package("ssdtlm-*.whl")
        environment = self.dir / "env"
        self.must(sys.executable, "-m", "venv", environment, PATH=os.environ["PATH"])
        self.must(environment / "bin" / "pip", "install", "--no-index", "--disable-pip-version-check", wheel, PATH="/usr/bin:/bin")
        package = next(environment.glob("lib/python3*/site-packages/ssdtlm"))
        self.check(package / "bin" / "ssdtlm", "", f"run `{environment}/bin/python3")
        # The command of the environment becomes the program, which comes back to the environment's Python.
        self.must(environment / "bin" / "ssdtlm", "run", "tiny-test", "-w", JOB, "-o", "c", "-q", PATH="/nowhere")
        self.assertIn("The results are equal.", self.must(environment / "bin" / "ssdtlm", "compare", "a", "c", PATH="/nowhere"))
        code = f"import ssdtlm; print(ssdtlm.run('tiny-test', {str(JOB)!r}, output='d').path)"
        self.assertEqual(self.must(environment / "bin" / "python", "-c", code, PATH="/nowhere"), "d\n")
        linked = self.must("/usr/bin/ldd", package / "bin" / "ssdtlm", PATH="/usr/bin:/bin")
        libraries = [line for line in linked.splitlines() if "libsystemc" in line or "libfmt" in line]
        self.assertEqual(len(libraries), 2, linked)
        for line in libraries:
            self.assertIn("ssdtlm.libs", line, "bundled, not the system's")

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg")
    def test_deb(self):
        deb = self.package("ssdtlm_*.deb")
        root = self.dir / "root"
        self.must("dpkg-deb", "-x", deb, root, PATH=os.environ["PATH"])
        for name in ("usr/share/man/man1/ssdtlm.1", "usr/share/bash-completion/completions/ssdtlm", "usr/share/doc/ssdtlm/README.md",
                     "usr/share/doc/ssdtlm/docs/parameters.md", "usr/share/doc/ssdtlm/notebooks/first_run.ipynb", "usr/share/doc/ssdtlm/copyright",
                     "usr/share/ssdtlm/configs/device/tiny-test.toml", "usr/share/ssdtlm/python/ssdtlm/__main__.py"):
            self.assertTrue((root / name).is_file() or (root / (name + ".gz")).is_file(), name)
        self.assertFalse(list(root.rglob("*.h")) + list(root.rglob("*.a")), "what programs of one's own need is no part of it")
        depends = self.must("dpkg-deb", "-f", deb, "Depends", PATH=os.environ["PATH"])
        self.assertIn("libsystemc", depends)
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
        self.check(root / "usr" / "bin" / "ssdtlm", python, f"unset SSDTLM_PYTHON and run `ssdtlm python setup`, or run `{python}")
        # What `import ssdtlm` finds, and by it the program.
        code = f"import ssdtlm; print(ssdtlm.run('tiny-test', {str(JOB)!r}, output='c').path)"
        done = self.must(python, "-c", code, PYTHONPATH=str(root / "usr/lib/python3/dist-packages"), PATH="/nowhere")
        self.assertEqual(done, "c\n")

    def test_what_the_wheel_says(self):
        wheel = self.package("ssdtlm-*.whl")
        self.assertTrue(wheel.name.startswith(f"ssdtlm-{version()}-py3-none-manylinux_"), wheel.name)
        with zipfile.ZipFile(wheel) as files:
            info = f"ssdtlm-{version()}.dist-info"
            said = email.message_from_bytes(files.read(f"{info}/METADATA"))
            self.assertEqual((said["Version"], said["License-Expression"]), (version(), "Apache-2.0"))
            texts = said.get_all("License-File")
            self.assertEqual(files.read(f"{info}/licenses/LICENSE"), (SOURCE / "LICENSE").read_bytes())
            bundled = [name for name in files.namelist() if name.startswith("ssdtlm.libs/") and ".so" in name]
            self.assertEqual(len(texts), 1 + len(bundled), f"{texts}: ours and one for each of {bundled}")
            for name in texts:
                self.assertGreater(len(files.read(f"{info}/licenses/{name}")), 1000, name)
            self.assertTrue(files.getinfo("ssdtlm/bin/ssdtlm").external_attr >> 16 & stat.S_IXUSR)
            self.assertEqual(files.read("ssdtlm/version.py"), (SOURCE / "python/ssdtlm/version.py").read_bytes())

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg")
    def test_what_the_deb_says(self):
        said = email.message_from_string(self.must("dpkg-deb", "-f", self.package("ssdtlm_*.deb"), PATH=os.environ["PATH"]))
        self.assertEqual((said["Package"], said["Version"]), ("ssdtlm", version()))
        self.assertRegex(said["Maintainer"], r"^[^<>]+ <[^<>@ ]+@[^<>@ ]+\.[^<>@ ]+>$")


if __name__ == "__main__":
    unittest.main()
