# SPDX-License-Identifier: Apache-2.0
"""What differs between runs: sides.py reads them, statistics.py has the intervals, differences.py finds what differs,
conditions.py judges --fail-if, text.py prints."""
