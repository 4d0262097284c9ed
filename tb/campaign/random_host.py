# SPDX-License-Identifier: Apache-2.0
"""What stands before a drawn drive: a block layer with a scheduler, or SATA in the place of NVMe. Draws of their own, so that what a seed draws
besides stays as it was."""

import random

SCHEDULERS = ("none", "noop", "mq-deadline", "deadline", "kyber", "bfq", "cfq", "fiops", "flashfq")
# What a drive with one queue refuses, because it cannot tell whose a command is.
NOT_WITH_SATA = ("host.queue_priorities", "buffer.quotas", "read_cache.quotas", "map.quotas")
RATES = {"1.5Gbps": 150e6, "3Gbps": 300e6, "6Gbps": 600e6}


def drawn_block(seed):
    """A scheduler with odd depths, plugs and limits; and how much longer a run may take, in seconds: some schedulers wait for more of a context."""
    r = random.Random(f"block {seed}")
    settings = [f"block.scheduler={r.choice(SCHEDULERS)}", f"block.queue_depth={r.choice((0, 1, 2, 8, 31, 32, 200))}",
                f"block.nr_requests={r.choice((0, 0, 1, 4, 64))}", f"block.plug={r.choice((1, 1, 4, 16))}",
                f"block.max_sectors={r.choice(('4KiB', '64KiB', '1280KiB'))}", f"block.vm_queue_depth={r.choice((0, 0, 1, 16))}"]
    if r.random() < 0.3:
        settings.append(f"block.weights=[{', '.join(str(r.randint(1, 1000)) for _ in range(r.randint(1, 4)))}]")
    if r.random() < 0.4:
        settings += [f"block.nass.{name}={r.choice(('true', 'false'))}" for name in ("aggre", "anti", "seq")]
        settings.append(f"block.nass.window={r.choice(('100us', '5ms', '100ms'))}")
    return settings, 0.5


def drawn_sata(seed, device):
    """A SATA drive: rates, depths, and a protocol's odd corners."""
    r = random.Random(f"sata {seed}")
    rate = r.choice(list(RATES))
    depth = r.choice((1, 2, 8, 31, 32, 32))
    # What a frame costs beside its data: a quarter of the rate is left for short commands.
    device.link_bytes_per_s = min(device.link_bytes_per_s, RATES[rate] / 4)
    device.queue_depth = min(device.queue_depth, depth)
    device.command_s += 50e-6
    device.settings.pop("host.completion", None)
    return ["frontend.kind=sata", f"frontend.sata.rate={rate}", f"frontend.sata.queue_depth={depth}",
            f"frontend.sata.auto_activate={r.choice(('true', 'false'))}", f"frontend.sata.decode_time={r.choice(('0ns', '1us', '10us'))}"]
