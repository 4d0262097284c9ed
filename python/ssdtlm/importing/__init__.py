# SPDX-License-Identifier: Apache-2.0
"""Configurations of other simulators as devices and jobs of this one: `ssdtlm config import`."""
