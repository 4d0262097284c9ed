# SPDX-License-Identifier: Apache-2.0
"""Nothing is silent: each parameter changes a result on a run made for it, and where its conditions do not hold a note names it."""
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import unittest

from effect_table import GROUPS, MIX, NO_RESULT, WITHOUT
from effect_table_fio import FIO_AS_IT_IS, FIO_GROUPS, FIO_NO_RESULT
from support import BINARY, OK, PRESETS, SOURCE, USER_ERROR, SystemTest

# Tell of the input, not of what came of it.
INPUT = ("config_toml", "notes", "workload_digest", "ssdtlm")
DEVICE = "tiny-test"


def _text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, (list, str)) else str(value)


def _without_options(file):
    """fio.json repeats what the job file says."""
    whole = json.loads(file.read_text())
    for part in (whole, *whole["jobs"]):
        for name in ("global options", "job options"):
            part.pop(name, None)
    return json.dumps(whole).encode()


class Run:
    """One run: whether it was refused, a digest of its results, and its notes."""

    def __init__(self, done, folder):
        self.refused, self.error = done.returncode == USER_ERROR, done.stderr
        self.code, self.digest, self.notes = done.returncode, "", []
        ended = next((folder / name for name in ("result.json", "failed.json") if (folder / name).is_file()), None)
        if ended:
            whole = json.loads(ended.read_text())
            self.notes = whole["notes"]
            told = hashlib.sha256(json.dumps({k: v for k, v in whole.items() if k not in INPUT}).encode())
            for file in sorted(p for p in folder.iterdir() if p.suffix in (".csv", ".json", ".log") and p.name not in (ended.name, "wall_clock.json")):
                told.update(file.name.encode() + (_without_options(file) if file.name == "fio.json" else file.read_bytes()))
            told.update("".join(sorted(p.name for p in folder.iterdir())).encode())
            self.digest = told.hexdigest()

    def names(self, key):
        """A note on it, or what the program says when it refuses it."""
        return any(re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.]*\w)", text) for text in [*self.notes, self.error if self.refused else ""])


