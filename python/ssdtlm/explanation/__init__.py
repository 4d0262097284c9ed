# SPDX-License-Identifier: Apache-2.0
"""Why single commands took as long as they did: explain.py chooses them, again.py repeats a run for one that it did not keep,
words.py tells."""
