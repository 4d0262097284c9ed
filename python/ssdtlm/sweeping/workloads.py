# SPDX-License-Identifier: Apache-2.0
"""The workload of a point as one file, named by its content: a job file with the point's options in each of its jobs, or a trace;
or the name of one that the program makes itself."""

import functools
import hashlib
import pathlib
import re

from ..errors import Problem, UserError

MOST_INCLUDES = 8  # as in fio
# A file that begins with an include or a section is a job file, any other is a trace.
JOB_FILE = re.compile(r"(?:\s*(?:[;#][^\n]*)?\n)*\s*(?:\[|include )")


def _text(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(Problem(str(path), f"cannot be read: {error.strerror}", "a job file or a block trace")) from None


def _included(path, above=()):
    """Lines of a job file with those of the files that it includes, which fio looks for beside the including file. `above`: the files that
    led to it. Raises UserError."""
    for line in _text(path).decode(errors="surrogateescape").splitlines():
        if not line.strip().startswith("include "):
            yield line
            continue
        named = pathlib.Path(line.strip()[len("include "):].strip())
        file = named if named.is_file() else path.parent / named
        chain = (*above, path)
        same = next((i for i, one in enumerate(chain) if file.exists() and file.samefile(one)), None)
        if same is not None:
            raise UserError(Problem(str(path), f"includes itself: {' includes '.join(map(str, [*chain[same:], file]))}", "files that end", f"take out `{line.strip()}`"))
        if len(above) == MOST_INCLUDES:
            raise UserError(Problem(str(path), f"includes more than {MOST_INCLUDES} levels deep"))
        yield from _included(file, chain)


def job_text(lines, options):
    """The text of a job file from its lines. `options` stand at the end of each job, where they overrule all before them."""
    own = [f"{key}={int(value) if isinstance(value, bool) else value}" for key, value in options.items()]
    text, in_job = [], False
    for line in lines:
        section = re.match(r"\s*\[([^\]]*)\]", line)
        if section:
            text += own if in_job else []
            in_job = section[1] != "global"
        text.append(line)
    return "\n".join([*text, *(own if in_job else []), ""])


class Generated:
    """A workload that the program makes itself, known by its name. Its parameters are keys of the configuration."""

    text, files = None, ()

    def __init__(self, name, options):
        """Raises UserError."""
        if options:
            raise UserError(Problem(name, f"is no job file and has no option {', '.join(options)}", "fio.NAME with a job file",
                                    f"its parameters are workload.{name}.KEY"))
        self.path = self.name = name
        self.digest = hashlib.sha256(name.encode()).hexdigest()

    def file(self, _folder):
        return self.name

    def write(self, folder):
        """Does nothing, because there is no file."""


class Workload:
    """A job file or a trace. `digest`: of its content. `text`: of the job file that write() makes; None for a trace, which stays where it
    is. `files`: the paths that a run reads, which is the trace."""

    def __init__(self, path, options):
        """path: pathlib.Path, or None when the options are all. Raises UserError."""
        self.path = path
        name = path.stem if path else "job"
        if path and not JOB_FILE.match(_head(path)):
            if options:
                raise UserError(Problem(str(path), f"is a trace, which has no option {', '.join(options)}", "fio.NAME with a job file",
                                        "option.NAME sets those of traces"))
            self.text, self.digest = None, _digest_of_file(path)
        else:
            self.text = job_text(_included(path) if path else ["[job]"], options)
            self.digest = hashlib.sha256(self.text.encode(errors="surrogateescape")).hexdigest()
        self.name = f"{name}-{self.digest[:8]}.fio" if self.text is not None else path.name
        self.files = () if self.text is not None else (str(path),)

    def file(self, folder):
        """The path of the workload when job files are in `folder`."""
        return folder / self.name if self.text is not None else self.path.resolve()

    def write(self, folder):
        file = self.file(folder)
        if self.text is not None and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self.text.encode(errors="surrogateescape"))


@functools.lru_cache(maxsize=None)
def _head(path):
    with_null = _text(path)[:65536]
    # A job file is text; a compressed trace is not.
    return "" if b"\0" in with_null else with_null.decode(errors="surrogateescape")


@functools.lru_cache(maxsize=None)
def _digest_of_file(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
