// SPDX-License-Identifier: Apache-2.0
#include "property/nvme_case_port.h"

#include <cstring>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

namespace {

HostConfig with_one_queue(HostConfig c, std::uint32_t depth) {
    c.queue_pairs = 1;
    c.queue_entries = depth + 1;
    return c;
}

CaseEnd end_of(std::uint16_t status) {
    switch (status) {
        case nvme::kStSuccess:
            return CaseEnd::good;
        case nvme::kStReadOnlyRange:
            return CaseEnd::refused;
        case nvme::kStWriteFault:
            return CaseEnd::write_fault;
        case nvme::kStCompareFailure:
            return CaseEnd::differs;
        case nvme::kStGuardCheck:
            return CaseEnd::guard;
        case nvme::kStReferenceTagCheck:
            return CaseEnd::reference;
        case nvme::kStAbortFailedFused:
            return CaseEnd::unfused;
        case nvme::kStUnrecoveredRead:
            return CaseEnd::unrecovered;
        default:
            return CaseEnd::other;
    }
}

std::uint8_t opcode_of(const CaseCommand& c) {
    switch (c.kind) {
        case DriveOp::Kind::verify:
            return nvme::kIoVerify;
        case DriveOp::Kind::compare:
            return nvme::kIoCompare;
        case DriveOp::Kind::uncorrectable:
            return nvme::kIoWriteUncorrectable;
        default:
            return c.is_zeroes() ? nvme::kIoWriteZeroes : c.writes() ? nvme::kIoWrite : nvme::kIoRead;
    }
}

}  // namespace

NvmeCasePort::NvmeCasePort(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& config,
                           std::uint32_t lba_bytes, bool offers_metadata, std::uint32_t depth, CasePortClient& client)
    : sc_module(name),
      mmio_initiator("mmio_initiator"),
      agenda_(agenda),
      config_(with_one_queue(config, depth)),
      lba_bytes_(lba_bytes),
      offers_metadata_(offers_metadata),
      client_(client),
      door_(agenda, *this),
      root_complex_("root_complex", agenda, memory_, this),
      plan_(config_, one_job_),
      bring_up_(agenda, memory_, config_, plan_, *this),
      buffers_(depth),
      scattered_(depth),
      blocks_(depth) {
    facts_.slots = depth;
    mmio_initiator.bind(door_);
}

// ---------------------------------------------------------------------------------------------------------------
// Registers and interrupts.

void NvmeCasePort::access(tlm::tlm_command command, std::uint32_t offset, std::uint32_t value, MmioClient* client) {
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
    agenda_.post(agenda_.now(), Then::to<&NvmeCasePort::access_done_at_once>(this, accesses_.handle_of(a).number()));
}

void NvmeCasePort::access_done(Access& a) {
    SSDTLM_CHECK(a.is_response_ok(), "register access failed");
    if (a.client != nullptr) a.client->mmio_read_done(a.value);
    accesses_.release(a);
}

void NvmeCasePort::access_done_at_once(std::uint64_t number) {
    if (Access* const a = accesses_.find(number)) access_done(*a);
}

tlm::tlm_sync_enum NvmeCasePort::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                                 sc_core::sc_time&) {
    access_done(static_cast<Access&>(payload));
    return tlm::TLM_COMPLETED;
}