class Effects(SystemTest):
    def setUp(self):
        super().setUp()
        before = self.write("before.fio", "[before]\nioengine=libaio\nrw=randwrite\nbs=4k\niodepth=8\nsize=2m\n")
        self.before = str(self.dir / before)
        # Two volumes, one behind the other.
        self.trace = str(self.dir / self.write("before.csv", "".join(f"{i + 1},vol,{i % 2},Write,{4096 * i},4096,1\n" for i in range(600))))
        self.pool = concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2))
        self.addCleanup(self.pool.shutdown)

    def start(self, number, job, settings):
        return self.pool.submit(self._run, number, job, settings)

    def _run(self, number, job, settings):
        folder = self.dir / f"r{number}"
        settings = dict(settings)
        words = [BINARY, "run", settings.pop("@device", DEVICE), "-o", str(folder), "-q"]
        if isinstance(job, str):
            words += ["-w", job]
        else:
            # Of one name for all: results say it.
            (self.dir / f"j{number}").mkdir()
            (self.dir / f"j{number}" / "job.fio").write_text("\n".join(["[first]", "ioengine=libaio", *job, ""]))
            words += ["-w", f"j{number}/job.fio"]
        for key, value in settings.items():
            words += ["--set", f"{key}={_text(value.replace('{before}', self.before).replace('{trace}', self.trace) if isinstance(value, str) else value)}"]
        try:
            done = subprocess.run(words, cwd=self.dir, capture_output=True, text=True, timeout=120, check=False)
            return Run(done, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def test_table_has_all_parameters(self):
        parameters = set(json.loads(self.ssdtlm("config", "show", DEVICE, "--json").stdout)["parameters"])
        entries = {key for _, _, second in GROUPS.values() for key, value in second.items() if value is not None}
        self.assertEqual(parameters - entries - NO_RESULT.keys(), set(), "parameters without an entry in effect_table.py")
        self.assertEqual((entries | NO_RESULT.keys()) - parameters, set(), "entries of effect_table.py that are no parameters")

    def test_each_parameter_acts(self):
        number, runs = 0, {}
        for name, (job, settings, second) in GROUPS.items():
            runs[name] = (self.start(number, job, settings), {})
            for key, value in second.items():
                number += 1
                if value is not None:
                    runs[name][1][key] = self.start(number, job, {**settings, key: value})
            number += 1
        silent = []
        for name, (base, second) in runs.items():
            base = base.result()
            if (base.code, base.error) != (OK, ""):
                silent.append(f"{name}: its own run ends with {base.code}: {base.error}")
                continue
            for key, future in second.items():
                run = future.result()
                if run.code not in (OK, USER_ERROR, 1):
                    silent.append(f"{name}: {key}: exit code {run.code}: {run.error}")
                elif run.refused or run.digest == base.digest:
                    if not run.names(key):
                        silent.append(f"{name}: {key}: {'refused without its name' if run.refused else 'nothing changes'} {run.error}")
                elif any(re.search(rf"\b{re.escape(key)}(=\S+)? has no effect", note) for note in run.notes):
                    silent.append(f"{name}: {key} changes results, and a note says that it has no effect")
        if silent:
            self.fail("\n" + "\n".join(silent))

    def test_where_it_does_not_act_a_note_says_so(self):
        """Parameters that act with others only, set without them on the command line and in a file: the schema says which these are."""
        leaves = dict(_leaves(json.loads(self.ssdtlm("config", "schema").stdout), ""))
        second = {key: value for _, _, values in GROUPS.values() for key, value in values.items() if value is not None}
        # Where there is one name only, another is that of a program with a policy of its own (faults_by_name_test.cpp).
        alone = {f"{key} = {leaf['enum'][0]}" for key, leaf in leaves.items() if len(leaf.get("enum", ())) == 1}
        for leaf in leaves.values():
            leaf["x-acts-with"] = [condition for condition in leaf.get("x-acts-with", ()) if condition not in alone]
        keys = [key for key, leaf in leaves.items() if leaf["x-acts-with"] and key in second]
        self.assertGreater(len(keys), 80)
        values = {key: entry["value"] for key, entry in json.loads(self.ssdtlm("config", "show", DEVICE, "--json").stdout)["parameters"].items()}
        self.simulate(DEVICE, self.job("short", "rw=read", "number_ios=1"), "--save-drive", "drive", output="saved")
        silent, runs, bases = [], {}, {}
        for number, key in enumerate(keys):
            without = {}
            if all(_holds(condition, values) for condition in leaves[key]["x-acts-with"]):
                without = next((settings for settings in WITHOUT if not all(_holds(c, {**values, **settings}) for c in leaves[key]["x-acts-with"])), None)
                if without is None:
                    silent.append(f"{key}: no entry of WITHOUT makes {leaves[key]['x-acts-with']} false")
                    continue
            settings = {k: str(self.dir / "drive") if v == "{drive}" else v for k, v in without.items()}
            if str(settings) not in bases:
                bases[str(settings)] = self.start(1000 + len(bases), MIX, settings)
            runs[key] = (bases[str(settings)], self.start(1100 + number, MIX, {**settings, key: second[key]}))
        for key, base, run in ((key, base.result(), future.result()) for key, (base, future) in runs.items()):
            if not run.names(key) and run.digest == base.digest:
                silent.append(f"{key}={second[key]}: {run.error}")
            elif not run.names(key):
                silent.append(f"{key}={second[key]} acts where {leaves[key]['x-acts-with']} does not hold")
        if silent:
            self.fail("\n" + "\n".join(silent))
        # What a file says counts where it is not the default; `config check` says the same.
        self.write("file.toml", 'based_on = "tiny-test"\n[refresh]\ninterval = "0s"\n[map]\ncache = "64KiB"\n')
        text = self.ssdtlm("config", "check", "file.toml", "--set", "wear.each=8").stdout
        self.assertEqual(text.splitlines()[1:], ["note: file.toml:5:9: map.cache = 64KiB has no effect: map.cache acts only with ftl.mapping = dftl",
                                                 "note: --set wear.each=8 has no effect: wear.each acts only with wear.most_spread other than 0"])

    def test_each_option_of_fio_acts(self):
        rows = re.compile(r'\{"([\w-]+)", (?:nullptr|"[\w-]+"), H,')
        handled = {name for file in sorted((SOURCE / "model/host_pcie/workload/fio").glob("fio_options_*.cpp")) for name in rows.findall(file.read_text())}
        self.assertGreater(len(handled), 90)
        entries = {option for _, options in FIO_GROUPS for option, line in options.items() if line}
        self.assertEqual(handled - entries - FIO_NO_RESULT.keys(), set(), "options without an entry in effect_table_fio.py")
        number, runs = 2000, []
        for job, options in FIO_GROUPS:
            base = self.start(number, job, {})
            for option, line in options.items():
                number += 1
                if line:
                    runs.append((option, line, base, self.start(number, (*job, line), {})))
            number += 1
        silent = []
        for option, line, base, run in ((option, line, base.result(), run.result()) for option, line, base, run in runs):
            if base.code not in (OK, 1):
                silent.append(f"{option}: its own run ends with {base.code}: {base.error}")
            elif run.code not in (OK, 1, USER_ERROR) or ((run.digest, run.code) == (base.digest, base.code) or run.refused) and not run.names(option):
                silent.append(f"{line}: exit code {run.code}, nothing changes {run.error}")
        if silent:
            self.fail("\n" + "\n".join(silent))

    def test_each_option_of_fio_acts_or_says_that_it_does_not(self):
        """On a plain job of sequential reads, one at a time, most have nothing to act on."""
        plain = ("rw=read", "bs=4k", "number_ios=50", "size=1m")
        base, runs, number = self.start(4000, plain, {}), {}, 4001
        for _, options in FIO_GROUPS:
            for option, line in options.items():
                if line and option not in FIO_AS_IT_IS:
                    runs.setdefault(option, (line, self.start(number, (*plain, line), {})))
                    number += 1
        silent = [line for option, (line, run) in runs.items() if run.result().digest == base.result().digest and not run.result().names(option)]
        self.assertEqual(silent, [])

    def test_presets_have_no_idle_values(self):
        for preset in PRESETS:
            self.assertNotIn("note:", self.ssdtlm("config", "check", preset).stdout, preset)

    def test_an_option_that_another_replaces(self):
        done = self.ssdtlm("config", "check", "tiny-test", "--set", "nand.t_read=50us", "--set", "nand.t_read=60us")
        self.assertIn("note: --set nand.t_read=50us has no effect: --set nand.t_read=60us comes after it\n", done.stdout)


def _holds(condition, values):
    """As common/config/condition.h says it."""
    def term(text):
        key, sign, wanted = re.fullmatch(r"(\S+) (!?=) (\S+)", text).groups()
        value = values[key]
        shown = "none" if value in ("", []) else str(value).lower() if isinstance(value, bool) else str(value)
        return (shown in wanted.split("|")) == (sign == "=")
    return any(map(term, condition.split(" or ")))


def _leaves(node, prefix):
    for name, below in node.get("properties", {}).items():
        yield from _leaves(below, f"{prefix}{name}.") if "properties" in below else [(prefix + name, below)]


if __name__ == "__main__":
    unittest.main()
