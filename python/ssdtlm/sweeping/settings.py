# SPDX-License-Identifier: Apache-2.0
"""`--set KEY=VALUE` of the commands of sweeps: into the tables [set], [fio] and [option] of a specification, in place of what they say."""

import re

from ..errors import Problem, UserError

GROUPS = ("fio", "option")
FILES = ("device", "workload")
# Tables whose keys differ between points; [[zip]] and [[list]] are lists of tables.
OF_POINTS = ("grid", "zip", "list", "random", "derive")


def flatten(table, prefix=""):
    """{"nand": {"t_read": 1}} as {"nand.t_read": 1}. A range {from, to} is a value and stays a dict."""
    flat = {}
    for key, value in table.items():
        if isinstance(value, dict) and not {"from", "to"} <= value.keys():
            flat.update(flatten(value, prefix + key + "."))
        else:
            flat[prefix + key] = value
    return flat


def with_settings(path, table, settings):
    """The table of a specification with the assignments of --set put in. Of several for one key the last one counts. Raises UserError with
    all problems."""
    found, problems = {}, []
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            problems.append(Problem(f"--set {text}", "is no assignment", "KEY=VALUE", "for example --set nand.t_read=60us, or --set fio.iodepth=16"))
        elif where := _place(table, key.strip()):
            problems.append(Problem(f"--set {key.strip()}", f"is a key of [{where}] in {path}, where it differs between points", "a key that no point has", f"take it out of [{where}]"))
        else:
            found[key.strip()] = _value(value.strip())
    if problems:
        raise UserError(*problems)
    result = dict(table)
    for key, value in found.items():
        group, _, name = key.partition(".")
        if key in FILES:
            result[key] = value
            continue
        into, name = (group, name) if group in GROUPS else ("set", key)
        given = result.get(into, {})
        result[into] = {**flatten(given), name: value} if isinstance(given, dict) else given  # spec.Reader says what is wrong with another kind of value
    return result


def _place(table, key):
    for name in OF_POINTS:
        given = table.get(name)
        for one in given if isinstance(given, list) else [given]:
            values = one.get("values") if name == "random" and isinstance(one, dict) else one
            if isinstance(values, dict) and key in flatten(values):
                return name if name != "random" else "random.values"
    return ""


def _value(text):
    """The text of a value as a specification would have it: whole numbers and truth values, so that expressions can compute with them. All
    else stays text, for the program to read."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else text
