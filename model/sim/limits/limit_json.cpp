// SPDX-License-Identifier: Apache-2.0
#include "sim/limits/limit_json.h"

#include <nlohmann/json.hpp>

namespace ssdtlm {

using Json = nlohmann::ordered_json;

Json limit_json(const RunSummary& s) {
    const LimitVerdict& v = s.limit;
    Json j{{"kind", limit_kind_name(v.kind)},
           {"names", v.names},
           {"parameters", v.parameters},
           {"most", v.most ? Json{{"resource", v.most->resource}, {"factor", v.most->factor}} : Json()}};
    for (const ResourceUse& r : s.resources_limit) j["busy"][r.name] = {{"mean", r.mean}, {"max", r.max}};
    j["flash_work"] = s.flash_work;
    for (const WaitUse& w : s.waits) j["waits"][w.name] = {{"parameters", w.parameters}, {"share", w.share}};
    return j;
}

}  // namespace ssdtlm
