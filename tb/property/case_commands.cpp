// SPDX-License-Identifier: Apache-2.0
// Of the host of a case: its commands, what they mean to the reference map, and how they may end.
#include <algorithm>

#include "common/report/error.h"
#include "property/case_host.h"

namespace ssdtlm {

namespace {
using Kind = DriveOp::Kind;
constexpr std::uint32_t kApart = 3;  // units, the ranges of a deallocation
constexpr std::uint32_t kMostThere =
    4;  // operations on one unit under way together: the reference map tries out their orders

bool changes(const CaseCommand& c) {
    return c.writes() || c.is_zeroes() || c.kind == Kind::trim;
}
}  // namespace

/// The blocks of the command; 0: it was not submitted, something has to end before.
std::uint32_t CaseHost::submit(const DriveOp& op) {
    CaseCommand command;
    command.kind = op.kind;
    command.dma = op.dma;
    if (under_way_ == depth_ || !port_->has_room(command)) return 0;
    const std::uint32_t slot = port_->next_slot();
    Slot& s = slots_[slot];
    CaseCommand& c = s.command;
    const std::uint64_t per_unit = blocks_per_unit(), all = drive_.units * per_unit,
                        most = port_->facts().max_transfer_bytes / drive_.lba_bytes;
    c = command;
    c.lba = op.unit % drive_.units * per_unit;
    std::uint64_t blocks = std::max(1u, op.blocks);
    if (op.kind == Kind::trim || c.is_zeroes()) {
        blocks = blocks * per_unit + (op.kind == Kind::trim ? op.block % per_unit : 0);
    } else {
        c.lba += op.block % per_unit;
        blocks = std::min(blocks, most);
    }
    c.blocks = op.kind == Kind::flush ? 0 : static_cast<std::uint32_t>(std::min(blocks, all - c.lba));
    s.parts.clear();
    if (op.kind == Kind::trim) {
        for (std::uint64_t r = 0; r <= op.again; ++r) {
            const std::uint64_t from = (op.unit + kApart * r) % drive_.units * per_unit;
            c.ranges.push_back({from, static_cast<std::uint32_t>(std::min(blocks, all - from))});
            touch(s, from, c.ranges.back().blocks);
        }
    } else if (op.kind == Kind::beyond) {
        c.lba = port_->facts().blocks - 1;
        c.blocks = 2;
    } else {
        touch(s, c.lba, c.blocks);
    }
    if (changes(c) && too_many_there(s)) return 0;
    s.read_only = is_read_only_();
    if (c.blocks != 0 && !c.is_zeroes() && c.kind != Kind::trim)
        s.data = port_->buffer(slot, c.blocks * drive_.lba_bytes);
    begin(s);
    port_->submit(slot, c);
    ++under_way_;
    s.busy = true;
    return std::max(1u, c.blocks);
}

/// Of units that are covered in part a deallocation leaves what there is.
void CaseHost::touch(Slot& s, std::uint64_t lba, std::uint64_t blocks) const {
    const std::uint64_t per_unit = blocks_per_unit();
    for (std::uint64_t at = lba; at < lba + blocks;) {
        const std::uint64_t unit = at / per_unit, end = std::min((unit + 1) * per_unit, lba + blocks);
        if (s.command.kind != Kind::trim || end - at == per_unit)
            s.parts.push_back(drive_.bytes ? Part{unit, static_cast<std::uint32_t>(at % per_unit),
                                                  static_cast<std::uint32_t>(end - at), 0}
                                           : Part{unit, 0, 1, 0});
        at = end;
    }
}

bool CaseHost::too_many_there(const Slot& s) const {
    for (const Part& part : s.parts) {
        std::uint32_t others = 0;
        for (const Slot& o : slots_)
            others += o.busy && changes(o.command) &&
                      std::any_of(o.parts.begin(), o.parts.end(), [&](const Part& p) { return p.unit == part.unit; });
        if (others >= kMostThere) return true;
    }
    return false;
}

void CaseHost::begin(Slot& s) {
    const CaseCommand& c = s.command;
    ReferenceMap::Value value = 0;
    if (c.kind == Kind::flush) s.begun = map_.begin_flush();
    if (c.writes()) {
        value = contents_.next([&](ReferenceMap::Value v) {
            return std::any_of(s.parts.begin(), s.parts.end(), [&](const Part& p) { return map_.knows(p.unit, v); });
        });
        for (std::uint32_t b = 0; b < c.blocks; ++b)
            contents_.write(c.lba + b, value, s.data + std::size_t{b} * drive_.lba_bytes);
    } else if (c.kind == Kind::read) {
        for (std::uint32_t b = 0; b < c.blocks; ++b) contents_.spoil(s.data + std::size_t{b} * drive_.lba_bytes);
        s.begun = map_.begin_read();
    }
    if (changes(c))
        for (Part& p : s.parts) p.begun = map_.begin(p.unit, p.first, p.blocks, value);
}

void CaseHost::command_ended(std::uint32_t slot, CaseEnd end, const std::string& status) {
    Slot& s = slots_.at(slot);
    if (!s.busy) throw CheckFailed("a command has ended that is not under way, slot " + std::to_string(slot));
    --under_way_;
    s.busy = false;
    end == CaseEnd::good ? ended_well(s) : failed(s, end, status);
}

void CaseHost::ended_well(Slot& s) {
    const CaseCommand& c = s.command;
    if (c.kind == Kind::beyond) throw CheckFailed("blocks behind the last one were read or written");
    const bool forced = c.is_forced() || (c.kind == Kind::trim ? drive_.durable_trims
                                                               : drive_.durable_writes || !port_->facts().write_cache);
    if (c.kind == Kind::flush) initial_at_risk_ = initial_at_risk_ && flush_failed_;
    if (c.kind == Kind::flush)
        map_.end_flush(s.begun);
    else if (c.kind == Kind::read)
        check_read(s);
    else
        for (const Part& p : s.parts) map_.end(p.unit, p.begun, forced);
}

/// A drive that is read-only, as its flash fails, refuses what changes data, and may have given up what was not
/// durable. Whose pages are lost, it says so to who reads them; others than that it does not say.
bool CaseHost::may_fail(const Slot& s, CaseEnd end) {
    const CaseCommand& c = s.command;
    switch (end) {
        case CaseEnd::refused:
            return is_read_only_() && changes(c);
        case CaseEnd::write_fault:
            return is_read_only_() && (changes(c) || c.kind == Kind::flush);
        case CaseEnd::unrecovered:
            if (c.kind != Kind::read && !c.writes()) return false;
            if (drive_.loses_pages) {
                ++counts_.lost;
                return true;
            }
            return (is_read_only_() || was_read_only_) &&
                   std::any_of(s.parts.begin(), s.parts.end(), [this](const Part& p) {
                       return !map_.is_durable(p.unit) || (initial_at_risk_ && map_.is_initial(p.unit));
                   });
        case CaseEnd::beyond:
            return c.kind == Kind::beyond;
        case CaseEnd::transfer:
            return ++transfers_failed_ <= counts_.broken;
        case CaseEnd::aborted:
            return true;
        case CaseEnd::good:
        case CaseEnd::other:
            break;
    }
    return false;
}

void CaseHost::failed(Slot& s, CaseEnd end, const std::string& status) {
    const CaseCommand& c = s.command;
    if (!may_fail(s, end))
        throw CheckFailed(std::string(DriveOp::kNames[static_cast<std::size_t>(c.kind)]) + " of " +
                          std::to_string(c.blocks) + " blocks at LBA " + std::to_string(c.lba) + " ended with " +
                          status + (is_read_only_() ? " of a read-only drive" : "") + what_is_known(s.parts));
    if (end == CaseEnd::aborted)
        ++counts_.aborted;
    else if (end == CaseEnd::beyond)
        ++counts_.beyond;
    else
        ++counts_.failed;
    if (c.kind == Kind::flush) flush_failed();
    if (c.kind == Kind::read) map_.end_read(s.begun);
    if (changes(c))
        for (const Part& p : s.parts)
            map_.give_up(p.unit, p.begun, !(end == CaseEnd::refused && s.read_only), port_->resets_end_commands());
}

void CaseHost::flush_failed() {
    map_.fail_flush();
    flush_failed_ = true;
}

/// Its end will not be heard of: it was done, or it was not.
void CaseHost::forget(Slot& s) {
    if (s.command.kind == Kind::read) map_.end_read(s.begun);
    if (changes(s.command))
        for (const Part& p : s.parts) map_.give_up(p.unit, p.begun, true, port_->resets_end_commands());
}

std::string CaseHost::what_is_known(const std::vector<Part>& parts) const {
    std::string known;
    for (const Part& p : parts)
        known += "\nunit " + std::to_string(p.unit) + (map_.is_durable(p.unit) ? ", durable: " : ": ") +
                 map_.describe(p.unit);
    return known;
}

void CaseHost::check_read(Slot& s) {
    const std::uint32_t per_unit = blocks_per_unit();
    std::uint64_t lba = s.command.lba;
    for (const Part& p : s.parts) {
        ReferenceMap::Image found;
        std::string wrong;
        for (const std::uint64_t end = std::min((p.unit + 1) * per_unit, s.command.lba + s.command.blocks);
             lba < end && wrong.empty(); ++lba) {
            found.push_back(contents_.read(lba, s.data + (lba - s.command.lba) * drive_.lba_bytes, wrong));
            if (!drive_.bytes && found.back() != found.front())
                wrong = "LBA " + std::to_string(lba) + " has version " + std::to_string(found.back()) +
                        ", others of its unit " + std::to_string(found.front());
        }
        if (!drive_.bytes) found.resize(1);
        if (wrong.empty())
            wrong = map_.read(p.unit, p.first, found, s.begun);
        else
            wrong += "; unit " + std::to_string(p.unit) + ": " + map_.describe(p.unit);
        if (!wrong.empty())
            throw CheckFailed(
                (stage_ == Stage::works ? "operation before line " + std::to_string(next_ + 1) : std::string("look")) +
                ": " + wrong);
        ++counts_.looked_at;
    }
    map_.end_read(s.begun);
}

}  // namespace ssdtlm
