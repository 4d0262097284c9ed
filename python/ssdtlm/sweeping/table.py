# SPDX-License-Identifier: Apache-2.0
"""All results of a sweep as one table, and questions to it in SQL, by DuckDB."""

import json
import os
import pathlib
import tempfile

from ..errors import Problem, UserError
from ..extras import need
from ..result import Result
from . import worker
from .points import shown

FORMATS = {".parquet": "(FORMAT parquet)", ".csv": "(FORMAT csv, HEADER)", ".json": "(FORMAT json, ARRAY true)"}
TABLE = "results"
# Columns of a row beside axes and metrics, in this order.
OWN = ("point", "seed", "state", "message", "seconds", "peak_memory", "host", "key")


def rows(plan):
    """A dict for each run of a Plan that has ended, in the order of points and seeds: {"point", "seed", axes, "state", "message",
    "seconds", ..., metrics}. A failed run has no metrics."""
    ended = plan.ended()
    found = []
    for point in plan.points:
        for run in point.runs:
            record = ended.get(run.key)
            if record is None:
                continue
            row = {"point": point.number, "seed": run.seed}
            row.update({key: shown(v) if isinstance(v, (list, tuple)) else v for key, v in point.values.items()})
            row.update({name: record[name] for name in OWN if name in record and name not in row})
            if record["state"] == "done":
                result = Result(worker.run_folder(plan.output, run.key))
                row["steadiness"] = (result.steadiness or {}).get("verdict")
                row.update(result.metrics)
            found.append(row)
    return found


def _type(values):
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool}:
        return "BOOLEAN"
    if kinds <= {int}:
        return "BIGINT"
    return "DOUBLE" if kinds <= {int, float} else "VARCHAR"


class Table:
    """The table `results` in DuckDB, made of dicts as rows() returns them. Needs the extra `sweep`. Raises UserError when there is none."""

    def __init__(self, found):
        need("sweep")
        import duckdb  # pylint: disable=import-outside-toplevel
        self._errors = duckdb.Error
        self._database = duckdb.connect()
        columns = {}
        for row in found:
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
        if not columns:
            raise UserError(Problem("sweep collect", "no run has ended", "", "start the sweep with `ssdtlm sweep run`"))
        kinds = {name: _type(values) for name, values in columns.items()}
        handle, name = tempfile.mkstemp(suffix=".json", prefix="ssdtlm-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                for row in found:
                    file.write(json.dumps({k: str(v) if kinds[k] == "VARCHAR" and v is not None else v for k, v in row.items()}) + "\n")
            kinds_text = ", ".join(f"{_quoted(k)}: '{kind}'" for k, kind in kinds.items())
            self._database.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM read_json({_quoted(name)}, format = 'newline_delimited', "
                                   f"columns = {{{kinds_text}}})")
        finally:
            os.unlink(name)

    def write(self, path):
        """Writes the table as Parquet, CSV or JSON, by the ending of the file's name. The file appears whole or not at all. Raises
        UserError."""
        path = pathlib.Path(path)
        if path.suffix not in FORMATS:
            raise UserError(Problem(str(path), f"ends in '{path.suffix}'", ", ".join(FORMATS), "name the table after its format"))
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            self._database.execute(f"COPY {TABLE} TO {_quoted(str(partial))} {FORMATS[path.suffix]}")
            os.replace(partial, path)
        except (self._errors, OSError) as error:
            partial.unlink(missing_ok=True)
            raise UserError(Problem(str(path), f"cannot be written: {error}")) from None

    def ask(self, query):
        """(names of columns, rows) that an SQL query gives. Raises UserError."""
        try:
            answer = self._database.execute(query)
            return [column[0] for column in answer.description or []], answer.fetchall()
        except self._errors as error:
            raise UserError(Problem("--sql", str(error), f'a query of the table {TABLE}; names with a dot in quotes: "read.total.p99"')) from None


def _quoted(text):
    return "'" + text.replace("'", "''") + "'"


def text_table(names, found):
    """The text of a table. names: heads of columns. found: rows of values. Columns are aligned, numbers to the right."""
    cell = lambda value: "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    cells = [[cell(value) for value in row] for row in found]
    numeric = [all(isinstance(row[i], (int, float, type(None))) for row in found) for i in range(len(names))]
    widths = [max(len(name), *(len(row[i]) for row in cells)) if cells else len(name) for i, name in enumerate(names)]
    line = lambda row: "  ".join(text.rjust(w) if right else text.ljust(w) for text, w, right in zip(row, widths, numeric)).rstrip() + "\n"
    return line(names) + "".join(map(line, cells))
