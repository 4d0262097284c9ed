#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The picture of the README: a small drive in garbage collection, recorded around a read that overtakes queued programs,
# opened in GTKWave on a display of its own. Usage: wave-picture.sh PROGRAM FOLDER PICTURE
set -euo pipefail
program=$1
folder=$2
picture=$3
root=$(cd "$(dirname "$0")/.." && pwd)

"$program" run tiny-test "$root/configs/wave/overtaking.toml" -w "$root/configs/wave/overtaking.fio" -o "$folder" \
    --wave=scheduler,channel,die --wave-from 32.7ms --wave-trigger overtake=5 --wave-before 330us --wave-after 620us | grep '^waveform'

sed -i 's/^\[size\].*/[size] 1240 540/' "$folder/wave.gtkw"  # there is no window manager to make it fit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/gtkwaverc" <<'RC'
fontname_signals Monospace 12
fontname_waves Monospace 12
hide_sst 1
RC
cat >"$work/shoot" <<'SHOOT'
#!/usr/bin/env bash
# Inside the display: waits until two shots in a row are equal and show waves, not an empty window.
gtkwave -r "$1/gtkwaverc" -a "$2" >"$1/log" 2>&1 &
viewer=$!
trap 'kill $viewer 2>/dev/null' EXIT
last=
for _ in $(seq 60); do
    sleep 1
    kill -0 $viewer 2>/dev/null || { cat "$1/log" >&2; exit 1; }
    import -window root "$1/shot.png"
    now=$(identify -format '%k %#' "$1/shot.png")
    [ "${now%% *}" -gt 100 ] && [ "$now" = "$last" ] && exit 0
    last=$now
done
echo "GTKWave showed nothing within a minute" >&2
exit 1
SHOOT
chmod +x "$work/shoot"
LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a -s '-screen 0 1240x540x24' "$work/shoot" "$work" "$folder/wave.gtkw"
# Without title and tool bar: they hold the folder, and nothing else of interest.
mkdir -p "$(dirname "$picture")"
convert "$work/shot.png" -chop 0x97 -colors 128 -strip -define png:exclude-chunks=date,time "$picture"
echo "picture in $picture"