void NvmeCasePort::interrupt(std::uint64_t, std::uint32_t data) {
    if (data == 0) {
        agenda_.post(agenda_.now(), Then::to<&NvmeCasePort::admin_handler>(this));
    } else if (serves_ && take_ended()) {
        write32(nvme::cq_head_doorbell(1), queue_[0].head());
        client_.room();
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Up and down.

void NvmeCasePort::start(Done started) {
    bring_up_.start([this, started = std::move(started)] { go_on_erasing(started); });
}

void NvmeCasePort::brought_up(const Done& then) {
    if (queue_.empty()) {
        queue_ = bring_up_.take_queues();
        facts_.blocks = bring_up_.info().blocks;
        facts_.most_blocks = bring_up_.info().max_transfer_bytes / lba_bytes_;
    }
    const auto is_known = [this, then] {
        serves_ = true;
        then();
    };
    offers_metadata_ ? look_for_metadata(is_known) : is_known();
}

void NvmeCasePort::drop() {
    if (queue_.empty()) return;
    take_ended();
    queue_[0].reset();
    announced_ = queue_[0].tail();
}

void NvmeCasePort::reset(std::uint32_t variant, Done stopped, Done done) {
    serves_ = false;  // no doorbell is written from now on
    resets_ = true;
    agenda_.cancel(next_look_);
    const auto has_stopped = [this, stopped = std::move(stopped)] {
        resets_ = false;
        erased_ = nullptr;
        stopped();
    };
    const auto is_up = [this, done = std::move(done)] { go_on_erasing(done); };
    const bool shutdown_first = variant % 2 != 0;
    if ((variant & 2) != 0)
        bring_up_.reset_function(reset_function_, shutdown_first, has_stopped, is_up);
    else
        bring_up_.reset(shutdown_first, has_stopped, is_up);
}

void NvmeCasePort::power_lost() {
    serves_ = resets_ = false;
    erased_ = nullptr;
    format_ = Progress::none;
    agenda_.cancel(next_look_);
    bring_up_.power_lost();
    door_.restart();
    accesses_.take_all_back();
}

// ---------------------------------------------------------------------------------------------------------------
// Commands.

std::uint8_t* NvmeCasePort::in_memory(std::uint32_t slot, std::uint32_t bytes) {
    buffers_[slot].reserve(memory_, bytes, config_.page_bytes, config_.buffer_offset);
    return buffers_[slot].data;
}

std::uint8_t* NvmeCasePort::buffer(std::uint32_t slot, std::uint32_t bytes) {
    return facts_.metadata.bytes != 0 ? blocks_[slot].data(bytes) : in_memory(slot, bytes);
}

std::uint8_t* NvmeCasePort::metadata(std::uint32_t slot, std::uint32_t blocks) {
    const std::uint32_t bytes = facts_.metadata.bytes;
    return bytes != 0 ? blocks_[slot].metadata(blocks * bytes) : nullptr;
}

void NvmeCasePort::submit(std::uint32_t slot, const CaseCommand& c) {
    nvme::Sqe& sqe = queue_[0].take_entry();
    sqe.nsid = bring_up_.info().namespaces.front().nsid;
    const bool moves = !c.is_zeroes() && c.kind != DriveOp::Kind::verify && c.kind != DriveOp::Kind::uncorrectable;
    std::uint32_t bytes = moves ? c.blocks * lba_bytes_ : 0;
    scattered_[slot].forget();
    blocks_[slot].forget();
    if (c.kind == DriveOp::Kind::trim) {
        bytes = static_cast<std::uint32_t>(c.ranges.size() * sizeof(nvme::DsmRange));
        std::uint8_t* const list = in_memory(slot, bytes);
        sqe.opc = nvme::kIoDatasetMgmt;
        sqe.cdw10 = static_cast<std::uint32_t>(c.ranges.size() - 1);
        sqe.cdw11 = nvme::kDsmDeallocate;
        for (std::size_t r = 0; r < c.ranges.size(); ++r)
            nvme::store(list + r * sizeof(nvme::DsmRange), nvme::DsmRange{0, c.ranges[r].blocks, c.ranges[r].lba});
    } else if (c.kind == DriveOp::Kind::copy) {
        bytes = 32;
        std::uint8_t* const list = in_memory(slot, bytes);
        std::memset(list, 0, bytes);
        nvme::store(list + 8, c.source);
        nvme::store(list + 16, static_cast<std::uint16_t>(c.blocks - 1));
        sqe.opc = nvme::kIoCopy;
        sqe.set_slba(c.lba);
        protect(c, sqe);
        sqe.cdw12 |= (c.protection.acts ? nvme::kPrAct : 0u) << 12 | (c.checks_source ? nvme::kPrCheckGuard : 0u) << 12;
    } else if (c.kind == DriveOp::Kind::flush) {
        sqe.opc = nvme::kIoFlush;
    } else {
        sqe.opc = opcode_of(c);
        sqe.set_slba(c.lba);
        sqe.cdw12 = (c.blocks - 1) | (c.is_forced() ? nvme::kRwFua : 0u);
        protect(c, sqe);
        if (bytes != 0 && facts_.metadata.bytes != 0) {
            bytes = blocks_[slot].begin(memory_, random_, facts_.metadata, lba_bytes_, c, sqe);
            blocks_[slot].pack(in_memory(slot, bytes));
        }
    }
    if (bytes != 0) name_data(slot, bytes, sqe.opc == nvme::kIoRead, sqe);
    if (offers_metadata_ && sqe.psdt() == 1 && random_.percent(50)) blocks_[slot].name_metadata(memory_, sqe);
    sqe.flags = static_cast<std::uint8_t>(sqe.flags | c.fuse);
}

void NvmeCasePort::protect(const CaseCommand& c, nvme::Sqe& sqe) {
    const CaseProtection& p = c.protection;
    sqe.cdw12 |= nvme::rw_protection((p.acts ? nvme::kPrAct : 0u) | p.checks);
    sqe.cdw14 = p.reference;
    sqe.cdw15 = std::uint32_t{p.mask} << 16 | p.application;
}

/// By PRPs, or, if the drive takes them, by an SGL of one piece or many.
void NvmeCasePort::name_data(std::uint32_t slot, std::uint32_t bytes, bool is_read, nvme::Sqe& sqe) {
    SlotBuffer& data = buffers_[slot];
    const std::uint64_t way = bring_up_.info().sgls ? random_.below(3) : 0;
    if (way == 2) return scattered_[slot].scatter(memory_, random_, data.data, bytes, is_read, sqe);
    const PrpPair p = (way == 0 ? build_prp : build_sgl)(memory_, config_.page_bytes, data.address, bytes, data.lists);
    sqe.flags = p.flags;
    sqe.prp1 = p.prp1;
    sqe.prp2 = p.prp2;
}

void NvmeCasePort::announce() {
    if (queue_[0].tail() == announced_) return;
    announced_ = queue_[0].tail();
    write32(nvme::sq_tail_doorbell(1), announced_);
}

/// False: there was none.
bool NvmeCasePort::take_ended() {
    bool any = false;
    while (queue_[0].has_completion()) {
        const nvme::Cqe& cqe = queue_[0].take_completion();
        ++commands_;
        any = true;
        const std::uint16_t status = cqe.status();
        if (scattered_[cqe.cid].is_read()) scattered_[cqe.cid].gather(memory_, buffers_[cqe.cid].data);
        if (blocks_[cqe.cid].is_read()) blocks_[cqe.cid].unpack(memory_, buffers_[cqe.cid].data);
        client_.command_ended(cqe.cid, end_of(status),
                              status == nvme::kStSuccess ? std::string()
                                                         : "status SCT " + std::to_string(status >> 8) + " SC " +
                                                               std::to_string(status & 0xFF));
    }
    return any;
}

}  // namespace ssdtlm
