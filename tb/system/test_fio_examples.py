# SPDX-License-Identifier: Apache-2.0
"""Every job of fio's examples on mqsim-table3: done, refused with a reason, or wrong. Nothing may be wrong.

The files are those of Debian's fio-examples, or of the folder in SSDTLM_FIO_EXAMPLES; fio_examples.toml gives their sizes and
variables (SSDTLM_FIO_EXAMPLES_SIZES=nightly: the larger ones). Wrong is: an exit other than 0 and 2; no end in 60 s; an option
that fio takes called unknown; an engine that does no I/O of a drive run as if it did; an option accepted without its effect.
The last is measured: job by job the same bytes and the same number of I/Os as fio itself on files or its null engine, the
rate and run time asked for, and of the ignored options only those that act on the host.
"""
import json
import os
import pathlib
import re
import subprocess
import tomllib
import unittest

from support import OK, SOURCE, USER_ERROR, SystemTest

DEVICE = "mqsim-table3"
EXAMPLES = pathlib.Path(os.environ.get("SSDTLM_FIO_EXAMPLES") or "/usr/share/doc/fio/examples")
NIGHTLY = os.environ.get("SSDTLM_FIO_EXAMPLES_SIZES") == "nightly"
SECONDS = 60

DRIVE_ENGINES = {"libaio", "io_uring", "io_uring_cmd", "posixaio", "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap",
                 "splice", "sg", "xnvme", "libblkio"}
# What acts on the host's CPU, memory, page cache, file system, clocks or logs, or (priorities) is not sent to NVMe drives.
HOST_OPTIONS = {
    "direct", "buffered", "atomic", "thread", "threads", "invalidate", "create_serialize", "allow_file_create",
    "unlink", "mem", "gpu_dev_id", "cpus_allowed_policy", "numa_cpu_nodes", "numa_mem_policy", "random_generator", "prio",
    "prioclass", "cmdprio_percentage", "cmdprio_class", "cmdprio", "cmdprio_bssplit", "log_prio", "continue_on_error",
    "ignore_error", "error_dump", "buffer_pattern", "buffer_compress_percentage", "dedupe_mode", "dedupe_global",
    "dedupe_percentage", "dedupe_working_set_percentage", "disable_lat", "disable_slat", "disable_clat", "gtod_reduce",
    "block_error_percentiles", "scramble_buffers", "registerfiles", "sqthread_poll", "sqthread_poll_cpu", "nonvectored",
    "libblkio_driver", "libblkio_path", "verify_write_sequence",
}
# Why a job that reads or writes a drive may be refused.
LIMITS = (r"is not implemented in the model: |newer than fio 3\.33|filename=/dev/null; a drive|filename=/dev/zero; a drive|the drive has no zones|"
          r"'random_distribution=sequence'")
TIME_OPTIONS = {"runtime", "timeout", "time_based", "ramp_time", "ss", "steadystate", "latency_target", "exitall", "flow"}
TIME_UNITS = {"": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "m": 60, "h": 3600}


def sections(text):
    """[(name, {option: value})] with [global] folded in; comments as fio has them."""
    shared, jobs, current = {}, [], None
    for line in text.splitlines():
        line = re.split("[;#]", line)[0].strip()
        if not line:
            continue
        if line.startswith("["):
            name = line[1:line.rindex("]")]
            current = shared if name.startswith("global") else dict(shared)
            if current is not shared:
                jobs.append((name, current))
        elif current is not None:
            option, _, value = line.partition("=")
            current[option.strip()] = value.strip()
    return jobs


ALIASES = {"size": ("size",), "bs": ("bs", "blocksize"), "runtime": ("runtime", "timeout")}


def with_values(text, values):
    """The job file with other values; those that it does not have become defaults above everything."""
    missing = []
    for option, value in values.items():
        names = "|".join(ALIASES.get(option, (option,)))
        text, count = re.subn(rf"(?m)^([ \t]*(?:{names})[ \t]*)=[^;#\n]*", lambda m: f"{m[1]}={value}", text)
        if not count:
            missing.append(f"{option}={value}")
    return "[global]\n" + "\n".join(missing) + "\n" + text if missing else text


