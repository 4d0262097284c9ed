// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/bring_up.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"
#include "host_pcie/driver/prp_builder.h"
#include "protocol/nvme.h"

namespace ssdtlm {
namespace {

constexpr Ps kTimeoutUnit{500'000'000'000};  // CAP.TO
constexpr unsigned kMinPageShift = 12;

std::uint32_t low(std::uint64_t v) {
    return static_cast<std::uint32_t>(v);
}
std::uint32_t high(std::uint64_t v) {
    return static_cast<std::uint32_t>(v >> 32);
}

std::uint32_t page_shift(std::uint32_t page_bytes) {
    return static_cast<std::uint32_t>(__builtin_ctz(page_bytes)) - kMinPageShift;
}

}  // namespace

BringUp::BringUp(Agenda& agenda, HostMemory& memory, const HostConfig& config, QueuePlan& plan, MmioPort& mmio)
    : agenda_(agenda),
      memory_(memory),
      config_(config),
      plan_(plan),
      mmio_(mmio),
      admin_(memory, 0, config.admin_entries, config.page_bytes),
      buffer_(memory.allocate(nvme::kIdentifyBytes, config.page_bytes)) {}

void BringUp::fail(const std::string& what) const {
    throw CheckFailed(std::string("controller ") + doing_ + ": " + what);
}

// ---------------------------------------------------------------------------------------------------------------
// The three ways of waiting: a register read, a poll of CSTS, an admin command.

void BringUp::read(std::uint32_t offset, Next next) {
    after_read_ = next;
    mmio_.read32(offset, *this);
}

void BringUp::mmio_read_done(std::uint32_t value) {
    (this->*after_read_)(value);
}

void BringUp::poll(std::uint32_t mask, std::uint32_t expected, Ps limit, const char* doing, Next next) {
    doing_ = doing;
    poll_mask_ = mask;
    poll_expected_ = expected;
    poll_limit_ = agenda_.now() + limit;
    after_poll_ = next;
    read_status();
}

void BringUp::read_status() {
    read(nvme::kRegCsts, &BringUp::polled);
}

void BringUp::polled(std::uint32_t csts) {
    if (csts == ~0u) fail("CSTS reads all ones: the device is gone");
    if ((csts & poll_mask_) == poll_expected_) return (this->*after_poll_)(csts);
    // A fatal error stops every step except disabling the controller.
    if ((csts & nvme::Csts::kFatal) != 0 && (cc_ & nvme::Cc::kEnable) != 0) fail("CSTS.CFS is set");
    if (agenda_.now() >= poll_limit_) fail("timed out, CSTS is " + std::to_string(csts));
    next_poll_ = agenda_.post_cancellable(agenda_.now() + kPollStep, Then::to<&BringUp::read_status>(this));
}

void BringUp::admin(nvme::Sqe& sqe, const char* doing, Next next) {
    doing_ = doing;
    after_admin_ = next;
    admin_.submit(sqe);
    mmio_.write32(nvme::sq_tail_doorbell(0), admin_.tail());
}

void BringUp::admin_interrupt() {
    nvme::Cqe cqe;
    if (!admin_.reap(cqe)) return;
    mmio_.write32(nvme::cq_head_doorbell(0), admin_.head());
    if (passed_) {
        doing_ = "running";
        return std::exchange(passed_, nullptr)(cqe.status());
    }
    if (cqe.status() != nvme::kStSuccess)
        fail("status SCT " + std::to_string(cqe.status() >> 8) + " SC " + std::to_string(cqe.status() & 0xFF));
    (this->*after_admin_)(cqe.dw0);
}

void BringUp::pass_through(nvme::Sqe& sqe, std::function<void(std::uint16_t)> ended) {
    passed_ = std::move(ended);
    admin(sqe, "an admin command from outside", nullptr);
}

void BringUp::identify(std::uint8_t cns, std::uint32_t nsid, const char* doing, Next next) {
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminIdentify;
    sqe.nsid = nsid;
    sqe.prp1 = buffer_;
    sqe.cdw10 = cns;
    admin(sqe, doing, next);
}

void BringUp::program_vector(std::uint16_t vector) {
    const std::uint32_t entry = nvme::msix_entry(vector);
    mmio_.write32(entry + nvme::kMsixAddressLow, low(msi_address(vector)));
    mmio_.write32(entry + nvme::kMsixAddressHigh, high(msi_address(vector)));
    mmio_.write32(entry + nvme::kMsixData, vector);
    mmio_.write32(entry + nvme::kMsixControl, 0);  // unmasked
}

// ---------------------------------------------------------------------------------------------------------------
// Start, in order.

void BringUp::start(std::function<void()> done) {
    done_ = std::move(done);
    doing_ = "probe";
    info_.shadows = 0;
    read(nvme::kRegCsts, &BringUp::present);
}

void BringUp::present(std::uint32_t csts) {
    if (csts == ~0u) fail("CSTS reads all ones: no device");
    program_vector(0);
    read(nvme::kRegCap, &BringUp::cap_low);
}

void BringUp::cap_low(std::uint32_t value) {
    cap_ = value;
    read(nvme::kRegCap + 4, &BringUp::cap_high);
}

void BringUp::cap_high(std::uint32_t value) {
    cap_ |= std::uint64_t{value} << 32;
    const std::uint32_t shift = page_shift(config_.page_bytes);
    if (shift < nvme::Cap::mps_min(cap_) || shift > nvme::Cap::mps_max(cap_))
        throw UserError(Problem{"HostConfig::page_bytes",
                                std::to_string(config_.page_bytes) + " is no page size of this controller",
                                std::to_string(1u << (kMinPageShift + nvme::Cap::mps_min(cap_))) + " to " +
                                    std::to_string(1u << (kMinPageShift + nvme::Cap::mps_max(cap_))),
                                "set it to a size in that range"});
    if (nvme::Cap::dstrd(cap_) != 0) fail("doorbell stride " + std::to_string(nvme::Cap::dstrd(cap_)) + ", expected 0");
    if (weighted() && (cap_ & nvme::Cap::kAmsWeighted) == 0)
        throw UserError(Problem{"HostConfig::arbitration", "the controller has no weighted round robin (CAP.AMS)",
                                "round_robin", "leave it at round_robin"});
    info_.queue_entries = std::min(config_.queue_entries, nvme::Cap::mqes(cap_) + 1);
    read(nvme::kRegVs, &BringUp::version);
}

void BringUp::version(std::uint32_t value) {
    info_.version = value;
    cc_ = 0;
    mmio_.write32(nvme::kRegCc, cc_);
    poll(nvme::Csts::kReady, 0, (nvme::Cap::to(cap_) + 1) * kTimeoutUnit, "disable", &BringUp::disabled);
}

void BringUp::disabled(std::uint32_t) {
    mmio_.write32(nvme::kRegAqa, nvme::Aqa::of(config_.admin_entries, config_.admin_entries));
    mmio_.write32(nvme::kRegAsq, low(admin_.sq_base()));
    mmio_.write32(nvme::kRegAsq + 4, high(admin_.sq_base()));
    mmio_.write32(nvme::kRegAcq, low(admin_.cq_base()));
    mmio_.write32(nvme::kRegAcq + 4, high(admin_.cq_base()));
    cc_ = nvme::Cc::kIosqes64 | nvme::Cc::kIocqes16 | page_shift(config_.page_bytes) << 7;
    if (weighted()) cc_ |= nvme::Cc::ams_field(nvme::Cc::kAmsWeighted);
    mmio_.write32(nvme::kRegCc, cc_);
    cc_ |= nvme::Cc::kEnable;
    mmio_.write32(nvme::kRegCc, cc_);
    poll(nvme::Csts::kReady, nvme::Csts::kReady, (nvme::Cap::to(cap_) + 1) * kTimeoutUnit, "enable", &BringUp::enabled);
}

void BringUp::enabled(std::uint32_t) {
    identify(nvme::kCnsController, 0, "Identify Controller", &BringUp::controller_identified);
}

void BringUp::controller_identified(std::uint32_t) {
    const std::uint8_t* id = memory_.at(buffer_, nvme::kIdentifyBytes);
    const unsigned mdts = id[nvme::IdCtrl::kMdts];
    const std::uint64_t unit = std::uint64_t{1} << (kMinPageShift + nvme::Cap::mps_min(cap_));
    info_.volatile_write_cache = (id[nvme::IdCtrl::kVwc] & 1) != 0;
    offers_shadows_ = (nvme::load<std::uint16_t>(id + nvme::IdCtrl::kOacs) & nvme::IdCtrl::kOacsDoorbellBuffer) != 0;
    info_.sgls = (nvme::load<std::uint32_t>(id + nvme::IdCtrl::kSgls) & nvme::IdCtrl::kSglsAny) != 0;
    info_.max_transfer_bytes = SlotBuffer::kMaxBytes;
    if (mdts != 0 && mdts < 32 && (unit << mdts) < SlotBuffer::kMaxBytes)
        info_.max_transfer_bytes = static_cast<std::uint32_t>(unit << mdts);
    const Ps rtd3e = std::chrono::microseconds(nvme::load<std::uint32_t>(id + nvme::IdCtrl::kRtd3e));
    shutdown_limit_ = std::max<Ps>(kShutdownLimit, rtd3e);
    if (!weighted()) return arbitration_set(0);
    // The burst is the value that the controller recommends.
    const std::vector<std::uint32_t>& weights = config_.arbitration_weights;
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminSetFeatures;
    sqe.cdw10 = nvme::kFeatArbitration;
    sqe.cdw11 = nvme::Arbitration::of(id[nvme::IdCtrl::kRab] & 7u, weights[0] - 1, weights[1] - 1, weights[2] - 1);
    admin(sqe, "Set Features Arbitration", &BringUp::arbitration_set);
}

void BringUp::arbitration_set(std::uint32_t) {
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminSetFeatures;
    sqe.cdw10 = nvme::kFeatNumberOfQueues;
    sqe.cdw11 = nvme::number_of_queues(config_.queue_pairs);
    admin(sqe, "Set Features Number of Queues", &BringUp::queues_granted);
}

void BringUp::queues_granted(std::uint32_t granted) {
    info_.queue_pairs = std::min({config_.queue_pairs, (granted & 0xFFFF) + 1, (granted >> 16) + 1});
    if (!polls())
        for (std::uint16_t vector = 1; vector <= info_.queue_pairs; ++vector) program_vector(vector);
    if (rings_.empty()) {
        plan_.deal(info_.queue_pairs);
        make_queues();
    }
    if (rings_.size() != info_.queue_pairs)
        fail("grants " + std::to_string(info_.queue_pairs) + " queue pairs, before the reset " +
             std::to_string(rings_.size()));
    pair_ = 1;
    create_cq(0);
}

void BringUp::make_queues() {
    queues_.reserve(info_.queue_pairs);
    for (std::uint16_t qid = 1; qid <= info_.queue_pairs; ++qid) {
        queues_.emplace_back(memory_, qid, info_.queue_entries, config_.page_bytes);
        rings_.push_back(Rings{queues_.back().sq_base(), queues_.back().cq_base()});
    }
}

void BringUp::create_cq(std::uint32_t) {
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminCreateCq;
    sqe.prp1 = rings_[pair_ - 1].cq;
    sqe.cdw10 = nvme::queue_cdw10(pair_, info_.queue_entries);
    sqe.cdw11 = polls() ? nvme::kPolledCqCdw11 : nvme::create_cq_cdw11(pair_);
    admin(sqe, "Create I/O Completion Queue", &BringUp::create_sq);
}

void BringUp::create_sq(std::uint32_t) {
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminCreateSq;
    sqe.prp1 = rings_[pair_ - 1].sq;
    sqe.cdw10 = nvme::queue_cdw10(pair_, info_.queue_entries);
    sqe.cdw11 = nvme::create_sq_cdw11(pair_, plan_.priority_of(pair_ - 1u));
    sqe.cdw12 = plan_.tenant_of(pair_ - 1u);
    admin(sqe, "Create I/O Submission Queue", &BringUp::sq_created);
}

void BringUp::sq_created(std::uint32_t) {
    if (pair_++ < info_.queue_pairs) return create_cq(0);
    identify(nvme::kCnsActiveNamespaces, 0, "Identify active namespaces", &BringUp::namespaces_listed);
}

void BringUp::namespaces_listed(std::uint32_t) {
    listed_.clear();
    const std::uint8_t* const list = memory_.at(buffer_, nvme::kIdentifyBytes);
    for (std::size_t i = 0; i < nvme::kIdentifyBytes / 4; ++i) {
        const auto nsid = nvme::load<std::uint32_t>(list + 4 * i);
        if (nsid == 0) break;
        listed_.push_back(nsid);
    }
    if (listed_.empty()) fail("no active namespace");
    info_.namespaces.clear();
    info_.borders.clear();
    info_.blocks = 0;
    identify_next();
}

void BringUp::identify_next() {
    identify(nvme::kCnsNamespace, listed_[info_.namespaces.size()], "Identify Namespace",
             &BringUp::namespace_identified);
}

void BringUp::namespace_identified(std::uint32_t) {
    const std::uint8_t* id = memory_.at(buffer_, nvme::kIdentifyBytes);
    const auto blocks = nvme::load<std::uint64_t>(id + nvme::IdNs::kNsze);
    const unsigned format = id[nvme::IdNs::kFlbas] & 15u;
    const auto lbaf = nvme::load<std::uint32_t>(id + nvme::IdNs::kLbaf0 + 4 * format);
    const unsigned shift = lbaf >> 16 & 0xFF;
    if (shift != 9 && shift != 12) fail("LBA format with 2^" + std::to_string(shift) + " bytes, expected 512 or 4096");
    if (blocks == 0) fail("the namespace has no blocks");
    if (info_.blocks != 0 && info_.lba_bytes != 1u << shift) fail("namespaces with blocks of several sizes");
    info_.lba_bytes = 1u << shift;
    if (info_.blocks != 0) info_.borders.push_back(info_.blocks << shift);
    info_.namespaces.push_back({listed_[info_.namespaces.size()], info_.blocks, blocks, lbaf & 0xFFFF});
    info_.blocks += blocks;
    if (info_.namespaces.size() != listed_.size()) return identify_next();
    if (!config_.streams) return streams_enabled(0);
    // It enables streams for all namespaces, as Linux did from 4.13 to 5.16 (nvme_configure_directives).
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminDirectiveSend;
    sqe.nsid = nvme::kNsidAll;
    sqe.cdw11 = nvme::directive_cdw11(nvme::kDirectiveEnable, nvme::kDirectiveIdentify);
    sqe.cdw12 = std::uint32_t{nvme::kDirectiveStreams} << 8 | 1u;
    admin(sqe, "Directive Send (enable streams)", &BringUp::streams_enabled);
}

void BringUp::streams_enabled(std::uint32_t) {
    if (!offers_shadows_) return shadows_set(0);
    // The driver uses shadow doorbells whenever the controller offers them, as in Linux (drivers/nvme/host/pci.c
    // nvme_dbbuf_set).
    if (shadows_ == 0) shadows_ = memory_.allocate(2 * nvme::kPageBytes, nvme::kPageBytes);
    std::fill_n(memory_.at(shadows_, 2 * nvme::kPageBytes), 2 * nvme::kPageBytes, std::uint8_t{0});
    info_.shadows = shadows_;
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminDoorbellBuffer;
    sqe.prp1 = shadows_;
    sqe.prp2 = shadows_ + nvme::kPageBytes;
    admin(sqe, "Doorbell Buffer Config", &BringUp::shadows_set);
}

void BringUp::shadows_set(std::uint32_t) {
    doing_ = "running";
    done_();
}

// ---------------------------------------------------------------------------------------------------------------
// Shutdown.

void BringUp::shutdown(std::function<void()> done) {
    done_ = std::move(done);
    pair_ = 0;
    delete_sq(0);
}

void BringUp::delete_sq(std::uint32_t) {
    if (pair_++ == info_.queue_pairs) {
        pair_ = 0;
        return delete_cq(0);
    }
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminDeleteSq;
    sqe.cdw10 = pair_;
    admin(sqe, "Delete I/O Submission Queue", &BringUp::delete_sq);
}

void BringUp::delete_cq(std::uint32_t) {
    if (pair_++ == info_.queue_pairs) return begin_shutdown(&BringUp::shut_down);
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminDeleteCq;
    sqe.cdw10 = pair_;
    admin(sqe, "Delete I/O Completion Queue", &BringUp::delete_cq);
}

void BringUp::begin_shutdown(Next next) {
    cc_ |= nvme::Cc::kShnNormal;
    mmio_.write32(nvme::kRegCc, cc_);
    poll(nvme::Csts::kShstMask, nvme::Csts::kShstComplete, shutdown_limit_, "shutdown", next);
}

void BringUp::stop(std::function<void()> done) {
    done_ = std::move(done);
    begin_shutdown(&BringUp::shut_down);
}

void BringUp::shut_down(std::uint32_t) {
    doing_ = "off";
    done_();
}

// ---------------------------------------------------------------------------------------------------------------
// Reset.

void BringUp::reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done) {
    stopped_ = std::move(stopped);
    done_ = std::move(done);
    if (shutdown_first)
        begin_shutdown(&BringUp::disable);
    else
        disable(0);
}

void BringUp::reset_function(const ResetFunction& function, bool shutdown_first, std::function<void()> stopped,
                             std::function<void()> done) {
    function_ = function;
    reset(shutdown_first, std::move(stopped), std::move(done));
}

void BringUp::power_lost() {
    agenda_.cancel(next_poll_);
    admin_.reset();
    done_ = stopped_ = nullptr;
    function_ = nullptr;
    passed_ = nullptr;
    doing_ = "without power";
}

void BringUp::disable(std::uint32_t) {
    if (function_) {
        doing_ = "reset of the function";
        return read(nvme::kRegCsts, &BringUp::begin_function_reset);  // earlier writes of registers arrive before
    }
    cc_ &= ~(nvme::Cc::kEnable | nvme::Cc::kShnMask);
    mmio_.write32(nvme::kRegCc, cc_);
    poll(nvme::Csts::kReady, 0, (nvme::Cap::to(cap_) + 1) * kTimeoutUnit, "reset", &BringUp::stopped);
}

void BringUp::begin_function_reset(std::uint32_t) {
    function_reset_began_ = agenda_.now();
    std::exchange(function_, nullptr)([this] { function_reset(); });
}

void BringUp::function_reset() {
    if (agenda_.now() - function_reset_began_ > kFunctionResetLimit) fail("takes longer than 100 ms");
    read(nvme::kRegCsts, &BringUp::function_stopped);  // what the drive had written before has arrived
}

void BringUp::function_stopped(std::uint32_t csts) {
    if (csts != 0) fail("CSTS is " + std::to_string(csts) + ", expected 0");
    program_vector(0);
    stopped(csts);
}

void BringUp::stopped(std::uint32_t) {
    admin_.reset();
    passed_ = nullptr;
    stopped_();
    disabled(0);
}

}  // namespace ssdtlm
