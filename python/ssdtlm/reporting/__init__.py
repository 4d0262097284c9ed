# SPDX-License-Identifier: Apache-2.0
"""The report of one or several runs: data.py computes what is shown, charts.py draws it with Altair, page.py puts it into one
HTML file that needs no network."""
