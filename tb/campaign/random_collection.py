# SPDX-License-Identifier: Apache-2.0
"""Where garbage collection writes, what it takes and whether it takes time, drawn at random for a device of random_device.py."""

import random


def drawn_frontier(seed, device):
    """One write pointer for the host and for garbage collection, of a fifth of the small devices. Draws of their own."""
    if device.preset is None and random.Random(f"frontier {seed}").random() < 1 / 5 and device.settings.get("ftl.mapping") not in ('"fast"', '"block"'):
        return ["gc.frontier=shared"]
    return []


def drawn_arithmetic(seed, device, settings, cuts, rtl):
    """A least share of victims that is invalid, collection in no time where nothing forbids it, and no bus, of a tenth of the small devices each. Draws of
    their own."""
    r = random.Random(f"arithmetic {seed}")
    least, in_no_time, no_bus = (r.random() < 0.1 for _ in range(3))
    if device.preset is not None:
        return []
    chosen = [f"gc.least_invalid={r.choice(('1%', '12.5%', '60%'))}"] if least else []
    logs, faults = device.settings.get("ftl.mapping") in ('"fast"', '"block"'), any(key.startswith("nand.faults") for key in device.settings)
    if in_no_time and not (cuts or logs or faults or any(s.startswith(("gc.pace", "scheduler.merge_reads")) for s in settings)):
        chosen.append("gc.charge_time=false")
    return chosen + (["nand.onfi.interface=ideal"] if no_bus and not rtl else [])
