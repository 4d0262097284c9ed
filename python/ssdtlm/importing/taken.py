# SPDX-License-Identifier: Apache-2.0
"""What becomes of each parameter of another simulator."""

import dataclasses

TAKEN, NEARLY, NONE = "taken", "nearly", "no counterpart"
DEFAULT = " (its default)"


@dataclasses.dataclass
class Row:
    """What becomes of one parameter. name, value: as in the other simulator. how: TAKEN, NEARLY or NONE. ours: "key = value", empty without
    a counterpart. why: the reason where it is not taken as it is. flow: the flow it belongs to, empty for the device."""

    name: str
    value: str
    how: str
    ours: str = ""
    why: str = ""
    flow: str = ""

    def of(self, name):
        """Whether the row is about that parameter. A name such as "Page_Read_Latency_*" is about several."""
        return name.startswith(self.name[:-1]) if self.name.endswith("*") else name.endswith(self.name[1:]) if self.name.startswith("*") else name == self.name


@dataclasses.dataclass
class Job:
    """A flow: the text of a fio job, or the path of a trace. region, priority: of the flow, see host.regions and host.queue_priorities."""

    name: str
    text: str = ""
    trace: str = ""
    words: tuple = ()
    region: str = ""
    priority: int | None = None


class Device:
    """A device file that is being made: values, each with the place that it comes from."""

    def __init__(self, name, description, source, path):
        """path: the file that the user gave, for messages."""
        self.name, self.description, self.source, self.path = name, description, source, path
        self.values = {}  # key -> (TOML text, comment)
        self.rows = []
        self.problems = []  # list of Problem, about the file that the user gave
        self.absent = lambda name: False  # whether the file leaves a parameter out

    def said(self, name, value):
        """The value as the table shows it."""
        return f"{value}{DEFAULT}" if self.absent(name) else str(value)

    def set(self, key, value, comment):
        self.values[key] = (value if isinstance(value, str) else ("true" if value is True else "false" if value is False else str(value)), comment)

    def text(self, key, value, comment):
        self.set(key, f'"{value}"', comment)

    def take(self, name, value, key, ours, why=""):
        """Sets a key from a parameter. ours: TOML text. With `why` the row says that it is taken nearly."""
        said = self.said(name, value)
        self.set(key, ours, f"{self.source} {name} = {said}" + (f"; {why}" if why else ""))
        self.rows.append(Row(name, said, NEARLY if why else TAKEN, f"{key} = {self.values[key][0]}", why))

    def part(self, name, value, key, why=""):
        """Adds a row for a parameter that has a part in a key which others set too."""
        self.rows.append(Row(name, self.said(name, value), NEARLY if why else TAKEN, f"{key} = {self.values[key][0]}", why))

    def beside(self, name, value, why, how=NONE):
        self.rows.append(Row(name, self.said(name, value), how, "", why))

    def row(self, key):
        """The row that sets the key; None when the key follows from others."""
        return next((row for row in self.rows if row.ours.startswith(f"{key} = ")), None)

    def toml(self):
        lines = ["# SPDX-License-Identifier: Apache-2.0", f"# Imported from {self.source}. Values without a comment of their own are this program's defaults.",
                 f'name = "{self.name}"', f'description = "{self.description}"']
        tables = {}
        for key, (value, comment) in self.values.items():
            table, _, last = key.rpartition(".")
            tables.setdefault(table, []).append(f"{last} = {value}".ljust(34) + f" # {comment}")
        for table, of in tables.items():
            lines += ["", f"[{table}]", *of]
        return "\n".join(lines) + "\n"
