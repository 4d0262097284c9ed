# SPDX-License-Identifier: Apache-2.0
"""What differs between runs: sides.py reads them, statistics.py has the intervals, jobs.py matches jobs by name,
differences.py finds what differs, reasons.py says why and how far it can be trusted, conditions.py judges --fail-if, text.py prints."""
