#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How long a build takes from nothing, and after the changes that users make. Run it on a machine that does nothing else.
# Usage: build-times.sh FOLDER [--test]; FOLDER is made and holds a clone of this tree's HEAD. --test runs `make test` there too.
set -euo pipefail
folder=$1
root=$(cd "$(dirname "$0")/.." && pwd)
git clone -q "$root" "$folder"
cd "$folder"
export CCACHE_DISABLE=1

# said WHAT COMMAND...: elapsed and CPU seconds of the command, and the steps of ninja if it is one.
said() {
    local what=$1 log
    shift
    log=$(mktemp)
    TIMEFORMAT='%0R %0U %0S'
    local times
    times=$({ time "$@" >"$log" 2>&1; } 2>&1) || { cat "$log"; exit 1; }
    read -r real user system <<<"$times"
    echo "$what: $(sed -nE 's/^\[[0-9]+\/([0-9]+)\].*/\1 steps, /p' "$log" | tail -1)$real s, $((user + system)) s of CPU"
    rm -f "$log"
}

said "make run from nothing" make run
[ "${2:-}" != --test ] || said "make test behind it" make test

# As developers build: a file at a time, no tests.
tree=build/times
cmake -S . -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSSDTLM_BUILD_TESTS=OFF >/dev/null
said "the program, a file at a time" ninja -C "$tree" ssdtlm
sed 's/module round_robin_scheduler/module my_scheduler/' rtl/examples/round_robin_scheduler.sv >my_scheduler.sv
cmake -S . -B "$tree" "-DSSDTLM_RTL_SCHEDULERS=rtl/examples/round_robin_scheduler.sv;$PWD/my_scheduler.sv" >/dev/null
said "after adding a scheduler in Verilog" ninja -C "$tree" ssdtlm
for file in model/nand/die/die.cpp model/controller/scheduler/read_first.cpp model/controller/gc/greedy.cpp; do
    echo "// Changed." >>"$file"
    said "after a change in $file" ninja -C "$tree" ssdtlm
done
