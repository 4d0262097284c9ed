// SPDX-License-Identifier: Apache-2.0
#include "nand/pins/pin_sequence.h"

namespace ssdtlm {

std::string to_string(Pin p) {
    if (is_rb_n(p)) return "rb_n[" + std::to_string(die_of(p)) + "]";
    if (is_ce_n(p)) return "ce_n[" + std::to_string(way_of(p)) + "]";
    constexpr const char* kNames[] = {"cle", "ale", "we_n", "re_n", "dqs", "dq"};
    return kNames[idx(p)];
}

}  // namespace ssdtlm
