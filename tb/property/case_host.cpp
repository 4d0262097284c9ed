// SPDX-License-Identifier: Apache-2.0
#include "property/case_host.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
using Kind = DriveOp::Kind;

std::uint32_t atoms_of(const CaseHost::Drive& d) {
    return d.bytes ? d.unit_bytes / d.lba_bytes : 1;
}
}  // namespace

CaseHost::CaseHost(Agenda& agenda, const Drive& drive, std::uint32_t depth, const std::vector<DriveOp>& ops)
    : agenda_(agenda),
      drive_(drive),
      depth_(depth),
      ops_(ops),
      contents_(drive.bytes, drive.lba_bytes, std::min(drive.version_bits, 6u), drive.seed),
      map_(drive.units, atoms_of(drive), drive.filled, BlockContents::kInitial),
      initial_at_risk_(drive.caches_filled) {}

void CaseHost::start() {
    agenda_.in_step();
    agenda_.post(agenda_.now(), Then::to<&CaseHost::bring_up>(this));
}

// ---------------------------------------------------------------------------------------------------------------
// Up, down, resets and power.

void CaseHost::bring_up() {
    port_->start([this] { started(); });
}

void CaseHost::started() {
    if (slots_.empty()) {
        if (port_->facts().blocks < drive_.units * blocks_per_unit())
            throw CheckFailed("the drive has " + std::to_string(port_->facts().blocks) + " blocks");
        slots_.resize(port_->facts().slots);
    }
    if (stage_ == Stage::starts) stage_ = Stage::works;
    if (cuts_left_ != 0) {  // the power was to go in the search, which has ended before
        agenda_.cancel(timer_);
        cuts_left_ = 0;
    }
    cut_by_ = nullptr;
    serves_ = true;
    go_on(0);
}

/// Of what was under way, only that has ended whose completion is there.
void CaseHost::drop_commands() {
    port_->drop();
    if (pieces_) {
        map_.end_read(pieces_->begun);
        pieces_.reset();
    }
    for (Slot& s : slots_) {
        if (s.busy) forget(s);
        counts_.cut_off += s.busy;
        s.busy = false;
    }
    under_way_ = pair_reads_ = 0;
}

void CaseHost::reset() {
    counts_.resets_under_load += under_way_ != 0;
    serves_ = false;
    port_->reset(
        cut_by_->again,
        [this] {
            drop_commands();
            forget_erasure();
            if (cut_by_->look) {
                stage_ = Stage::looks;
                look_at_ = 0;
            }
        },
        [this] { started(); });
}

void CaseHost::cut_power() {
    ++counts_.cuts;
    counts_.under_load += under_way_ != 0;
    counts_.in_erasure += !erasing_.empty();
    erasing_.clear();
    drop_commands();
    powered_ = serves_ = waits_ = false;
    agenda_.cancel(pause_);
    if (is_read_only_()) {  // no flush of a later life tells what it has given up
        was_read_only_ = flush_failed_ = true;
        map_.fail_flush();
    }
    port_->power_lost();
    power_switch_(false);
    map_.power_lost();
    if (cuts_left_ == 0) {
        cuts_left_ = cut_by_->again + 1;
        if (cut_by_->look) {
            stage_ = Stage::looks;
            look_at_ = 0;
        }
    }
    --cuts_left_;
    agenda_.post(agenda_.now() + kOff, Then::to<&CaseHost::power_returns>(this));
}

void CaseHost::power_returns() {
    power_waits_ = !power_switch_(true);
    if (power_waits_) return;
    powered_ = true;
    if (cuts_left_ != 0)
        timer_ = agenda_.post_cancellable(agenda_.now() + Ps{std::int64_t{1'000'000} * cut_by_->us},
                                          Then::to<&CaseHost::cut_power>(this));
    bring_up();
}

// ---------------------------------------------------------------------------------------------------------------
// What is to be done.

void CaseHost::wait(Ps time) {
    waits_ = true;
    pause_ = agenda_.post_cancellable(agenda_.now() + time, Then::to<&CaseHost::go_on>(this, 1));
}

