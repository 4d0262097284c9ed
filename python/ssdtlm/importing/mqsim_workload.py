# SPDX-License-Identifier: Apache-2.0
"""workload.xml of MQSim: its scenarios as fio jobs and traces, a flow each."""

import math
import pathlib
import statistics

from ..errors import Problem, UserError
from .mqsim import Values, read
from .taken import NEARLY, NONE, TAKEN, Job, Row

SECTOR = 512
PRIORITIES = {"URGENT": 0, "HIGH": 1, "MEDIUM": 2, "LOW": 3}
DIMENSIONS = (("C", "Channel_IDs", "nand.geometry.channels"), ("W", "Chip_IDs", "nand.geometry.ways"), ("D", "Die_IDs", "nand.geometry.dies_per_chip"), ("P", "Plane_IDs", "nand.geometry.planes_per_die"))
# The reader of MQSim traces takes times as nanoseconds.
TIME_SCALES = {"PICOSECOND": "0.001", "MICROSECOND": "1000"}
CACHES = {"WRITE_CACHE": "write_back", "WRITE_READ_CACHE": "write_back", "READ_CACHE": "write_through", "TURNED_OFF": "write_through"}


class Scenario:
    """`jobs`; `settings`: of the device, for these flows: key -> TOML text; `rows`: what became of each parameter."""

    def __init__(self):
        self.jobs, self.settings, self.rows = [], {}, []


def import_workload(path, device):
    """A Scenario for each <IO_Scenario>. `device`: the Device that it runs on. Raises UserError."""
    root = read(path)
    found = root.findall(".//IO_Scenario")
    if not found:
        raise UserError(Problem(str(path), f"is no workload of MQSim: its root is <{root.tag}>", "<IO_Scenario> in it", "give workload.xml second"))
    return [scenario(path, element, device) for element in found]


def scenario(path, element, device):
    s = Scenario()
    flows = list(element)
    sets = [chosen_set(flow, device) for flow in flows]
    disjoint = len(flows) > 1 and all(sets) and all(not overlap(a, b) for i, a in enumerate(sets) for b in sets[:i])
    if disjoint:
        s.settings["ftl.nvm_sets"] = '"' + ", ".join(text for text, _ in sets) + '"'
        s.settings["ftl.static_dimensions"] = '"none"'
    for i, flow in enumerate(flows):
        values = Values(flow, path)
        name = f"flow{i + 1}"
        region = f"set {i + 1}" if disjoint else f"{100 * i / len(flows):.6g}%-{100 * (i + 1) / len(flows):.6g}%" if len(flows) > 1 else "all"
        if sets[i] and not disjoint:
            s.rows.append(Row("Channel_IDs, ...", sets[i][0], NONE, "", "sets that flows share are not modelled: the flow has all of the flash"))
        job = trace(values, name, s.rows) if "Trace" in flow.tag else synthetic(values, name, s.rows)
        job.region = region
        job.priority = PRIORITIES.get(values.text("Priority_Class"), 1) if "Priority_Class" in values else 1
        if "Initial_Occupancy_Percentage" in values:
            fill = values.number("Initial_Occupancy_Percentage")
            s.settings.setdefault("precondition.fill", f'"{fill:g}%"')
            s.rows.append(Row("Initial_Occupancy_Percentage", f"{fill:g}", NEARLY, f"precondition.fill = {s.settings['precondition.fill']}", "of the whole drive, from address 0; the flow reads what lies in its part"))
        if "Device_Level_Data_Caching_Mode" in values:
            mode = values.text("Device_Level_Data_Caching_Mode")
            s.settings.setdefault("buffer.mode", f'"{CACHES.get(mode, "write_back")}"')
            same = s.settings["buffer.mode"] == f'"{CACHES.get(mode, "write_back")}"'
            s.rows.append(Row("Device_Level_Data_Caching_Mode", mode, TAKEN if same and "READ" not in mode else NEARLY, f"buffer.mode = {s.settings['buffer.mode']}",
                              "" if same and "READ" not in mode else "one mode for all flows; see read_cache.size for reads"))
        if values.problems:
            raise UserError(*values.problems)
        s.jobs.append(job)
    if len(flows) > 1:
        s.settings["host.tenants"] = '"by_job"'
        s.settings["host.regions"] = '"' + ", ".join(job.region for job in s.jobs) + '"'
        if len({job.priority for job in s.jobs}) > 1:
            s.settings["host.queue_priorities"] = "[" + ", ".join(str(job.priority) for job in s.jobs) + "]"
            if device.values["scheduler.policy"][0] == '"read_first"':
                s.rows.append(Row("Priority_Class", "of several kinds", NONE, "", f"has no effect with Transaction_Scheduling_Policy = OUT_OF_ORDER"))
                del s.settings["host.queue_priorities"]
    return s


