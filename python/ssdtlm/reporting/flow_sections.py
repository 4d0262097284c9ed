# SPDX-License-Identifier: Apache-2.0
"""The section of a report about flows that share the drive. It is not there when there is one."""

from .page import paragraph, table
from .sections import number

CAUSES = {"collection": ("gc", "erase", "fold", "relocation", "merge"), "mapping": ("mapping",), "journal": ("journal", "checkpoint"),
          "parity": ("parity", "padding")}


def _cause(stage):
    if stage == "channel_wait":
        return "bus"
    kind = stage.removeprefix("die_wait_")
    return next((cause for cause, kinds in CAUSES.items() if kind in kinds), "own work")


def _change(flow, key):
    value = flow.get("over_alone", {}).get(key)
    return "" if value is None else f"{value:.3f}"


def flows(page, runs):
    """What each loses to the others, and for whose operations it waits."""
    found = [(label, result.flows, result.flow_waits, result.interference) for label, result in runs if result.flows]
    if not found:
        return
    page.heading("Flows")
    rows = [[label if runs.several else "", flow["name"], f"{flow['commands']:,}", number(flow["iops"]), number(flow["response_us"]), f"{flow['chip_queue_mean']:.3f}",
             *(_change(flow, key) for key in ("slowdown", "throughput", "chip_queue", "read_hit_ratio", "map_hit_ratio"))] for label, all_flows, _, _ in found for flow in all_flows]
    page.add(table(["", "flow", "commands", "IOPS", "response time (us)", "in chip queues", "slow-down", "throughput over alone", "chip queues over alone",
                    "read hits over alone", "map hits over alone"], rows, (1, 2)))
    for label, _, _, interference in found:
        if interference:
            page.add(paragraph(runs.titled(f"Fairness {interference['fairness']:.3f}, weighted speed-up {interference['weighted_speedup']:.3f}.", label)))
    causes = ["own work", *CAUSES, "bus"]
    rows = []
    for label, all_flows, waits, _ in found:
        commands = {flow["name"]: flow["commands"] for flow in all_flows}
        for row in waits:
            of_cause = dict.fromkeys(causes, 0)
            for stage, ps in row["stages_ps"].items():
                of_cause[_cause(stage)] += ps
            rows.append([label if runs.several else "", row["flow"], row["for"], *(number(ps / 1e6 / commands[row["flow"]]) for ps in of_cause.values()),
                         number(row["total_ps"] / 1e6 / commands[row["flow"]])])
    page.add(paragraph("Microseconds for each command that a flow waited for dies and buses, by the flow whose operations it waited for and by their cause."))
    page.add(table(["", "waits of", "for", *causes, "together"], rows, (1, 2)))
