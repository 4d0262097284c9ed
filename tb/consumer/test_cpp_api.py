# SPDX-License-Identifier: Apache-2.0
"""docs/cpp-api.md against the installed headers: all that it promises is there. Usage: test_cpp_api.py PREFIX COMPILER"""
import pathlib
import re
import subprocess
import sys

PREFIX, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2]
INCLUDE = PREFIX / "include/ssdtlm"
page = (PREFIX / "share/doc/ssdtlm/docs/cpp-api.md").read_text()
headers, names, members = [], [], []
for header, promise in re.findall(r"^\| `(.*\.h)` \| (.*) \|$", page, re.M):
    headers.append(header)
    for word in re.findall(r"`([\w:]+)(?:\(\))?`", promise):
        holder, _, member = word.rpartition("::")
        if not holder:
            names.append(word)
        elif not re.search(rf"\b{member}\b", (INCLUDE / header).read_text()):
            members.append(f"{header} has no {word}")
source = "".join(f'#include "{h}"\n' for h in headers) + "".join(f"using ssdtlm::{n};\n" for n in names) + """
static_assert(SSDTLM_VERSION == SSDTLM_VERSION_MAJOR * 10000 + SSDTLM_VERSION_MINOR * 100 + SSDTLM_VERSION_PATCH);
static_assert(sizeof(SSDTLM_VERSION_STRING) > 1);
"""
done = subprocess.run([COMPILER, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused", f"-I{INCLUDE}", "-x", "c++", "-"], input=source,
                      capture_output=True, text=True, check=False)
print(f"{len(headers)} headers, {len(names)} names", *members, done.stderr, sep="\n")
sys.exit(not (len(headers) > 20 and len(names) > 40 and not members and done.returncode == 0 and not done.stderr))