def chosen_set(flow, device):
    """(text of ftl.nvm_sets, {dimension: numbers}) of a flow that has not all of the flash; else None."""
    chosen, text = {}, ""
    for letter, tag, key in DIMENSIONS:
        have = int(device.values[key][0])
        element = flow.find(tag)
        numbers = sorted({int(n) for n in element.text.replace(" ", "").split(",") if n}) if element is not None and element.text else list(range(have))
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
    share = values.number("Percentage_To_Be_Executed") if "Percentage_To_Be_Executed" in values else 100
    if share < 100:
        rows.append(Row("Percentage_To_Be_Executed", f"{share:g}", NONE, "", "the whole trace is played; --stop-after-commands ends it earlier"))
    loops = values.integer("Relay_Count") if "Relay_Count" in values else 1
    if loops > 1:
        words += ["--replay-loops", str(loops)]
    unit = values.text("Time_Unit") if "Time_Unit" in values else "NANOSECOND"
    if unit != "NANOSECOND":
        scale = TIME_SCALES.get(unit)
        rows.append(Row("Time_Unit", unit, TAKEN if scale else NONE, f"--time-scale {scale}" if scale else "", "" if scale else "times are taken as nanoseconds"))
        words += ["--time-scale", scale] if scale else []
    return Job(name, trace=path, words=tuple(words))


def sizes(values, rows):
    """Lines of the request size."""
    mean = max(1, values.integer("Average_Request_Size"))
    if values.text("Request_Size_Distribution") != "NORMAL" or not values.number("Variance_Request_Size"):
        rows.append(Row("Average_Request_Size", str(mean), TAKEN, f"bs={mean * SECTOR}"))
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
    rows.append(Row("Request_Size_Distribution", "NORMAL", NEARLY, "bssplit", "in 19 equal parts"))
    return [f"bssplit={':'.join(split)}"]


def synthetic(values, name, rows):
    reads = values.number("Read_Percentage")
    distribution = values.text("Address_Distribution")
    prefix = "" if distribution == "STREAMING" else "rand"
    lines = ["ioengine=libaio", "direct=1"]
    lines += [f"rw={prefix}read"] if reads >= 100 else [f"rw={prefix}write"] if reads <= 0 else [f"rw={prefix or ''}rw", f"rwmixread={reads:g}"]
    rows.append(Row("Read_Percentage", f"{reads:g}", TAKEN, lines[2]))
    lines += sizes(values, rows)
    if distribution != "STREAMING":
        lines.append("norandommap")
    if distribution == "RANDOM_HOTCOLD":
        hot = values.number("Percentage_of_Hot_Region")
        # MQSim: (100 - hot) % of the requests go to hot % of the addresses.
        if 0 < hot < 100:
            lines.append(f"random_distribution=zoned:{100 - hot:g}/{hot:g}:{hot:g}/{100 - hot:g}")
        rows.append(Row("Percentage_of_Hot_Region", f"{hot:g}", TAKEN, lines[-1]))
    else:
        values.asked.add("Percentage_of_Hot_Region")
        rows.append(Row("Address_Distribution", distribution, TAKEN, lines[2]))
    if "Generated_Aligned_Addresses" in values and values.flag("Generated_Aligned_Addresses") and distribution != "STREAMING":
        unit = values.integer("Address_Alignment_Unit") * SECTOR
        lines.append(f"blockalign={unit}")
        rows.append(Row("Address_Alignment_Unit", values.text("Address_Alignment_Unit"), TAKEN, lines[-1]))
    working = values.number("Working_Set_Percentage") if "Working_Set_Percentage" in values else 100
    if working < 100:
        lines.append(f"size={max(1, round(working))}%")
        rows.append(Row("Working_Set_Percentage", f"{working:g}", TAKEN if working == round(working) else NEARLY, lines[-1], "" if working == round(working) else "whole per cent"))
    if values.text("Synthetic_Generator_Type") == "BANDWIDTH":
        rate = values.integer("Intensity")
        mean = max(1, values.integer("Average_Request_Size")) * SECTOR
        lines += [f"rate_iops={max(1, round(rate / mean))}", "rate_process=poisson", "io_submit_mode=offload", "iodepth=1024"]
        rows.append(Row("Intensity", str(rate), TAKEN, lines[-4]))
    else:
        depth = values.integer("Average_No_of_Reqs_in_Queue")
        lines.append(f"iodepth={depth}")
        rows.append(Row("Average_No_of_Reqs_in_Queue", str(depth), TAKEN, lines[-1]))
    if "Seed" in values:
        lines.append(f"randseed={values.integer('Seed')}")
    total, stop = values.integer("Total_Requests_To_Generate"), values.number("Stop_Time")
    if total:
        lines.append(f"number_ios={total}")
        rows.append(Row("Total_Requests_To_Generate", str(total), TAKEN, lines[-1]))
    else:
        lines += ["time_based", f"runtime={max(1, math.ceil(stop / 1000))}us"]
        rows.append(Row("Stop_Time", f"{stop:.0f}", TAKEN, lines[-1]))
    return Job(name, text=f"# SPDX-License-Identifier: Apache-2.0\n[{name}]\n" + "\n".join(lines) + "\n")


def trace_path(job, beside):
    """Where the trace is: as the file says, or beside it."""
    path = pathlib.Path(job.trace)
    return path if path.is_absolute() or path.exists() else pathlib.Path(beside).parent / path
