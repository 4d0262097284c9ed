# SPDX-License-Identifier: Apache-2.0
"""A command's way in words. Times are printed in us with all six decimals, that is to the picosecond: the lines of a command
add up to its latency exactly."""

MEANING = {
    "block_queue": "in the host's block layer: until its scheduler dispatched it",
    "host_queue": "in the host: for a slot of the queue pair or for the CPU",
    "submit": "written by the driver, on its way to the drive (doorbell, or frame of a host adapter)",
    "arbitration": "seen by the drive; other queues or earlier commands were served",
    "fetch": "read over PCIe (SQE, PRP list), or its frame decoded",
    "firmware_wait": "waited for a core",
    "firmware": "cycles on a core",
    "mapping": "waited for a translation page",
    "buffer": "waited in front of or in the write buffer, or passed the DRAM",
    "channel": "command, address or data cycles on the bus",
    "array": "the die at work (tR, tPROG)",
    "ecc": "decoding, and reading again",
    "host_transfer": "data between drive and host, the wait for the link included",
    "completion": "CQE or last frame, interrupt, the host's handler",
}


def us(ps):
    return f"{ps // 1_000_000}.{ps % 1_000_000:06d}"


def _column(ps, width=15):
    return us(ps).rjust(width)


def _owner(holder):
    if "collection" in holder:
        return f" of garbage collection {holder['collection']}"
    if "merge" in holder:
        return f" of merge {holder['merge']}"
    return f" for command {holder['command']}" if "command" in holder else ""


def _holder(holder):
    what = holder["kind"] + (" data" if holder.get("data") else "")
    if "operation" in holder:
        what += f", operation {holder['operation']}"
    planes = f" on {holder['planes']} planes" if holder.get("planes", 1) > 1 else ""
    flow = f" of flow {holder['flow']}" if "flow" in holder else ""
    return f"{holder['resource']}: {what}{_owner(holder)}{flow}{planes}"


def _step(step):
    stages, resource = step["stages_ps"], step.get("resource", "")
    if step.get("order"):
        parts = ", ".join(f"{us(ps)} {stage}" for stage, ps in stages.items())
        return f"more steps, whose order was not kept: {parts}"
    if len(stages) == 1:
        (stage,) = stages
        if stage in MEANING:
            return f"{stage}{' on ' + resource if resource and not stage.endswith('_wait') and stage != 'buffer' else ''}: {MEANING[stage]}"
    parts = ", ".join(f"{us(ps)} {stage}" for stage, ps in stages.items())
    return f"waited for {resource or 'the flash'} ({parts})"


def owner_texts(result):
    """{number of a job: how its commands are called}. Where a run has several jobs, the text has the job's name, and its tenant if it has
    one."""
    texts = {}
    for row in result.latency_of("job"):
        more = "; ".join([row["name"]] * bool(row["name"]) + ([f"tenant {row['tenant']}"] if "tenant" in row else []))
        texts[row["job"]] = f"job {row['job']}" + f" ({more})" * bool(more)
    return texts


def command_text(command, owners):
    """The text of one entry of slowest.json. owners: what owner_texts() returned."""
    begin = command["issued_ps"]
    owner = owners.get(command["job"], f"job {command['job']}")
    lines = [f"{command['op']} {command['command']} of {owner}: {command['bytes']} bytes at byte {command['offset']}"
             f"{', FUA' if command.get('fua') else ''}, issued at {us(begin)} us, took {us(command['total_ps'])} us",
             "          at us         for us"]
    for step in command["path"]:
        lines.append(f"{_column(step['from_ps'] - begin)}{_column(step['to_ps'] - step['from_ps'])}  {_step(step)}")
        for holder in step.get("held_by", []):
            lines.append(f"{'':30}{_column(holder['to_ps'] - holder['from_ps'])}  {_holder(holder)}")
        if "more" in step:
            lines.append(f"{'':30}{_column(step['more']['ps'])}  {step['more']['operations']} shorter operations")
        if "holders_not_known_ps" in step:
            lines.append(f"{'':30}{_column(step['holders_not_known_ps'])}  before that: too long ago to be known")
    together = sum(step["to_ps"] - step["from_ps"] for step in command["path"])
    return "\n".join([*lines, f"{'':15}{_column(together)}  together", ""])


def summary_text(commands):
    """How long these commands together waited, by the kind of flash work that they waited for. The rest of their time is their own work."""
    total = sum(c["total_ps"] for c in commands)
    waits = {}
    for command in commands:
        for step in command["path"]:
            if step.get("resource") == "write buffer":
                continue  # a command waits for several programs at the same time, so their times do not add up
            for holder in step.get("held_by", []):
                kind = holder["kind"] + (" data" if holder.get("data") else "")
                waits[kind] = waits.get(kind, 0) + holder["to_ps"] - holder["from_ps"]
    lines = [f"these {len(commands)} together: {us(total)} us, of them behind"]
    for kind, ps in sorted(waits.items(), key=lambda item: -item[1]):
        lines.append(f"{_column(ps)} us {100 * ps / total:5.1f} %  {kind}")
    return "\n".join([*lines, ""])
