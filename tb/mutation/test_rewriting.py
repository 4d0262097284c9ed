# SPDX-License-Identifier: Apache-2.0
"""A program with all mutants in it does what the program does in which one operator has been replaced in the text; and a
mutant that does not compile is the one that is blamed."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from bench import blamed
from schemata import Schemata
from sites import mutants_in

HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = HERE / "sample.cpp"
CXX = "g++"  # as in the bench: who is blamed depends on what the compiler says


def replaced(source, mutant):
    """The text with the operator of the mutant replaced."""
    lines = source.split("\n")
    line = lines[mutant.number]
    lines[mutant.number] = line[: mutant.column] + mutant.new + line[mutant.column + len(mutant.old):]
    return "\n".join(lines)


class Rewriting(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="ssdtlm-")
        self.addCleanup(scratch.cleanup)
        self.dir = pathlib.Path(scratch.name).resolve()

    def compiled(self, text, name="program", options=()):
        """Its path, or what the compiler said."""
        file = self.dir / f"{name}.cpp"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = subprocess.run([CXX, "-std=c++17", "-w", "-o", self.dir / name, file, *options], capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C"})
        return self.dir / name if done.returncode == 0 else done.stderr

    def output(self, program, number=None):
        self.assertIsInstance(program, pathlib.Path, program)
        environment = {k: v for k, v in os.environ.items() if k != "SSDTLM_MUTANT"}
        if number is not None:
            environment["SSDTLM_MUTANT"] = str(number)
        # A mutant of a loop's end may read what is not there: how it dies is part of what it does.
        done = subprocess.run([program], capture_output=True, text=True, env=environment, timeout=60)
        return done.returncode, done.stdout

    def schemata(self, text):
        mutants = dict(enumerate(mutants_in("program.cpp", text), 1))
        return mutants, Schemata(text.encode(), mutants)

    def test_each_mutant_does_what_its_text_does(self):
        source = SAMPLE.read_text(encoding="utf-8")
        mutants, schemata = self.schemata(source)
        self.assertEqual(schemata.unplaced, set())
        program = self.compiled(schemata.data)
        unchanged = self.output(self.compiled(source, "unchanged"))
        self.assertEqual(self.output(program), unchanged)
        self.assertEqual(self.output(program, 0), unchanged)
        judged = 0
        for number, mutant in mutants.items():
            with self.subTest(mutant.name()):
                expected = self.output(self.compiled(replaced(source, mutant), "replaced"))
                self.assertNotEqual(expected, unchanged)
                self.assertEqual(self.output(program, number), expected)
                judged += 1
        self.assertEqual(judged, len(mutants))
        self.assertGreater(judged, 30)

    def test_objects_made_before_main_are_mutated(self):
        _, schemata = self.schemata("bool less(int a) { return a < 4; }\n")
        mutated = self.compiled(schemata.data, "less.o", ["-c"])
        # Linked first, and so made first.
        program = self.compiled("bool less(int);\nconst bool kLess = less(4);\nint main() { return kLess ? 1 : 0; }\n", options=[mutated])
        self.assertEqual([self.output(program, number)[0] for number in (None, 1, 2)], [0, 1, 0])

    def test_only_code_is_mutated(self):
        text = ('// a < b\n'
                'int f(int a, int b) {\n'
                '    const char* text = "a + b";  // a - b\n'
                '    static_assert(1 < 2, "");\n'
                '    return a < b && text;\n'
                '}\n'
                'void dump_all(int a) {\n'
                '    f(a + 1, a);\n'
                '}\n'
                'void check_waiters(int a) {\n'
                '    f(a + 1, a);\n'
                '}\n'
                'void g(int& a) { ++a; a -= 1; a = a++ * -1; }\n'
                'void h(int a) {\n'
                '    if (a < 1) panic("h", text_of(a) +\n'
                '                     (a != 0 ? " (" : "none") + text_of(a));\n'
                '    a += 1;\n'
                '}\n')
        self.assertEqual([m.name() for m in mutants_in("f.cpp", text)],
                         ["f.cpp:5:14: < -> <=", "f.cpp:5:18: && -> ||", "f.cpp:13:25: -= -> +=", "f.cpp:13:18: ++ -> --",
                          "f.cpp:15:11: < -> <=", "f.cpp:17:7: += -> -="])

    def test_text(self):
        self.assertEqual(Schemata(b"int f(int a) { return a * 2; }\n", {}).data, b"int f(int a) { return a * 2; }\n")
        _, schemata = self.schemata("bool f(int a, int b) { return a + 1 < b; }\n")
        self.assertTrue(schemata.data.endswith(
            b"{ return (ssdtlm_mutant_is(1) ? (((ssdtlm_mutant_is(2) ? ((a) - (1)) : ((a) + (1)))) <= (b)) : "
            b"(((ssdtlm_mutant_is(2) ? ((a) - (1)) : ((a) + (1)))) < (b))); }\n"), schemata.data)

    def blame(self, text):
        """The mutants that are blamed, until the others compile."""
        mutants, schemata = self.schemata(text)
        blames = []
        while isinstance(output := self.compiled(schemata.data, options=["-c"]), str):
            bad = blamed(output, {"program.cpp": schemata}, self.dir, self.dir / "build")
            self.assertTrue(bad, output)
            blames += [f"{mutants[n].line.strip()} {mutants[n].old}" for n in sorted(bad)]
            mutants = {n: m for n, m in mutants.items() if n not in bad}
            schemata = Schemata(text.encode(), mutants)
        return blames

    def test_what_is_constant_does_not_compile(self):
        for line in ("int list[2 + 3];", "constexpr int k = 4 + 1;", "enum E { kFirst = 1 + 1 };", "struct S { unsigned field : 3 + 1; };",
                     "int v[] = {1, 2}; template <int N> struct T { int w[N]; }; T<1 + 1> t;",
                     "int f(int a) { switch (a) { case 1 + 1: return 2; } return 0; }",
                     "int f() { if constexpr (sizeof(int) + 1) return 1; return 0; }"):
            with self.subTest(line):
                self.assertEqual(self.blame(line + "\nbool kept(int a, int b) { return a < b; }\n"), [f"{line} +"])

    def test_what_has_no_such_operator_does_not_compile(self):
        self.assertEqual(self.blame("#include <cstddef>\n"
                                    "std::ptrdiff_t f(int* p, int* q, int n) { return n + 1 < 3 ? p - q : n; }\n"
                                    "bool kept(int a, int b) { return a < b; }\n"),
                         ["std::ptrdiff_t f(int* p, int* q, int n) { return n + 1 < 3 ? p - q : n; } -"])

    def test_a_constant_elsewhere_is_not_mutated_in_silence(self):
        # The function itself compiles, and could be mutated in runs alone; but then no run would see the mutant of kSize.
        function = "constexpr int size(int a) { return a + 1; }\n"
        self.assertEqual(self.blame(function + "constexpr int kSize = size(3);\nint run(int a) { return size(a); }\n"),
                         ["constexpr int size(int a) { return a + 1; } +"])
        self.assertIsInstance(self.compiled(self.schemata(function + "int main() { return size(3); }\n")[1].data), pathlib.Path)
        # Here GCC names no line but that of the list.
        self.assertIn("const int kSize = 2 + 3; +", self.blame("const int kSize = 2 + 3;\nint list[kSize];\n"))


if __name__ == "__main__":
    unittest.main()
