# SPDX-License-Identifier: Apache-2.0
"""The viewer of `ssdtlm run --watch`: the program starts `PYTHON -m ssdtlm.watching FD` and sends it a line of JSON a few times
a second (model/sim/app/live_view.cpp). view.py lays the page out, screen.py draws it with curses."""
