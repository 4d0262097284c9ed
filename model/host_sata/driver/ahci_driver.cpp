// SPDX-License-Identifier: Apache-2.0
#include "host_sata/driver/ahci_driver.h"

#include "common/report/error.h"

namespace ssdtlm {

using namespace ahci;

AhciDriver::AhciDriver(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, const HostConfig& host,
                       Ps interrupt_latency, const AhciDriverConfig& config, Workload& workload, CommandTracker* device,
                       IntegrityOracle* oracle, CompletionObserver* observer)
    : sc_module(name),
      HostDriver(agenda, host, workload, *this, queue_, device, oracle, observer),
      mmio_initiator("mmio_initiator"),
      agenda_(agenda),
      mmio_(agenda, mmio_initiator),
      interrupt_latency_(interrupt_latency),
      config_(config),
      commands_(memory, host.page_bytes, config.max_transfer),
      queue_(memory, commands_, host, config_, mmio_, device),
      control_(agenda, memory, commands_, config_, queue_, mmio_) {
    SSDTLM_CHECK(host.interrupt_latency == Ps{}, "the latency of interrupts would count twice");
    control_.set_on_ended([this] { interrupted(1); });
}

void AhciDriver::interrupt(std::uint64_t address, std::uint32_t data) {
    SSDTLM_CHECK(address == kMessageAddress && data == kMessageData, "a message that nobody has set up");
    if (handling_) {
        again_ = true;
        return;
    }
    handling_ = true;
    agenda_.post(agenda_.now() + interrupt_latency_, Then::to<&AhciDriver::handle>(this));
}

void AhciDriver::handle() {
    again_ = false;
    read(Step::global, kRegIs);
}

void AhciDriver::read(Step step, std::uint32_t offset) {
    step_ = step;
    mmio_.read32(offset, *this);
}

void AhciDriver::mmio_read_done(std::uint32_t value) {
    if (control_.listens() && value != 0 && step_ == Step::global) {
        status_ = value;
        return read(Step::port, port_register(kPxIs));
    }
    if (control_.listens() && step_ == Step::port) {
        port_status_ = value;
        mmio_.write32(port_register(kPxIs), value);
        asked_ = control_.active();
        return read(Step::active, port_register(control_.queued() ? kPxSact : kPxCi));
    }
    bool ended = false;
    if (control_.listens() && step_ == Step::active) {
        mmio_.write32(kRegIs, status_);
        ended = control_.interrupted(port_status_, value | ~asked_);
    }
    handling_ = false;
    if (ended) interrupted(1);
    if (again_ && !handling_) {
        handling_ = true;
        agenda_.post(agenda_.now(), Then::to<&AhciDriver::handle>(this));
    }
}

}  // namespace ssdtlm
