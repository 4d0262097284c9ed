#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environment of the build tree, with tools/python-requirements.txt. Does nothing when it is up to date.
# Usage: install-python.sh FOLDER
set -euo pipefail
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
"$here/install-deps.sh" "$here/debian-packages-report.txt"
cmp -s "$here/python-requirements.txt" "$folder/requirements.txt" && [ -x "$folder/bin/python3" ] && exit 0
echo "installing $(grep -v '^#' "$here/python-requirements.txt" | xargs) into $folder" >&2
python3 -m venv --clear "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check -r "$here/python-requirements.txt"
cp "$here/python-requirements.txt" "$folder/requirements.txt"
