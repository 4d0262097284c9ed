# SPDX-License-Identifier: Apache-2.0
"""What came back from a guest: its script's output and exit code, the files that it left in /out, and when it was where."""

import json
import tarfile
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Outcome:
    output: str
    code: int | None  # exit code of the script; None when it did not come to its end
    reason: str       # why there is no code, else empty
    wall_s: float
    guest_s: dict     # the guest's clock at booted, ready (drives there) and ended
    files: dict = field(default_factory=dict)  # name to path

    def json(self, name):
        """The JSON of a file. Lines before it, which fio may print, are skipped."""
        text = self.files[name].read_text()
        return json.loads(text[text.index("{"):])


def unpack(archive, folder):
    """Unpacks the regular files below out/ into `folder`, and nothing that would lie outside of it. Returns {name: path}; {} when the
    archive is cut off."""
    taken = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                parts = Path(member.name).parts
                if not member.isfile() or parts[:1] != ("out",) or ".." in parts:
                    continue
                path = folder.joinpath(*parts[1:])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(tar.extractfile(member).read())
                taken["/".join(parts[1:])] = path
    except (tarfile.TarError, OSError, EOFError):
        return {}
    return taken


def last_lines(path, count=3):
    text = path.read_text(errors="replace") if path.exists() else ""
    panic = text.find("Kernel panic")
    if panic >= 0:
        return text[panic:].splitlines()[0]
    return " / ".join(line.strip() for line in text.splitlines()[-count:] if line.strip())


def why(folder, returned, cut, word):
    if cut == "gone":
        return "the drive has ended before the guest"
    if cut:
        return f"the guest was not done in time; its console ends with: {last_lines(folder / 'console.txt')}"
    if word == "no-drive":
        return f"Linux found no drive; see {folder / 'files/.dmesg'}"
    if returned:
        return f"QEMU ended with {returned}: {last_lines(folder / 'qemu.txt')}"
    return f"the guest ended without a result; its console ends with: {last_lines(folder / 'console.txt')}"


def collect(folder, returned, wall_s, cut):
    """The Outcome of a guest that has ended. cut: why it was ended: "late", "gone" when its drive had ended, else ""."""
    files = unpack(folder / "files.tar", folder / "files") if (folder / "files.tar").exists() else {}
    (folder / "files.tar").unlink(missing_ok=True)
    word = files[".code"].read_text().strip() if ".code" in files else ""
    code = int(word) if word.isdigit() else None
    times = {name: float(files[f".{name}"].read_text()) for name in ("booted", "ready", "ended") if f".{name}" in files}
    output = folder / "output.txt"
    return Outcome(output=output.read_text(errors="replace") if output.exists() else "", code=code,
                   reason="" if code is not None else why(folder, returned, cut, word), wall_s=wall_s, guest_s=times,
                   files=files)
