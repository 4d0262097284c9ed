// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ssdtlm {

/// For `run --watch`: throws UserError unless there is a terminal to draw on and a Python that can draw.
void check_live_view();

}  // namespace ssdtlm