class Example:
    def __init__(self, test, path, entry):
        self.test, self.path = test, path
        values = dict(entry.get("set", {}))
        if NIGHTLY:
            values |= entry.get("nightly", {})
        self.text = with_values(path.read_text(errors="replace"), values)
        self.environment = {**os.environ, **entry.get("env", {})}
        self.name = test.write(path.name, self.text)
        expanded = re.sub(r"\$\{(\w+)\}", lambda m: self.environment.get(m[1], ""), self.text)
        self.jobs = sections(expanded)
        self.result, self.detail, self.seconds = "", "", 0.0

    def wrong(self, why):
        self.result, self.detail = "wrong", why

    def run(self):
        out = "out-" + self.path.stem
        environment = os.environ.copy()
        os.environ.update(self.environment)
        try:
            done = self.test.ssdtlm("run", DEVICE, "-w", self.name, "-o", out, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return self.wrong(f"no end in {SECONDS} s")
        finally:
            os.environ.clear()
            os.environ.update(environment)
        self.folder = self.test.dir / out
        unknown = re.findall(r"'([^']+)' is not a fio option", done.stderr)
        if unknown and not self.fio_refuses(unknown):
            return self.wrong("unknown here, taken by fio: " + ", ".join(unknown))
        if done.returncode == USER_ERROR:
            reasons = [line.split(": ", 1)[1] for line in done.stderr.splitlines()]
            self.result, self.detail = "refused", reasons[0]
            limit = self.no_drive() or any(re.search(LIMITS, r) for r in reasons)
            return None if limit else self.wrong("refused for no limit of the model: " + reasons[0])
        if done.returncode != OK:
            return self.wrong(f"exit {done.returncode}: {done.stderr.strip()[:300]}")
        self.result, self.detail = "done", done.stdout.splitlines()[0].split(": ", 1)[1]
        return self.check()

    def no_drive(self):
        """A job with an engine that is no drive's: what else is said of it does not matter."""
        return any(o.get("ioengine", "psync").split(":")[0] not in DRIVE_ENGINES for _, o in self.jobs)

    def fio_refuses(self, names):
        said = subprocess.run(["fio", "--parse-only", self.name], cwd=self.test.dir, env=self.environment,
                              capture_output=True, text=True)
        return all(f"Bad option <{n}" in said.stderr + said.stdout for n in names)

    def check(self):
        for _, options in self.jobs:
            engine = options.get("ioengine", "psync").split(":")[0]
            if engine not in DRIVE_ENGINES:
                return self.wrong(f"ioengine={engine} run as if it were a drive's")
        summary = json.loads((self.folder / "result.json").read_text())
        for note in summary["notes"]:
            if note.startswith("the model ignores these options: "):
                ignored = set(note.split(": ")[1].split(", ")) - HOST_OPTIONS
                if ignored:
                    return self.wrong("accepted without effect: " + ", ".join(sorted(ignored)))
        ours = json.loads((self.folder / "fio.json").read_text())["jobs"]
        checks = (self.compare_with_fio, self.compare_rates, self.compare_flows, self.compare_latency_target)
        for problem in (check(ours) for check in checks):
            if problem:
                return self.wrong(problem)
        return None

    def compare_with_fio(self, ours):
        """Bytes and I/Os of each job, where amounts and not time end it."""
        if any(TIME_OPTIONS & set(options) for _, options in self.jobs):
            return self.compare_times(ours)
        # Rates would take fio as long as they say; amounts do not depend on them. Each clone has a file of its own, but for
        # files that have a name: the drive itself is the same for all, which fio's verification would take for damage.
        verifies = any("verify" in options for _, options in self.jobs)
        text = re.sub(rf"(?m)^[ \t]*filename=({'/' if verifies else ''}).*", "", self.text)
        text = re.sub(r"(?m)^[ \t]*(directory|ioengine|direct|buffered|rate\w*|thinktime\w*|startdelay|"
                      r"io_submit_mode|atomic|verify_write_sequence|write_lat_log|write_bw_log|numa_\w+|cmdprio\w*|"
                      r"prio\w*|log_prio|cmd_type|mem|registerfiles|sqthread_poll\w*|nonvectored)\b.*", "", text)
        engine = "psync" if verifies else "null"
        folder = self.test.dir / ("fio-" + self.path.stem)
        folder.mkdir()
        (folder / "job.fio").write_text(f"[global]\nioengine={engine}\nfallocate=none\n" + text)
        said = subprocess.run(["fio", "--output-format=json", "job.fio"], cwd=folder, env=self.environment,
                              capture_output=True, text=True, timeout=SECONDS)
        if said.returncode != 0:
            return f"fio itself: {said.stderr.strip()[:200]}"
        theirs = json.loads(said.stdout[said.stdout.index("{"):])["jobs"]
        if [j["jobname"] for j in ours] != [j["jobname"] for j in theirs]:
            return f"jobs {[j['jobname'] for j in ours]}, fio has {[j['jobname'] for j in theirs]}"
        for a, b in zip(ours, theirs):
            split = a["job options"].get("bssplit", self.shared("bssplit"))
            one_size = split is None
            mixed = a["read"]["total_ios"] and a["write"]["total_ios"] and not verifies
            if mixed and split and "," in split:
                continue  # the random map ends fio's own job anywhere between 3 and 100 % of the size, by seed
            for what in ("total_ios", "io_bytes") if one_size else ("io_bytes",):
                left = [a[d][what] for d in ("read", "write", "trim")]
                right = [b[d][what] for d in ("read", "write", "trim")]
                if mixed:
                    left, right = [sum(left)], [sum(right)]
                # Of unlike block sizes the last I/O decides how much a job does beyond its size.
                slack = 0 if one_size else 0.02
                if any(abs(x - y) > slack * max(x, y) for x, y in zip(left, right)):
                    return f"job {a['jobname']}: {what} {left}, fio has {right}"
        self.detail += "; amounts as fio"
        return None

    def shared(self, option):
        return next((o[option] for _, o in self.jobs if option in o), None)

    def compare_times(self, ours):
        """Jobs that time ends run so long; none longer."""
        asked = {name: options for name, options in self.jobs}
        for job in ours:
            options = asked.get(job["jobname"]) or self.jobs[0][1]
            text = options.get("runtime", options.get("timeout"))
            if text is None:
                continue
            number, unit = re.fullmatch(r"(\d+)([a-z]*)", text).groups()
            limit = float(number) * TIME_UNITS[unit] * 1e3
            ran = max(job[d]["runtime"] for d in ("read", "write", "trim"))
            if ran > limit * 1.02 + 20:
                return f"job {job['jobname']} ran {ran} ms of {limit:.0f}"
            if "time_based" in options and "exitall" not in options and ran < limit * 0.9 - 5 and \
                    not {"ss", "steadystate"} & set(options):
                return f"job {job['jobname']} ran {ran} ms only of {limit:.0f}"
        return None

    def compare_rates(self, ours):
        asked = {name: options for name, options in self.jobs}
        for job in ours:
            options = asked.get(job["jobname"], {})
            if "rate_iops" in options:
                rate = sum(job[d]["iops"] for d in ("read", "write", "trim"))
                wanted = float(options["rate_iops"])
                # Poisson arrivals: five deviations of their count.
                slack = 5 * (wanted / max(job["read"]["total_ios"], 1) ** 0.5) if "rate_process" in options else 0.01 * wanted
                if abs(rate - wanted) > slack:
                    return f"job {job['jobname']}: {rate:.0f} IOPS of rate_iops={wanted:.0f}"
        return None


    def compare_flows(self, ours):
        """I/Os of jobs of one flow that time ends are in the proportion of their weights."""
        if not all({"flow", "time_based"} <= set(o) for _, o in self.jobs):
            return None
        weights = {name: int(o["flow"]) for name, o in self.jobs}
        ios = {j["jobname"]: sum(j[d]["total_ios"] for d in ("read", "write", "trim")) for j in ours}
        for name, weight in weights.items():
            wanted = sum(ios.values()) * weight / sum(weights.values())
            if abs(ios[name] - wanted) > 0.01 * wanted + 2:
                return f"job {name}: {ios[name]} I/Os of {sum(ios.values())}, wanted {wanted:.0f} by its weight in the flow"
        return None

    def compare_latency_target(self, ours):
        """In the final run the percentile meets the target, at a depth above 1."""
        for job in ours:
            if not job["latency_target"]:
                continue
            microseconds = job["latency_target"] // 1000
            within = sum(share for us, share in job["latency_us"].items() if us.isdigit() and int(us) <= microseconds)
            if job["latency_depth"] < 2 or within < job["latency_percentile"] - 0.5:
                return f"{within:.2f} % within latency_target at depth {job['latency_depth']}"
        return None


class Examples(SystemTest):
    def test_nothing_is_wrong(self):
        files = sorted(EXAMPLES.glob("*.fio"))
        if not files:
            self.skipTest(f"no fio examples in {EXAMPLES}: install fio-examples, or set SSDTLM_FIO_EXAMPLES")
        entries = tomllib.loads((SOURCE / "tb/system/fio_examples.toml").read_text())
        examples = [Example(self, path, entries.get(path.name, {})) for path in files]
        for e in examples:
            e.run()
        counts = {r: sum(e.result == r for e in examples) for r in ("done", "refused", "wrong")}
        print()
        for e in examples:
            print(f"{e.path.name:36} {e.result:8} {e.detail[:150]}")
        print(f"{len(examples)} files: " + ", ".join(f"{n} {r}" for r, n in counts.items()))
        self.assertEqual([f"{e.path.name}: {e.detail}" for e in examples if e.result == "wrong"], [])
        self.assertGreater(counts["done"], 0)


if __name__ == "__main__":
    unittest.main()
