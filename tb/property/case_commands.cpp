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

bool is_zeroes(Kind k) {
    return k == Kind::zeroes || k == Kind::forced_zeroes;
}
bool changes(Kind k) {
    return k == Kind::write || k == Kind::forced_write || k == Kind::trim || is_zeroes(k);
}
}  // namespace

/// The blocks of the command; 0: it was not submitted, something has to end before.
std::uint32_t CaseHost::submit(const DriveOp& op) {
    if (under_way_ == depth_ || !queue_[0].has_room()) return 0;
    Slot& s = slots_[queue_[0].next_cid()];
    const std::uint64_t per_unit = blocks_per_unit(), all = drive_.units * per_unit,
                        most = bring_up_.info().max_transfer_bytes / drive_.lba_bytes;
    s.kind = op.kind;
    s.lba = op.unit % drive_.units * per_unit;
    std::uint64_t blocks = std::max(1u, op.blocks);
    if (op.kind == Kind::trim || is_zeroes(op.kind)) {
        blocks = blocks * per_unit + (op.kind == Kind::trim ? op.block % per_unit : 0);
    } else {
        s.lba += op.block % per_unit;
        blocks = std::min(blocks, most);
    }
    s.blocks = op.kind == Kind::flush ? 0 : static_cast<std::uint32_t>(std::min(blocks, all - s.lba));
    s.parts.clear();
    s.ranges.clear();
    if (op.kind == Kind::trim) {
        for (std::uint64_t r = 0; r <= op.again; ++r) {
            const std::uint64_t from = (op.unit + kApart * r) % drive_.units * per_unit;
            s.ranges.push_back({0, static_cast<std::uint32_t>(std::min(blocks, all - from)), from});
            touch(s, from, s.ranges.back().blocks);
        }
    } else {
        touch(s, s.lba, s.blocks);
    }
    if (changes(op.kind) && too_many_there(s)) return 0;
    s.read_only = is_read_only_();
    write_sqe(s);
    ++under_way_;
    s.busy = true;
    return std::max(1u, s.blocks);
}

/// Of units that are covered in part a deallocation leaves what there is.
void CaseHost::touch(Slot& s, std::uint64_t lba, std::uint64_t blocks) const {
    const std::uint64_t per_unit = blocks_per_unit();
    for (std::uint64_t at = lba; at < lba + blocks;) {
        const std::uint64_t unit = at / per_unit, end = std::min((unit + 1) * per_unit, lba + blocks);
        if (s.kind != Kind::trim || end - at == per_unit)
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
            others += o.busy && changes(o.kind) &&
                      std::any_of(o.parts.begin(), o.parts.end(), [&](const Part& p) { return p.unit == part.unit; });
        if (others >= kMostThere) return true;
    }
    return false;
}

void CaseHost::write_sqe(Slot& s) {
    nvme::Sqe& sqe = queue_[0].take_entry();
    sqe.nsid = bring_up_.info().namespaces.front().nsid;
    ReferenceMap::Value value = 0;
    const auto bytes = s.kind == Kind::trim ? static_cast<std::uint32_t>(s.ranges.size() * sizeof(nvme::DsmRange))
                       : is_zeroes(s.kind)  ? 0
                                            : s.blocks * drive_.lba_bytes;
    if (bytes != 0) {
        s.buffer.reserve(memory_, bytes, config_.page_bytes, config_.buffer_offset);
        const PrpPair prp = build_prp(memory_, config_.page_bytes, s.buffer.address, bytes, s.buffer.lists);
        sqe.prp1 = prp.prp1;
        sqe.prp2 = prp.prp2;
    }
    if (s.kind == Kind::trim) {
        sqe.opc = nvme::kIoDatasetMgmt;
        sqe.cdw10 = static_cast<std::uint32_t>(s.ranges.size() - 1);
        sqe.cdw11 = nvme::kDsmDeallocate;
        for (std::size_t r = 0; r < s.ranges.size(); ++r)
            nvme::store(s.buffer.data + r * sizeof(nvme::DsmRange), s.ranges[r]);
    } else if (s.kind == Kind::flush) {
        sqe.opc = nvme::kIoFlush;
        s.begun = map_.begin_flush();
    } else {
        sqe.opc = s.kind == Kind::read ? nvme::kIoRead : is_zeroes(s.kind) ? nvme::kIoWriteZeroes : nvme::kIoWrite;
        sqe.set_slba(s.lba);
        sqe.cdw12 =
            (s.blocks - 1) | (s.kind == Kind::forced_write || s.kind == Kind::forced_zeroes ? nvme::kRwFua : 0u);
    }
    if (s.kind == Kind::write || s.kind == Kind::forced_write) {
        value = contents_.next([&](ReferenceMap::Value v) {
            return std::any_of(s.parts.begin(), s.parts.end(), [&](const Part& p) { return map_.knows(p.unit, v); });
        });
        for (std::uint32_t b = 0; b < s.blocks; ++b)
            contents_.write(s.lba + b, value, s.buffer.data + std::size_t{b} * drive_.lba_bytes);
    } else if (s.kind == Kind::read) {
        for (std::uint32_t b = 0; b < s.blocks; ++b) contents_.spoil(s.buffer.data + std::size_t{b} * drive_.lba_bytes);
        s.begun = map_.begin_read();
    }
    if (changes(s.kind))
        for (Part& p : s.parts) p.begun = map_.begin(p.unit, p.first, p.blocks, value);
}

