# SPDX-License-Identifier: Apache-2.0
"""Members that are defined `inline` in one source file and called from another one of their class. That links only where a build with
SSDTLM_UNITY happens to compile both files as one."""
import collections
import re

DEFINED = re.compile(r"^(?:__attribute__\(\([^\n]*?\)\) )?inline [^=;{}\n]*?\b([A-Z]\w+)::(\w+)\(", re.M)
MEMBER = re.compile(r"^[^\s/#][^\n]*?\b([A-Z]\w+)::~?\w+\(", re.M)


def inline_elsewhere(texts):
    """texts: {path: text of a .cpp}. Yields (path of the definition, Class::member, path that calls it)."""
    of_class = collections.defaultdict(set)
    for path, text in texts.items():
        for name in MEMBER.findall(text):
            of_class[name].add(path)
    for path, text in texts.items():
        for name, member in DEFINED.findall(text):
            # Of an object that is named, it may be another class's.
            call = re.compile(rf"(?<![\w.>:]){re.escape(member)}\(|this->{re.escape(member)}\(|&{name}::{re.escape(member)}\b")
            for other in sorted(of_class[name] - {path}):
                if call.search(re.sub(r"//[^\n]*", "", texts[other])):
                    yield path, f"{name}::{member}", other
