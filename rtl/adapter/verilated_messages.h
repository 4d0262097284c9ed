// SPDX-License-Identifier: Apache-2.0
// Messages that Verilated blocks print. $display and warnings go to standard error. Errors ($error, $fatal, failed
// assertions) are kept for the message that ends the run.
#pragma once

#include <string>

namespace ssdtlm::rtl {

/// Why the simulation of a block stopped: what it has printed as errors since the last call, in one line. A block that
/// called $finish or $stop without a word is said to have done so.
std::string verilated_errors();

}  // namespace ssdtlm::rtl