void CaseHost::take_completions() {
    bool any = false;
    while (queue_[0].has_completion()) {
        const nvme::Cqe& cqe = queue_[0].take_completion();
        completed(slots_[cqe.cid], cqe);
        any = true;
    }
    if (!any) return;
    write32(nvme::cq_head_doorbell(1), queue_[0].head());
    go_on(0);
}

void CaseHost::completed(Slot& s, const nvme::Cqe& cqe) {
    ++commands_;
    --under_way_;
    s.busy = false;
    if (cqe.status() != nvme::kStSuccess) return failed(s, cqe.status());
    const bool forced = s.kind == Kind::forced_write || s.kind == Kind::forced_zeroes ||
                        (s.kind == Kind::trim ? drive_.durable_trims : drive_.durable_writes);
    if (s.kind == Kind::flush) initial_at_risk_ = initial_at_risk_ && flush_failed_;
    if (s.kind == Kind::flush)
        map_.end_flush(s.begun);
    else if (s.kind == Kind::read)
        check_read(s);
    else
        for (const Part& p : s.parts) map_.end(p.unit, p.begun, forced);
}

/// A drive that is read-only, as its flash fails, refuses what changes data, and may have given up what was not
/// durable. Whose pages are lost, it says so to who reads them; others than that it does not say.
void CaseHost::failed(Slot& s, std::uint16_t status) {
    const bool refused = status == nvme::kStReadOnlyRange && changes(s.kind);
    const bool given_up = status == nvme::kStWriteFault && (changes(s.kind) || s.kind == Kind::flush);
    bool lost = status == nvme::kStUnrecoveredRead &&
                (s.kind == Kind::read || s.kind == Kind::write || s.kind == Kind::forced_write);
    const bool page_lost = lost && drive_.loses_pages;
    counts_.lost += page_lost;
    if (lost)
        lost = std::any_of(s.parts.begin(), s.parts.end(), [this](const Part& p) {
            return !map_.is_durable(p.unit) || (initial_at_risk_ && map_.is_initial(p.unit));
        });
    if (!page_lost && !(is_read_only_() ? refused || given_up || lost : lost && was_read_only_))
        throw CheckFailed(std::string(DriveOp::kNames[static_cast<std::size_t>(s.kind)]) + " of " +
                          std::to_string(s.blocks) + " blocks at LBA " + std::to_string(s.lba) +
                          " ended with status SCT " + std::to_string(status >> 8) + " SC " +
                          std::to_string(status & 0xFF) + (is_read_only_() ? " of a read-only drive" : "") +
                          what_is_known(s.parts));
    ++counts_.failed;
    if (s.kind == Kind::flush) {
        map_.fail_flush();
        flush_failed_ = true;
    }
    if (s.kind == Kind::read) map_.end_read(s.begun);
    if (changes(s.kind))
        for (const Part& p : s.parts) map_.give_up(p.unit, p.begun, !(refused && s.read_only));
}

/// Its end will not be heard of: it was done, or it was not.
void CaseHost::forget(Slot& s) {
    if (s.kind == Kind::read) map_.end_read(s.begun);
    if (changes(s.kind))
        for (const Part& p : s.parts) map_.give_up(p.unit, p.begun, true);
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
    std::uint64_t lba = s.lba;
    for (const Part& p : s.parts) {
        ReferenceMap::Image found;
        std::string wrong;
        for (const std::uint64_t end = std::min((p.unit + 1) * per_unit, s.lba + s.blocks); lba < end && wrong.empty();
             ++lba) {
            found.push_back(contents_.read(lba, s.buffer.data + (lba - s.lba) * drive_.lba_bytes, wrong));
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
