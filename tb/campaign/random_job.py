# SPDX-License-Identifier: Apache-2.0
"""A workload drawn at random for a device: a fio job file or a block trace, with what it asks for in numbers."""

KIB, MIB = 1 << 10, 1 << 20


class Work:
    """`text` goes into the file `name`; `arguments` to the command line. `pace_s` is time that the workload itself takes."""

    def __init__(self, name, text, arguments=()):
        self.name, self.text, self.arguments = name, text, list(arguments)
        self.beside = []  # files of the flows that run beside it
        self.pace_s = 0.0
        self.serial_ios = 0.0  # requests that follow each other when every job keeps its depth
        self.pair_ios = 0.0    # requests of the queue pair that has most, at most: each job has one pair
        self.flushes = 0.0


def block_size(r, lba, most):
    size = r.choice((512, 4 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, MIB))
    if r.random() < 0.1:
        size = 512 * r.randrange(1, 2049)
    return max(lba, min(size, most) // lba * lba)


def pauses(r, work, ios, numjobs):
    """What makes a job wait for something else than its queue; some jobs have several."""
    lines = []
    if r.random() < 0.15:
        n = r.choice((1, 4, 32))
        lines += [f"{r.choice(('fsync', 'fdatasync'))}={n}"]
        work.flushes += ios / n
    if r.random() < 0.1:
        lines += [r.choice(("end_fsync=1", "sync=dsync", "sync=sync"))]
    if r.random() < 0.1:
        think, blocks = r.choice((10, 200, 2000)), r.choice((1, 8, 100))
        lines += [f"thinktime={think}", f"thinktime_blocks={blocks}"]
        work.pace_s += think * 1e-6 * (ios / numjobs / blocks + 1)
    if r.random() < 0.1:
        iops = r.choice((2000, 20000, 1000000))
        lines += [f"rate_iops={iops}"]
        if r.random() < 0.5:
            lines += ["rate_process=poisson"]
        work.pace_s += 2 * ios / numjobs / iops
    if r.random() < 0.1:
        delay = r.choice((1, 20))
        lines += [f"startdelay={delay}ms"]
        work.pace_s += delay * 1e-3
    return lines


def random_fio(r, device, commands, most_bytes):
    capacity = device.user_bytes
    lines = ["[global]", "thread", "direct=1"]
    work = Work("job.fio", "")
    sections = r.choice((1, 1, 1, 2, 3))
    deep = device.fast and r.random() < 0.85  # large blocks in both directions at depth
    serial = r.random() < 0.2
    for s in range(sections):
        lines += [f"[job{s}]"]
        if serial and s:
            lines += ["stonewall"]
        numjobs = r.choice((1, 1, 2, 4)) if deep else r.choice((1, 1, 1, 2, 4, 16, 64))
        rw = r.choice(("read", "write", "randread", "randwrite", "rw", "randrw", "randrw", "randrw", "randtrim", "trim",
                       "trimwrite", "randtrimwrite")) if not deep else r.choice(("rw", "randrw"))
        largest = max(device.lba, min(MIB, capacity // 4 // device.lba * device.lba))
        sizes = [block_size(r, device.lba, largest) for _ in range(2)]
        if deep:
            sizes = [min(largest, r.choice((16, 64, 64, 128)) * KIB)] * 2
        kind = r.random()
        if kind < 0.7:
            lines += [f"bs={sizes[0]}"]
            mean = sizes[0]
        elif kind < 0.85:
            lines += [f"bsrange={min(sizes)}-{max(sizes)}", f"blockalign={device.lba}"]
            mean = max(sizes)
        else:
            share = r.randrange(1, 100)
            lines += [f"bssplit={sizes[0]}/{share}:{sizes[1]}/{100 - share}"]
            mean = max(sizes)
        engine = "libaio" if deep else r.choice(("libaio", "libaio", "libaio", "io_uring", "posixaio", "psync", "sync"))
        depth = r.choice((32, 64, 256)) if deep else r.choice((1, 2, 8, 32, 64, 256, 1024))
        lines += [f"ioengine={engine}", f"rw={rw}", f"iodepth={depth}", f"numjobs={numjobs}"]
        depth = 1 if engine in ("psync", "sync") else depth
        ios = max(1, min(commands // sections // numjobs, most_bytes // sections // numjobs // mean))
        lines += [f"number_ios={ios}"]
        ios *= numjobs * (2 if rw.endswith("trimwrite") else 1)
        if "rw" in rw and "trim" not in rw:
            lines += [f"rwmixread={r.choice((30, 50, 70) if deep else (0, 10, 50, 50, 70, 100))}"]
        # A region of its own or all of the device; it must hold the largest block.
        if r.random() < 0.4:
            size = r.randrange(mean, max(mean + 1, capacity // 2)) // device.lba * device.lba
            offset = r.randrange(0, capacity - size + 1) // device.lba * device.lba
            lines += [f"size={size}", f"offset={offset}"]
        if rw.startswith("rand") and r.random() < 0.3:
            lines += [f"random_distribution={r.choice(('zipf:1.1', 'pareto:0.3', 'normal:20', 'zoned:60/10:30/20:8/30:2/40'))}"]
        if r.random() < 0.2:
            lines += ["norandommap"]
        if not deep:
            lines += pauses(r, work, ios, numjobs)
        work.serial_ios += ios / (depth * numjobs)
        work.pair_ios += ios / min(numjobs, device.queues)
    work.text = "\n".join(lines) + "\n"
    return work


def random_trace(r, device, commands, most_bytes):
    """MSR Cambridge or blkparse-like lines, timed or as fast as they complete."""
    capacity = device.user_bytes
    lines, t, written = [], 0, 0
    gap = r.choice((0, 10, 1000))  # 100 ns
    sizes = [block_size(r, device.lba, max(device.lba, min(MIB, capacity // 4 // device.lba * device.lba))) for _ in range(3)]
    for _ in range(commands):
        size = r.choice(sizes)
        written += size
        if written > most_bytes:
            break
        t += r.randrange(0, 2 * gap + 1)
        offset = r.randrange(0, (capacity - size) // device.lba + 1) * device.lba
        lines.append(f"{128166372003061629 + t},host,0,{r.choice(('Read', 'Write'))},{offset},{size},100")
    lines = lines or [f"128166372003061629,host,0,Read,0,{device.lba},100"]
    closed = r.random() < 0.6
    depth = r.choice((1, 8, 32, 256))
    work = Work("trace.csv", "\n".join(lines) + "\n",
                ["--replay", "closed", "--replay-depth", str(depth)] if closed else ["--replay", "stamped"])
    work.pace_s = 0 if closed else t * 1e-7
    work.serial_ios = len(lines) / (depth if closed else 1)
    work.pair_ios = len(lines)
    return work


def random_work(r, device):
    # What a fast device does in a second of host time is a second's work for the simulator, too.
    commands = r.choice((50, 400, 1500, 1500)) * (4 if device.preset else 2 if device.fast else 1)
    most_bytes = (320 if device.preset else 96 if device.fast else 24) * MIB
    maker = random_trace if r.random() < 0.12 else random_fio
    return maker(r, device, commands, most_bytes)
