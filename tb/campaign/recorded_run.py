# SPDX-License-Identifier: Apache-2.0
"""A run that is recorded: nothing becomes different by it, nothing is at two things at once, and nothing works without power."""
import collections
import json
import re

ARGUMENTS = ("--wave", "--timeline")
SAME_FILES = ("latency.csv", "latency_bins.csv", "timeseries.csv")
SAME_RESULTS = ("counters", "power_cuts", "simulated_s", "books")
# Slices with their times in picoseconds.
SLICE = re.compile(r'"ph":"X","pid":(\d+),"tid":(\d+),"ts":(\d+)\.(\d{6}),"dur":(\d+)\.(\d{6}),"name":"([^"]+)"')
SUPPLY, QUEUES = 6, 1  # groups
WAITING = 100_000      # tracks of a queue from here on: requests in the host
LANES = 200_000


def slices(path):
    """Of each track (group, track) what is on it: (begin, end, name), in order."""
    tracks = collections.defaultdict(list)
    with open(path, encoding="utf-8") as f:
        for line in f:
            assert '"dur":-' not in line
            if found := SLICE.search(line):
                group, track, *times, name = found.groups()
                begin, duration = int(times[0] + times[1]), int(times[2] + times[3])
                tracks[int(group), int(track) % 10**8 - 1].append((begin, begin + duration, name))
    for on_it in tracks.values():
        on_it.sort()
    return tracks


def check_timeline(path):
    """The mistake in one line, or None."""
    tracks = slices(path)
    off = [(begin, end) for begin, end, name in tracks.pop((SUPPLY, 0), []) if name == "off"]
    for (group, track), on_it in tracks.items():
        for before, after in zip(on_it, on_it[1:]):
            if before[1] > after[0]:
                return f"timeline: {before} and {after} on track {track} of group {group}"
        if group == QUEUES and track % LANES >= WAITING:
            continue
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
    return check_timeline(recorded / "trace.json")
