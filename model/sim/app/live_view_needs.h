// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ssdtlm {

/// `run --watch`: whether there is a terminal to draw on and a Python that can. Throws UserError.
void check_live_view();

}  // namespace ssdtlm
