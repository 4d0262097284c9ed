// SPDX-License-Identifier: Apache-2.0
#include "property/case_host.h"

#include <algorithm>

#include "common/report/error.h"
#include "protocol/nvme.h"

namespace ssdtlm {

namespace {
using Kind = DriveOp::Kind;
constexpr std::uint32_t kApart = 3;      // units, the ranges of a deallocation
constexpr std::uint32_t kMostThere = 4;  // operations on one unit under way together: the reference map tries out their orders

HostConfig with_one_queue(HostConfig c, std::uint32_t depth) {
    c.queue_pairs = 1;
    c.queue_entries = depth + 1;
    return c;
}
std::uint32_t atoms_of(const CaseHost::Drive& d) { return d.bytes ? d.unit_bytes / d.lba_bytes : 1; }
bool is_zeroes(Kind k) { return k == Kind::zeroes || k == Kind::forced_zeroes; }
bool changes(Kind k) { return k == Kind::write || k == Kind::forced_write || k == Kind::trim || is_zeroes(k); }
}  // namespace

CaseHost::CaseHost(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& config, const Drive& drive, std::uint32_t depth, const std::vector<DriveOp>& ops)
    : sc_module(name),
      mmio_initiator("mmio_initiator"),
      agenda_(agenda),
      config_(with_one_queue(config, depth)),
      drive_(drive),
      depth_(depth),
      ops_(ops),
      door_(agenda, *this),
      root_complex_("root_complex", agenda, memory_, this),
      plan_(config_, one_job_),
      bring_up_(agenda, memory_, config_, plan_, *this),
      contents_(drive.bytes, drive.lba_bytes, std::min(drive.version_bits, 6u), drive.seed),
      map_(drive.units, atoms_of(drive), drive.filled, BlockContents::kInitial) {
    mmio_initiator.bind(door_);
}

void CaseHost::start() {
    agenda_.in_step();
    agenda_.post<&CaseHost::bring_up>(agenda_.now(), this);
}

// ---------------------------------------------------------------------------------------------------------------
// Registers, interrupts and power.

void CaseHost::access(tlm::tlm_command command, std::uint32_t offset, std::uint32_t value, MmioClient* client) {
    Access& a = accesses_.acquire();
    a.value = value;
    a.client = client;
    a.set_command(command);
    a.set_address(offset);
    a.set_dmi_allowed(false);
    a.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    if (registers_->nb_transport_fw(a, phase, delay) != tlm::TLM_COMPLETED) return;
    if (client == nullptr) return access_done(a);
    agenda_.post<&CaseHost::access_done_at_once>(agenda_.now(), this, accesses_.handle_of(a).number());
}

void CaseHost::access_done(Access& a) {
    SSDTLM_CHECK(a.is_response_ok(), "register access failed");
    if (a.client != nullptr) a.client->mmio_read_done(a.value);
    accesses_.release(a);
}

void CaseHost::access_done_at_once(std::uint64_t number) {
    if (Access* const a = accesses_.find(number)) access_done(*a);
}

tlm::tlm_sync_enum CaseHost::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
    access_done(static_cast<Access&>(payload));
    return tlm::TLM_COMPLETED;
}

void CaseHost::interrupt(std::uint64_t, std::uint32_t data) {
    if (data == 0)
        agenda_.post<&CaseHost::admin_handler>(agenda_.now(), this);
    else if (!queue_.empty())
        take_completions();
}

void CaseHost::bring_up(std::uint64_t) {
    bring_up_.start([this] { started(); });
}

