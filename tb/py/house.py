#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a reader of the controller's firmware has to keep in mind, counted: `tb/py/house.py [TREE ...]` prints a column for each source tree. It counts
text, with comments and strings left out, so the figures compare two states of this tree and say little about another one.

- methods and friends of the ten classes with most methods;
- ways to be called back, by what names the successor; who is poked; where a pointer is asked whether an organ is there;
- interfaces (classes with a pure virtual method) that one class implements and no test does;
- for each folder of a feature, how many files outside it name it; enumerators and the number of a stream are no names of a feature;
- folders, files, lines."""

import argparse
import collections
import pathlib
import re

# Features of the firmware: names that stand for them in paths and in code.
FEATURES = {
    "SLC cache": r"\bslc\b|Slc[A-Z]|slc_", "refresh": r"\brefresh|Refresh[A-Z]", "wear levelling": r"\bwear\b|Wear[A-Z]|wear_", "parity": r"\bparity|Parity[A-Z]",
    "word lines": r"word_line|WordLine", "journal": r"\bjournal|Journal[A-Z]", "checkpoint": r"\bcheckpoint|Checkpoint[A-Z]", "streams": r"StreamChoice|stream_choice|stream_policies|streams_by|MultiHash",
    "log blocks": r"\bhybrid|Hybrid[A-Z]|LogBlock", "cached map": r"cached_map|CachedMap|translation_|Translation[A-Z]", "read cache": r"read_cache|ReadCache",
    "read ahead": r"read_ahead|ReadAhead|AheadReader"}
FOLDERS = {
    "SLC cache": "/slc/", "refresh": "/refresh/", "wear levelling": "/wear/", "parity": "/parity/", "word lines": "/word_lines/", "journal": "/journal/",
    "checkpoint": "/checkpoint/", "streams": "/streams/", "log blocks": "/map/blocks/", "cached map": "/map/cached/", "read cache": "/read_cache/", "read ahead": "/read_ahead/"}
# Where the word means another thing: the refresh of DRAM and of a queue's tail.
HOMONYMS = {"refresh": r"/(?:dram|nvme)/"}
CALLS_BACK = {
    "successors named at the call (Then)": r"(?:\w*Then|Attempt|Came|ThenOf<[^;{]*?>)::to<",
    "methods as template arguments of a call": r"(?:\.|->)(?:post\w*|run|then|wait\w*|ask_map|on_\w+)<(?:&|Next)|\bstep<&",
    "interfaces of clients": r"class \w+Client \{", "overrides with a cookie": r"void \w+\(std::uint64_t[^;{]*\) override",
    "function setters": r"void set_\w+\(\s*std::function"}
POKES = r"(?:\.|->)(?:settle|look|go_on|pump|poke|advance|serve)\(\)"
ORGAN = r"\b\w+_?(?:\.|->)?\w+ (?:!=|==) nullptr"


def bare(text):
    """Without comments, strings and lines of the preprocessor."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    return re.sub(r"^\s*#[^\n]*", "", text, flags=re.M)


def without_enumerators(text):
    """Without the words that all share for causes, kinds, steps and waits: FlashCause::journal says what a page is for, and names no feature."""
    text = re.sub(r"\benum (?:class |struct )?\w+[^{;]*\{[^}]*\}", "", text)
    return re.sub(r"\b([A-Z]\w*)::[a-z]\w*\b(?!\s*\()", r"\1", text)


