# SPDX-License-Identifier: Apache-2.0
"""Messages to the user, in the one shape of the program: where: what was found; what is allowed; how to repair."""

import dataclasses
import difflib


@dataclasses.dataclass(frozen=True)
class Problem:
    where: str
    found: str
    allowed: str = ""
    repair: str = ""

    def __str__(self):
        return f"{self.where}: " + "; ".join(part for part in (self.found, self.allowed, self.repair) if part)


class UserError(Exception):
    """One or several mistakes of the user. `problems`: a list of Problem, each of which the program prints as a line before it exits with
    2."""

    def __init__(self, *problems):
        super().__init__("\n".join(map(str, problems)))
        self.problems = list(problems)


class RunFailed(Exception):
    """A simulation that did not end in order. `exit_code`: that of the program (the README has a table). `output`: the text that the
    program printed on standard error."""

    def __init__(self, exit_code, output):
        super().__init__(f"ssdtlm run ended with exit code {exit_code}:\n{output}".rstrip())
        self.exit_code = exit_code
        self.output = output


def did_you_mean(given, names):
    near = difflib.get_close_matches(given, names, 1)
    return f"did you mean '{near[0]}'?" if near else ""
