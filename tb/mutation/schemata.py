# SPDX-License-Identifier: Apache-2.0
"""Many mutants in one text: `a < b` becomes `(ssdtlm_mutant_is(17) ? (a) <= (b) : (a) < (b))`, and the environment variable
SSDTLM_MUTANT says which one a program is. The parser gives the operands; nothing here needs to know C++."""
import bisect
import sys

try:
    import tree_sitter
    import tree_sitter_cpp
except ImportError:
    sys.exit("needs tree_sitter: run `make python`, and start this with build/python/bin/python3")

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
FUNCTION = "ssdtlm_mutant_is"

# Stands at the head of each rewritten file, so that the file needs no flag of the compiler and can be installed.
# The number is read before other static objects are made, which priority 101, the first that is free, sees to; each
# file reads it, which is cheaper than to find out who is first. Where the compiler has to know the result, it must not
# quietly take the operator that stands there: the mutant would be one that no run can see. The `throw` makes it an error.
HEAD = b"""#ifndef SSDTLM_MUTANT_IS
#define SSDTLM_MUTANT_IS
#include <cstdlib>
inline int ssdtlm_mutant = 0;
[[gnu::constructor(101)]] static void ssdtlm_mutant_read() {
    if (const char* number = std::getenv("SSDTLM_MUTANT")) ssdtlm_mutant = std::atoi(number);
}
constexpr bool ssdtlm_mutant_is(int number) {
    if (__builtin_is_constant_evaluated()) return number > 0 ? throw number : false;
    return __builtin_expect(ssdtlm_mutant == number, 0);
}
#endif
"""


class Text:
    """Bytes, and which of them belong to which mutant: (begin, end, number)."""

    def __init__(self, data=b"", spans=()):
        self.data, self.spans = data, list(spans)

    def __add__(self, other):
        if isinstance(other, bytes):
            return Text(self.data + other, self.spans)
        at = len(self.data)
        return Text(self.data + other.data, self.spans + [(begin + at, end + at, number) for begin, end, number in other.spans])


class Schemata:
    """The text of a file with the mutants of {number: Mutant} in it; `unplaced` are those where the parser sees no such
    expression."""

    def __init__(self, source, mutants):
        self.source = source
        root = PARSER.parse(source).root_node
        nodes, self.unplaced = [], set()
        for number, mutant in mutants.items():
            node = expression(root, mutant)
            if node is None:
                self.unplaced.add(number)
            else:
                nodes.append((node, number, mutant))
        # An expression comes before those within it.
        self.nodes = sorted(nodes, key=lambda n: (n[0].start_byte, -n[0].end_byte))
        text = self.rewritten(0, len(source), self.nodes)
        if self.nodes:
            text = Text(HEAD) + text
        self.data, self.spans = text.data, text.spans
        self.lines = [0]
        for line in self.data.split(b"\n"):
            self.lines.append(self.lines[-1] + len(line) + 1)

    def rewritten(self, begin, end, nodes):
        """source[begin:end]; the nodes are those within."""
        text = Text()
        while nodes:
            node, number, mutant = nodes[0]
            last = bisect.bisect_left(nodes, node.end_byte, key=lambda n: n[0].start_byte)
            text += self.source[begin : node.start_byte]
            text += self.choice(node, number, mutant, nodes[1:last])
            begin, nodes = node.end_byte, nodes[last:]
        return text + self.source[begin:end]

    def choice(self, node, number, mutant, inner):
        def operand(name):
            child = node.child_by_field_name(name)
            if child is None:
                return Text()
            within = [n for n in inner if child.start_byte <= n[0].start_byte < child.end_byte]
            text = self.rewritten(child.start_byte, child.end_byte, within)
            # `({1, 2})` would be GCC's expression made of statements.
            return text if child.type == "initializer_list" else Text(b"(") + text + b")"

        left, right = operand("left"), operand("argument" if node.type == "update_expression" else "right")
        text = Text(b"(%s(%d) ? " % (FUNCTION.encode(), number))
        for operator, after in ((mutant.new, b" : "), (mutant.old, b")")):
            text = text + b"(" + left + b" %s " % operator.encode() + right + b")" + after
        text.spans.append((0, len(text.data), number))
        return text

    def _innermost(self, spans):
        return min(spans, key=lambda s: s[1] - s[0])[2] if spans else None

    def at(self, line, column):
        """The mutant of a place as compilers count them, from 1; None: of no mutant."""
        if not 0 < line < len(self.lines):
            return None
        place = self.lines[line - 1] + column - 1
        return self._innermost([s for s in self.spans if s[0] <= place < s[1]])

    def on(self, line):
        """All mutants of a line."""
        if not 0 < line < len(self.lines):
            return set()
        return {number for begin, end, number in self.spans if begin < self.lines[line] and end > self.lines[line - 1]}


def expression(root, mutant):
    """The node of the mutant's operator with its operands, or None."""
    column = len(mutant.line[: mutant.column].encode())
    operator = root.descendant_for_point_range((mutant.number, column), (mutant.number, column + len(mutant.old)))
    node = operator.parent
    # What the parser did not understand may end elsewhere than it thinks.
    if operator.type != mutant.old or node is None or node.has_error or (node.parent is not None and node.parent.type == "ERROR"):
        return None
    return node if node.type in ("binary_expression", "assignment_expression", "update_expression") else None
