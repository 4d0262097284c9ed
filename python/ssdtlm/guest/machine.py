# SPDX-License-Identifier: Apache-2.0
"""QEMU as the machine around the drive. It emulates the processor (TCG), so it needs neither KVM nor root."""

import ctypes
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import initrd, kernel, outcome

# How long QEMU waits for an answer of the model, and Linux for a command. A model may be much slower than a drive, and after its
# default of 5 s QEMU would break the connection for good.
PATIENCE_MS = 600_000
# no_timer_check: with a slow processor or another clock the check of the timer at boot fails, and Linux does not start.
# iomem=relaxed: programs may map registers of a device that has a driver, as `nvme show-regs` does.
KERNEL_WORDS = ("console=ttyS0", "quiet", "panic=-1", "reboot=t", "no_timer_check", "iomem=relaxed",
                f"nvme_core.io_timeout={PATIENCE_MS // 1000}", f"nvme_core.admin_timeout={PATIENCE_MS // 1000}")
# TCG's time stamp counter counts the host's ticks, so a guest with a clock of its own must read another timer.
SLAVED_WORDS = ("tsc=unstable", "clocksource=hpet")
WALL_WORDS = ("tsc=reliable",)
# LOOK_S: time between two looks at a guest and its drive. GONE_S: a guest whose drive has ended may need so long to end itself.
LOOK_S = 0.25
GONE_S = 20
# They leave out what a guest that lives for seconds does not need; each saves 0.5 to 1 s of an emulated boot.
QUICK_WORDS = ("mitigations=off", "cryptomgr.notests", "apparmor=0", "ipv6.disable=1",
               "initcall_blacklist=crypto_kdf108_init,jent_mod_init,load_system_certificate_list")
# At boot Linux patches its own code for each ability of the processor, which is slow in an emulator. So this one is old, but it has
# SSE 4.2 for the checksums of fio, and random numbers for mkfs.
PROCESSOR = "Nehalem,+rdrand"
# A firmware that comes with QEMU. It starts a kernel and does nothing else.
FIRMWARE = "qboot.rom"


@dataclass
class Plan:
    """What to boot. A drive is the path of a vfio-user socket; for a file, or a size in bytes, QEMU's own NVMe device is taken."""
    folder: Path
    output: Path
    script: bytes
    drives: list = field(default_factory=list)
    processors: int = 1
    memory_mib: int = 512
    timeout_s: float = 600
    clock: Path | None = None  # the page that `ssdtlm serve --clock-page` writes
    shim: Path | None = None   # the library that reads it
    files: dict = field(default_factory=dict)
    # A function that says whether the drives still run. Linux cannot tell a drive that has ended from one that is slow.
    drives_are_there: object = lambda: True
    kernel_words: tuple = ()


def own_image(plan, number):
    drive = plan.drives[number]
    if not isinstance(drive, int):
        return drive
    image = plan.output / f"drive{number}.raw"
    with open(image, "wb") as file:
        file.truncate(drive)
    return image


def drive_arguments(plan):
    words = []
    for number, drive in enumerate(plan.drives):
        words += ["-device", f"pcie-root-port,id=rp{number},chassis={number + 1},slot={number + 1}"]
        if isinstance(drive, Path) and drive.is_socket():
            words += ["-device", json.dumps({"driver": "vfio-user-pci", "bus": f"rp{number}", "x-msg-timeout": PATIENCE_MS,
                                             "socket": {"path": str(drive), "type": "unix"}})]
        else:
            words += ["-drive", f"if=none,id=d{number},file={own_image(plan, number)},format=raw,cache=unsafe", "-device",
                      f"nvme,serial=own{number},drive=d{number},bus=rp{number}"]
    return words


def arguments(plan):
    words = [str(plan.folder / "qemu-system-x86_64"), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
             "-accel", "tcg", "-machine", "q35,usb=off,vmport=off,smbus=off,sata=off,graphics=off,memory-backend=mem",
             # The server maps the memory of the guest, so it must be a file.
             "-object", f"memory-backend-memfd,id=mem,size={plan.memory_mib}M,share=on",
             "-cpu", PROCESSOR, "-bios", FIRMWARE, "-smp", str(plan.processors), "-m", f"{plan.memory_mib}M",
             "-serial", f"file:{plan.output / 'console.txt'}", "-device", "virtio-serial-pci"]
    for port, name in (("output", "output.txt"), ("files", "files.tar")):
        words += ["-chardev", f"file,id={port},path={plan.output / name}", "-device",
                  f"virtserialport,chardev={port},name={port}"]
    append = [*KERNEL_WORDS, *QUICK_WORDS, *(SLAVED_WORDS if plan.clock else WALL_WORDS), f"guest.drives={len(plan.drives)}",
              *plan.kernel_words]
    return words + drive_arguments(plan) + ["-kernel", str(kernel.image(plan.folder)), "-initrd", str(plan.output / "initrd.cpio"),
                                            "-append", " ".join(append)]


def _ends_with_us():
    """Runs in the child: the kernel kills QEMU when the process that started it has ended (prctl(2), PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Machine:
    """A guest that runs. It ends by itself, or by cut(), which takes its power away."""

    def __init__(self, plan):
        self.plan = plan
        plan.output.mkdir(parents=True, exist_ok=True)
        for name in ("output.txt", "files.tar", "console.txt"):
            (plan.output / name).unlink(missing_ok=True)
        initrd.write(plan.folder, plan.output / "initrd.cpio", {"script": plan.script, **plan.files})
        environment = dict(os.environ)
        if plan.clock:
            environment |= {"QEMU_PRELOAD": str(plan.shim), "SSDTLM_GUEST_CLOCK": str(plan.clock)}
        with open(plan.output / "qemu.txt", "wb") as log:
            self.begun = time.monotonic()
            self.process = subprocess.Popen(arguments(plan), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=environment, preexec_fn=_ends_with_us)

    def said(self):
        """The text that the script has printed so far."""
        path = self.plan.output / "output.txt"
        return path.read_text(errors="replace") if path.exists() else ""

    def cut(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def wait(self):
        """Waits for the end of the guest and returns an outcome.Outcome."""
        end, gone_since, cut = self.begun + self.plan.timeout_s, None, ""
        while not cut:
            try:
                self.process.wait(LOOK_S)
                break
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            if self.plan.drives_are_there():
                gone_since = None
            elif gone_since is None:
                gone_since = now
            if now > end:
                cut = "late"
            elif gone_since is not None and now - gone_since > GONE_S:
                cut = "gone"
        if cut:
            self.cut()
        (self.plan.output / "initrd.cpio").unlink(missing_ok=True)
        return outcome.collect(self.plan.output, self.process.returncode, time.monotonic() - self.begun, cut)


def boot(plan):
    machine = Machine(plan)
    try:
        return machine.wait()
    finally:
        if machine.process.poll() is None:
            machine.cut()
