// SPDX-License-Identifier: Apache-2.0
#include "controller/cpu/table_caches.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
/// The table lies behind the room for incoming data (DramPort::place).
constexpr std::uint64_t kTable = std::uint64_t{1} << 30;
}  // namespace

TableCaches::TableCaches(Agenda& agenda, const FirmwareConfig& config, std::uint32_t entry_bytes, DramPort& dram)
    : agenda_(agenda),
      dram_(dram),
      cores_(config.cores),
      sets_(table_cache_sets(config)),
      ways_(config.table_ways),
      line_bytes_(config.table_line_bytes),
      entry_bytes_(entry_bytes),
      tags_(cores_ * sets_ * ways_, kNone) {
    SSDTLM_CHECK(sets_ != 0, "a cache for the table without a set");
}

TableCaches::Place TableCaches::find(std::uint64_t core, std::uint64_t line) {
    std::uint64_t* const first = &tags_[(core * sets_ + line % sets_) * ways_];
    std::uint32_t way = 0;
    while (way < ways_ && (first[way] & ~kDirty) != line + 1) ++way;
    return {first, way};
}

void TableCaches::want(std::uint64_t number, TableSpan entries, bool changes) {
    if (entries.count == 0) return;
    const std::uint64_t core = number % cores_;
    const std::uint64_t last = (entries.first + entries.count - 1) * entry_bytes_ / line_bytes_;
    for (std::uint64_t line = entries.first * entry_bytes_ / line_bytes_; line <= last; ++line)
        take(core, line, changes);
}

void TableCaches::take(std::uint64_t core, std::uint64_t line, bool changes) {
    const bool elsewhere_dirty = cores_ > 1 && drop_elsewhere(core, line, changes);
    const Place p = find(core, line);
    std::uint64_t tag = line + 1;
    if (p.way != ways_) {
        ++counters_.hits;
        tag = p.first[p.way];
    } else {
        ++counters_.misses;
        missing_.push_back({kTable + line * line_bytes_, line_bytes_, 1});
        const std::uint64_t leaves = p.first[ways_ - 1];
        if ((leaves & kDirty) != 0) write_back((leaves & ~kDirty) - 1);
    }
    SSDTLM_CHECK(p.way == ways_ || !elsewhere_dirty, "two cores have a line of the table, and one has changed it");
    const std::uint32_t behind = std::min(p.way, ways_ - 1);
    std::move_backward(p.first, p.first + behind, p.first + behind + 1);
    p.first[0] = tag | (changes ? kDirty : 0);
}

/// A core that changes a line has it alone. A core that reads it takes what another has changed. True: another had
/// changed it.
bool TableCaches::drop_elsewhere(std::uint64_t core, std::uint64_t line, bool changes) {
    bool dirty = false;
    for (std::uint64_t other = 0; other < cores_; ++other) {
        if (other == core) continue;
        const Place p = find(other, line);
        if (p.way == ways_) continue;
        if ((p.first[p.way] & kDirty) != 0) {
            dirty = true;
            write_back(line);
            p.first[p.way] &= ~kDirty;
        }
        if (!changes) continue;
        std::move(p.first + p.way + 1, p.first + ways_, p.first + p.way);
        p.first[ways_ - 1] = kNone;
    }
    return dirty;
}

void TableCaches::write_back(std::uint64_t line) {
    ++counters_.written_back;
    leaving_.push_back({kTable + line * line_bytes_, line_bytes_, 1});
}

// Lines that leave are written after the reads, because nobody waits for these writes.
Ps TableCaches::wait() {
    Ps waits{};
    if (!missing_.empty()) {
        const SimTime end = dram_.begin(missing_.data(), static_cast<std::uint32_t>(missing_.size()), Then{});
        if (end == kNever)
            throw UserError(Problem{"firmware.table_cache",
                                    "a DRAM model that does not say in advance when an access will have ended",
                                    "one that does, for a core's wait is known when a step is given to it",
                                    "choose another dram.model, or set it to 0"});
        waits = end - agenda_.now();
        counters_.waited += waits;
        missing_.clear();
    }
    if (!leaving_.empty()) dram_.begin(leaving_.data(), static_cast<std::uint32_t>(leaving_.size()), Then{});
    leaving_.clear();
    return waits;
}

void TableCaches::state(Snapshot& s) {
    s.fixed(tags_);
    for (std::size_t i = 0; s.reads() && i < tags_.size(); ++i) {
        const std::uint64_t tag = tags_[i], core = i / (sets_ * ways_);
        if (tag == kNone) continue;
        const std::uint64_t line = (tag & ~kDirty) - 1;
        s.require(line < kTable && line % sets_ == i / ways_ % sets_,
                  "a line of the table in the wrong place of a cache");
        for (std::uint64_t other = 0; other < cores_; ++other) {
            const Place p = find(other, line);
            if (p.way == ways_) continue;
            s.require(other != core || p.first + p.way == &tags_[i], "a line of the table that is twice in a cache");
            s.require(other == core || ((tag | p.first[p.way]) & kDirty) == 0,
                      "a line of the table that one core has changed, and another has");
        }
    }
}

}  // namespace ssdtlm
