#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A Linux guest for the model, from Debian's packages, without root and without a change of /etc/apt.
#
#   guest.sh get FOLDER               gets QEMU, kernel and tools; does nothing where they are there
#   guest.sh boot FOLDER [OPTION ...] boots and runs a script in the guest; --help says the options
#
# Ends with 77, which ctest takes for "skipped", where something cannot be had, and says what.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
SKIPPED=77
# What comes from which suite. QEMU has the client vfio-user-pci since 10.1, which Debian 13 has in its backports only.
SUITE=trixie
QEMU=qemu-system-x86
QEMU_SUITE=trixie-backports
KERNEL=linux-image-cloud-amd64
TOOLS="busybox-static fio nvme-cli e2fsprogs"

skip() { echo "guest: skipped: $*" >&2; exit $SKIPPED; }

# The mirror that this machine uses already, not one of ours.
mirror() {
    { sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources
      sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list
    } 2>/dev/null | grep -E '/debian/?$' | head -1
}

# apt with lists, cache and sources of its own, and with no package counted as installed.
private_apt() {
    tool=$1; shift
    "$tool" -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/sources" -o Dir::State="$apt/state" \
        -o Dir::State::Lists="$apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$apt/cache" \
        -o APT::Install-Recommends=false -o APT::Architecture=amd64 -o Debug::NoLocking=true \
        -o APT::Sandbox::User=root -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "$@"
}

candidate() { private_apt apt-cache policy "$1" | sed -n 's/^  Candidate: //p' | grep -v '(none)'; }

sources() {
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -r "$keyring" ] || skip "$keyring is not there, so packages cannot be checked: install debian-archive-keyring"
    uri=$(mirror)
    [ -n "$uri" ] || skip "no mirror of Debian in /etc/apt"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/sources" "$apt/state"
    printf 'Types: deb\nURIs: %s\nSuites: %s %s\nComponents: main\nSigned-By: %s\n' \
        "$uri" $SUITE $QEMU_SUITE "$keyring" > "$apt/sources/guest.sources"
    private_apt apt-get -q update > "$apt/log" 2>&1 || skip "the mirror did not answer: $(grep -m1 -E '^(E|W|Err)' "$apt/log")"
}

# Names and versions of all that is needed, one a line, with what each package depends on.
closure() {
    missing=
    for package in $QEMU $KERNEL $TOOLS; do
        candidate "$package" > /dev/null || missing="$missing $package"
    done
    [ -z "$missing" ] || skip "the mirror has no package$missing in $SUITE or $QEMU_SUITE"
    private_apt apt-get -s install -t $QEMU_SUITE $QEMU > "$apt/qemu.log" 2>&1 || skip "$QEMU cannot be had: $(tail -1 "$apt/qemu.log")"
    private_apt apt-get -s install $TOOLS > "$apt/tools.log" 2>&1 || skip "$TOOLS cannot be had: $(tail -1 "$apt/tools.log")"
    # The later version of a library serves both: QEMU's.
    sed -n 's/^Inst \([^ ]*\) (\([^ ]*\).*/\1=\2/p' "$apt/qemu.log" "$apt/tools.log" | awk -F= '!seen[$1]++'
    # Of the kernel its image alone: what depends on it would build an initrd.
    private_apt apt-cache depends $KERNEL | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -1
}

wrapper() {
    cat > "$folder/qemu-system-x86_64" <<'X'
#!/bin/sh
# QEMU with the libraries that were unpacked beside it. QEMU_PRELOAD names a library that is loaded before them.
here=$(cd "$(dirname "$0")" && pwd)/root
libraries=$here/usr/lib/x86_64-linux-gnu
exec "$libraries/ld-linux-x86-64.so.2" ${QEMU_PRELOAD:+--preload "$QEMU_PRELOAD"} --library-path "$libraries" \
    --argv0 qemu-system-x86_64 "$here/usr/bin/qemu-system-x86_64" \
    -L "$here/usr/share/qemu" -L "$here/usr/share/seabios" "$@"
X
    chmod +x "$folder/qemu-system-x86_64"
}

get() {
    [ ! -e "$folder/complete" ] || return 0
    [ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || skip "the guest is for amd64 with dpkg and apt"
    apt=$folder/apt
    rm -rf "$apt"  # of a start that was ended
    sources
    closure > "$apt/closure"
    (cd "$apt/cache" && private_apt apt-get -q download $(cat "$apt/closure") > "$apt/log" 2>&1) ||
        skip "a package cannot be had: $(grep -m1 '^E' "$apt/log")"
    rm -rf "$folder/root"
    mkdir -p "$folder/root"
    for package in "$apt"/cache/*.deb; do
        # Neither modules of the kernel nor documents are used.
        dpkg --fsys-tarfile "$package" | tar -x -C "$folder/root" \
            --keep-directory-symlink --exclude='./usr/lib/modules' --exclude='./lib/modules' --exclude='./usr/share/doc' \
            --exclude='./usr/share/locale' --exclude='./usr/share/man'
    done
    wrapper
    cp "$apt/closure" "$folder/packages.txt"
    rm -rf "$apt"
    "$folder/qemu-system-x86_64" --version > "$folder/version" || skip "the unpacked QEMU does not start"
    # Asked of the program itself: which version of Debian's has it changes.
    "$folder/qemu-system-x86_64" -device vfio-user-pci,help > /dev/null 2>&1 ||
        skip "$(head -1 "$folder/version") has no device vfio-user-pci"
    touch "$folder/complete"
}

command=${1:-}
folder=${2:-}
case "$command" in
get | boot) [ -n "$folder" ] || { echo "usage: guest.sh $command FOLDER" >&2; exit 2; } ;;
*) sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
shift 2
folder=$(mkdir -p "$folder" && cd "$folder" && pwd)
exec 9> "$folder/lock"
flock 9  # another one may be getting the same
get
exec 9>&-
[ "$command" = boot ] || exit 0
PYTHONPATH="$here/python${PYTHONPATH:+:$PYTHONPATH}" exec "${SSDTLM_PYTHON:-python3}" -m ssdtlm.guest "$folder" "$@"
