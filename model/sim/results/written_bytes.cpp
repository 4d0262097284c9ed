// SPDX-License-Identifier: Apache-2.0
#include "sim/results/written_bytes.h"

#include <nlohmann/json.hpp>

namespace ssdtlm {

using Json = nlohmann::ordered_json;

Json waf_json(const WrittenBytes& written) {
    const std::optional<double> waf = written.waf();
    return waf ? Json(*waf) : Json();
}

Json nand_bytes_json(const FtlCounters& ftl, std::uint32_t page_bytes, bool log_blocks) {
    Json j = Json::object();
    const auto add = [&](const char* cause, std::uint64_t pages) {
        if (pages != 0) j[cause] = pages * page_bytes;
    };
    add("host", ftl.host_pages);
    add(log_blocks ? "merges" : "gc", ftl.gc_pages);
    add("translation", ftl.map_pages);
    add("journal", ftl.journal_pages);
    add("checkpoints", ftl.checkpoint_pages);
    add("parity", ftl.parity_pages);
    add("padding", ftl.host_padding_pages + ftl.gc_padding_pages);
    return j;
}

}  // namespace ssdtlm
