# SPDX-License-Identifier: Apache-2.0
"""ssdtlm, a SystemC/TLM-2.0 model of an NVMe SSD: runs from Python and what becomes of their results.

    import ssdtlm
    result = ssdtlm.run("hexa-16g", "job.fio", set={"nand.t_read": "60us"})
    print(result.metrics["read.total.p99"])
    print(ssdtlm.compare("results/before", "results/after"))
    print(ssdtlm.explain(result, slowest=3, op="read"))
    ssdtlm.report(result, output="report.html")
"""

from .version import VERSION as __version__

# Name -> the module that has it. Each is imported when it is asked for, so that a command can take charge of Ctrl-C before (__main__.py).
_PLACES = {
    "Comparison": ".comparison.compare", "compare": ".comparison.compare",
    "RunFailed": ".errors", "UserError": ".errors",
    "Explanation": ".explanation.explain", "explain": ".explanation.explain",
    "charts": ".reporting.report", "report": ".reporting.report",
    "Result": ".result", "data_frame": ".result",
    "run": ".simulate",
    "Sweep": ".sweeping.commands", "sweep": ".sweeping.commands",
    "Search": ".sweeping.search", "search": ".sweeping.search",
}

__all__ = ["__version__", *sorted(_PLACES)]


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # pylint: disable=import-outside-toplevel
    value = globals()[name] = getattr(importlib.import_module(_PLACES[name], __name__), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})
