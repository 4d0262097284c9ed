// SPDX-License-Identifier: Apache-2.0
// Of the host of a case: its commands, what they mean to the reference map, and how they may end.
#include <algorithm>

#include "common/report/error.h"
#include "property/case_host.h"

namespace ssdtlm {

namespace {
using Kind = DriveOp::Kind;
constexpr std::uint32_t kApart = 3;  // units, the ranges of a deallocation
constexpr std::uint64_t kMostVerified = 65'536;
constexpr std::uint32_t kMostThere =
    4;  // operations on one unit under way together: the reference map tries out their orders

bool changes(const CaseCommand& c) {
    return c.writes() || c.is_zeroes() || c.kind == Kind::trim || c.kind == Kind::copy || c.kind == Kind::uncorrectable;
}
}  // namespace

/// The blocks of the command; 0: it was not submitted, something has to end before.
std::uint32_t CaseHost::submit(const DriveOp& op, bool is_piece) {
    CaseCommand command;
    command.kind = op.kind;
    command.dma = op.dma;
    const bool is_pair = op.kind == Kind::compare_write && depth_ > 1;
    if (under_way_ + pair_reads_ + is_pair >= depth_ || !port_->has_room(command)) return 0;
    const std::uint32_t slot = port_->next_slot();
    Slot& s = slots_[slot];
    CaseCommand& c = s.command;
    const std::uint64_t per_unit = blocks_per_unit(), all = drive_.units * per_unit, most = port_->facts().most_blocks;
    c = command;
    s.then = DriveOp{};
    s.held.clear();
    s.has_others = false;
    s.is_piece = is_piece;
    if (op.kind == Kind::compare || op.kind == Kind::copy || op.kind == Kind::compare_write) {
        c.kind = Kind::read;  // first, of what is there
        s.then = op;
        if ((op.kind == Kind::copy && !drive_.bytes) || (op.kind == Kind::compare_write && !is_pair))
            s.then.kind = Kind::compare;
    }
    // A signature stands for a unit, of which a part cannot be unreadable.
    if (op.kind == Kind::uncorrectable && !drive_.bytes) c.kind = Kind::verify;
    c.lba = op.unit % drive_.units * per_unit;
    std::uint64_t blocks = std::max(1u, op.blocks);
    if (op.kind == Kind::trim || c.is_zeroes()) {
        blocks = blocks * per_unit + (op.kind == Kind::trim ? op.block % per_unit : 0);
    } else {
        c.lba += op.block % per_unit;
        blocks = c.kind == Kind::verify && op.again != 0 ? kMostVerified : std::min(blocks, most);
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
    if (changes(c) && (too_many_there(s) || is_held(s.parts))) return 0;
    if (s.then.kind != Kind::read) {
        if (changes_there(s.parts)) return 0;
        s.held = s.parts;
    }
    s.read_only = is_read_only_();
    if (c.blocks != 0 && !c.is_zeroes() && c.kind != Kind::trim && c.kind != Kind::verify &&
        c.kind != Kind::uncorrectable)
        give_room(s, slot);
    begin(s);
    port_->submit(slot, c);
    pair_reads_ += s.then.kind == Kind::compare_write;
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

bool CaseHost::is_held(const std::vector<Part>& parts) const {
    return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& o) {
        return o.busy && std::any_of(o.held.begin(), o.held.end(), [&](const Part& h) {
                   return std::any_of(parts.begin(), parts.end(), [&](const Part& p) { return p.unit == h.unit; });
               });
    });
}

bool CaseHost::changes_there(const std::vector<Part>& parts) const {
    return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& o) {
        return o.busy && changes(o.command) && std::any_of(o.parts.begin(), o.parts.end(), [&](const Part& h) {
                   return std::any_of(parts.begin(), parts.end(), [&](const Part& p) { return p.unit == h.unit; });
               });
    });
}

