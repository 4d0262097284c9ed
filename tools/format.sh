#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats all C++ files of the tree by .clang-format; with --check, names those that differ and changes nothing.
# Another version of clang-format breaks lines at other places, so the version is that of Debian 12.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${CLANG_FORMAT:-clang-format-14}
if ! command -v "$program" >/dev/null; then
  echo "tools/format.sh: $program is not installed (Debian: apt-get install clang-format-14)" >&2
  exit 1
fi
case ${1:-} in
  --check) options=(--dry-run --Werror) ;;
  "") options=(-i) ;;
  *)
    echo "tools/format.sh: \"$1\"; nothing, or --check" >&2
    exit 2
    ;;
esac
git ls-files -co --exclude-standard -- '*.cpp' '*.h' | xargs -P "$(nproc)" -n 40 "$program" "${options[@]}"
