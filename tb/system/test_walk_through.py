# SPDX-License-Identifier: Apache-2.0
"""docs/walk-through.md: each function is in its file, and (nightly) runs for one command more, by callgrind on a Debug build."""
import collections
import os
import re
import subprocess
import unittest

from support import SOURCE, SystemTest

DOCUMENT = SOURCE / "docs" / "walk-through.md"
LATER = "The page is programmed after that"
# Who is called back with a number alone has to look up whose it is; `Then` names the function that goes on.
BY_NUMBER = r"void \w+\(std::uint64_t (?:token|cookie|tag|number)\b[^;{]*\) override"


def rows(text):
    """(function, file) of each row of the tables, in order."""
    return re.findall(r"^\| `(\w+::\w+)` \| `([\w./]+)` \|", text, re.MULTILINE)


def parts():
    """The tables of the read, of the write until it ends, and of the program behind it."""
    text = DOCUMENT.read_text()
    read, write = text.split("## A buffered write")
    ended, programmed = write.split(LATER)
    return rows(read), rows(ended), rows(programmed)


class InTheSources(SystemTest):
    def test_each_function_is_in_its_file(self):
        read, ended, programmed = parts()
        for function, path in read + ended + programmed:
            scope, name = function.split("::")
            text = (SOURCE / path).read_text()
            here = rf"\b{function}\(" if path.endswith(".cpp") else rf"\b{name}\("
            self.assertRegex(text, here, f"{function} is not in {path}")
            self.assertIn(scope, text, path)
        for what, some in ("read", read), ("write", ended + programmed):
            files = {SOURCE / path for _, path in some}
            beside = files | {path.with_suffix(".h") for path in files}
            numbers = sum(len(re.findall(BY_NUMBER, path.read_text())) for path in beside if path.exists())
            print(f"{what}: {len(some)} functions in {len(files)} files, {numbers} hand-overs by number")
            self.assertLessEqual(numbers, 4)
        self.assertGreater(len(read), 30)
        self.assertEqual(len(set(read)), len(read), "each once")


@unittest.skipUnless(os.environ.get("SSDTLM_CALLGRIND"), "nightly")
class InARun(SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tree = os.environ["SSDTLM_CALLGRIND"]
        for command in (
            ["cmake", "-S", SOURCE, "-B", cls.tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DSSDTLM_BUILD_TESTS=OFF"],
            ["cmake", "--build", cls.tree, "--target", "ssdtlm_app", "-j", str(os.cpu_count())],
        ):
            subprocess.run(command, capture_output=True, check=True)

    def calls(self, rw, commands):
        """How often each function was called, by (name without arguments, path in the tree)."""
        out = self.dir / "callgrind.out"
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"{self.tree}/ssdtlm", "run", "mqsim-table3", "-q",
             "--ioengine=libaio", f"--rw={rw}", "--bs=4k", "--iodepth=1", "--size=1g", f"--number_ios={commands}", "-o", "out"],
            cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        names, files, file_of, calls = {}, {}, {}, collections.Counter()
        file, callee = None, None

        def name(known, text):  # "(12) text" says what 12 is from here on
            number, _, says = text.partition(" ")
            if says:
                known[number] = says
            return known.get(number, text)

        for line in out.read_text().splitlines():
            key, _, value = line.partition("=")
            if key == "fl":
                file = name(files, value)
            elif key in ("fi", "fe", "cfi", "cfl"):
                name(files, value)
            elif key == "fn":
                file_of.setdefault(name(names, value), file)
            elif key == "cfn":
                callee = name(names, value)
            elif key == "calls":
                calls[callee] += int(value.split()[0])
        found = collections.Counter()
        for function, count in calls.items():
            _, model, path = os.path.normpath(os.path.join("/", file_of.get(function) or "")).rpartition("/model/")
            if model:
                found[function.partition("(")[0].replace("ssdtlm::", ""), "model/" + path] += count
        return found

    def test_each_function_runs(self):
        read, ended, programmed = parts()
        for rw, table in (("randread", read), ("randwrite", ended)):
            once, twice = self.calls(rw, 1), self.calls(rw, 2)
            missing = [row for row in table if twice[row] <= once[row]]
            self.assertEqual(missing, [], rw)
            if rw == "randwrite":
                self.assertEqual([row for row in programmed if once[row] == 0], [])
            print(f"{rw}: {len(table)} functions of the document ran for the second command, "
                  f"of {sum(twice[row] > once[row] for row in twice)} in model/ that did")


if __name__ == "__main__":
    unittest.main()
