# SPDX-License-Identifier: Apache-2.0
"""A stage has one colour for good: in every chart, of every report. Standard library only."""

import zlib

# All stages of the program, in the order in which a command passes them. Chosen by a search in CIE Lab: each stands out against white and
# black paper, neighbours are far apart, also for eyes without the green cones, and no two of all are alike.
COLOURS = {
    "block_queue": "#0000FC", "host_queue": "#8CC844", "submit": "#20808C", "arbitration": "#EC8CF8", "fetch": "#B05C5C", "firmware_wait": "#14ECC8", "firmware": "#989814",
    "mapping": "#BC44B0", "buffer": "#448068", "die_wait_host_read": "#E0C8EC", "die_wait_host_write": "#ECD444", "die_wait_gc": "#2080BC",
    "die_wait_mapping": "#D4C8A4", "die_wait_erase": "#F880C8", "die_wait_rmw": "#E0A420", "die_wait_fold": "#1474EC",
    "die_wait_relocation": "#50B074", "die_wait_merge": "#C88CD4", "die_wait_journal": "#F85C50", "die_wait_parity": "#98A4A4",
    "die_wait_padding": "#68EC8C", "die_wait_checkpoint": "#8C98F8", "scheduler": "#508038", "channel_wait": "#F88CA4", "channel": "#5CE0F8",
    "array": "#BC5C20", "ecc": "#D4388C", "host_transfer": "#D4D474", "completion": "#8C68E0",
}
# For stages that this version does not know; the name decides which.
REST = ("#7A6A58", "#A88F7A", "#5F7A86", "#8FA9B5", "#86758F", "#B3A2BC", "#7D8A62", "#ABB894")
OTHER, OTHER_COLOUR = "other", "#BBBBBB"
# That an operation shows by themselves; its other stages are one part of a bar.
MAX_STAGES = 8


def colour(stage):
    if stage == OTHER:
        return OTHER_COLOUR
    return COLOURS.get(stage) or REST[zlib.crc32(stage.encode()) % len(REST)]


class ShownStages:
    """The largest stages of each operation, in the order in which a command passes them; the others are summed up."""

    def __init__(self, parts):
        """parts: {operation: [{stage: time}]}, of all that is shown."""
        order = list(dict.fromkeys([*COLOURS, *(stage for of_op in parts.values() for part in of_op for stage in part)]))
        self.stages = {}
        for op, of_op in parts.items():
            largest = self._largest(of_op)
            self.stages[op] = [s for s in order if s in largest] + [OTHER] * any(set(part) - set(largest) for part in of_op)

    @staticmethod
    def _largest(parts):
        share = {}
        for part in parts:
            total = sum(part.values())
            for stage, value in part.items():
                share[stage] = max(share.get(stage, 0), value / total if total else 0)
        return sorted(share, key=share.get, reverse=True)[:MAX_STAGES]

    def rows(self, op, part):
        """Rows (stage, time, order) of a bar. part: {stage: time}; stages that are not shown by themselves are one row."""
        sums = dict.fromkeys(self.stages[op], 0.0)
        for stage, value in part.items():
            name = stage if stage in sums else OTHER
            sums[name] = sums.get(name, 0.0) + value
        return [(stage, value, order) for order, (stage, value) in enumerate(sums.items())]
