# SPDX-License-Identifier: Apache-2.0
"""workload.xml of MQSim: its scenarios as fio jobs and traces, a flow each."""

import math
import pathlib
import statistics

from ..errors import Problem, UserError
from .mqsim import Values, read
from .taken import DEFAULT, NEARLY, NONE, TAKEN, Job, Row

SECTOR = 512
PRIORITIES = {"URGENT": 0, "HIGH": 1, "MEDIUM": 2, "LOW": 3}
DIMENSIONS = (("C", "Channel_IDs", "nand.geometry.channels"), ("W", "Chip_IDs", "nand.geometry.ways"), ("D", "Die_IDs", "nand.geometry.dies_per_chip"), ("P", "Plane_IDs", "nand.geometry.planes_per_die"))
# The reader of MQSim traces takes times as nanoseconds.
TIME_SCALES = {"PICOSECOND": "0.001", "MICROSECOND": "1000"}
LAWS = ("STREAMING", "RANDOM_UNIFORM", "RANDOM_HOTCOLD", "UNIFORM_RANDOM", "HOTCOLD_RANDOM")  # in the order of words as releases have it
CACHES = {"WRITE_CACHE": "write_back", "WRITE_READ_CACHE": "write_back", "READ_CACHE": "write_through", "TURNED_OFF": "write_through"}


class Scenario:
    """`jobs`; `settings`: of the device, for these flows: key -> TOML text; `rows`: what became of each parameter; `problems` of the file."""

    def __init__(self):
        self.jobs, self.settings, self.rows, self.problems = [], {}, [], []


def import_workload(path, device):
    """A Scenario for each <IO_Scenario>. `device`: the Device that it runs on. Raises UserError."""
    root, lines = read(path)
    found = root.findall(".//IO_Scenario")
    if not found:
        raise UserError(Problem(str(path), f"is no workload of MQSim: its root is <{root.tag}>", "<IO_Scenario> in it", "give workload.xml second"))
    return [scenario(path, lines, element, number, device) for number, element in enumerate(found, 1)]


class FlowRows:
    """The rows of one flow."""

    def __init__(self, flow, values):
        self.flow, self.values, self.rows = flow, values, []

    def add(self, name, value, how, ours="", why=""):
        self.rows.append(Row(name, f"{value}{DEFAULT if self.values.absent(name) else ''}", how, ours, why, self.flow))

    def rest(self):
        """What has no row yet: without effect here, or not known."""
        for name in self.values.names():
            if not any(row.of(name) for row in self.rows):
                known = name in WHY_NOT or name in self.values.asked
                self.add(name, self.values.text(name), NONE, "", (WHY_NOT.get(name) or "no effect with what else the flow has") if known else self.values.unknown(name) or "nothing of the kind is modelled")


WHY_NOT = {
    "Percentage_of_Hot_Region": "no effect without Address_Distribution = RANDOM_HOTCOLD",
    "Address_Alignment_Unit": "no effect without Generated_Aligned_Addresses, or with STREAMING",
    "Generated_Aligned_Addresses": "fio aligns to the size of a request (blockalign)",
    "Variance_Request_Size": "no effect with Request_Size_Distribution = FIXED",
    "Bandwidth": "no effect with Synthetic_Generator_Type = QUEUE_DEPTH",
    "Intensity": "no effect with Synthetic_Generator_Type = QUEUE_DEPTH",
    "Average_No_of_Reqs_in_Queue": "no effect with Synthetic_Generator_Type = BANDWIDTH",
    "Stop_Time": "no effect with Total_Requests_To_Generate above 0",
    "Total_Requests_To_Generate": "0: Stop_Time ends the flow",
    "Type": "the element's name says it, in MQSim, too",
}


