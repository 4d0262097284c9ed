// SPDX-License-Identifier: Apache-2.0
#include "sim/results/slowest_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "controller/ports/core_port.h"
#include "controller/ports/flash.h"
#include "sim/results/latency_stats.h"
#include "sim/wave/wave_enums.h"

namespace ssdtlm {

using Json = nlohmann::ordered_json;
using Kind = PathResource::Kind;

namespace {

std::string name_of(const PathResource& r, const Occupancy::Size& device) {
    const auto die = [&](std::uint32_t d) {
        return fmt::format("die {}.{}", d / device.dies_per_channel, d % device.dies_per_channel);
    };
    switch (r.kind) {
        case Kind::core:
            return fmt::format("core {}", r.index);
        case Kind::write_buffer:
            return "write buffer";
        case Kind::die:
            return die(r.index);
        case Kind::plane:
            return fmt::format("{} plane {}", die(r.index / device.planes_per_die), r.index % device.planes_per_die);
        case Kind::bus:
            return fmt::format("channel {}", r.index);
        case Kind::none:
            break;
    }
    return {};
}

/// Adds the flow's name if the flow is known. Tenants count from 1.
void add_flow(Json& j, const SlowestFlows& flows, std::uint64_t tenant) {
    if (tenant != 0 && tenant <= flows.names.size()) j["flow"] = flows.names[tenant - 1];
}

Json holder_json(const Holder& h, const Occupancy::Size& device, const SlowestFlows& flows) {
    const Occupation& o = h.operation;
    Json j;
    j["resource"] = name_of(h.resource, device);
    if (h.resource.kind == Kind::core) {
        j["kind"] = core_step_names().labels[1 + o.kind].text;
        if (o.owner != CorePort::kNoCommand) j["command"] = std::uint64_t{o.owner};
    } else {
        const auto cls = static_cast<FlashClass>(o.kind % kFlashClassCount);
        const auto cause = static_cast<FlashCause>(o.kind / kFlashClassCount);
        j["operation"] = std::uint64_t{o.number};
        j["kind"] = work_names().labels[work_value(cause, cls)].text;
        if (o.owner != 0) j[owner_name(cause, cls)] = std::uint64_t{o.owner};
        if (o.planes > 1) j["planes"] = static_cast<std::uint32_t>(o.planes);
        if (o.data != 0) j["data"] = true;
        add_flow(j, flows, o.flow);
    }
    j["from_ps"] = h.from.time_since_epoch().count();
    j["to_ps"] = h.to.time_since_epoch().count();
    return j;
}

Json step_json(const PathStep& s, const Occupancy::Size& device, const SlowestFlows& flows) {
    Json j;
    j["from_ps"] = s.from.time_since_epoch().count();
    j["to_ps"] = s.to.time_since_epoch().count();
    for (const auto& [stage, time] : s.stages) {
        Json& sum = j["stages_ps"][stage_name(stage)];
        sum = (sum.is_null() ? 0 : sum.get<std::int64_t>()) + time.count();
    }
    if (!s.known) j["order"] = "not kept";
    if (s.resource.kind != Kind::none) j["resource"] = name_of(s.resource, device);
    if (s.operation != 0) j["operation"] = s.operation;
    for (const Holder& h : s.holders) j["held_by"].push_back(holder_json(h, device, flows));
    if (s.more != 0) j["more"] = {{"operations", s.more}, {"ps", s.more_time.count()}};
    if (s.forgotten > Ps{}) j["holders_not_known_ps"] = s.forgotten.count();
    return j;
}

}  // namespace

std::string slowest_json(const std::vector<SlowestCommands::Kept>& commands, const Occupancy::Size& device,
                         const SlowestFlows& flows) {
    std::string text = "{\"commands\": [";
    const char* separator = "\n";
    for (const SlowestCommands::Kept& k : commands) {
        Json j;
        j["op"] = host_op_name(k.request.op);
        j["command"] = k.number;
        j["job"] = k.request.job;
        if (k.request.job < flows.of_job.size()) add_flow(j, flows, flows.of_job[k.request.job] + 1u);
        j["offset"] = k.request.offset;
        j["bytes"] = k.request.bytes;
        if (k.request.fua) j["fua"] = true;
        j["issued_ps"] = k.issued.time_since_epoch().count();
        j["total_ps"] = k.total.count();
        j["among_the_slowest"] = k.slow;
        for (const PathStep& s : k.path) j["path"].push_back(step_json(s, device, flows));
        text += separator + j.dump();
        separator = ",\n";
    }
    return text + "\n]}\n";
}

}  // namespace ssdtlm
