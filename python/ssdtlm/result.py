# SPDX-License-Identifier: Apache-2.0
"""The folder of a run, read: plain lists and dicts, or data frames when pandas is there."""

import collections
import csv
import functools
import json
import pathlib
import re
import tomllib

from .errors import Problem, UserError

OPERATIONS = ("read", "write", "trim", "flush")
# By whom commands are told apart.
OWNERS = ("job", "tenant", "stream")


def _number(text):
    try:
        return int(text)
    except ValueError:
        return float(text) if text else None


class Result:
    """The results of one run: `path` is its folder, `json` the content of result.json, and properties give the tables. Raises UserError
    when the folder has no results of a run that ended in order, or when a file cannot be read."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        file = self.path / "result.json"
        try:
            self.json = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            if (self.path / "failed.json").is_file():
                raise UserError(Problem(str(path), "holds a run that failed (failed.json)", "a run that ended in order")) from None
            raise UserError(Problem(str(path), "holds no result.json", "the folder of a run (ssdtlm run -o DIR)")) from None
        except (OSError, ValueError) as error:
            raise UserError(Problem(str(file), f"cannot be read: {error}")) from None
        if not isinstance(self.json, dict) or not {"ssdtlm", "seed", "commands", "config_toml"} <= self.json.keys():
            raise UserError(Problem(str(file), "is not a result of ssdtlm run"))

    def __repr__(self):
        return f"Result({str(self.path)!r})"

    @property
    def title(self):
        return f"{self.json['workload']} on {self.json['device']}"

    def same_workload(self, other):
        """Whether both runs had the same workload, to the last option and byte. Files of workloads may have different names. Results of
        versions that kept no digest are compared by name."""
        key = "workload_digest" if "workload_digest" in self.json and "workload_digest" in other.json else "workload"
        return self.json[key] == other.json[key]

    @property
    def seed(self):
        return self.json["seed"]

    @functools.cached_property
    def config(self):
        """Key -> value of every parameter ("nand.t_read": "75us"), name and description of the device left out."""
        return {key: value for key, (value, _) in self._config.items()}

    @functools.cached_property
    def origins(self):
        """Key -> where the value comes from: "default", "mine.toml:3:10", "--set nand.t_read=60us"."""
        return {key: origin for key, (_, origin) in self._config.items()}

    @functools.cached_property
    def _config(self):
        table, values = "", {}
        for line in self.json["config_toml"].splitlines():
            if line.startswith("["):
                table = line.strip("[]") + "."
            elif line.strip():
                key, value, origin = _assignment(line)
                values[table + key] = (value, origin)
        for key in ("name", "description"):
            values.pop(key, None)
        return values

    @property
    def latency_us(self):
        """{operation: {stage: {"count", "share", "mean", "p50", ..., "max"}}}; times in us, stage "total" is the whole latency. {} when
        nothing was measured."""
        return self.json.get("latency_us", {})

    @property
    def measured_nothing(self):
        """Whether no command ended in the measured window, as in a run that ended, or was interrupted, within its ramp."""
        return not self.latency_us

    @property
    def latency(self):
        """Rows of operation and stage: {"op", "stage", "count", "share", "mean", "p50", ..., "max"}; times in us, share of
        the operation's mean from 0 to 1. Stage "total" is the whole latency."""
        return [{"op": op, "stage": stage, **row} for op, stages in self.latency_us.items() for stage, row in stages.items()]

    @property
    def resources(self):
        """Rows {"resource", "members", "busy_mean", "busy_max", "busiest"}; busy from 0 to 1."""
        return [{"resource": name, **row} for name, row in self.json.get("resources", {}).items()]

    @property
    def flows(self):
        """Rows of "flows" in result.json, one for each flow: {"name", "commands", "response_us", "iops", "chip_queue_mean", ...}. With run
        --alone they also have "alone" and "over_alone". [] when the run had one flow."""
        return self.json.get("flows", [])

    @property
    def flow_waits(self):
        """Rows {"flow", "for", "total_ps", "stages_ps", "causes_ps"}: how long commands of one flow waited for operations that another flow
        owns or has caused."""
        return self.json.get("flow_waits", [])

    @property
    def interference(self):
        """{"fairness", "weighted_speedup"} of run --alone; None for other runs."""
        return self.json.get("interference")

    @property
    def steadiness(self):
        """Whether the measured window was a steady state: {"verdict": "steady", "not steady" or "too short to say", "reason", "judged", "turnover", ...}.
        None when nothing was measured, and for results of a version that does not say it."""
        return self.json.get("steadiness")

    @functools.cached_property
    def time_series(self):
        """Rows of timeseries.csv, one per interval; see docs/results.md for the columns. None where there is no value."""
        return self._rows("timeseries.csv")

    @functools.cached_property
    def gc_events(self):
        """Rows of gc.csv, two per victim of garbage collection: {"time_us", "event" ("chosen" or "ended"), "group",
        "superblock", "reason", "valid_units", "invalid_units", "erases", "free_superblocks", "full_superblocks"}. The file is
        there with run.gc_log = true."""
        return self._rows("gc.csv")

    @functools.cached_property
    def latency_bins(self):
        """Rows of latency_bins.csv: {"op", "from_ns", "below_ns", "count", "block_queue_ps", ..., "completion_ps"}: commands by
        total latency, with the exact sum of each stage. below_ns is None in the last bin, which has no end."""
        return self._rows("latency_bins.csv")

    @functools.cached_property
    def latency_by_job(self):
        """Rows of latency_by_job.csv: {"of", "number", "name", "op", "count", "mean_us", ..., "block_queue_us", ...}: commands of
        each job (of == "job"), tenant and write stream, with the mean of each stage in us."""
        return self._rows("latency_by_job.csv")

    def latency_of(self, owner):
        """Rows {owner: number, "op", "count", "mean", ..., "max", "stages": {stage: mean}} for each operation of each job, tenant or write
        stream; times in us. `owner` is one of OWNERS. Stages without time are left out. [] when a single job or tenant has all commands,
        and for results of older versions. A single stream has its rows, because writes may be without a stream."""
        rows = self.json.get(f"latency_us_by_{owner}", [])
        return rows if owner == "stream" or len({row[owner] for row in rows}) > 1 else []

    @functools.cached_property
    def job_labels(self):
        """{number of a job: its name in metrics}. Dots and blanks become "_". Clones of a job are name[0], name[1], ...; a job without a
        name has its number."""
        names = {row["job"]: re.sub(r"[.\s]", "_", row.get("name", "")) for row in self.json.get("latency_us_by_job", [])}
        alike = collections.Counter(names.values())
        labels, seen = {}, collections.Counter()
        for number, name in sorted(names.items()):
            labels[number] = str(number) if not name else name if alike[name] == 1 else f"{name}[{seen[name]}]"
            seen[name] += 1
        return labels

    @functools.cached_property
    def job_metrics(self):
        """The metrics of jobs under their names: "job.reader.read.total.p99". A job that is the only one has them too."""
        flat = {}
        for row in self.json.get("latency_us_by_job", []):
            flat.update(_metrics_of("job", self.job_labels[row["job"]], row))
        return flat

    @functools.cached_property
    def slowest(self):
        """The commands of slowest.json with their way through the device; [] when the run kept none. Times in ps."""
        return self._file("slowest.json")["commands"] if (self.path / "slowest.json").is_file() else []

    @functools.cached_property
    def fio(self):
        """fio.json, in the shape of fio 3.33."""
        return self._file("fio.json")

    @property
    def wall_clock(self):
        """wall_clock.json: host time, memory, and the command line."""
        return self._file("wall_clock.json")

    def _file(self, name):
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(Problem(str(self.path / name), f"cannot be read: {error}")) from None

    def _rows(self, name):
        try:
            with open(self.path / name, newline="", encoding="utf-8") as file:
                return [{k: v if k in ("op", "of", "name", "phase") else _number(v) for k, v in row.items()} for row in csv.DictReader(file)]
        except (OSError, ValueError) as error:
            raise UserError(Problem(str(self.path / name), f"cannot be read: {error}")) from None

    @functools.cached_property
    def metrics(self):
        """Name -> number of everything that result.json measures: "read.iops", "read.total.p99" (us), "job.0.read.total.p99",
        "tenant.1.write.buffer.mean", "flow.a.slowdown", "interference.fairness", "ftl.waf", "ftl.traffic.gc_user_pages", "resources.die.busy_mean" (0 to 1), "counters.gc_victims",
        "played.waf" (of precondition.workload)."""
        j = self.json
        flat = {key: j[key] for key in ("commands", "measured_window_s") if key in j}
        for op in OPERATIONS:
            if j.get(op, {}).get("ios"):
                flat.update({f"{op}.{key}": j[op][key] for key in ("ios", "iops", "MB_per_s")})
        for row in self.latency:
            names = [key for key in row if key not in ("op", "stage", "count")]
            flat.update({f"{row['op']}.{row['stage']}.{key}": row[key] for key in names})
        for owner in OWNERS:
            for row in self.latency_of(owner):
                flat.update(_metrics_of(owner, row[owner], row))
        for row in self.resources:
            flat.update({f"resources.{row['resource']}.{key}": row[key] for key in ("busy_mean", "busy_max")})
        for flow in self.flows:
            name = "flow." + re.sub(r"[.\s]", "_", flow["name"])
            flat.update({f"{name}.{key}": flow[key] for key in ("response_us", "iops", "chip_queue_mean", "throughput_over_base") if key in flow})
            flat.update({f"{name}.{key}": value for key, value in flow.get("over_alone", {}).items()})
        flat.update({f"interference.{key}": value for key, value in (self.interference or {}).items()})
        played = j.get("precondition", {}).get("reached", {}).get("workload", {})
        # Maxima and states exist for the whole run only, all others for the measured window too.
        counters = {**j.get("counters_whole_run", {}), **j.get("counters", {})}
        for group, values in (("ftl", j.get("ftl", {})), ("counters", counters), ("played", played)):
            flat.update(_flat(group, values))
        return flat


