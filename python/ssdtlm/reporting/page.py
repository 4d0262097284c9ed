# SPDX-License-Identifier: Apache-2.0
"""One HTML file with everything in it: style, charts, data and the libraries that draw them; how files are written."""

import html
import json
import os
import pathlib
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent


def escape(text):
    return html.escape(str(text), quote=True)


def paragraph(text, kind=""):
    return f'<p class="{kind}">{escape(text)}</p>\n' if kind else f"<p>{escape(text)}</p>\n"


def table(head, rows, text_columns=(), kinds=None):
    """The HTML of a table. head and rows: texts. The first column and those numbered in `text_columns` are set left. kinds: {text of a
    cell: its class in page.css}."""
    def cell(i, text):
        of = " ".join((["text"] if i in text_columns else []) + ([kinds[text]] if kinds and text in kinds else []))
        return f'<td class="{of}">{escape(text)}</td>' if of else f"<td>{escape(text)}</td>"
    body = "".join("<tr>" + "".join(cell(i, text) for i, text in enumerate(row)) + "</tr>\n" for row in rows)
    top = "".join(f'<th class="text">{escape(text)}</th>' if i in text_columns else f"<th>{escape(text)}</th>" for i, text in enumerate(head))
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table></div>\n'


def write(path, content):
    """Writes a text or bytes to a pathlib.Path. The file appears whole or not at all. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode("utf-8", errors="surrogateescape") if isinstance(content, str) else content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


class Page:
    def __init__(self, title):
        self.title = title
        self._body = []
        self.shown = {}  # name -> Chart

    def add(self, text):
        self._body.append(text)

    def heading(self, text):
        self.add(f"<h2>{escape(text)}</h2>\n")

    def charts(self, charts):
        """Adds charts beside each other, as many as there is room for."""
        figures = []
        for chart in charts:
            self.shown[chart.name] = chart
            figures.append(f'<figure><h3>{escape(chart.title)}</h3><div class="chart" id="{escape(chart.name)}"></div>'
                           f'<button data-csv="{escape(chart.name)}">CSV</button></figure>\n')
        self.add('<div class="grid">\n' + "".join(figures) + "</div>\n")

    def text(self, libraries):
        """The whole HTML file. libraries: JavaScript that defines vegaEmbed()."""
        style = (FOLDER / "page.css").read_text(encoding="utf-8")
        script = (FOLDER / "page.js").read_text(encoding="utf-8")
        # "</script" inside a script would end it.
        specs = json.dumps({name: chart.spec for name, chart in self.shown.items()}, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        libraries = libraries.replace("</script", "<\\/script")
        return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(self.title)}</title>\n'
                f'<link rel="icon" href="data:,">\n<style>\n{style}</style>\n</head>\n<body>\n{"".join(self._body)}'
                f'<script type="application/json" id="specs">{specs}</script>\n'
                f'<script type="module">\n{libraries}\n</script>\n'
                f'<script type="module">\n{script}</script>\n</body>\n</html>\n')
