#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guest's first process: waits for the drives, runs /script, gives its output and the files of /out to the host.
export PATH=/usr/bin:/usr/sbin HOME=/root
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm

# Ports of virtio-serial by their names: "output" is read by the host as it comes, "files" is an archive at the end.
for port in /sys/class/virtio-ports/*; do
    ln -s "/dev/${port##*/}" "/dev/host-$(cat "$port/name")"
done

now() { cut -d' ' -f1 /proc/uptime; }
word() { tr ' ' '\n' < /proc/cmdline | sed -n "s/^guest\.$1=//p"; }

echo "$(now)" > /out/.booted
wanted=$(word drives)
tries=0
while [ "$(ls -d /dev/nvme*n1 2>/dev/null | wc -l)" -lt "${wanted:-1}" ] && [ $tries -lt 6000 ]; do
    tries=$((tries + 1))
    usleep 10000
done
echo "$(now)" > /out/.ready

cd /out
if [ $tries -lt 6000 ]; then
    sh /script < /dev/null > /dev/host-output 2>&1
    echo $? > /out/.code
else
    echo "no drive has come within $(now) s" > /dev/host-output
    echo no-drive > /out/.code
fi
now > /out/.ended
dmesg > /out/.dmesg
tar -c -f /dev/host-files -C / out
sync
poweroff -f
