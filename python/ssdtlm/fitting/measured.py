# SPDX-License-Identifier: Apache-2.0
"""fio's results (--output-format=json): which figures there are of each job, and a job file that does the same again."""

import dataclasses
import itertools
import json
import pathlib
import re

from ..errors import Problem, UserError

OPERATIONS = ("read", "write", "trim")
PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
# A percentile is compared when so many commands are slower. With fewer it depends on single commands.
LEAST_SLOWER = 10
# Options about duration, files and the machine that measured. All others describe the workload and are kept.
NOT_TAKEN = ("name", "jobname", "description", "filename", "time_based", "runtime", "timeout", "ramp_time", "number_ios", "io_size", "io_limit", "loops", "stonewall",
             "wait_for_previous", "new_group", "group_reporting", "startdelay", "start_delay", "thread", "cpus_allowed", "cpus_allowed_policy", "cpumask", "numa_cpu_nodes",
             "numa_mem_policy", "output", "output-format", "eta", "status-interval", "exitall", "clat_percentiles", "slat_percentiles", "disk_util")
LOGS = re.compile(r"write_(bw|lat|iops|hist)_log|log_.*|per_job_logs|hist_.*|.*_log_.*")
SECONDS = {"": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "m": 60, "h": 3600, "d": 86400}


@dataclasses.dataclass
class Cell:
    """A job that was measured. figures: {(operation, name): value}; a name is one of iops, bandwidth (B/s), mean and p50 to p99.99 (us)."""

    name: str
    figures: dict
    options: dict


@dataclasses.dataclass
class Group:
    """Jobs that ran at the same time. job: the text of a job file that does the same again."""

    name: str
    cells: list
    job: str = ""


def seconds(text):
    """A time as fio takes it, in seconds; None for a text that is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", str(text).strip().lower())
    return float(match[1]) * SECONDS[match[2]] if match and match[2] in SECONDS else None


def load(path):
    """The JSON that fio wrote. Warnings that fio printed before it are skipped. Raises UserError."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
        begin = re.search(r"^\{", text, re.MULTILINE)
        found, _ = json.JSONDecoder().raw_decode(text, begin.start() if begin else 0)
    except OSError as error:
        raise UserError(Problem(str(path), f"cannot be read: {error.strerror}", "results of fio")) from None
    except ValueError as error:
        raise UserError(Problem(str(path), f"is no JSON: {error}", "results of fio", "measure with fio --output-format=json --output=FILE")) from None
    if not isinstance(found, dict) or not isinstance(found.get("jobs"), list) or not found["jobs"]:
        raise UserError(Problem(str(path), "has no list of jobs", "results of fio", "measure with fio --output-format=json --output=FILE"))
    return found


def by_job(results):
    """{(group, name): list of jobs}. Clones of a job (numjobs without group_reporting) have one name and are one cell."""
    found = {}
    for job in results["jobs"]:
        found.setdefault((job.get("groupid", 0), str(job.get("jobname", ""))), []).append(job)
    return found


def figures_of(jobs):
    """({(operation, figure): value}, {operation: I/Os}) of a job and its clones. Rates are added; latencies are means, weighted by I/Os."""
    figures, counts = {}, {}
    for op in OPERATIONS:
        parts = [job[op] for job in jobs if job.get(op, {}).get("total_ios")]
        count = sum(part["total_ios"] for part in parts)
        if not count:
            continue
        counts[op] = count
        figures[op, "iops"] = sum(part["iops"] for part in parts)
        figures[op, "bandwidth"] = float(sum(part.get("bw_bytes", 1024 * part.get("bw", 0)) for part in parts))
        figures[op, "mean"] = sum(part["lat_ns"]["mean"] * part["total_ios"] for part in parts) / count / 1e3
        tables = [(part["total_ios"], {float(p): v for p, v in (part["lat_ns"].get("percentile") or part["clat_ns"].get("percentile") or {}).items()}) for part in parts]
        common = set.intersection(*(set(table) for _, table in tables))
        for p in sorted(p for p in common if p in PERCENTILES) or sorted(p for p in common if 50 <= p < 100):
            figures[op, f"p{p:g}"] = sum(n * table[p] for n, table in tables) / count / 1e3
    return {key: value for key, value in figures.items() if value > 0}, counts


def comparable(figures, seconds_simulated):
    """The figures without those percentiles for which a run of that length has too few commands."""
    def enough(op, name):
        return not name.startswith("p") or figures[op, "iops"] * seconds_simulated * (1 - float(name[1:]) / 100) >= LEAST_SLOWER
    return {key: value for key, value in figures.items() if enough(*key)}


def job_text(cells, runtime, ramp):
    text = ""
    for cell in cells:
        lines = [f"{key}={value}" if value not in ("", None) else key for key, value in cell.options.items() if key not in NOT_TAKEN and not LOGS.fullmatch(key)]
        text += "\n".join([f"[{cell.name}]", *lines, "time_based", f"runtime={runtime}", *([f"ramp_time={ramp}"] if ramp else [])]) + "\n"
    return text


def read(paths, runtime, ramp):
    """A list of Group from files of fio. runtime, ramp: how long each is simulated, as fio takes it. Raises UserError with all problems."""
    problems, groups, names = [], [], set()
    for path in paths:
        try:
            results = load(path)
        except UserError as error:
            problems += error.problems
            continue
        of_all = results.get("global options") or {}
        found = {}
        for (number, name), jobs in by_job(results).items():
            where = f"{path}: job '{name}'"
            options = {**of_all, **(jobs[0].get("job options") or {})}
            figures, counts = figures_of(jobs)
            if not options:
                problems.append(Problem(where, "has no options", "'job options' beside the figures, as fio 3 writes them", "measure with fio --output-format=json; a summary or --minimal has none"))
            elif jobs[0].get("error"):
                problems.append(Problem(where, f"ended with error {jobs[0]['error']}", "a job that ended in order"))
            elif not counts:
                problems.append(Problem(where, "has no reads, writes or trims", "a job with I/Os"))
            else:
                plain = re.sub(r"[\[\]\s]", "_", name) or "job"
                unique = next(n for n in itertools.chain([plain], (f"{plain}-{i}" for i in itertools.count(2))) if n not in names)
                names.add(unique)
                found.setdefault(number, []).append(Cell(unique, comparable(figures, seconds(runtime)), options))
        groups += [Group(" and ".join(cell.name for cell in cells), cells, job_text(cells, runtime, ramp)) for cells in found.values()]
    if problems:
        raise UserError(*problems)
    return groups
