// SPDX-License-Identifier: Apache-2.0
#include "controller/scheduler/clocked/compare_core.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"
#include "controller/ports/grant_rules.h"

namespace ssdtlm {
namespace {

std::string hex(std::uint64_t bits) {
    std::string text;
    do {
        text.insert(text.begin(), "0123456789abcdef"[bits & 15u]);
        bits >>= 4;
    } while (bits != 0);
    return "0x" + text;
}

std::string text_of(const CoreDecision& d) {
    std::string text;
    if (d.answer == GrantAnswer::granted) {
        text = grant_text(d.grant);
    } else {
        text = "nothing";
    }
    return text + ", after " + std::to_string(d.cycles) + " cycles";
}

bool same_grant(const CoreDecision& a, const CoreDecision& b) {
    if (a.answer != b.answer) return false;
    if (a.answer != GrantAnswer::granted) return true;
    return a.grant.die == b.grant.die && a.grant.cls == b.grant.cls && a.grant.count == b.grant.count &&
           std::equal(a.grant.tags.begin(), a.grant.tags.begin() + std::min<std::uint32_t>(a.grant.count, kMaxPlanes),
                      b.grant.tags.begin());
}

}  // namespace

CompareCore::CompareCore(std::uint16_t channel, Named used, Named other, bool cycles)
    : channel_(channel), used_(std::move(used)), other_(std::move(other)), cycles_(cycles) {}

std::uint64_t CompareCore::push(const SchedulerRequest& request, std::uint64_t edge) {
    ++pushed_;
    edge_ = other_.core->push(request, std::max(edge, edge_ + 1));
    return used_.core->push(request, edge);
}

void CompareCore::decide(const GrantQuery& query, std::uint64_t edge, CoreDecision& out) {
    ++asked_;
    used_.core->decide(query, edge, out);
    const std::uint64_t start = std::max(edge, edge_ + 1);
    other_.core->decide(query, start, theirs_);
    edge_ = start + theirs_.cycles;
    if (same_grant(out, theirs_) && (!cycles_ || out.cycles == theirs_.cycles)) return;
    std::string question = "classes " + class_names(query.classes) + "; idle dies " + hex(query.idle_dies);
    for (std::size_t p = 0; p < kMaxPlanes; ++p)
        if (query.idle_read_planes[p] != 0)
            question += "; plane " + std::to_string(p) + " idle for reads on dies " + hex(query.idle_read_planes[p]);
    throw CheckFailed("scheduler: channel " + std::to_string(channel_) + ", question " + std::to_string(asked_) +
                      " after " + std::to_string(pushed_) + " requests, at clock edge " + std::to_string(edge) +
                      ": the answers differ\n  " + question + "\n  " + used_.name + ": " + text_of(out) + "\n  " +
                      other_.name + ": " + text_of(theirs_) + "\nstate of " + used_.name + " afterwards:\n" +
                      used_.core->dump() + "state of " + other_.name + " afterwards:\n" + other_.core->dump());
}

std::string CompareCore::dump() const {
    return used_.name + ":\n" + used_.core->dump() + other_.name + ":\n" + other_.core->dump();
}

}  // namespace ssdtlm
