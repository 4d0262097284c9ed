// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ssdtlm {

/// Checks for `run --watch` that there is a terminal to draw on and a Python that can draw. Throws UserError.
void check_live_view();

}  // namespace ssdtlm