void CaseHost::go_on(std::uint64_t waited) {
    if (waited != 0) waits_ = false;
    if (going_on_ || !serves_) return;
    going_on_ = true;
    while (!waits_ && !ended_) {
        if (stage_ == Stage::looks || stage_ == Stage::last_look) {
            if (next_look()) continue;
            if (under_way_ != 0 || look_at_ < drive_.units) break;
            if (stage_ == Stage::looks) {
                stage_ = Stage::works;
                continue;
            }
            stage_ = Stage::ends;
        }
        if (stage_ == Stage::ends) {
            ended_ = true;
            port_->shutdown([this] {
                shut_down_ = true;
                on_end_();
            });
            break;
        }
        if (!next_op()) break;
    }
    port_->announce();
    going_on_ = false;
}

/// False: not now.
bool CaseHost::next_op() {
    if (next_ >= ops_.size()) {
        if (under_way_ != 0 || cut_by_ != nullptr) return false;
        stage_ = Stage::last_look;
        look_at_ = 0;
        return true;
    }
    const DriveOp& op = ops_[next_];
    switch (op.kind) {
        case Kind::pause:
            wait(Ps{std::int64_t{1'000'000} * op.us + 1});
            break;
        case Kind::drain:
            if (under_way_ != 0) return false;
            break;
        case Kind::cut:  // in what follows
            if (cut_by_ != nullptr) return false;
            cut_by_ = &op;
            agenda_.post(agenda_.now() + Ps{std::int64_t{1'000'000} * op.us}, Then::to<&CaseHost::cut_power>(this));
            break;
        case Kind::reset:
            if (cut_by_ != nullptr) return false;
            cut_by_ = &op;
            agenda_.post(agenda_.now() + Ps{std::int64_t{1'000'000} * op.us}, Then::to<&CaseHost::reset>(this));
            break;
        case Kind::off: {
            if (under_way_ != 0 || cut_by_ != nullptr) return false;
            cut_by_ = &op;
            waits_ = true;
            const ReferenceMap::Moment flush = map_.begin_flush();
            port_->stop([this, flush] {
                if (!is_read_only_()) map_.end_flush(flush);  // else it may have found no page
                agenda_.post(agenda_.now(), Then::to<&CaseHost::cut_power>(this));
            });
            break;
        }
        case Kind::format:
            if (under_way_ != 0 || (cut_by_ != nullptr && cut_by_->kind != Kind::cut && cut_by_->kind != Kind::reset))
                return false;
            erase(op);
            break;
        case Kind::broken_frame:
            ++counts_.broken;
            port_->break_frame(std::max(1u, op.blocks));
            break;
        default:
            if (submit(op) == 0) return false;
    }
    ++counts_.done[static_cast<std::size_t>(op.kind)];
    ++next_;
    return true;
}

/// A read of the next whole units.
bool CaseHost::next_look() {
    if (look_at_ >= drive_.units) return false;
    if (pieces_ || any_unreadable(look_at_)) return next_piece();
    std::uint32_t units = 1;
    while (units < 1 + look_at_ % 3 && !any_unreadable(look_at_ + units)) ++units;
    DriveOp op;
    op.unit = static_cast<std::uint32_t>(look_at_);
    op.blocks = blocks_per_unit() * units;
    const std::uint32_t blocks = submit(op);
    look_at_ += blocks / blocks_per_unit();
    return blocks != 0;
}

bool CaseHost::any_unreadable(std::uint64_t unit) const {
    return drive_.bytes && map_.knows(unit, ReferenceMap::kUnreadable);
}

/// A read of the next block of a unit, of which some cannot be read.
bool CaseHost::next_piece() {
    const std::uint32_t per_unit = blocks_per_unit();
    if (!pieces_) {
        pieces_.emplace();
        pieces_->to_end = per_unit;
        pieces_->found.resize(per_unit);
        pieces_->begun = map_.begin_read();
    }
    if (pieces_->next == per_unit) return false;
    DriveOp op;
    op.unit = static_cast<std::uint32_t>(look_at_);
    op.block = pieces_->next;
    if (submit(op, true) == 0) return false;
    ++pieces_->next;
    return true;
}

std::string CaseHost::where() const {
    return "operation " + std::to_string(next_) + " of " + std::to_string(ops_.size()) + ", " +
           std::to_string(under_way_) + " commands under way, unit " + std::to_string(look_at_) + " looked at, " +
           (powered_ ? port_->doing() : "no power") + (ended_ ? shut_down_ ? ", shut down" : ", shutting down" : "");
}

}  // namespace ssdtlm
