// SPDX-License-Identifier: Apache-2.0
#include "sim/host/raw_driver.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"
#include "common/tlm/pooled_payload.h"

namespace ssdtlm {

namespace {

DriveStatus status_of(CommandStatus status) {
    switch (status) {
        case CommandStatus::success:
            return DriveStatus::ok;
        case CommandStatus::unrecovered_read:
            return DriveStatus::unrecovered_read;
        case CommandStatus::write_fault:
            return DriveStatus::write_fault;
        case CommandStatus::read_only:
            return DriveStatus::read_only;
        case CommandStatus::not_possible:
        case CommandStatus::transfer_error:
        case CommandStatus::aborted:
            break;
    }
    return DriveStatus::other;
}

RawExtension::Op op_of(HostOp op) {
    if (op == HostOp::trim) return RawExtension::Op::trim;
    return op == HostOp::flush ? RawExtension::Op::flush : RawExtension::Op::transfer;
}

tlm::tlm_command command_of(HostOp op) {
    if (op == HostOp::read) return tlm::TLM_READ_COMMAND;
    return op == HostOp::write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_IGNORE_COMMAND;
}

}  // namespace

RawDriver::RawDriver(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& config, const DriveInfo& info,
                     Workload& workload, CommandTracker& stages, IntegrityOracle* oracle, CompletionObserver* observer)
    : sc_module(name),
      HostDriver(agenda, config, workload, *this, *this, &stages, oracle, observer),
      socket("socket"),
      agenda_(agenda),
      door_(agenda, *this),
      config_(config),
      info_(info),
      stages_(stages) {
    if (!config.reset_at.empty())
        throw UserError(Problem{"host.reset_at", "resets of a drive whose front end knows none",
                                "no resets: they belong to a protocol",
                                "leave it out, or set frontend.kind to \"nvme\""});
    socket.bind(door_);
    ending_.more.op = RawExtension::Op::shutdown;
}

// ---------------------------------------------------------------------------------------------------------------
// Start, shutdown and loss of power. The drive itself holds commands back until it is ready.

void RawDriver::start(std::function<void()> done) {
    doing_ = "starting";
    done_ = std::move(done);
    start_ = agenda_.post_cancellable(agenda_.now(), Then::to<&RawDriver::started>(this));
}

void RawDriver::started() {
    doing_ = "running";
    if (queues_.empty()) {
        queues_.resize(info_.queue_pairs);
        plan().deal(info_.queue_pairs);
    }
    std::exchange(done_, nullptr)();
}

void RawDriver::stop(std::function<void()> done) {
    doing_ = "shutting down";
    done_ = std::move(done);
    shutdown_waits_ = true;
    shut_down_when_idle();
}

/// Sends the shutdown once all commands have ended, because the drive does not wait for them.
void RawDriver::shut_down_when_idle() {
    if (in_drive_ != 0 || !std::exchange(shutdown_waits_, false)) return;
    set_up(ending_.payload, tlm::TLM_IGNORE_COMMAND, 0, nullptr, 0);
    send(ending_.payload);
}

void RawDriver::reset(bool, std::function<void()>, std::function<void()>) {
    SSDTLM_CHECK(false, "a reset of a drive whose front end knows none");
}

void RawDriver::power_lost() {
    doing_ = "off";
    agenda_.cancel(start_);
    done_ = nullptr;
    shutdown_waits_ = false;
    in_drive_ = 0;
    door_.restart();
}

// ---------------------------------------------------------------------------------------------------------------
// Commands.

RawDriver::Slot& RawDriver::take_slot(Queue& q, std::uint16_t number) {
    if (q.free.empty()) {
        q.free.push_back(static_cast<std::uint16_t>(q.slots.size()));
        q.slots.emplace_back();
        Slot& made = q.slots.back();
        made.more.queue = number;
        made.more.tag = q.free.back();
        made.more.timeline = &stages_.at(number, made.more.tag);
        made.more.tenant = plan().tenant_of(number - 1u);
        made.more.priority = plan().priority_of(number - 1u);
    }
    Slot& slot = q.slots[q.free.back()];
    q.free.pop_back();
    slot.busy = true;
    return slot;
}

CommandQueues::Submitted RawDriver::submit(std::uint16_t queue, const HostRequest& request) {
    Queue& q = at(queue);
    Slot& slot = take_slot(q, queue);
    const std::uint16_t tag = slot.more.tag;
    const bool transfers = request.op == HostOp::read || request.op == HostOp::write;
    if (transfers && slot.capacity < request.bytes) {
        slot.data = std::make_unique<std::uint8_t[]>(request.bytes);
        slot.capacity = request.bytes;
    }
    slot.more.op = op_of(request.op);
    slot.more.fua = request.fua;
    slot.more.stream = config_.streams && request.op == HostOp::write ? static_cast<std::uint8_t>(request.stream) : 0;
    set_up(slot.payload, command_of(request.op), request.op == HostOp::flush ? 0 : request.offset,
           transfers ? slot.data.get() : nullptr, request.op == HostOp::flush ? 0 : request.bytes);
    ++q.outstanding;
    q.written.push_back(tag);
    return {tag, slot.data.get()};
}

void RawDriver::announce(std::uint16_t queue) {
    Queue& q = at(queue);
    const std::vector<std::uint16_t> written = std::exchange(q.written, {});
    in_drive_ += written.size();
    for (const std::uint16_t tag : written) send(q.slots[tag].payload);
}

void RawDriver::send(tlm::tlm_generic_payload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    payload.set_dmi_allowed(false);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    const tlm::tlm_sync_enum answer = drive_->nb_transport_fw(payload, phase, delay);
    SSDTLM_CHECK(answer != tlm::TLM_COMPLETED, "the drive refuses a command: " + payload.get_response_string());
}

tlm::tlm_sync_enum RawDriver::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    if (&payload == &ending_.payload) {
        doing_ = "off";
        std::exchange(done_, nullptr)();
        return tlm::TLM_COMPLETED;
    }
    const RawExtension& more = *payload.get_extension<RawExtension>();
    at(more.queue).ended.push_back(more.tag);
    --in_drive_;
    interrupted(more.queue);
    shut_down_when_idle();
    return tlm::TLM_COMPLETED;
}

CommandQueues::Ended RawDriver::take_ended(std::uint16_t queue) {
    Queue& q = at(queue);
    const std::uint16_t tag = q.ended.front();
    q.ended.pop_front();
    Slot& slot = q.slots[tag];
    slot.busy = false;
    --q.outstanding;
    q.free.push_back(tag);
    return {tag, status_of(slot.more.status), static_cast<std::uint32_t>(slot.more.status)};
}

void RawDriver::forget(std::uint16_t queue) {
    Queue& q = at(queue);
    q.written.clear();
    q.ended.clear();
    q.outstanding = 0;
    q.free.clear();
    for (std::size_t tag = q.slots.size(); tag-- != 0;) {
        q.slots[tag].busy = false;
        q.free.push_back(static_cast<std::uint16_t>(tag));
    }
}

}  // namespace ssdtlm
