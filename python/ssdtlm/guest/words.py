# SPDX-License-Identifier: Apache-2.0
"""A line of fio for the guest, completed: which drive, and that the results come back."""

import shlex

DRIVE = "/dev/nvme0n1"
RESULT = "fio.json"
# Options by which fio knows its files.
PLACES = ("--filename", "--directory", "--filename_format", "--opendir")

# Signs of several commands, or of an output that the user has redirected.
SHELL = (";", "&", "|", ">", "\n")


def completed(text):
    """The script from the text of --with. A line of fio that says neither where its files are nor how results are written gets both, and
    percentiles of the whole latency. Everything else stays as it is."""
    try:
        words = shlex.split(text)
    except ValueError:
        return text + "\n"  # the guest's shell says what is wrong
    if words[:1] != ["fio"] or any(sign in text for sign in SHELL):
        return text + "\n"
    options = [word.partition("=")[0] for word in words[1:]]
    more = []
    if all(option.startswith("-") for option in options) and not any(option in PLACES for option in options):
        more.append(f"--filename={DRIVE}")
    if "--output" not in options and "--output-format" not in options:
        more += ["--output-format=json", f"--output={RESULT}", "--lat_percentiles=1"]
    return " ".join([text, *more]) + "\n"