/// The read has found what is there, and nothing has changed it since: that is compared, or copied elsewhere.
void CaseHost::go_on_with(const Slot& read) {
    const CaseCommand& found = read.command;
    CaseCommand c = found;
    const bool is_pair = read.then.kind == Kind::compare_write;
    c.kind = is_pair ? Kind::compare : read.then.kind;
    c.fuse = is_pair ? 1 : 0;
    const std::uint64_t all = drive_.units * blocks_per_unit();
    if (!serves_ || !port_->has_room(c)) return;
    // The write of a pair changes what others still compare or copy.
    if (is_pair && is_held(read.held)) return;
    ReferenceMap::Value value = 0;
    if (c.kind == Kind::copy) {
        std::string wrong;
        c.source = found.lba;
        c.lba = (found.lba + std::uint64_t{1 + read.then.us} * blocks_per_unit() + read.then.us % 3) % all;
        const ReferenceMap::Value source = value = contents_.read(c.source, read.data, wrong);
        c.blocks = 1;  // as many as are of one write
        while (c.blocks < found.blocks && c.lba + c.blocks < all &&
               contents_.read(c.source + c.blocks, read.data + std::size_t{c.blocks} * drive_.lba_bytes, wrong) ==
                   value)
            ++c.blocks;
        value = contents_.copied(value, static_cast<std::int64_t>(c.lba) - static_cast<std::int64_t>(c.source));
        protect_copy(c, source, value);
    }
    const std::vector<Part> held = read.held;
    const std::vector<std::uint8_t> data(read.data, read.data + std::size_t{found.blocks} * drive_.lba_bytes);
    const std::uint32_t metadata_bytes = port_->facts().metadata.bytes;
    const std::vector<std::uint8_t> metadata(read.metadata, read.metadata + std::size_t{found.blocks} * metadata_bytes);
    const bool others = read.then.us % 2 != 0;
    const std::uint32_t slot = port_->next_slot();
    Slot& s = slots_[slot];
    s.command = c;
    s.then = DriveOp{};
    s.parts.clear();
    s.held = held;
    s.has_others = c.kind == Kind::compare && others;
    s.is_piece = false;
    s.read_only = is_read_only_();
    if (c.kind == Kind::copy) {
        touch(s, c.lba, c.blocks);
        if (is_held(s.parts) || too_many_there(s) || std::any_of(s.parts.begin(), s.parts.end(), [&](const Part& p) {
                return std::any_of(held.begin(), held.end(), [&](const Part& h) { return h.unit == p.unit; });
            }))
            return;
        ++counts_.copies;
        for (Part& p : s.parts) p.begun = map_.begin(p.unit, p.first, p.blocks, value);
    } else {
        ++counts_.compares;
        s.parts = held;
        give_room(s, slot);
        std::copy(data.begin(), data.end(), s.data);
        std::copy(metadata.begin(), metadata.end(), s.metadata);
        if (others && !metadata.empty() && read.then.us % 4 == 1)
            s.metadata[read.then.us % metadata.size()] ^= 1;
        else if (others)
            s.data[drive_.bytes ? read.then.us % data.size() : 0] ^= 1;
        protect(s, 0);
    }
    port_->submit(slot, s.command);
    ++under_way_;
    s.busy = true;
    if (is_pair) submit_second(slot);
}

/// The write of a fused pair.
void CaseHost::submit_second(std::uint32_t first) {
    CaseCommand c = slots_[first].command;
    if (!port_->has_room(c)) throw CheckFailed("a queue with room for a pair takes only its first command");
    c.kind = Kind::write;
    c.fuse = 2;
    const std::uint32_t slot = slots_[first].second = port_->next_slot();
    Slot& s = slots_[slot];
    s.command = c;
    s.then = DriveOp{};
    s.parts = slots_[first].parts;
    s.held.clear();
    s.has_others = s.is_piece = false;
    s.read_only = is_read_only_();
    give_room(s, slot);
    begin(s);
    port_->submit(slot, s.command);
    ++counts_.pairs;
    ++under_way_;
    s.busy = true;
}

/// Format NVM or Sanitize, with nothing beside it.
void CaseHost::erase(const DriveOp& op) {
    waits_ = true;
    erasure_goes_on();
    port_->erase(op.us, [this](Erasure end) {
        erasure_ended(end);
        waits_ = false;
        agenda_.post(agenda_.now(), Then::to<&CaseHost::go_on>(this, 0));
    });
}

