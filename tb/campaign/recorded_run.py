# SPDX-License-Identifier: Apache-2.0
"""A run that is recorded: nothing becomes different by it, nothing is at two things at once, nothing works without power, and what
the dies were at is what was counted."""
import collections
import json
import re

ARGUMENTS = ("--wave", "--timeline")
SAME_FILES = ("latency.csv", "latency_bins.csv", "timeseries.csv")
SAME_RESULTS = ("counters", "power_cuts", "simulated_s", "books")
# Slices with their times in picoseconds.
SLICE = re.compile(r'"ph":"X","pid":(\d+),"tid":(\d+),"ts":(\d+)\.(\d{6}),"dur":(\d+)\.(\d{6}),"name":"([^"]+)"')
PLANES = re.compile(r'"planes":(\d+)')
SUPPLY, DIES, LINK, QUEUES = 6, 5, 2, 1  # groups
PCIE = (0, 1)  # tracks of the link's directions
# Two reads of a page at a time are alike but for whose they are, which nobody can tell from outside; and joined programs of host and garbage
# collection (one write pointer) are shown as those of the first.
READERS, WRITERS = ("host", "gc", "rmw", "fold", "relocation", "merge", "parity"), ("host", "gc", "fold", "relocation", "merge", "journal", "parity", "padding")
COUNTED = {tuple(f"{who}_read" for who in READERS): tuple(f"flash_{who}_page_reads" for who in READERS),
           tuple(f"{who}_program" for who in WRITERS): tuple(f"flash_{who}_page_programs" for who in WRITERS), ("erase",): ("flash_block_erases",)}
WAITING = 100_000      # tracks of a queue from here on: requests in the host
LANES = 200_000


def slices(path):
    """Of each track (group, track) what is on it: (begin, end, name), in order. And how many planes the dies' operations had, by name."""
    tracks, planes = collections.defaultdict(list), collections.Counter()
    with open(path, encoding="utf-8") as f:
        for line in f:
            if found := SLICE.search(line):
                group, track, *times, name = found.groups()
                begin, duration = int(times[0] + times[1]), int(times[2] + times[3])
                tracks[int(group), int(track) % 10**8 - 1].append((begin, begin + duration, name))
                if int(group) == DIES:
                    planes[name] += int(PLANES.search(line)[1])
    for on_it in tracks.values():
        on_it.sort()
    return tracks, planes


def check_timeline(path, result):
    """The mistake in one line, or None."""
    tracks, planes = slices(path)
    # What is suspended has several slices, and what the power cuts off may not have begun.
    if not result.get("power_cuts") and not result["counters_whole_run"].get("flash_suspends"):
        for names, counters in COUNTED.items():
            shown, counted = sum(planes[n] for n in names), sum(result["counters_whole_run"].get(c, 0) for c in counters)
            if shown != counted:
                return f"timeline: {shown} of {' and '.join(names)}, {counted} were counted"
    off = [(begin, end) for begin, end, name in tracks.pop((SUPPLY, 0), []) if name == "off"]
    for (group, track), on_it in tracks.items():
        for before, after in zip(on_it, on_it[1:]):
            if before[1] > after[0]:
                return f"timeline: {before} and {after} on track {track} of group {group}"
        if group == QUEUES and track % LANES >= WAITING:
            continue
        if group == LINK and track in PCIE and "sata_frames_to_host" in result["counters_whole_run"]:
            continue  # it ends at the host's adapter, which has power
        for begin, end, name in on_it:
            if any(begin < back and end > lost for lost, back in off):
                return f"timeline: {name} from {begin} to {end} ps on track {track} of group {group}, without power"
    return None


def check_recorded(plain, recorded):
    """Of two result folders: the mistake in one line, or None."""
    for name in SAME_FILES:
        if (plain / name).exists() and (plain / name).read_bytes() != (recorded / name).read_bytes():
            return f"recorded: {name} is another"
    one, other = (json.loads((folder / "result.json").read_text()) for folder in (plain, recorded))
    for key in SAME_RESULTS:
        if one.get(key) != other.get(key):
            return f"recorded: {key} of result.json is another"
    return check_timeline(recorded / "trace.json", one)
