# SPDX-License-Identifier: Apache-2.0
"""What a message advises, done to the letter.

A message has a place, what was found, what is allowed, and how to repair it. Where it names a value, the campaign takes that value: it must be
accepted. Each key and option that it names must exist.
"""
import re

NUMBER = r"-?\d+(?:\.\d+)? ?(?:[A-Za-z%]+(?:/s)?)?"
KEY = re.compile(r"(?<![\w./\"'-])([a-z][a-z_0-9]*(?:\.[a-z][a-z_0-9]*(?:-[a-z_0-9]+)*)+)(?![\w/(-])")
FILES = (".toml", ".fio", ".json", ".csv", ".trace", ".gz", ".md", ".log", ".so", ".sv", ".txt")


def shape(text):
    """A message without its numbers, words in quotes and places: what makes two messages alike."""
    text = re.sub(r"[\w./-]+\.(?:toml|fio|csv)(?::\d+)*", "FILE", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "'X'", text)
    text = re.sub(r"--set \S+", "--set", text)
    return re.sub(NUMBER, "N", text).strip()[:160]


class Problem:
    def __init__(self, where, found, allowed="", repair=""):
        self.where, self.found, self.allowed, self.repair = where, found, allowed, repair

    def text(self):
        return "; ".join(part for part in (f"{self.where}: {self.found}", self.allowed, self.repair) if part)

    def shape(self):
        return shape(f"{self.found}; {self.allowed}")

    def key(self, table):
        """The parameter that it is about."""
        keys = [k for k in KEY.findall(self.found) if k in table] + [self.where.removeprefix("--set ").partition("=")[0]]
        return keys[0] if keys[0] in table else None


def unknown_keys(problem, table, options):
    """What looks like a parameter and is none, and options of fio that there are not."""
    sections = {key.partition(".")[0] for key in table.parameters}
    text = f"{problem.allowed}; {problem.repair}"
    for key in KEY.findall(f"{problem.found}; {text}"):
        known = key in table or any(k.startswith(key + ".") for k in table.parameters)
        if key.partition(".")[0] in sections and not known and not key.endswith(FILES):
            yield f"key {key}"
    for name in re.findall(r"(?:write|e\.g\.|or|add|set) ([a-z_]+)=\S", problem.repair):
        if name not in options.names and name not in table:
            yield f"option {name}"


def named_value(problem, table):
    """(key, value) that the message names as allowed, or None."""
    named = first_named(problem, table)
    if named is None or (table[named[0]].units and not re.search(r"[A-Za-z%]", named[1])):
        return None  # "at most 16 units in a page" is no value of a size
    return named


def first_named(problem, table):
    """Of a choice of several the first."""
    key = problem.key(table)
    for text in (problem.repair, problem.allowed):
        if found := re.search(r"(?:^|[\s(])(?:set|write) ([a-z_]+(?:\.[a-z_-]+)+) ?(?:=|to\b) ?(\"?[\w.%/]+\"?)", text):
            if found[1] in table:
                return found[1], found[2].strip('"')
    if key is None:
        return None
    p = table[key]
    if p.is_list or p.is_text:
        return None
    allowed = problem.allowed
    if found := re.match(rf"(?:at least|from) ({NUMBER})", allowed):
        return key, found[1]
    if found := re.match(rf"(?:at most|up to) ({NUMBER})", allowed):
        return key, found[1]
    if found := re.match(r"(?:more than|above) (\d+)(?![\w.])", allowed):
        return key, str(int(found[1]) + 1)
    if found := re.match(r"(?:less than|below|fewer than) (\d+)(?![\w.])", allowed):
        return key, str(int(found[1]) - 1)
    if found := re.fullmatch(r"([^\s.]+|\d+(?:\.\d+)?[A-Za-z%/]*)\.\.(\S+?)(?: in steps of \S+)?", allowed):
        return key, found[1]
    words = re.split(r", | or ", allowed)
    if all(re.fullmatch(r"[\w%.]+", w) for w in words) and allowed and (p.words is None or words[0] in p.words):
        return key, words[0]
    return None


def problem_of_line(line):
    """From "place: what was found; what is allowed; how to repair"."""
    parts = line.split("; ")
    found = re.match(r"((?:command line: )?(?:--\S+|[^\s:]+:\d+:\d+|[^\s:]+:\d+|[^\s:]+)): (.*)", parts[0])
    where, what = (found[1], found[2]) if found else ("", parts[0])
    return Problem(where, what, *(parts[1:2]), repair="; ".join(parts[2:]))


def repaired_sections(sections, problem):
    """The job's sections with what the message names done, or None when it names nothing that can be done mechanically. Of an option: a word or a bound
    that is allowed, or "remove it"."""
    quoted = re.search(r"'([\w-]+)(?:=([^']*))?'", problem.found)
    text = f"{problem.allowed}; {problem.repair}"
    whole = f"{problem.found}; {text}"
    if example := re.search(r"(?:write|e\.g\.) ([a-z_]+)=(\S+?)(?:;|$|,? )", text):
        name, value = example[1], example[2].rstrip(";,")
    elif quoted and "remove it" in whole:
        name, value = quoted[1], None
    elif quoted and (found := re.search(r"allowed: (\d+)(?: to| or more)", text)):
        name, value = quoted[1], found[1]
    elif quoted and (found := re.search(r"allowed: ([\w-]+)(?:, [\w-]+)+", text)):
        name, value = quoted[1], found[1]
    elif found := re.search(r"or set (number_ios|runtime|size|loops)\b", text):
        name, value = found[1], {"number_ios": "4", "runtime": "1ms", "size": "100%", "loops": "1"}[found[1]]
    else:
        return None
    out, changed = [], False
    in_job = re.search(r"job '?([^'. ]+)", whole)
    for job, chosen in sections:
        mine = in_job is None or in_job[1] == job
        kept = []
        for option, old in chosen:
            if mine and option == name:
                changed = changed or old != value
                if value is not None:
                    kept.append([option, value])
            else:
                kept.append([option, old])
        if mine and value is not None and all(o != name for o, _ in chosen) and in_job is not None:
            kept.append([name, value])
            changed = True
        out.append([job, kept])
    return out if changed else None