void CaseHost::erasure_goes_on() {
    for (std::uint64_t u = 0; u < drive_.units; ++u) erasing_.push_back(map_.begin_erasure(u));
}

/// What has failed may have erased any of the blocks.
void CaseHost::erasure_ended(Erasure end) {
    const bool read_only = is_read_only_() || was_read_only_;
    if (end == Erasure::failed && !read_only) throw CheckFailed("the drive was not erased");
    const bool well = end == Erasure::done || (end == Erasure::over && !read_only);
    for (std::uint64_t u = 0; u < drive_.units; ++u) {
        if (well)
            map_.end(u, erasing_[u], true);
        else
            map_.give_up(u, erasing_[u], end != Erasure::not_begun, true);
    }
    erasing_.clear();
    if (well) initial_at_risk_ = initial_at_risk_ && flush_failed_;
    counts_.erased += well;
}

/// A reset has come, and the host does not hear of the end of Format NVM or Sanitize. It was done before the reset, or
/// it goes on as a new one, which erasure_goes_on() begins.
void CaseHost::forget_erasure() {
    if (erasing_.empty()) return;
    ++counts_.resets_in_erasure;
    for (std::uint64_t u = 0; u < drive_.units; ++u) map_.give_up(u, erasing_[u], true, true);
    erasing_.clear();
    waits_ = false;
}

void CaseHost::begin(Slot& s) {
    const CaseCommand& c = s.command;
    ReferenceMap::Value value = 0;
    if (c.kind == Kind::flush) s.begun = map_.begin_flush();
    if (c.kind == Kind::uncorrectable) value = ReferenceMap::kUnreadable;
    if (c.writes()) {
        value = contents_.next([&](ReferenceMap::Value v) {
            return std::any_of(s.parts.begin(), s.parts.end(), [&](const Part& p) { return map_.knows(p.unit, v); });
        });
        for (std::uint32_t b = 0; b < c.blocks; ++b)
            contents_.write(c.lba + b, value, s.data + std::size_t{b} * drive_.lba_bytes);
        store_metadata(s, value);
    } else if (c.kind == Kind::read) {
        for (std::uint32_t b = 0; b < c.blocks; ++b) contents_.spoil(s.data + std::size_t{b} * drive_.lba_bytes);
        s.begun = map_.begin_read();
    }
    protect(s, value);
    if (changes(c))
        for (Part& p : s.parts) p.begun = map_.begin(p.unit, p.first, p.blocks, value, c.kind == Kind::trim);
}

void CaseHost::command_ended(std::uint32_t slot, CaseEnd end, const std::string& status) {
    Slot& s = slots_.at(slot);
    if (!s.busy) throw CheckFailed("a command has ended that is not under way, slot " + std::to_string(slot));
    --under_way_;
    s.busy = false;
    pair_reads_ -= s.then.kind == Kind::compare_write;
    if (s.command.fuse == 1 && end != CaseEnd::good) slots_[s.second].has_others = true;
    if (s.command.fuse == 2 && s.has_others && end == CaseEnd::good)
        throw CheckFailed("the write of a pair was done though its compare has failed" + what_is_known(s.parts));
    if (s.has_others && s.command.kind == Kind::compare) {
        if (end == CaseEnd::good) throw CheckFailed("other data are said to be equal" + what_is_known(s.parts));
        if (end == CaseEnd::differs || (end == CaseEnd::guard && checks_guards(s))) return;
    }
    if (s.has_wrong_guard && end == CaseEnd::good)
        throw CheckFailed("blocks with a wrong guard were written" + what_is_known(s.parts));
    end == CaseEnd::good ? ended_well(s) : failed(s, end, status);
    if (end == CaseEnd::good && s.then.kind != Kind::read) go_on_with(s);
}