def scenario(path, lines, element, number, device):
    s = Scenario()
    flows = list(element)
    sets = []
    tables = []
    for flow in flows:
        values = Values(flow, path, lines)
        tables.append(FlowRows(f"scenario {number} flow {len(tables) + 1}", values))
        sets.append(chosen_set(values, device))
    disjoint = len(flows) > 1 and all(sets) and all(not overlap(a, b) for i, a in enumerate(sets) for b in sets[:i])
    if disjoint:
        s.settings["ftl.nvm_sets"] = '"' + ", ".join(text for text, _ in sets) + '"'
        s.settings["ftl.static_dimensions"] = '"none"'
    for i, flow in enumerate(flows):
        rows, values = tables[i], tables[i].values
        name = f"flow{i + 1}"
        region = f"set {i + 1}" if disjoint else f"{100 * i / len(flows):.6g}%-{100 * (i + 1) / len(flows):.6g}%" if len(flows) > 1 else "all"
        for _, tag, key in DIMENSIONS:
            if tag in values:
                whole = len(set(values.text(tag).replace(" ", "").split(","))) >= int(device.values[key][0])
                rows.add(tag, values.text(tag), *(TAKEN, f"ftl.nvm_sets: {sets[i][0]}") if disjoint else (TAKEN, "", "all of them") if whole else
                         (NONE, "", "sets that flows share, or that are no range, are not modelled: the flow has all of the flash"))
        job = trace(values, name, rows) if "Trace" in flow.tag else synthetic(values, name, rows)
        job.region = region
        job.priority = PRIORITIES[values.word("Priority_Class", PRIORITIES, "HIGH")]
        if "Initial_Occupancy_Percentage" in values:
            fill = values.number("Initial_Occupancy_Percentage", most=100)
            s.settings.setdefault("precondition.fill", f'"{fill:g}%"')
            rows.add("Initial_Occupancy_Percentage", f"{fill:g}", NEARLY, f"precondition.fill = {s.settings['precondition.fill']}", "of the whole drive, from address 0; the flow reads what lies in its part")
        if "Device_Level_Data_Caching_Mode" in values:
            mode = values.word("Device_Level_Data_Caching_Mode", CACHES)
            s.settings.setdefault("buffer.mode", f'"{CACHES.get(mode, "write_back")}"')
            same = s.settings["buffer.mode"] == f'"{CACHES.get(mode, "write_back")}"'
            rows.add("Device_Level_Data_Caching_Mode", mode, TAKEN if same and "READ" not in mode else NEARLY, f"buffer.mode = {s.settings['buffer.mode']}",
                     "" if same and "READ" not in mode else "one mode for all flows; see read_cache.size for reads")
        s.problems += values.problems
        s.jobs.append(job)
    of_several(s, tables, device)
    for rows in tables:
        rows.rest()
        s.rows += rows.rows
    return s


def of_several(s, tables, device):
    """Regions, tenants and priorities of several flows."""
    differ = len({job.priority for job in s.jobs}) > 1
    ranked = device.values["scheduler.policy"][0] != '"read_first"'
    for rows, job in zip(tables, s.jobs):
        if "Priority_Class" in rows.values:
            rows.add("Priority_Class", rows.values.text("Priority_Class"), *(TAKEN, "", "one class for all flows changes nothing") if not differ else
                     (TAKEN, f"host.queue_priorities: {job.priority}") if ranked else (NONE, "", "no effect with Transaction_Scheduling_Policy = OUT_OF_ORDER"))
    if len(tables) > 1:
        s.settings["host.tenants"] = '"by_job"'
        s.settings["host.regions"] = '"' + ", ".join(job.region for job in s.jobs) + '"'
        if differ and ranked:
            s.settings["host.queue_priorities"] = "[" + ", ".join(str(job.priority) for job in s.jobs) + "]"


def chosen_set(values, device):
    """(text of ftl.nvm_sets, {dimension: numbers}) of a flow that has not all of the flash; else None."""
    chosen, text = {}, ""
    for letter, tag, key in DIMENSIONS:
        have = int(device.values[key][0])
        said = [n for n in values.text(tag).replace(" ", "").split(",") if n] if tag in values else []
        if not all(n.isdecimal() for n in said):
            values.refuse(tag, f"numbers from 0 to {have - 1} with commas between them")
            said = []
        numbers = sorted(map(int, said)) or list(range(have))
        numbers = [n for n in numbers if n < have] or list(range(have))
        chosen[letter] = set(numbers)
        if len(numbers) < have:
            text += letter + (f"{numbers[0]}-{numbers[-1]}" if numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 1 else f"{numbers[0]}")
            if len(numbers) > 1 and numbers != list(range(numbers[0], numbers[-1] + 1)):
                return None
    return (text, chosen) if text else None


def overlap(a, b):
    return all(a[1][letter] & b[1][letter] for letter, _, _ in DIMENSIONS)


def trace(values, name, rows):
    path, words = values.text("File_Path"), []
    rows.add("File_Path", path, TAKEN, "-w")
    share = values.number("Percentage_To_Be_Executed", "100", most=100, above=True)
    rows.add("Percentage_To_Be_Executed", f"{share:g}", *(NONE, "", "the whole trace is played; --stop-after-commands ends it earlier") if share < 100 else (TAKEN, "", "all of it"))
    loops = values.integer("Relay_Count", "1", least=1)
    rows.add("Relay_Count", loops, TAKEN, f"--replay-loops {loops}")
    if loops > 1:
        words += ["--replay-loops", str(loops)]
    unit = values.word("Time_Unit", ("NANOSECOND", *TIME_SCALES), "NANOSECOND")
    scale = TIME_SCALES.get(unit)
    rows.add("Time_Unit", unit, TAKEN, f"--time-scale {scale}" if scale else "")
    words += ["--time-scale", scale] if scale else []
    return Job(name, trace=path, words=tuple(words))


