// SPDX-License-Identifier: Apache-2.0
#include "nand/package/nand_package.h"

#include <string>
#include <utility>

#include "common/report/error.h"
#include "nand/onfi/onfi_timing.h"

namespace ssdtlm {
namespace {}  // namespace

NandPackage::NandPackage(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& config, DieId first_die,
                         SpareArea& area)
    : sc_module(name),
      bus_target("bus_target"),
      agenda_(agenda),
      door_(agenda, *this),
      config_(config),
      first_die_(first_die),
      area_(area),
      first_in_channel_(config.geometry.die_in_channel(first_die)),
      luns_(config.geometry.dies_per_chip),
      busy_delay_(OnfiBusTiming(config).busy_delay()) {
    bus_target.bind(door_);
    build_dies();
}

void NandPackage::build_dies() {
    dies_.clear();
    dies_.reserve(luns_);
    for (std::uint32_t lun = 0; lun < luns_; ++lun) dies_.emplace_back(config_, DieId{idx(first_die_) + lun}, area_);
    running_.assign(luns_, Running{});
    inject(faults_);
}

PowerLoss NandPackage::restart() {
    PowerLoss loss;
    for (Die& die : dies_) loss += die.power_lost(agenda_.now());
    build_dies();
    door_.restart();
    return loss;
}

void NandPackage::end_of_elaboration() {
    bus_ = straight<OnfiProtocol>(bus_target.operator->(), agenda_);
}

tlm::tlm_sync_enum NandPackage::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time&) {
    OnfiExtension* onfi = onfi_of(payload);
    // The difference wraps round for a die below the package's first.
    if (__builtin_expect(onfi == nullptr || phase != tlm::BEGIN_REQ || onfi->die - first_in_channel_ >= luns_, 0))
        refuse(onfi, phase);
    onfi->request = &payload;
    Die& die = die_of(*onfi);
    if (onfi->op == FlashOp::read_out) {
        onfi->target[0].status.bits = die.data_out(onfi->target[0]);
        agenda_.post(onfi->bus_end, Then::to<&NandPackage::data_end>(this, *onfi));
    } else if (onfi->op == FlashOp::read) {
        const SimTime ready = die.issue(FlashOp::read, onfi->target.data(), onfi->count, onfi->bus_end + busy_delay_);
        agenda_.post(ready, Then::to<&NandPackage::array_ready>(this, *onfi));
    } else {
        start(die, *onfi);
    }
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void NandPackage::start(Die& die, OnfiExtension& onfi) {
    Running& running = running_[onfi.die - first_in_channel_];
    const SimTime begin = onfi.bus_end + busy_delay_;
    switch (onfi_operation(onfi.op).effect) {
        case ArrayEffect::suspends: {
            const SimTime stopped = die.suspend(onfi.op, begin);
            if (die.suspended()) agenda_.cancel(running.end);
            agenda_.post(stopped, Then::to<&NandPackage::data_end>(this, onfi));
            break;
        }
        case ArrayEffect::resumes:
            running.end = agenda_.post_cancellable(die.resume(onfi.op, begin),
                                                   Then::to<&NandPackage::array_ready>(this, *running.onfi));
            agenda_.post(onfi.bus_end, Then::to<&NandPackage::data_end>(this, onfi));
            break;
        default:
            if (onfi.op == FlashOp::program && config_.cache_program) return start_program(die, onfi, begin);
            running.onfi = &onfi;
            running.end = agenda_.post_cancellable(die.issue(onfi.op, onfi.target.data(), onfi.count, begin),
                                                   Then::to<&NandPackage::array_ready>(this, onfi));
    }
}

void NandPackage::start_program(Die& die, OnfiExtension& onfi, SimTime begin) {
    Running& running = running_[onfi.die - first_in_channel_];
    const Die::ProgramTimes times = die.program(onfi.target.data(), onfi.count, onfi.bus_begin, begin, onfi.more);
    onfi.array_begins = times.begins;
    onfi.array_ends = times.ends;
    onfi.ready_at = times.ready;
    if (die.waits()) {
        running.behind = &onfi;
        return;
    }
    running.onfi = &onfi;
    running.end = agenda_.post_cancellable(times.ends, Then::to<&NandPackage::array_ready>(this, onfi));
}

/// The array has ended the program `done`. Returns true if it continues with the waiting program; the result of `done`
/// is then reported with that program.
bool NandPackage::next_program(Die& die, OnfiExtension& done) {
    Running& running = running_[done.die - first_in_channel_];
    if (OnfiExtension* const before = std::exchange(running.unanswered, nullptr); before != nullptr)
        respond(*before->request);
    OnfiExtension* const next = std::exchange(running.behind, nullptr);
    if (next == nullptr) return false;
    die.take_over();
    if (next->more)
        agenda_.post(next->ready_at, Then::to<&NandPackage::data_end>(this, done));
    else
        running.unanswered = &done;
    running.onfi = next;
    running.end = agenda_.post_cancellable(next->array_ends, Then::to<&NandPackage::array_ready>(this, *next));
    return true;
}

void NandPackage::array_ready(OnfiExtension& onfi) {
    if (const std::uint32_t failed = die_of(onfi).finish(onfi.target.data(), onfi.count);
        __builtin_expect(failed != 0, 0))
        for (std::uint32_t i = 0; i < onfi.count; ++i)
            if ((failed >> onfi.target[i].plane & 1u) != 0)
                onfi.target[i].status.result =
                    onfi.op == FlashOp::erase ? FlashResult::erase_failed : FlashResult::program_failed;
    if (__builtin_expect(config_.cache_program, 0) && onfi.op == FlashOp::program && next_program(die_of(onfi), onfi))
        return;
    respond(*onfi.request);
}

void NandPackage::data_end(OnfiExtension& onfi) {
    respond(*onfi.request);
}

inline void NandPackage::respond(tlm::tlm_generic_payload& payload) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (__builtin_expect(bus_->nb_transport_bw(payload, phase, delay) != tlm::TLM_COMPLETED, 0)) refuse_answer();
}

__attribute__((noinline, cold)) void NandPackage::refuse(const OnfiExtension* onfi, unsigned phase) const {
    SSDTLM_CHECK(onfi != nullptr && phase == tlm::BEGIN_REQ, std::string(name()) + ": not an ONFI request");
    panic(name(), "chip enable is low for die " + std::to_string(onfi->die) + " of another package");
}

__attribute__((noinline, cold)) void NandPackage::refuse_answer() const {
    panic(name(), "BEGIN_RESP was not answered with TLM_COMPLETED");
}

}  // namespace ssdtlm
