# SPDX-License-Identifier: Apache-2.0
"""The program started as a user starts it, bounded in work and memory, and ended by a signal where that is asked for."""
import collections
import os
import resource
import signal
import subprocess
import time

CPU_SECONDS = 20          # a run of this campaign needs 0.1 s
IDLE_SECONDS = 120        # in which it computes nothing
MEMORY_BYTES = 6 << 30
TICK_S = 1 / os.sysconf("SC_CLK_TCK")

Done = collections.namedtuple("Done", "code out err cpu_s after_s")


def limits(room):
    if room is not None:  # a full disk, as far as a file can tell: its writes fail
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 2))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def cpu_of(pid):
    """Seconds of CPU that a process has used: what other processes do to the machine does not move it."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def send(pid, number):
    """The seconds of CPU that it had used when the signal came. It stands still meanwhile: this process may have to wait for a busy machine."""
    os.kill(pid, signal.SIGSTOP)
    while os.path.exists(f"/proc/{pid}/stat") and state_of(pid) in "RSD":
        time.sleep(0.0005)
    used = cpu_of(pid)
    os.kill(pid, number)
    os.kill(pid, signal.SIGCONT)
    return used


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return f.read().rpartition(")")[2].split()[0]


def execute(command, folder, stop=None, room=None):
    """One process; `stop` is (name of a signal, seconds of CPU after which it is sent), `room` the bytes that a file may have."""
    with open(folder / ".out", "w+b") as out, open(folder / ".err", "w+b") as err:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out if room is None else subprocess.DEVNULL, stderr=err if room is None else subprocess.PIPE, preexec_fn=lambda: limits(room))
        begin, sent, ended = time.monotonic(), None, False
        pause, worked, before = 0.0005, time.monotonic(), 0.0
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            used = cpu_of(process.pid)
            if used != before:
                worked, before = time.monotonic(), used
            # An instant below the resolution of that clock is one on the wall.
            if stop and sent is None and (used >= stop[1] or (stop[1] < 2 * TICK_S and time.monotonic() - begin >= stop[1])):
                sent = send(process.pid, getattr(signal, stop[0]))
            if not ended and time.monotonic() - worked > IDLE_SECONDS:
                os.kill(process.pid, signal.SIGKILL)
                ended = True
            time.sleep(pause)
            pause = min(pause * 1.3, 0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        texts = []
        for f in (out, err if process.stderr is None else process.stderr):  # a pipe has no limit, and messages fit into it
            if f is not process.stderr:
                f.seek(0)
            texts.append(f.read(1 << 20).decode(errors="replace"))
        if process.stderr is not None:
            process.stderr.close()
    return Done(process.returncode, *texts, cpu, None if sent is None else cpu - sent)
