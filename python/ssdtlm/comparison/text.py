# SPDX-License-Identifier: Apache-2.0
"""A comparison as plain text or as Markdown: the same tables."""

import math


def number(x):
    """Enough digits to see a difference of a thousandth."""
    if isinstance(x, int) or x == 0:
        return str(x)
    return f"{x:.2f}" if abs(x) >= 1000 else f"{x:.5g}"


def percent(share):
    return "new" if math.isinf(share) else f"{share * 100:+.2f} %"


class Plain:
    def heading(self, text):
        return f"\n{text}\n"

    def line(self, text):
        return text + "\n"

    def table(self, head, rows):
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines = []
        for row in [head, *rows]:
            cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
            lines.append(("  " + "  ".join(cells)).rstrip() + "\n")
        return "".join(lines)


class Markdown:
    def heading(self, text):
        return f"\n### {text}\n\n"

    def line(self, text):
        return text + "\n\n"

    def table(self, head, rows):
        row_text = lambda row: "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n"
        rule = "|---|" + "---:|" * (len(head) - 1) + "\n"
        return row_text(head) + rule + "".join(map(row_text, rows)) + "\n"


def _changes(changes, form, lines):
    """(heads of columns, rows) of a table of Changes. lines: most rows, 0 for all. form(value): a value as text."""
    shown = changes[:lines] if lines else changes
    several = any(c.low is not None for c in changes)
    head = ["", "before", "after", "difference", "relative"] + (["95 % interval", ""] if several else [])
    rows = []
    for c in shown:
        unit = f" {c.unit}" if c.unit and c.unit != "share" else ""
        row = [c.metric + (f" ({unit.strip()})" if unit else ""), form(c.before), form(c.after), "+" * (c.difference > 0) + form(c.difference),
               percent(c.relative)]
        if several:
            row += [f"{form(c.low)} … {form(c.high)}", "" if c.certain else "may be chance"]
        rows.append(row)
    return head, rows


def comparison_text(baseline, all_differences, verdicts, lines, style):
    out = ""
    for d in all_differences:
        out += style.heading(f"{d.other.name} against {baseline.name}").lstrip("\n")
        for warning in d.warnings:
            out += style.line("warning: " + warning)
        for sentence in d.steadiness:
            out += style.line(sentence)
        if d.why:
            out += style.line("why: " + d.why)
        if d.config:
            out += style.heading("configuration")
            out += style.table(["key", "before", "after"], [[key, _value(a), _value(b)] for key, a, b in d.config])
        else:
            out += style.line("The configurations are equal.")
        if d.equal:
            out += style.line("The results are equal.")
            continue
        tables = [("results", d.headlines, number)]
        tables += [(f"results by {owner}", lists["headlines"], number) for owner, lists in d.by.items()]
        tables += [(f"stages of {op}, difference of the mean", changes, number) for op, changes in d.stages.items()]
        tables += [(f"stages by {owner}, difference of the mean", lists["stages"], number) for owner, lists in d.by.items()]
        tables += [("resources, busy", d.resources, lambda x: f"{x * 100:.2f} %"), ("counters", d.counters, number)]
        for title, changes, form in tables:
            if not changes:
                continue
            left = len(changes) - lines if lines and len(changes) > lines else 0
            out += style.heading(title) + style.table(*_changes(changes, form, lines))
            if left:
                out += style.line(f"  and {left} more (--lines 0)")
    if verdicts:
        out += style.heading("conditions")
        for v in verdicts:
            out += style.line(verdict_text(v))
    return out


def verdict_text(v):
    form = percent if v.relative else number
    range_ = "one seed: no interval" if v.low is None else f"95 % interval {form(v.low)} … {form(v.high)}"
    return f"{'FAIL' if v.failed else 'ok'}: {v.run}: {v.condition}: {form(v.found)} ({range_})"


def _value(value):
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
