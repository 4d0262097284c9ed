# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm serve` as a process beside the guest."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..binary import find_binary
from ..errors import Problem, RunFailed, UserError
from . import clock

READY_S = 120   # a drive may be preconditioned before it serves
ENDED_S = 120


@dataclass
class Drive:
    """What to serve. devices: presets or device files, merged from left to right."""
    devices: list
    output: Path
    socket: Path
    set: dict = field(default_factory=dict)
    seed: int | None = None
    rate: float | None = None   # guest seconds in a second of wall time; None: the wall's clock
    clock: Path | None = None
    once: bool = False          # the service ends with its first guest
    words: tuple = ()           # further ones of `ssdtlm serve`


def command(drive):
    words = [find_binary(), "serve", *map(str, drive.devices), "--socket", str(drive.socket), "-o", str(drive.output), "-q"]
    for key, value in drive.set.items():
        words += ["--set", f"{key}={value}"]
    if drive.seed is not None:
        words += ["--seed", str(drive.seed)]
    if drive.rate is not None:
        words += ["--rate", str(drive.rate)]
    if drive.clock is not None:
        words += ["--clock", str(drive.clock)]
    if drive.once:
        words.append("--stop-after-disconnect")
    return [*words, *drive.words]


class Server:
    def __init__(self, drive):
        self.drive = drive
        drive.output.parent.mkdir(parents=True, exist_ok=True)
        drive.socket.unlink(missing_ok=True)
        self.log = drive.output.parent / "serve.txt"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command(drive), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, "SSDTLM_PARENT": str(os.getpid())})
        try:
            self._wait_for(drive.socket.exists, drive.socket)
            if drive.clock is not None:
                self._wait_for(lambda: clock.is_page(drive.clock), drive.clock)
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def runs(self):
        return self.process.poll() is None

    def said(self):
        return self.log.read_text(errors="replace")

    def _wait_for(self, is_there, path):
        end = time.monotonic() + READY_S
        while not is_there():
            if self.process.poll() is not None:
                self._failed()
            if time.monotonic() > end:
                raise RunFailed(74, f"{path} has not come within {READY_S} s\n{self.said()}")
            time.sleep(0.01)

    def _failed(self):
        code, said = self.process.returncode, self.said()
        if code == 2:
            raise UserError(*[Problem(*line.split(": ", 1)) if ": " in line else Problem("ssdtlm serve", line)
                              for line in said.splitlines()])
        raise RunFailed(code, said)

    def cut_power(self):
        self.process.send_signal(signal.SIGUSR1)

    def end(self):
        """Ends the service, unless its guest has ended it, and waits for its results. Raises UserError or RunFailed when it did not end in
        order."""
        if not self.drive.once and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(ENDED_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.returncode not in (0, 130) or not (self.drive.output / "result.json").is_file():
            self._failed()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
