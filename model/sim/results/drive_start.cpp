// SPDX-License-Identifier: Apache-2.0
#include "sim/results/drive_start.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "controller/ftl/mapping/mapping.h"
#include "sim/results/traffic_json.h"
#include "sim/results/written_bytes.h"

namespace ssdtlm {

namespace {
using Json = nlohmann::ordered_json;

const char* name_of(InitialState state) {
    switch (state) {
        case InitialState::fresh:
            return "fresh";
        case InitialState::sequential:
            return "sequential";
        case InitialState::random:
            return "random";
        case InitialState::analytic:
            return "analytic";
    }
    return "?";
}

/// The settings of preconditioning that affect the asked state.
Json asked_json(const DriveStart& start) {
    if (!start.from.empty()) return {{"from", start.from}};
    const FtlConfig& c = start.asked;
    Json j{{"state", name_of(c.initial_state)}};
    if (c.initial_state != InitialState::fresh) j["fill"] = c.fill;
    if (c.initial_state == InitialState::random) {
        const bool steady = c.until == OverwriteUntil::steady;
        j["until"] = steady ? "steady" : "amount";
        if (steady)
            j["most_rounds"] = c.most_rounds;
        else
            j["overwrite"] = c.overwrite;
    }
    if (!start.workload.empty()) {
        j["workload"] = start.workload;
        j["load"] = c.precondition_load == PreconditionLoad::full ? "full" : "light";
    }
    if (!start.workload.empty() || c.initial_state == InitialState::random || c.initial_state == InitialState::analytic)
        j["fill_caches"] = c.caches_filled;
    return j;
}

Json overwrites_json(const OverwriteRounds& o) {
    Json j{{"units", o.units()},
           {"waf", o.write_amplification()},
           {"round_units", o.round_units()},
           {"waf_by_round", o.rounds()},
           {"rounds_to_free_blocks", o.without_collection()},
           {"steady", o.is_steady()}};
    if (o.is_judged()) {
        const Steadiness s = o.last();
        j["last_rounds"] = {{"rounds", Steadiness::kWindow},
                            {"waf_mean", s.mean},
                            {"excursion", s.excursion},
                            {"slope", s.slope},
                            {"drift", s.drift}};
    }
    return j;
}
Json played_json(const DriveStart& start) {
    const WorkloadBooks& w = start.played;
    const auto of = [&w](IoOp op) { return w.commands[static_cast<std::size_t>(op)]; };
    const WrittenBytes written{w.bytes_written, w.ftl.pages_programmed() * start.page_bytes};
    Json j{{"reads", of(IoOp::read)},
           {"reads_passed_over", w.reads_passed_over},
           {"writes", of(IoOp::write)},
           {"trims", of(IoOp::deallocate)},
           {"flushes", of(IoOp::flush)},
           {"units_written", w.units_written},
           {"units_programmed", w.ftl.host_units},
           {"blocks_erased", w.ftl.blocks_erased},
           {"host_bytes", written.host},
           {"nand_bytes", written.nand},
           {"waf", waf_json(written)},
           {"unit_write_amplification", w.ftl.unit_write_amplification(start.units_per_page)}};
    if (mapping_of(start.asked, {})->is_on_flash()) j["traffic"] = traffic_json(w.ftl, start.units_per_page);
    return j;
}
}  // namespace

Json drive_start_json(const DriveStart& start) {
    const DriveState& s = start.reached;
    Json reached{
        {"mapped_units", s.mapped_units},
        {"logical_units", s.logical_units},
        {"occupancy",
         s.logical_units == 0 ? 0.0 : static_cast<double>(s.mapped_units) / static_cast<double>(s.logical_units)},
        {"groups", s.groups},
        {"free_superblocks", {{"min", s.least_free}, {"mean", s.mean_free}, {"max", s.most_free}}},
        {"full_superblocks", s.full}};
    for (std::size_t i = 0; i < s.full_by_valid.size() && s.full != 0; ++i)
        reached["full_by_valid"].push_back(
            {{"valid_from", static_cast<double>(i) / DriveState::kTenths},
             {"share", static_cast<double>(s.full_by_valid[i]) / static_cast<double>(s.full)}});
    if (start.overwrites.units() != 0) reached["overwrites"] = overwrites_json(start.overwrites);
    if (start.played.any) reached["workload"] = played_json(start);
    return {{"asked", asked_json(start)}, {"reached", reached}};
}

std::string not_steady(const DriveStart& start) {
    const OverwriteRounds& o = start.overwrites;
    if (!start.from.empty() || start.asked.until != OverwriteUntil::steady || o.round_units() == 0 || o.is_steady())
        return "";
    const std::string ended = fmt::format(
        "preconditioning ended after {} rounds without a steady state (precondition.most_rounds)", o.rounds().size());
    if (!o.is_judged())
        return fmt::format("{}: the first {} were written to free blocks", ended, o.without_collection());
    const Steadiness s = o.last();
    return fmt::format(
        "{}: over the last {}, write amplification of {:.3f} differs by {:.1f} % and drifts by {:.1f} %; at most "
        "{:.0f} % and {:.0f} %",
        ended, Steadiness::kWindow, s.mean, 100 * s.excursion, 100 * s.drift, 100 * Steadiness::kMostExcursion,
        100 * Steadiness::kMostDrift);
}

}  // namespace ssdtlm
