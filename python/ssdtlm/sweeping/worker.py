# SPDX-License-Identifier: Apache-2.0
"""One run of a sweep, at a worker. This file and build_id.py need the standard library only and are sent to workers as they are:
those need no ssdtlm package of their own, but see the sweep's folder and the program under the same paths.

What makes it safe to kill anything at any time: a run writes into a folder of its attempt, which becomes runs/<key> in one
step; who finds that name taken has nothing to add. The simulator ends with the worker."""

import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import time
import uuid

from .build_id import build_identifier

# Exit codes of the program (README) after which nothing is known of the run.
NOT_WRITTEN, INTERRUPTED = 74, 130
LONGEST_MESSAGE = 4000
# What the program says when it gets no memory (model/sim/app/main.cpp, model/controller/ftl).
NO_MEMORY = ("not enough memory", "of memory are not available")


def attempts_file(output, key):
    return pathlib.Path(output) / "attempts" / key


def run_folder(output, key):
    return pathlib.Path(output) / "runs" / key


def note(output, key, **what):
    """Appends a line to the log of attempts, in one write, so that lines of several processes do not mix."""
    line = json.dumps({"at": time.time(), "host": socket.gethostname(), "pid": os.getpid(), **what}) + "\n"
    handle = os.open(attempts_file(output, key), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def publish(folder, task, record):
    """Makes the attempt's folder the result. Returns False when there is one already, or when the attempt was swept away."""
    final = run_folder(task["output"], task["key"])
    try:
        (folder / "point.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        os.rename(folder, final)
        return True
    except OSError:
        if not final.is_dir() and folder.is_dir():
            raise
        shutil.rmtree(folder, ignore_errors=True)
        return False


def _changed(task):
    """What has changed since the sweep was planned (program or input file), as a message; "" for nothing."""
    program = task["command"][0]
    try:
        if build_identifier(program) != task["build"]:
            return f"{socket.gethostname()}: {program} is another build than the one that the sweep was planned with"
    except OSError as error:
        return f"{socket.gethostname()}: {program}: {error.strerror}"
    for path, size, modified_ns in task["files"]:
        try:
            found = os.stat(path)
        except OSError as error:
            return f"{path}: {error.strerror}"
        if (found.st_size, found.st_mtime_ns) != (size, modified_ns):
            return f"{path}: has changed since the sweep began"
    return ""


def _simulate(task, folder):
    """(exit code, seconds, whether the time limit ended it, peak memory in bytes) of the program. The exit code is negative for a signal."""
    began = time.monotonic()
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([*task["command"], "-o", str(folder)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env={**os.environ, "SSDTLM_PARENT": str(os.getpid())})
    if task["memory_limit"]:
        try:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (task["memory_limit"], task["memory_limit"]))
        except ProcessLookupError:
            pass  # the program has ended already, for example because of a mistake
    over = False
    if task["time_limit_s"]:
        try:
            process.wait(task["time_limit_s"])
        except subprocess.TimeoutExpired:
            process.kill()
            over = True
    # wait4 gives the peak memory of this child alone.
    peak = 0
    if process.returncode is None:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = usage.ru_maxrss * 1024
    return process.returncode, time.monotonic() - began, over, peak


def _message(folder, task, code, over):
    if over:
        return f"was not done within limits.time ({task['time_limit_s']:g} s)"
    text = (folder / "log").read_text(encoding="utf-8", errors="replace").strip()
    if task["memory_limit"] and any(words in text for words in NO_MEMORY):
        text += f" (limits.memory is {task['memory_limit']} B)"
    return text[-LONGEST_MESSAGE:] or f"ended with exit code {code}"


def simulate(task):
    """Runs a task and returns {"key", "state", "seconds", "peak", "message"}. The state is

    "done";
    "failed": the simulation ended with an error, which is a result of its own;
    "killed": a signal ended it, so it has to be tried again;
    "stop": no run of this sweep can go well on this machine.
    """
    key, output = task["key"], task["output"]
    answer = {"key": key, "seconds": 0.0, "peak": 0}
    if run_folder(output, key).is_dir():
        return {**answer, "state": recorded(output, key)["state"]}
    changed = _changed(task)
    if changed:
        return {**answer, "state": "stop", "message": changed}
    attempt = uuid.uuid4().hex[:12]
    folder = pathlib.Path(output) / "runs" / f".{key}.{attempt}"
    try:
        folder.mkdir(parents=True)
        note(output, key, attempt=attempt, event="start")
        code, seconds, over, peak = _simulate(task, folder)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return {**answer, "state": "stop", "message": f"{socket.gethostname()}: {error}"}
    answer.update(seconds=seconds, peak=peak)
    if not over and (code < 0 or code in (NOT_WRITTEN, INTERRUPTED)):
        note(output, key, attempt=attempt, event="killed", code=code)
        message = _message(folder, task, code, over) if code == NOT_WRITTEN and folder.is_dir() else f"signal {-code}" if code < 0 else "interrupted"
        shutil.rmtree(folder, ignore_errors=True)
        return {**answer, "state": "stop" if code == NOT_WRITTEN else "killed", "message": message}
    done = code == 0
    record = {"key": key, "state": "done" if done else "failed", "exit_code": None if over else code, "seconds": seconds, "peak_memory": peak,
              "message": "" if done else _message(folder, task, code, over), "host": socket.gethostname(), "attempt": attempt, "seed": task["seed"],
              "point": task["point"], "command": task["command"], "build": task["build"]}
    if done and not (folder / "log").stat().st_size:
        (folder / "log").unlink()
    ours = publish(folder, task, record)
    note(output, key, attempt=attempt, event="end" if ours else "superseded", code=code)
    return {**answer, "state": record["state"], "message": record["message"]}


def give_up(task, message):
    """Records that a run has failed although no attempt came to its end."""
    folder = pathlib.Path(task["output"]) / "runs" / f".{task['key']}.{uuid.uuid4().hex[:12]}"
    folder.mkdir(parents=True)
    publish(folder, task, {"key": task["key"], "state": "failed", "exit_code": -signal.SIGKILL, "seconds": 0.0, "peak_memory": 0, "message": message,
                           "host": socket.gethostname(), "attempt": "", "seed": task["seed"], "point": task["point"], "command": task["command"],
                           "build": task["build"]})


def recorded(output, key):
    """The content of point.json of a run that has ended; None for another."""
    try:
        return json.loads((run_folder(output, key) / "point.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
