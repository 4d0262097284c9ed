# SPDX-License-Identifier: Apache-2.0
"""What counts as the output that was printed, and how a page is renewed."""

import unittest

from shown_output import first_difference, renewed

PRINTED = ["head 1", "", "a   10.5", "b    2.0", "c    3.0", "-> the die limits (72.1 % busy)", "tail, 0.5 s, 4 bins"]
SHOWN = ["head 1", "...", "b    2.0", "...", "-> the die limits (72.1 % busy)", "tail, ... s, 4 bins"]


class ShownOutput(unittest.TestCase):
    def test_what_was_printed_passes(self):
        self.assertIsNone(first_difference(PRINTED, PRINTED))
        self.assertIsNone(first_difference(SHOWN, PRINTED))
        self.assertIsNone(first_difference(["head 1", "..."], PRINTED))
        self.assertIsNone(first_difference(["...", "c    3.0", "..."], PRINTED))

    def test_each_digit_and_each_line_counts(self):
        for i, line in enumerate(PRINTED):
            for j, digit in enumerate(line):
                if digit.isdigit():
                    wrong = line[:j] + str((int(digit) + 1) % 10) + line[j + 1:]
                    self.assertEqual(first_difference(PRINTED[:i] + [wrong] + PRINTED[i + 1:], PRINTED), wrong)
            self.assertIsNotNone(first_difference(PRINTED[:i] + PRINTED[i + 1:], PRINTED), f"line {i} left out without a word")
        self.assertIsNotNone(first_difference(["...", "c    3.0", "...", "b    2.0", "..."], PRINTED), "the order counts")

    def test_a_page_is_renewed(self):
        old = ["head 7", "...", "b   12.5", "...", "-> no resource is saturated", "tail, ... s, 3 bins"]
        self.assertEqual(renewed(old, PRINTED), SHOWN)
        self.assertEqual(renewed(SHOWN, PRINTED), SHOWN)
        self.assertEqual(renewed(["head 3", "...", "a 9.0", "x 1 1", "c 8", "..."], PRINTED),
                         ["head 1", "...", "a   10.5", "b    2.0", "c    3.0", "..."])


if __name__ == "__main__":
    unittest.main()
