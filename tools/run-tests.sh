#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs ctest in a build tree and closes with "N passed, N failed".
set -uo pipefail
tree=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ctest --test-dir "$tree" --output-on-failure -j "$(nproc)" "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
total=$(sed -nE 's/.*tests failed out of ([0-9]+).*/\1/p' "$log" | tail -1)
failed=$(sed -nE 's/.* ([0-9]+) tests failed out of.*/\1/p' "$log" | tail -1)
total=${total:-0}
failed=${failed:-0}
[ "$total" -gt 0 ] || { echo "no test was run" >&2; status=1; }
echo "$((total - failed)) passed, $failed failed"
exit "$status"
