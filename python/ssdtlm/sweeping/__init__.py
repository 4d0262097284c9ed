# SPDX-License-Identifier: Apache-2.0
"""Sweeps: one specification, many runs, each in a folder of its own that says whether it is done. spec.py and points.py say what
is to be run, plan.py which runs that makes, worker.py does one, driver.py gives them to the workers of cluster.py."""
