# SPDX-License-Identifier: Apache-2.0
"""Parameters of a device from measurements of a drive: `ssdtlm fit`."""