def end_of(text, brace):
    depth = 0
    for at in range(brace, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at
    return len(text)


def classes(text):
    """(name, words of its bases, body) of each class and struct, nested ones too."""
    for found in re.finditer(r"\b(?:class|struct)\s+(\w+)(?:\s+final)?\s*(:[^;{()]*)?\{", text):
        brace = found.end() - 1
        yield found.group(1), re.findall(r"\w+", found.group(2) or ""), text[brace + 1:end_of(text, brace)], found.group(0).startswith("struct")


def members(body):
    """Statements directly in a class, bodies of functions left out, each with the access that it has."""
    access, statement, at, out = None, "", 0, []
    while at < len(body):
        c = body[at]
        if c == "{":
            close = end_of(body, at)
            out.append((access, statement + "{}"))
            at = close + 1
            statement = ""
            continue
        if c == ";":
            out.append((access, statement))
            statement = ""
        else:
            statement += c
            label = re.search(r"\b(public|protected|private)\s*:$", statement)
            if label:
                access, statement = label.group(1), ""
        at += 1
    return [(a, " ".join(s.split())) for a, s in out if s.strip(" {}")]


METHOD = re.compile(r"[\w>&*~\])] ?~?(?:operator\W{1,3}|\w+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:const|noexcept|override|final|= 0|= default|= delete|:.*|\{\}|\s)*$|^~?\w+\s*\(")


def is_method(statement):
    return "(" in statement and METHOD.search(statement) is not None and re.match(r"(?:using|typedef|friend|static_assert|enum|struct|class|return)\b", statement) is None


def sources(folder):
    return [(f, bare(f.read_text(encoding="utf-8"))) for f in sorted(folder.rglob("*")) if f.suffix in (".h", ".cpp")]


def measure(tree):
    """Ordered dict of (section, what) -> number."""
    model, rows = sources(tree / "model"), {}
    firmware = [(f, t) for f, t in model if (tree / "model" / "controller") in f.parents]
    found, pure, derived = {}, {}, collections.defaultdict(set)
    for f, text in model:
        for name, bases, body, _ in classes(text):
            inside = members(body)
            methods = [(a, s) for a, s in inside if is_method(s)]
            friends = [s for _, s in inside if re.match(r"friend (?:class|struct)\b", s)]
            if (tree / "model" / "controller") in f.parents:
                found[name] = (len(methods), sum(a == "private" for a, _ in methods), len(friends))
            if any(s.endswith("= 0") for _, s in methods):
                pure[name] = f
            for base in bases:
                derived[base].add(name)
    for _, text in sources(tree / "tb"):
        for name, bases, _, _ in classes(text):
            for base in bases:
                derived[base].add(f"test {name}")
    for name in sorted(found, key=lambda n: (-found[n][0], n))[:10]:
        methods, private, friends = found[name]
        rows["classes with most methods: methods, private ones, friends", name] = f"{methods}, {private}, {friends}"
    rows["classes with most methods: methods, private ones, friends", "friends, all classes of the controller"] = sum(v[2] for v in found.values())
    for what, pattern in CALLS_BACK.items():
        rows["ways to be called back", what] = sum(len(re.findall(pattern, text)) for _, text in firmware)
    rows["ways to be called back", "pokes"] = sum(len(re.findall(POKES, text)) for _, text in firmware)
    rows["ways to be called back", "is this organ there"] = sum(len(re.findall(ORGAN, text)) for _, text in firmware)
    alone = sorted(n for n, f in pure.items() if len(derived[n]) == 1 and (tree / "model" / "controller") in f.parents)
    rows["interfaces of the controller", "with one implementation and no test double"] = len(alone)
    rows["interfaces of the controller", "all"] = sum((tree / "model" / "controller") in f.parents for f in pure.values())
    named = [(f, without_enumerators(text)) for f, text in firmware]
    for what, pattern in FEATURES.items():
        other = HOMONYMS.get(what, r"(?!)")
        outside = [f for f, text in named if FOLDERS[what] not in f.as_posix() and not re.search(other, f.as_posix()) and re.search(pattern, text)]
        rows["files outside of a feature's folders that name it", what] = len(outside)
    rows["size of the controller", "folders"] = len({f.parent for f, _ in firmware})
    rows["size of the controller", "files"] = len(firmware)
    rows["size of the controller", "lines"] = sum(len(f.read_text(encoding="utf-8").splitlines()) for f, _ in firmware)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=pathlib.Path, default=[pathlib.Path(__file__).resolve().parents[2]])
    trees = parser.parse_args().trees
    columns = [measure(tree) for tree in trees]
    section = None
    for key in dict.fromkeys(key for column in columns for key in column):
        if key[0] != section:
            section = key[0]
            print(f"\n{section}")
        print(f"  {key[1]:45s}" + "".join(f"{str(column.get(key, '-')):>16s}" for column in columns))


if __name__ == "__main__":
    main()
