# SPDX-License-Identifier: Apache-2.0
"""A Linux guest in QEMU that drives a drive: its initrd, its machine, and what comes back from it."""
