# SPDX-License-Identifier: Apache-2.0
"""ssdtlm, a SystemC/TLM-2.0 model of an NVMe SSD: runs from Python and what becomes of their results.

    import ssdtlm
    result = ssdtlm.run("hexa-16g", "job.fio", set={"nand.t_read": "60us"})
    print(result.metrics["read.total.p99"])
    print(ssdtlm.compare("results/before", "results/after"))
    print(ssdtlm.explain(result, slowest=3, op="read"))
    ssdtlm.report(result, output="report.html")
"""

from .comparison.compare import Comparison, compare
from .errors import RunFailed, UserError
from .explanation.explain import Explanation, explain
from .reporting.report import charts, report
from .result import Result, data_frame
from .simulate import run
from .sweeping.commands import Sweep, sweep
from .sweeping.search import Search, search
from .version import VERSION as __version__

__all__ = ["Comparison", "Explanation", "Result", "RunFailed", "Search", "Sweep", "UserError", "__version__", "charts", "compare", "data_frame",
           "explain", "report", "run", "search", "sweep"]
