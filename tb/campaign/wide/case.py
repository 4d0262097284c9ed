# SPDX-License-Identifier: Apache-2.0
"""A case: a device, a workload, and what is done with both. It is plain data, so that it can be kept, run again and made smaller."""
import copy
import shlex

from device import drawn_device, toml
from job import drawn_sections, drawn_trace, job_text
from table import amount

NAMED = ("tpcc", "jesd219-enterprise-4k")
SIGNALS = ("SIGINT", "SIGTERM", "SIGTERM", "SIGHUP")
RECORDINGS = ("--wave", "--timeline")
MOST_COMMANDS = 1500


def drawn_case(r, table, options):
    scenario = r.choices(("plain", "recorded", "saved", "twice", "signal", "full"), (54, 11, 13, 7, 12, 3))[0]
    long = scenario == "signal" and r.random() < 0.7
    base, settings = drawn_device(r, table, larger=12 if long else 1)
    user = amount(settings.get("ftl.user_capacity", "12MiB")) or 1 << 20
    lba = 4096 if settings.get("nvme.lba_size") == "4KiB" else 512
    case = {"scenario": scenario, "base": base, "device": settings, "sets": r.random() < 0.4, "jobs": None, "before": None, "trace": None, "named": None, "arguments": []}
    kind = r.random()
    if kind < 0.86 or long:
        case["jobs"] = drawn_sections(r, options, user, lba, long and r.random() < 0.7)
    elif kind < 0.96:
        case["trace"], case["arguments"] = drawn_trace(r, user, lba)
    else:
        case["named"] = r.choice(NAMED)
        if case["named"] == "tpcc":  # needs more room than the smallest drives have
            case["base"] = "femu-4g"
            for key in [k for k in settings if k.startswith("nand.geometry.") or k == "ftl.user_capacity"]:
                del settings[key]
        settings.setdefault("workload.tpcc.warehouses", str(r.choice((1, 2))))
        settings.setdefault("workload.tpcc.transactions", str(r.choice((1, 50, 300))))
    if r.random() < 0.13 and settings.get("nand.two_step") != "true":
        case["before"] = drawn_sections(r, options, user, lba)
    if not long:
        if r.random() < 0.85:
            case["arguments"] += ["--stop-after-commands", str(r.choice((1, 50, MOST_COMMANDS, MOST_COMMANDS)))]
        if r.random() < 0.85:
            case["arguments"] += ["--stop-after-time", r.choice(("1us", "10ms", "1s", "20s"))]
    if scenario == "signal":
        case["signal"] = [r.choice(SIGNALS), round(0.003 * (300 ** r.random()), 4)]
        if long and r.random() < 0.6:
            settings["precondition.state"] = r.choice(("random", "random", "analytic"))
            settings["precondition.overwrite"] = r.choice(("1000%", "10000%"))
        if r.random() < 0.3:
            settings["host.power_cut_at"] = '["1ms"]'
            settings["host.power_off_time"] = "1ms"
    if scenario == "full":
        case["room"] = r.choice((0, 1, 512, 1000, 5000, 20_000, 100_000))
    if scenario == "saved" and r.random() < 0.4:
        settings[r.choice(("host.power_cut_at", "host.reset_at"))] = r.choice(('["1ms"]', '["200us", "3ms"]', '["20us"]'))
        settings["host.power_off_time"] = r.choice(("1ms", "1us", "1s"))
    if scenario == "twice":
        case["recordings"] = r.sample(RECORDINGS, r.choice((1, 2)))
    return case


def workload(case):
    if case["jobs"] is not None:
        return "job.fio"
    return "trace.csv" if case["trace"] is not None else case["named"]


def write_files(case, folder, table):
    if not (case["sets"] and case["base"]):
        (folder / "device.toml").write_text("" if case["sets"] else toml(table, case["device"]))
    if case["jobs"] is not None:
        (folder / "job.fio").write_text(job_text(case["jobs"]))
    if case["trace"] is not None:
        (folder / "trace.csv").write_text(case["trace"])
    if case["before"] is not None:
        (folder / "before.fio").write_text(job_text(case["before"]))


def device_words(case, **more):
    """The device on a command line: a preset, a file, or both, and --set behind them."""
    words = [case["base"]] if case["base"] else []
    if not (case["sets"] and case["base"]):
        words.append("device.toml")
    assignments = list(case["device"].items()) if case["sets"] else []
    if case["before"] is not None:
        assignments.append(("precondition.workload", "before.fio"))
    assignments += more.items()
    return words + [word for key, value in assignments for word in ("--set", f"{key}={value}")]


def run_words(case, output, *arguments, **more):
    return ["run", *device_words(case, **more), "-w", workload(case), "-q", "-o", output, *case["arguments"], *arguments]


def command_line(case):
    extra = {"recorded": ["--timeline"], "saved": ["--save-drive", "drive"], "twice": case.get("recordings", [])}.get(case["scenario"], [])
    return shlex.join(["ssdtlm", *run_words(case, "out", *extra)])


def parts(case):
    """Each case that is this one without one of its parts, the larger parts first."""
    for field in ("before", "arguments"):
        if case[field]:
            yield {**copy.deepcopy(case), field: None if field == "before" else []}
    for sections in ("jobs", "before"):
        for i in range(len(case[sections] or ()) if len(case[sections] or ()) > 1 else 0):
            smaller = copy.deepcopy(case)
            del smaller[sections][i]
            yield smaller
    keys = list(case["device"])
    own = [k for k in keys if k.startswith("nand.geometry.")]
    for key in keys:
        if key not in own:
            smaller = copy.deepcopy(case)
            del smaller["device"][key]
            yield smaller
    for i in range(0, len(case["arguments"]), 1):
        if case["arguments"][i].startswith("--"):
            smaller = copy.deepcopy(case)
            end = i + 1
            while end < len(case["arguments"]) and not case["arguments"][end].startswith("--"):
                end += 1
            del smaller["arguments"][i:end]
            yield smaller
    for sections in ("jobs", "before"):
        for i, (_, chosen) in enumerate(case[sections] or ()):
            for j in range(len(chosen)):
                smaller = copy.deepcopy(case)
                del smaller[sections][i][1][j]
                yield smaller
    for key in own:
        smaller = copy.deepcopy(case)
        del smaller["device"][key]
        yield smaller
    if case["trace"] and case["trace"].count("\n") > 1:
        lines = case["trace"].splitlines(keepends=True)
        yield {**copy.deepcopy(case), "trace": "".join(lines[:len(lines) // 2])}
        yield {**copy.deepcopy(case), "trace": "".join(lines[len(lines) // 2:])}