void CaseHost::started() {
    if (queue_.empty()) {
        queue_ = bring_up_.take_queues();
        if (bring_up_.info().blocks < drive_.units * blocks_per_unit()) throw CheckFailed("the namespace has " + std::to_string(bring_up_.info().blocks) + " blocks");
        slots_.resize(depth_);
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

void CaseHost::cut_power(std::uint64_t) {
    ++counts_.cuts;
    counts_.under_load += under_way_ != 0;
    if (!queue_.empty()) {
        while (queue_[0].has_completion()) {
            const nvme::Cqe& cqe = queue_[0].take_completion();
            completed(slots_[cqe.cid], cqe);
        }
        for (Slot& s : slots_) {
            counts_.cut_off += s.busy;
            s.busy = false;
        }
        queue_[0].reset();
        under_way_ = 0;
    }
    powered_ = serves_ = waits_ = false;
    bring_up_.power_lost();
    door_.restart();
    accesses_.take_all_back();
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
    agenda_.post<&CaseHost::power_returns>(agenda_.now() + kOff, this);
}

void CaseHost::power_returns(std::uint64_t) {
    powered_ = true;
    power_switch_(true);
    if (cuts_left_ != 0) timer_ = agenda_.post_cancellable<&CaseHost::cut_power>(agenda_.now() + Ps{std::int64_t{1'000'000} * cut_by_->us}, this);
    bring_up(0);
}

// ---------------------------------------------------------------------------------------------------------------
// What is to be done.

void CaseHost::wait(Ps time) {
    waits_ = true;
    agenda_.post<&CaseHost::go_on>(agenda_.now() + time, this, 1);
}

void CaseHost::go_on(std::uint64_t waited) {
    if (waited != 0) waits_ = false;
    if (going_on_ || !serves_) return;
    going_on_ = true;
    const std::uint32_t tail = queue_[0].tail();
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
            bring_up_.shutdown([this] {
                shut_down_ = true;
                on_end_();
            });
            break;
        }
        if (!next_op()) break;
    }
    if (queue_[0].tail() != tail) write32(nvme::sq_tail_doorbell(1), queue_[0].tail());
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
        case Kind::pause: wait(Ps{std::int64_t{1'000'000} * op.us + 1}); break;
        case Kind::drain:
            if (under_way_ != 0) return false;
            break;
        case Kind::cut:  // in what follows
            if (cut_by_ != nullptr) return false;
            cut_by_ = &op;
            agenda_.post<&CaseHost::cut_power>(agenda_.now() + Ps{std::int64_t{1'000'000} * op.us}, this);
            break;
        case Kind::off: {
            if (under_way_ != 0 || cut_by_ != nullptr) return false;
            cut_by_ = &op;
            waits_ = true;
            const ReferenceMap::Moment flush = map_.begin_flush();
            bring_up_.stop([this, flush] {
                map_.end_flush(flush);
                agenda_.post<&CaseHost::cut_power>(agenda_.now(), this);
            });
            break;
        }
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
    DriveOp op;
    op.unit = static_cast<std::uint32_t>(look_at_);
    op.blocks = blocks_per_unit() * (1 + static_cast<std::uint32_t>(look_at_ % 3));
    const std::uint32_t blocks = submit(op);
    look_at_ += blocks / blocks_per_unit();
    return blocks != 0;
}

// ---------------------------------------------------------------------------------------------------------------
// Commands.

/// The blocks of the command; 0: it was not submitted, something has to end before.
std::uint32_t CaseHost::submit(const DriveOp& op) {
    if (under_way_ == depth_ || !queue_[0].has_room()) return 0;
    Slot& s = slots_[queue_[0].next_cid()];
    const std::uint64_t per_unit = blocks_per_unit(), all = drive_.units * per_unit, most = bring_up_.info().max_transfer_bytes / drive_.lba_bytes;
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
            s.parts.push_back(drive_.bytes ? Part{unit, static_cast<std::uint32_t>(at % per_unit), static_cast<std::uint32_t>(end - at), 0} : Part{unit, 0, 1, 0});
        at = end;
    }
}

bool CaseHost::too_many_there(const Slot& s) const {
    for (const Part& part : s.parts) {
        std::uint32_t others = 0;
        for (const Slot& o : slots_)
            others += o.busy && changes(o.kind) && std::any_of(o.parts.begin(), o.parts.end(), [&](const Part& p) { return p.unit == part.unit; });
        if (others >= kMostThere) return true;
    }
    return false;
}

