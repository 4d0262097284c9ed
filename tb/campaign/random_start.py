# SPDX-License-Identifier: Apache-2.0
"""The state in which a device drawn at random begins. Draws of their own: what a seed draws besides stays what it was."""

import random

NO_FORMULA = ("cost_benefit", "windowed_greedy")  # victim policies for which no steady state by formula is known


def drawn_steady_state(seed, device, lanes):
    """For small devices that begin in a steady state: by formula for half of those whose policy has one, and until it is steady for half of the others.
    Draws of their own."""
    if device.preset is not None or device.settings["precondition.state"] != '"random"':
        return []
    by_formula = not lanes and device.settings["gc.policy"].strip('"') not in NO_FORMULA and device.settings.get("ftl.mapping") not in ('"fast"', '"block"')
    if by_formula and random.Random(f"analytic {seed}").random() < 1 / 2:
        return ["precondition.state=analytic"]
    r = random.Random(f"until {seed}")
    return ["precondition.until=steady", f"precondition.most_rounds={r.choice((5, 10, 50))}"] if r.random() < 1 / 2 else []


def drawn_workload(seed, device, folder, settings):
    """For a third of the small devices a workload before the run: writes, reads and trims of any size, to any end. Draws of its own."""
    r = random.Random(f"played {seed}")
    if device.preset is not None or r.random() > 1 / 3:
        return []
    has = lambda start: any(s.startswith(start) for s in settings) or any(f"{key}={value}".replace('"', "").startswith(start) for key, value in device.settings.items())
    if (has("buffer.mode=protected") and has("ftl.checkpoint")) or has("nand.two_step"):
        return []
    lba = int(device.settings["nvme.lba_size"].strip('"B'))
    direction = r.choice(("randwrite", "randrw", "write", "randtrimwrite" if r.random() < 1 / 2 else "randwrite"))
    size = r.choice((lba, max(4096, lba), 16384, 65536))
    lines = ["[before]", f"rw={direction}", f"bs={size}", f"iodepth={r.choice((1, 4, 32))}", f"number_ios={r.choice((10, 300, 3000))}", "norandommap=1", "loops=20",
             f"sync={r.choice((0, 0, 0, 1))}", f"fsync={r.choice((0, 0, 50))}"]
    if has("ftl.checkpoint_interval=1B"):  # a checkpoint behind each write: 3000 of them take minutes
        lines = ["number_ios=300" if line == "number_ios=3000" else line for line in lines]
    (folder / "before.fio").write_text("\n".join(lines) + "\n")
    divided = any(s.startswith("read_cache.room") or ".quotas=" in s for s in settings)
    filled = device.settings["buffer.mode"] == '"write_back"' and not divided and r.random() < 1 / 2
    return ["precondition.workload=before.fio", f"precondition.load={r.choice(('full', 'light'))}", f"precondition.fill_caches={'true' if filled else 'false'}"]


def drawn_full_caches(seed, device):
    """Caches as a host at work leaves them for half of the small devices where that can be. A draw of its own."""
    s = device.settings if device.preset is None else {}
    fits = s and s["precondition.state"] == '"random"' and s["buffer.mode"] == '"write_back"'
    return ["precondition.fill_caches=true"] if fits and random.Random(f"full caches {seed}").random() < 1 / 2 else []
