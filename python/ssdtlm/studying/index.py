# SPDX-License-Identifier: Apache-2.0
"""One page of several studies: which trends each meets, and all charts."""

import dataclasses
import pathlib


@dataclasses.dataclass
class Ended:
    """A study that was run: its rows, number of runs, trends, charts (charts.Chart) and `said`, the text for the terminal."""

    name: str
    study: object
    folder: pathlib.Path
    rows: list
    runs: int
    trends: list
    charts: list
    said: str = ""

    @property
    def met(self):
        return sum(trend.met for trend in self.trends)

    @property
    def lost(self):
        """Trends that the model is known to meet, and misses."""
        return [trend for trend in self.trends if trend.expected and not trend.met]


def page_of(ended, stopped):
    """The Page about a list of Ended, which stands in the folder of their folders. stopped: {name: message} of studies that did not end."""
    from ..reporting.page import Page, escape, paragraph, table  # pylint: disable=import-outside-toplevel
    page = Page("ssdtlm: studies")
    page.add("<h1>Published studies, run again</h1>\n")
    page.add(paragraph(summary(ended)))
    page.add(table(["study", "what", "runs", "trends", "met", "lost", "charts"],
                   [[one.name, one.study.title, one.runs, len(one.trends), one.met, len(one.lost), len(one.charts)] for one in ended], (0, 1)))
    for name, message in stopped.items():
        page.add(paragraph(f"{name} did not end: {message}"))
    for one in ended:
        page.heading(one.study.title)
        page.add(paragraph(one.study.source, "faint"))
        page.add(f'<p><a href="{escape(one.folder.name)}/study.html">All its figures</a></p>\n')
        page.add(trends_table(one.trends))
        # Studies may name their charts alike.
        page.charts([dataclasses.replace(chart, name=f"{one.name}-{chart.name}") for chart in one.charts])
    return page


def trends_table(trends):
    """The HTML table of trends. Those that are met and those that are missed differ in word and colour."""
    from ..reporting.page import table  # pylint: disable=import-outside-toplevel
    word = lambda trend: "met" if trend.met else "LOST" if trend.expected else "NOT\u00a0MET"
    kinds = {"met": "met", "LOST": "missed", "NOT\u00a0MET": "missed"}
    return table(["trend", "whose", "", "found", "why not"],
                 [[t.sentence, "our own" if t.own else "published", word(t), t.found, "" if t.met else t.why] for t in trends], (0, 1, 2, 3, 4), kinds)


def summary(ended):
    trends = sum(len(one.trends) for one in ended)
    lost = sum(len(one.lost) for one in ended)
    own = sum(trend.own for one in ended for trend in one.trends)
    return (f"{len(ended)} studies: {sum(one.met for one in ended)} of {trends} trends are met ({trends - own} published, {own} checks of our own), {trends - sum(one.met for one in ended) - lost} are missed as expected, "
            f"{lost} are lost. {sum(len(one.charts) for one in ended)} charts")
