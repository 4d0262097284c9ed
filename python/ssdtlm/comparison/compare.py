# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm compare`."""

import dataclasses
import json

from ..errors import Problem, UserError
from .conditions import check_conditions, judge, parse_conditions
from .differences import Differences
from .sides import read_sides
from .text import Markdown, Plain, comparison_text


@dataclasses.dataclass
class Comparison:
    """What compare() returns; str() is the text for a terminal.

    baseline: the Side of the first run. differences: a Differences for each further run. verdicts: a Verdict for each condition and further
    run. failed: whether any condition holds.
    """

    baseline: object
    differences: list
    verdicts: list

    @property
    def failed(self):
        return any(v.failed for v in self.verdicts)

    def as_dict(self):
        return {"baseline": {"run": self.baseline.name, "seeds": self.baseline.seeds},
                "runs": [d.as_dict() for d in self.differences], "conditions": [v.as_dict() for v in self.verdicts]}

    def text(self, lines=10, markdown=False):
        return comparison_text(self.baseline, self.differences, self.verdicts, lines, Markdown() if markdown else Plain())

    def __str__(self):
        return self.text()


def compare(*runs, fail_if=()):
    """Compares runs with the first one and returns a Comparison.

    runs: two or more folders; each is that of one run, or has runs in it that differ in the seed only.
    fail_if: conditions such as "read.total.p99 > +5%", or one of them. A condition that holds is a failure.
    Raises UserError for folders without results, runs that do not belong together, and metrics that a run does not have.
    """
    conditions, sides, problems = [], [], []
    try:
        conditions = parse_conditions([fail_if] if isinstance(fail_if, str) else fail_if)
    except UserError as error:
        problems += error.problems
    try:
        sides = read_sides(runs)
    except UserError as error:
        problems += error.problems
    if problems:
        raise UserError(*problems)
    conditions = check_conditions(conditions, sides)
    baseline, others = sides[0], sides[1:]
    asked = [c.metric for c in conditions]
    return Comparison(baseline, [Differences(baseline, other, asked) for other in others],
                      [judge(c, baseline, other) for other in others for c in conditions])


def add_arguments(parser):
    parser.add_argument("run", nargs="+")
    parser.add_argument("--fail-if", action="append", default=[])
    parser.add_argument("-n", "--lines", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true")


def command(arguments):
    """Returns (text for standard output, exit code)."""
    if arguments.lines < 0:
        raise UserError(Problem("command line", f"--lines {arguments.lines}", "0 (all) or more"))
    result = compare(*arguments.run, fail_if=arguments.fail_if)
    if arguments.json:
        text = json.dumps(result.as_dict(), indent=2, ensure_ascii=False) + "\n"
    else:
        text = result.text(arguments.lines, arguments.markdown)
    return text, int(result.failed)
