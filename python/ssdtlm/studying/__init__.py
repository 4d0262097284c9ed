# SPDX-License-Identifier: Apache-2.0
"""Published studies, run again: `ssdtlm study`."""

from . import flows
from .study import Figure, Point, Study, Trend, check
