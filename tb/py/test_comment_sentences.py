# SPDX-License-Identifier: Apache-2.0
"""What counts as a riddle in a comment, and what does not."""

import unittest

from comment_sentences import blocks, riddles, sentences

RIDDLES = (
    "Of all partitions.",
    "Who has time until then need not do anything.",
    "Whose unit it is.",
    "The same for a page.",
    "The same, now.",
    "CheckFailed with a sentence.",
    "UserError where it cannot.",
    "So is the journal.",
    "So many of the share's first units, of those below the end.",
    "Such a page.",
    "Between two events.",
    "When all is done, nobody waits for nothing.",
)
SENTENCES = (
    "Number of units in all partitions.",
    "The next page of the group; kNone: there is none.",
    "Of course it has an end.",
    "The same rule holds for pages.",
    "Throws CheckFailed if a page is open.",
    "CheckFailed is thrown if a page is open.",
    "So many of them are free that the rest can wait.",
    "Call it between two events.",
    "Nobody waits.",
)


class CommentSentences(unittest.TestCase):
    def test_riddles_are_found_and_sentences_are_not(self):
        for text in RIDDLES:
            for comment in (f"// {text}", f"    /// {text}", f"/// The size of a page. {text}", f"// A sentence goes\n// on. {text}"):
                self.assertEqual([(line, s) for line, s, _ in riddles(f"int a;\n{comment}\nint b;\n")], [(2, text)], comment)
        for text in SENTENCES:
            self.assertEqual(riddles(f"/// {text}\n"), [])

    def test_a_piece_across_two_lines_begins_on_the_first(self):
        self.assertEqual(riddles("/// The share\n/// Of one tenant.\n"), [])
        self.assertEqual([s for _, s, _ in riddles("/// A share.\n/// Of one\n/// tenant.\n")], ["Of one tenant."])

    def test_labels_and_code_do_not_count(self):
        self.assertEqual(riddles("int a;  ///< Of one tenant.\nint b;  // Of another.\nsay(\"// Of text.\");\n"), [])
        self.assertEqual(blocks("// SPDX-License-Identifier: Apache-2.0\n// One.\n//\n// Two.\n#pragma once\n"), [(2, "One.  Two.")])

    def test_what_ends_a_sentence(self):
        self.assertEqual(sentences("One, e.g. this. `a. B` is code: It goes on."), ["One, e.g this.", "`a._B` is code:", "It goes on."])
