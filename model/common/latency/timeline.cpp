// SPDX-License-Identifier: Apache-2.0
#include "common/latency/timeline.h"

namespace ssdtlm {

const char* stage_name(Stage s) {
    static constexpr const char* kNames[kStageCount] = {
        "host_queue",       "submit",         "arbitration", "fetch",              "firmware_wait",
        "firmware",         "mapping",        "buffer",      "die_wait_host_read", "die_wait_host_write",
        "die_wait_gc",      "die_wait_mapping", "die_wait_erase", "scheduler",     "channel_wait",
        "channel",          "array",          "ecc",         "host_transfer",      "completion"};
    return kNames[static_cast<std::size_t>(s)];
}

}  // namespace ssdtlm