def sizes(values, rows):
    """Lines of the request size."""
    mean = values.integer("Average_Request_Size", least=1)
    law = values.word("Request_Size_Distribution", ("FIXED", "NORMAL"))
    if law != "NORMAL" or not values.number("Variance_Request_Size"):
        rows.add("Average_Request_Size", mean, TAKEN, f"bs={mean * SECTOR}")
        rows.add("Request_Size_Distribution", law, TAKEN, f"bs={mean * SECTOR}")
        return [f"bs={mean * SECTOR}"]
    # MQSim's "variance" is what it gives std::normal_distribution for its standard deviation.
    spread = statistics.NormalDist(mean, values.number("Variance_Request_Size"))
    shares = {}
    for part in range(1, 20):
        size = max(1, round(spread.inv_cdf(part / 20)))
        shares[size] = shares.get(size, 0) + 1
    left = 100
    split = []
    for i, (size, count) in enumerate(sorted(shares.items())):
        percent = left if i == len(shares) - 1 else round(100 * count / 19)
        left -= percent
        split.append(f"{size * SECTOR}/{percent}")
    for part in ("Request_Size_Distribution", "Average_Request_Size", "Variance_Request_Size"):
        rows.add(part, values.text(part), NEARLY, "bssplit", "in 19 equal parts")
    return [f"bssplit={':'.join(split)}"]


def synthetic(values, name, rows):
    reads = values.number("Read_Percentage", most=100)
    distribution = values.word("Address_Distribution", LAWS)
    prefix = "" if distribution == "STREAMING" else "rand"
    lines = ["ioengine=libaio", "direct=1"]
    lines += [f"rw={prefix}read"] if reads >= 100 else [f"rw={prefix}write"] if reads <= 0 else [f"rw={prefix or ''}rw", f"rwmixread={reads:g}"]
    rows.add("Read_Percentage", f"{reads:g}", TAKEN, " ".join(lines[2:]))
    rows.add("Address_Distribution", distribution, TAKEN, lines[2])
    lines += sizes(values, rows)
    if distribution != "STREAMING":
        lines.append("norandommap")
    if "HOTCOLD" in distribution:
        hot = values.number("Percentage_of_Hot_Region", most=100)
        # MQSim: (100 - hot) % of the requests go to hot % of the addresses.
        if 0 < hot < 100:
            lines.append(f"random_distribution=zoned:{100 - hot:g}/{hot:g}:{hot:g}/{100 - hot:g}")
        rows.add("Percentage_of_Hot_Region", f"{hot:g}", TAKEN, lines[-1])
    if values.flag("Generated_Aligned_Addresses") and distribution != "STREAMING":
        unit = values.integer("Address_Alignment_Unit", least=1) * SECTOR
        lines.append(f"blockalign={unit}")
        rows.add("Generated_Aligned_Addresses", "true", TAKEN, lines[-1])
        rows.add("Address_Alignment_Unit", values.text("Address_Alignment_Unit"), TAKEN, lines[-1])
    working = values.number("Working_Set_Percentage", "100", most=100, above=True)
    if working < 100:
        lines.append(f"size={max(1, round(working))}%")
    whole = working == round(working)
    rows.add("Working_Set_Percentage", f"{working:g}", TAKEN if whole else NEARLY, lines[-1] if working < 100 else "size=100%", "" if whole else "whole per cent")
    generator = values.word("Synthetic_Generator_Type", ("QUEUE_DEPTH", "BANDWIDTH"))
    rows.add("Synthetic_Generator_Type", generator, TAKEN, "rate_iops" if generator == "BANDWIDTH" else "iodepth")
    if generator == "BANDWIDTH":
        # Releases before 2019 call it Intensity.
        named = "Intensity" if "Intensity" in values and "Bandwidth" not in values else "Bandwidth"
        rate = values.integer(named, least=1)
        mean = values.integer("Average_Request_Size", least=1) * SECTOR
        lines += [f"rate_iops={max(1, round(rate / mean))}", "rate_process=poisson", "io_submit_mode=offload", "iodepth=1024"]
        rows.add(named, rate, TAKEN, lines[-4])
    else:
        depth = values.integer("Average_No_of_Reqs_in_Queue", least=1)
        lines.append(f"iodepth={depth}")
        rows.add("Average_No_of_Reqs_in_Queue", depth, TAKEN, lines[-1])
    if "Seed" in values:
        lines.append(f"randseed={values.integer('Seed')}")
        rows.add("Seed", values.text("Seed"), TAKEN, lines[-1])
    total = values.integer("Total_Requests_To_Generate")
    if total:
        lines.append(f"number_ios={total}")
        rows.add("Total_Requests_To_Generate", total, TAKEN, lines[-1])
    else:
        stop = values.number("Stop_Time", above=True)
        lines += ["time_based", f"runtime={max(1, math.ceil(stop / 1000))}us"]
        rows.add("Stop_Time", f"{stop:.0f}", TAKEN, lines[-1])
    return Job(name, text=f"# SPDX-License-Identifier: Apache-2.0\n[{name}]\n" + "\n".join(lines) + "\n")


def trace_path(job, beside):
    """Where the trace is: as the file says, or beside it."""
    path = pathlib.Path(job.trace)
    return path if path.is_absolute() or path.exists() else pathlib.Path(beside).parent / path
