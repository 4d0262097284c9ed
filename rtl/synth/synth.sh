#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Synthesizes a block to Yosys's generic cells and prints its size and longest path.
#   synth.sh TOP FILE.sv... [NAME=VALUE...]
# Cells are two-input gates, multiplexers and flip-flops; the path is in such gates, from flip-flop or input to flip-flop
# or output. Anything Yosys warns about is an error.
set -eu
top=$1
shift
files= parameters=
for word; do
    case $word in
        *=*) parameters="$parameters chparam -set ${word%%=*} ${word#*=} $top;" ;;
        *) files="$files $word" ;;
    esac
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
yosys -e '.*' -p "read_verilog -sv $files; $parameters synth -flatten -top $top; check -assert; stat; ltp -noff" >"$log" 2>&1 || {
    tail -5 "$log" >&2
    exit 1
}
awk -v top="$top" '
    /Printing statistics/ { cells = flops = 0 }
    /Number of cells:/ { cells = $NF }
    /\$_[A-Z]*DFF[A-Z]*_/ && NF == 2 { flops += $2 }
    /Longest topological path/ { sub(/.*length=/, ""); sub(/\).*/, ""); path = $0 }
    END { printf "%s: %d cells, of which %d flip-flops; longest path %d gates\n", top, cells, flops, path }' "$log"