void CaseHost::ended_well(Slot& s) {
    const CaseCommand& c = s.command;
    if (c.kind == Kind::beyond) throw CheckFailed("blocks behind the last one were read or written");
    const bool forced = c.is_forced() || (c.kind == Kind::trim ? drive_.durable_trims
                                                               : drive_.durable_writes || !port_->facts().write_cache);
    if (c.kind == Kind::flush) initial_at_risk_ = initial_at_risk_ && flush_failed_;
    // Blocks stay unreadable over a loss of power, whatever it leaves of the others of their unit. So those of a part
    // of it make nothing else durable, such as a deallocation before.
    const auto is_durable = [&](const Part& p) {
        return forced && (c.kind != Kind::uncorrectable || p.blocks == map_.atoms());
    };
    if (c.kind == Kind::flush)
        map_.end_flush(s.begun);
    else if (c.kind == Kind::read)
        check_read(s);
    else if (changes(c))
        for (const Part& p : s.parts) map_.end(p.unit, p.begun, is_durable(p));
}

/// Some of the blocks may have been made unreadable.
bool CaseHost::may_be_unreadable(const Slot& s) const {
    return std::any_of(s.parts.begin(), s.parts.end(),
                       [this](const Part& p) { return map_.knows(p.unit, ReferenceMap::kUnreadable); });
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
            if (!changes(c) && may_be_unreadable(s)) {
                ++counts_.unreadable;
                return true;
            }
            if (changes(c) && !c.writes() && c.kind != Kind::copy) return false;
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
        case CaseEnd::unfused:
            return c.fuse == 2 && s.has_others;
        case CaseEnd::guard:
            counts_.wrong_guards += s.has_wrong_guard;
            return s.has_wrong_guard;
        case CaseEnd::reference:
            counts_.other_references += tags_copied_;
            return tags_copied_ && (c.protection.checks & CaseProtection::kReference) != 0;
        case CaseEnd::good:
        case CaseEnd::differs:
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
    if (s.is_piece) {
        // It may have been written, and the flash has lost that.
        const Part& p = s.parts[0];
        const bool may_be_lost = drive_.loses_pages || is_read_only_() || was_read_only_;
        piece_ended(s, ReferenceMap::kUnreadable,
                    may_be_lost ? !map_.must_be_unreadable(p.unit, p.first) : !map_.may_be_unreadable(p.unit, p.first));
    }
    if (changes(c))
        for (const Part& p : s.parts)
            map_.give_up(p.unit, p.begun, !(end == CaseEnd::refused && s.read_only) && end != CaseEnd::unfused,
                         port_->resets_end_commands());
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

/// When the last block of the unit has been read, the whole unit is what was found.
void CaseHost::piece_ended(const Slot& s, ReferenceMap::Value found, bool lost) {
    const Part& p = s.parts[0];
    pieces_->found[p.first] = found;
    pieces_->lost = pieces_->lost || lost;
    if (--pieces_->to_end != 0) return;
    const std::string wrong = pieces_->lost ? "" : map_.read(p.unit, 0, pieces_->found, pieces_->begun);
    if (!wrong.empty()) throw CheckFailed("look, block by block: " + wrong);
    counts_.looked_at += !pieces_->lost;
    map_.end_read(pieces_->begun);
    pieces_.reset();
    ++look_at_;
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
            if (wrong.empty()) wrong = check_metadata(s, lba, found.back());
            if (!drive_.bytes && found.back() != found.front())
                wrong = "LBA " + std::to_string(lba) + " has version " + std::to_string(found.back()) +
                        ", others of its unit " + std::to_string(found.front());
        }
        if (!drive_.bytes) found.resize(1);
        if (wrong.empty() && s.is_piece)
            piece_ended(s, found.front(), false);
        else if (wrong.empty())
            wrong = map_.read(p.unit, p.first, found, s.begun);
        else
            wrong += "; unit " + std::to_string(p.unit) + ": " + map_.describe(p.unit);
        if (!wrong.empty())
            throw CheckFailed(
                (stage_ == Stage::works ? "operation before line " + std::to_string(next_ + 1) : std::string("look")) +
                ": " + wrong);
        counts_.looked_at += !s.is_piece;
    }
    map_.end_read(s.begun);
}

}  // namespace ssdtlm
