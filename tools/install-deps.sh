#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing of tools/debian-packages.txt and of the lists given. Uses sudo only when not root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
missing=()
for package in $(grep -hv '^#' "$here/debian-packages.txt" "$@"); do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing: ${missing[*]}" >&2
sudo=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "tools/install-deps.sh: not root and no sudo; run as root: apt-get install ${missing[*]}" >&2; exit 2; }
    sudo=sudo
fi
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
