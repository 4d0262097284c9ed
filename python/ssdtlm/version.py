# SPDX-License-Identifier: Apache-2.0
"""The version of package and program: CMakeLists.txt and pyproject.toml read it here."""

VERSION = "0.1.0"
