# SPDX-License-Identifier: Apache-2.0
"""Jobs that run beside the drawn one, each a flow with queue pairs, addresses, priority, weight and fetch window of its own. Draws of their own."""
import random


def region(r, sets):
    if sets and r.random() < 2 / 3:
        return f"set {r.randrange(1, sets + 1)}"
    low = r.choice((0, 0, 25, 50))
    return r.choice(("all", f"{low}%-{r.choice((low + 25, 100))}%"))


def drawn_flows(seed, device, work, settings, rtl):
    """Files for a quarter of the small devices, and settings for them."""
    r = random.Random(f"flows {seed}")
    if device.preset is not None or device.queues < 2 or r.random() > 1 / 4:
        return {}, []
    files, sets = {}, 2 if any(s.startswith("ftl.nvm_sets=") for s in settings) else 0
    for i in range(r.randint(1, min(3, device.queues - 1))):
        n = r.choice((1, 20, 200))
        rw = r.choice(("randread", "randwrite", "randrw", "read", "write"))
        size = max(device.lba, r.choice((4096, 4096, 16384)))
        files[f"beside{i}.fio"] = (f"[beside]\nioengine=libaio\nrw={rw}\nbs={size}\niodepth={r.choice((1, 4, 32))}\nnumber_ios={n}\nsize=100%\nnorandommap\n"
                                   f"{'fsync=10' if r.random() < 0.2 else ''}\n")
        work.serial_ios += 2 * n
    flows = len(files) + 1
    work.pair_ios *= flows  # each flow has its share of the pairs, one at least
    listed = lambda values: f"[{', '.join(str(r.choice(values)) for _ in range(flows))}]"
    found = ["host.regions=" + ", ".join(["all"] + [region(r, sets) for _ in files])]
    if not any(s.startswith("host.queue_priorities") for s in settings):
        found.append(f"host.queue_priorities={listed((0, 1, 2, 3))}")
    if r.random() < 1 / 3:
        found += ["nvme.weighted_round_robin=true", "host.arbitration=weighted", f"host.arbitration_weights=[{r.choice((1, 8, 256))}, {r.choice((1, 4))}, 1]"]
    if r.random() < 1 / 3 and not rtl:
        found += ["scheduler.policy=weighted", f"scheduler.weighted.weights={listed((1, 3, 100))}"]
    return files, found