def _flat(name, values):
    """Pairs (name, value) of nested dicts, with dots between the names of the levels."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(f"{name}.{key}", value)
        elif value is not None:  # None: it could not be measured
            yield f"{name}.{key}", value


def _metrics_of(owner, label, row):
    """{name: value} of a row of latency_of(owner), named as the metrics of all commands are, behind "job.reader." or the like."""
    name = f"{owner}.{label}.{row['op']}"
    return {f"{name}.ios": row["count"], **{f"{name}.total.{key}": row[key] for key in ("mean", "p50", "p99", "p99.9", "max")},
            **{f"{name}.{stage}.mean": mean for stage, mean in row["stages"].items()}}


def _assignment(line):
    """(key, value, origin) of a line `key = value  # origin`. The value may hold a '#' too."""
    at = line.find(" # ")
    while at >= 0:
        try:
            ((key, value),) = tomllib.loads(line[:at]).items()
            return key, value, line[at + 3:].strip()
        except ValueError:
            at = line.find(" # ", at + 1)
    ((key, value),) = tomllib.loads(line).items()
    return key, value, ""


def data_frame(rows):
    """Rows of a Result as a pandas.DataFrame. Raises UserError without pandas."""
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise UserError(Problem("data_frame", "needs pandas", "", "pip install pandas")) from None
    return pandas.DataFrame(rows)
