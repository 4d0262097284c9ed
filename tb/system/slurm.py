# SPDX-License-Identifier: Apache-2.0
"""A Slurm of two nodes on this machine, as root and without systemd: a controller, and a slurmd for each node, which has a port of
its own. Files are in one folder; close() ends what was started."""
import os
import pathlib
import shutil
import socket
import subprocess
import time

NODES = ("n1", "n2")
# tools/debian-packages-slurm.txt
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "squeue", "sinfo")


def missing():
    """Why there can be no Slurm here; empty when there can."""
    lacking = [program for program in PROGRAMS if not shutil.which(program)]
    if lacking:
        return "no " + ", ".join(lacking)
    return "" if os.geteuid() == 0 else "not root"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Slurm:
    def __init__(self, folder, cpus=1):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self._processes = []
        host = socket.gethostname().split(".")[0]
        lines = ["ClusterName=test", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={free_port()}", "SlurmUser=root", "SlurmdUser=root",
                 "AuthType=auth/munge", f"AuthInfo=socket={self.folder}/munge.socket", "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
                 "SlurmdParameters=config_overrides", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "ReturnToService=2",
                 "MpiDefault=none", "SchedulerParameters=sched_min_interval=100000", "InactiveLimit=0", "KillWait=2", "JobAcctGatherType=jobacct_gather/none",
                 f"StateSaveLocation={self.folder}/state", f"SlurmctldPidFile={self.folder}/slurmctld.pid", f"SlurmctldLogFile={self.folder}/slurmctld.log",
                 f"SlurmdPidFile={self.folder}/%n.pid", f"SlurmdLogFile={self.folder}/%n.log", f"SlurmdSpoolDir={self.folder}/spool-%n"]
        lines += [f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs={cpus} RealMemory=8000 State=UNKNOWN" for node in NODES]
        lines += [f"PartitionName=all Nodes={','.join(NODES)} Default=YES MaxTime=INFINITE State=UP"]
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        (self.folder / "state").mkdir()
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self):
        self._munge()
        self._background("slurmctld", "-D", "-i")
        for node in NODES:
            (self.folder / f"spool-{node}").mkdir()
            self._background("slurmd", "-D", "-N", node)
        end = time.monotonic() + 60
        while self.command("sinfo", "-h", "-t", "idle", "-o", "%D").strip() != str(len(NODES)):
            if time.monotonic() > end:
                logs = "".join(f"{p.name}:\n{p.read_text()[-2000:]}\n" for p in self.folder.glob("*.log"))
                raise AssertionError(f"Slurm's nodes are not there: {self.command('sinfo')}\n{logs}")
            time.sleep(0.2)

    def _munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        # Others must not be able to write where the socket is.
        self.folder.chmod(0o755)
        shutil.chown(key, "munge", "munge")
        key.chmod(0o400)
        home = self.folder / "munge"
        home.mkdir(mode=0o755)
        shutil.chown(home, "munge", "munge")
        log = open(self.folder / "munged.out", "wb")  # pylint: disable=consider-using-with
        words = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket", f"--pid-file={home}/pid", f"--log-file={home}/log",
                 f"--seed-file={home}/seed"]
        shutil.chown(self.folder, "munge", "munge")
        self._processes.append(subprocess.Popen(words, user="munge", group="munge", stdout=log, stderr=log))
        log.close()
        end = time.monotonic() + 10
        while not (self.folder / "munge.socket").exists():
            if time.monotonic() > end:
                raise AssertionError("munged does not start: " + (self.folder / "munged.out").read_text())
            time.sleep(0.05)

    def _background(self, *words):
        with open(self.folder / f"{words[0]}.out", "ab") as log:
            self._processes.append(subprocess.Popen(words, env=self.environment, stdout=log, stderr=log))

    def command(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60).stdout

    def jobs(self):
        """Numbers of the jobs that run."""
        return self.command("squeue", "-h", "-t", "R", "-o", "%i").split()

    def close(self):
        self.command("scancel", "-u", "root")
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