void CaseHost::write_sqe(Slot& s) {
    nvme::Sqe& sqe = queue_[0].take_entry();
    sqe.nsid = bring_up_.info().nsid;
    ReferenceMap::Value value = 0;
    const auto bytes = s.kind == Kind::trim ? static_cast<std::uint32_t>(s.ranges.size() * sizeof(nvme::DsmRange)) : is_zeroes(s.kind) ? 0 : s.blocks * drive_.lba_bytes;
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
        for (std::size_t r = 0; r < s.ranges.size(); ++r) nvme::store(s.buffer.data + r * sizeof(nvme::DsmRange), s.ranges[r]);
    } else if (s.kind == Kind::flush) {
        sqe.opc = nvme::kIoFlush;
        s.begun = map_.begin_flush();
    } else {
        sqe.opc = s.kind == Kind::read ? nvme::kIoRead : is_zeroes(s.kind) ? nvme::kIoWriteZeroes : nvme::kIoWrite;
        sqe.set_slba(s.lba);
        sqe.cdw12 = (s.blocks - 1) | (s.kind == Kind::forced_write || s.kind == Kind::forced_zeroes ? nvme::kRwFua : 0u);
    }
    if (s.kind == Kind::write || s.kind == Kind::forced_write) {
        value = contents_.next([&](ReferenceMap::Value v) {
            return std::any_of(s.parts.begin(), s.parts.end(), [&](const Part& p) { return map_.knows(p.unit, v); });
        });
        for (std::uint32_t b = 0; b < s.blocks; ++b) contents_.write(s.lba + b, value, s.buffer.data + std::size_t{b} * drive_.lba_bytes);
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
    if (cqe.status() != nvme::kStSuccess)
        throw CheckFailed(std::string(DriveOp::kNames[static_cast<std::size_t>(s.kind)]) + " of " + std::to_string(s.blocks) + " blocks at LBA " + std::to_string(s.lba) +
                          " ended with status SCT " + std::to_string(cqe.status() >> 8) + " SC " + std::to_string(cqe.status() & 0xFF));
    ++commands_;
    --under_way_;
    s.busy = false;
    const bool forced = s.kind == Kind::forced_write || s.kind == Kind::forced_zeroes || (drive_.durable_writes && s.kind != Kind::trim);
    if (s.kind == Kind::flush)
        map_.end_flush(s.begun);
    else if (s.kind == Kind::read)
        check_read(s);
    else
        for (const Part& p : s.parts) map_.end(p.unit, p.begun, forced);
}

void CaseHost::check_read(Slot& s) {
    const std::uint32_t per_unit = blocks_per_unit();
    std::uint64_t lba = s.lba;
    for (const Part& p : s.parts) {
        ReferenceMap::Image found;
        std::string wrong;
        for (const std::uint64_t end = std::min((p.unit + 1) * per_unit, s.lba + s.blocks); lba < end && wrong.empty(); ++lba) {
            found.push_back(contents_.read(lba, s.buffer.data + (lba - s.lba) * drive_.lba_bytes, wrong));
            if (!drive_.bytes && found.back() != found.front())
                wrong = "LBA " + std::to_string(lba) + " has version " + std::to_string(found.back()) + ", others of its unit " + std::to_string(found.front());
        }
        if (!drive_.bytes) found.resize(1);
        if (wrong.empty()) wrong = map_.read(p.unit, p.first, found, s.begun);
        else wrong += "; unit " + std::to_string(p.unit) + ": " + map_.describe(p.unit);
        if (!wrong.empty()) throw CheckFailed((stage_ == Stage::works ? "operation before line " + std::to_string(next_ + 1) : std::string("look")) + ": " + wrong);
        ++counts_.looked_at;
    }
    map_.end_read(s.begun);
}

std::string CaseHost::where() const {
    return "operation " + std::to_string(next_) + " of " + std::to_string(ops_.size()) + ", " + std::to_string(under_way_) + " commands under way, unit " +
           std::to_string(look_at_) + " looked at, " + (powered_ ? bring_up_.doing() : "no power") + (ended_ ? shut_down_ ? ", shut down" : ", shutting down" : "");
}

}  // namespace ssdtlm
