# SPDX-License-Identifier: Apache-2.0
"""What the guest runs in the tests of a real Linux (test_guest.py). Each is a shell script for busybox, with a drive at /dev/nvme0n1."""

# The guest's random numbers go out, the page cache is dropped, and the same must come back.
DD = """
dd if=/dev/urandom of=/tmp/a bs=1M count=16 2>/dev/null
dd if=/tmp/a of=/dev/nvme0n1 bs=1M seek=3 oflag=direct 2>/dev/null || exit 1
echo 3 > /proc/sys/vm/drop_caches
dd if=/dev/nvme0n1 of=/tmp/b bs=64k skip=48 count=256 iflag=direct 2>/dev/null || exit 2
cmp /tmp/a /tmp/b && echo EQUAL
"""

VERIFY = """
fio --name=v --filename=/dev/nvme0n1 --ioengine=io_uring --direct=1 --rw=randwrite --bs=4k --iodepth=16 --size=64m \\
    --verify=crc32c --output-format=json --output=fio.json
"""

# Linux makes and checks the guards itself; block 7 is then written with a wrong one that nobody checks, and cannot be read.
PROTECTED = """
nvme format /dev/nvme0n1 --lbaf=3 --pi=1 --force || exit 1
sleep 1
cat /sys/block/nvme0n1/integrity/format
dd if=/dev/urandom of=/tmp/a bs=4096 count=64 2>/dev/null
dd if=/tmp/a of=/dev/nvme0n1 bs=4096 oflag=direct 2>/dev/null || exit 2
dd if=/dev/nvme0n1 of=/tmp/b bs=4096 count=64 iflag=direct 2>/dev/null || exit 3
cmp /tmp/a /tmp/b && echo EQUAL
nvme read /dev/nvme0n1 -s 5 -c 0 -z 4096 -y 8 -d /tmp/d -M /tmp/m -p 7 -r 5 || exit 4
echo TUPLE $(od -An -tx1 /tmp/m)
nvme write /dev/nvme0n1 -s 7 -c 0 -z 4096 -y 8 -d /tmp/a -M /tmp/m -p 0 || exit 5
dd if=/dev/nvme0n1 of=/tmp/b bs=4096 skip=7 count=1 iflag=direct 2>&1 | tail -1
nvme read /dev/nvme0n1 -s 7 -c 0 -z 4096 -y 8 -d /tmp/d -M /tmp/m -p 7 -r 7 && exit 6
dd if=/dev/nvme0n1 of=/tmp/b bs=4096 skip=8 count=1 iflag=direct 2>/dev/null || exit 7
"""

EXT4 = """
mkfs.ext4 -q -F /dev/nvme0n1 && mount -t ext4 /dev/nvme0n1 /mnt || exit 1
mkdir /mnt/d
for n in 1 2 3 4 5 6 7 8; do dd if=/dev/urandom of=/mnt/d/$n bs=1M count=$n 2>/dev/null; done
md5sum /mnt/d/* > /tmp/sums
rm /mnt/d/5
umount /mnt
e2fsck -f -n /dev/nvme0n1 || exit 2
echo 3 > /proc/sys/vm/drop_caches
mount -t ext4 /dev/nvme0n1 /mnt || exit 3
grep -v d/5 /tmp/sums | md5sum -c || exit 4
fstrim /mnt && umount /mnt && e2fsck -f -n /dev/nvme0n1 && echo CLEAN
"""

# COUNT resets in turn through the controller's register and as PCI's function-level reset, while fio writes and verifies.
RESETS = """
device=$(readlink -f /sys/class/nvme/nvme0/device)
grep -q flr $device/reset_method || { echo "no function-level reset: $(cat $device/reset_method)"; exit 1; }
echo flr > $device/reset_method
( while [ ! -e /tmp/stop ]; do
    fio --name=v --filename=/dev/nvme0n1 --ioengine=io_uring --direct=1 --rw=randwrite --bs=4k --iodepth=16 --size=8m \\
        --verify=crc32c --output=/tmp/fio.txt || { cat /tmp/fio.txt; touch /tmp/bad; }
    echo round
  done ) &
n=0
while [ $n -lt COUNT ]; do
    n=$((n + 1))
    if [ $((n % 2)) = 0 ]; then nvme reset /dev/nvme0 || exit 2; else echo 1 > $device/reset || exit 3; fi
    usleep $((n % 7 * 15000))
done
touch /tmp/stop
wait
dmesg | grep -E 'I/O error|I/O Error|controller is down|Removing after probe' && exit 4
[ ! -e /tmp/bad ] && echo "RESETS $n"
"""

# One life between two losses of power. /expected has the sums of the files that were synced in earlier lives. A file is announced
# when fsync has returned, and its end is announced before it begins. The first life makes the file system.
LIFE = """
device=/dev/nvme0n1
if [ -s /expected ] || [ LIFE -gt 0 ]; then
    mount -t ext4 $device /mnt || { echo "FAILED mount"; exit 1; }
    umount /mnt
    e2fsck -f -n $device > /tmp/fsck || { cat /tmp/fsck; echo "FAILED fsck"; exit 2; }
    mount -t ext4 $device /mnt
    (cd /mnt && md5sum -c /expected > /tmp/sums) || { grep -v OK /tmp/sums; ls -la /mnt; echo "FAILED sums"; exit 3; }
    echo "CHECKED $(wc -l < /expected)"
else
    mkfs.ext4 -q -F $device && mount -t ext4 $device /mnt || exit 4
fi
[ LAST = 0 ] || exit 0
fio --name=load --directory=/mnt --rw=randwrite --bs=4k --size=8m --fsync=16 --time_based --runtime=100000 --output=/tmp/load &
n=0
while true; do
    n=$((n + 1))
    name=LIFE.$n
    dd if=/dev/urandom of=/mnt/$name bs=1k count=$((n * 37 % 200 + 1)) conv=fsync 2>/dev/null || exit 5
    sum=$(md5sum < /mnt/$name)
    echo "SYNCED $name ${sum% *}"
    old=$((n - 8))
    if [ $old -gt 0 ]; then echo "GOES LIFE.$old"; rm /mnt/LIFE.$old; fi
done
"""
