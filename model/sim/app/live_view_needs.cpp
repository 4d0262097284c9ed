// SPDX-License-Identifier: Apache-2.0
#include "sim/app/live_view_needs.h"

#include <unistd.h>

#include "common/report/error.h"
#include "sim/app/python_child.h"

namespace ssdtlm {

void check_live_view() {
    if (isatty(STDERR_FILENO) == 0)
        throw UserError({"--watch", "standard error is not a terminal", "a terminal to draw on",
                         "leave it out: a line every 10 s then says how far the run is"});
    check_python("--watch", {"watch"});
}

}  // namespace ssdtlm
