# SPDX-License-Identifier: Apache-2.0
"""The section of a report about flows that share the drive. It is not there when there is one."""

from .page import paragraph, table
from .sections import number

# The table of waits has the square of the number of flows: of many flows it shows the longest waits only, of four or five all.
MOST_WAITS = 25


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
    causes = list(dict.fromkeys(cause for _, _, waits, _ in found for row in waits for cause in row["causes_ps"]))
    rows, left_out = [], 0
    for label, all_flows, waits, _ in found:
        commands = {flow["name"]: flow["commands"] for flow in all_flows}
        longest = sorted(waits, key=lambda row: row["total_ps"], reverse=True)[:MOST_WAITS] if len(waits) > MOST_WAITS else waits
        left_out += len(waits) - len(longest)
        for row in longest:
            rows.append([label if runs.several else "", row["flow"], row["for"],
                         *(number(row["causes_ps"][cause] / 1e6 / commands[row["flow"]]) for cause in causes), number(row["total_ps"] / 1e6 / commands[row["flow"]])])
    page.add(paragraph("Microseconds for each command that a flow waited for dies and buses, by the flow whose operations it waited for and by their cause."))
    page.add(table(["", "waits of", "for", *causes, "together"], rows, (1, 2)))
    if left_out:
        page.add(paragraph(f"The longest; {left_out:,} more are in result.json.", "faint"))


def nvm_sets(page, runs):
    """What each NVM Set was written, and how much of that its collection adds."""
    found = [(label, sets) for label, result in runs if (sets := result.json["ftl"].get("nvm_sets"))]
    if not found:
        return
    page.heading("NVM Sets")
    rows = [[label if runs.several else "", s["set"], number(s["bytes"] / 1e6), f"{s['host_units']:,}", number(s["nand_bytes"] / 1e6),
             "" if s["unit_write_amplification"] is None else f"{s['unit_write_amplification']:.3f}"] for label, sets in found for s in sets if "host_units" in s]
    page.add(table(["", "set", "addresses (MB)", "units of the host", "programmed (MB)", "write amplification (units)"], rows, (1,)))
