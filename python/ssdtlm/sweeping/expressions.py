# SPDX-License-Identifier: Apache-2.0
"""Expressions over the keys of a point: "nand.geometry.channels * nand.geometry.ways <= 64". Python's syntax, but nothing
that could do more than compute."""

import ast
import fractions
import operator
import re

# Of the parameters (docs/parameters.md), in s, B, Hz, T/s or B/s.
UNITS = {"ps": "1e-12", "ns": "1e-9", "us": "1e-6", "ms": "1e-3", "s": "1", "min": 60, "h": 3600, "d": 86400, "y": 365 * 86400, "B": "1", "kB": "1e3", "MB": "1e6", "GB": "1e9", "TB": "1e12",
         "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "Hz": "1", "kHz": "1e3", "MHz": "1e6", "GHz": "1e9", "MT/s": "1e6",
         "GT/s": "1e9", "kB/s": "1e3", "MB/s": "1e6", "GB/s": "1e9", "%": "1e-2"}
UNITS = {name: fractions.Fraction(factor) for name, factor in UNITS.items()}
# fio's without "i" or "b": powers of 1024.
FIO_UNITS = {letter: fractions.Fraction(1024) ** (i + 1) for i, letter in enumerate("kmgt")}
QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*([A-Za-z%/]*)")

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos,
             ast.Not: operator.not_, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
             ast.Gt: operator.gt, ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b}
MOST_POWER = 64


def split_quantity(value, units=None):
    """(number, unit): "75us" gives (Fraction(75), "us"), a number without a unit the unit "". None for a value that is no number, or whose
    unit is not known."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return fractions.Fraction(str(value)), ""
    match = QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match or (match[2] and match[2] not in (units or UNITS)):
        return None
    return fractions.Fraction(match[1]), match[2]


def join_quantity(number, unit):
    """The text of a number and its unit: the shortest exact decimal where there is one, else nine digits."""
    number = fractions.Fraction(number)
    if number.denominator == 1:
        text = str(number.numerator)
    else:
        text = f"{float(number):.9g}"
        if "e" in text:
            text = f"{float(number):.15f}".rstrip("0")
    return text + unit if unit else (int(text) if number.denominator == 1 else float(text))


def in_base_units(key, value):
    """The value of a key as a number in s, B, Hz, T/s or B/s: "75us" gives Fraction(75, 10**6). A value that is no quantity stays as it is."""
    units = {**UNITS, **FIO_UNITS} if key.startswith("fio.") else UNITS
    found = split_quantity(value, units)
    if found is None:
        return value
    number, unit = found
    return number * units[unit] if unit else number


def _quantity(number, unit):
    if unit not in UNITS:
        raise ValueError(f"'{unit}' is no unit ({', '.join(UNITS)})")
    return join_quantity(fractions.Fraction(number) / UNITS[unit], unit)


FUNCTIONS = {"min": min, "max": max, "round": round, "int": int, "abs": abs, "quantity": _quantity}


class Expression:
    """An expression of a specification. `keys`: names of the keys that it uses. Raises ValueError for a text that is none."""

    def __init__(self, text):
        self.text = text
        try:
            self._tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise ValueError(f"'{text}' is no expression: {error.msg}") from None
        self.keys = set()
        self._check(self._tree)

    def value(self, values):
        """The value of the expression. values: {key: value} as in a specification; quantities count in s, B, Hz, T/s, B/s. Raises
        ValueError."""
        try:
            result = self._evaluate(self._tree, values)
        except (ArithmeticError, TypeError, KeyError) as error:
            raise ValueError(f"'{self.text}' cannot be computed: {error}") from None
        if isinstance(result, fractions.Fraction):
            return int(result) if result.denominator == 1 else float(result)
        return result

    def _check(self, node):
        key = _key(node)
        if key is not None:
            self.keys.add(key)
        elif isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS or node.keywords:
                raise ValueError(f"'{self.text}': only the functions {', '.join(FUNCTIONS)} are known")
            for argument in node.args:
                self._check(argument)
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, bool)):
            pass
        elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.List, ast.Tuple)):
            unknown = [o for o in (*getattr(node, "ops", ()), getattr(node, "op", ast.And())) if type(o) not in OPERATORS and not isinstance(o, (ast.And, ast.Or))]
            if unknown:
                raise ValueError(f"'{self.text}': an operator that is not known")
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr) and not isinstance(child, ast.Load):
                    self._check(child)
        else:
            raise ValueError(f"'{self.text}': only numbers, texts, keys, operators and {', '.join(FUNCTIONS)} are known")

    def _evaluate(self, node, values):
        key = _key(node)
        if key is not None:
            return in_base_units(key, values[key])
        if isinstance(node, ast.Constant):
            return fractions.Fraction(str(node.value)) if isinstance(node.value, (int, float)) and not isinstance(node.value, bool) else node.value
        compute = lambda child: self._evaluate(child, values)
        if isinstance(node, ast.Call):
            return FUNCTIONS[node.func.id](*map(compute, node.args))
        if isinstance(node, ast.BinOp):
            left, right = compute(node.left), compute(node.right)
            if isinstance(node.op, ast.Pow) and abs(right) > MOST_POWER:
                raise ArithmeticError(f"a power above {MOST_POWER}")
            return OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp):
            return OPERATORS[type(node.op)](compute(node.operand))
        if isinstance(node, ast.BoolOp):
            every = isinstance(node.op, ast.And)
            return all(map(compute, node.values)) if every else any(map(compute, node.values))
        if isinstance(node, ast.IfExp):
            return compute(node.body if compute(node.test) else node.orelse)
        if isinstance(node, ast.Compare):
            sides = [compute(side) for side in (node.left, *node.comparators)]
            return all(OPERATORS[type(op)](a, b) for op, a, b in zip(node.ops, sides, sides[1:]))
        return [compute(item) for item in node.elts]


def _key(node):
    """The key that a node of the syntax tree names: "nand.t_read" for a chain of attributes, "device" for a name."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None
