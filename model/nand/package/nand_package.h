// SPDX-License-Identifier: Apache-2.0
// The flash package behind one chip enable: its dies as a TLM target. It answers a sequence when its part has ended:
// when R/B# rises (read, program, erase, suspend), with the last data cycle (data out), or with the last cycle
// (resume). With cache program a program has ended when its result is known: when the array is idle (FAIL), or when
// R/B# has risen after the next program (FAILC). A read takes the contents of the array when its array time ends. A
// program or erase changes them when its array time ends. Each LUN has its own R/B#, so there is no status polling.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/tlm/agenda.h"
#include "common/tlm/at_interfaces.h"
#include "common/tlm/tlm_guard.h"
#include "nand/die/die.h"
#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_payload.h"

namespace ssdtlm {

class NandPackage : public sc_core::sc_module, private AtTarget<OnfiProtocol> {
public:
    /// `first_die` is the global number of LUN 0; the package holds dies_per_chip dies.
    NandPackage(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& config, DieId first_die,
                SpareArea& area);

    OnfiTargetSocket bus_target;

    const Die& die(std::uint32_t lun) const { return dies_.at(lun); }
    /// Carries out a loss of power. Interrupted operations leave torn pages or blocks, and new dies are made for the
    /// same flash. Precondition: the agenda holds no entry of the package any more.
    PowerLoss restart();
    /// Sets the model that decides which operations of its dies fail. With null none fails. The caller owns it.
    void inject(ArrayFaults* faults) {
        faults_ = faults;
        for (Die& die : dies_) die.inject(faults);
    }

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void end_of_elaboration() override;
    void build_dies();
    void start(Die& die, OnfiExtension& onfi);
    void start_program(Die& die, OnfiExtension& onfi, SimTime begin);
    bool next_program(Die& die, OnfiExtension& done);
    void array_ready(OnfiExtension& onfi);
    void data_end(OnfiExtension& onfi);
    void respond(tlm::tlm_generic_payload& payload);
    [[noreturn]] void refuse(const OnfiExtension* onfi, unsigned phase) const;
    [[noreturn]] void refuse_answer() const;
    /// The LUN that a sequence addresses.
    Die& die_of(const OnfiExtension& onfi) { return dies_[onfi.die - first_in_channel_]; }

    Agenda& agenda_;
    TargetGuard<OnfiProtocol> door_;
    const NandConfig config_;
    const DieId first_die_;
    SpareArea& area_;
    ArrayFaults* faults_ = nullptr;
    const std::uint32_t first_in_channel_;
    const std::uint32_t luns_;
    const Ps busy_delay_;
    /// A program or erase, which can be suspended, and its neighbours in a stream of cached programs.
    struct Running {
        Agenda::Entry end;
        OnfiExtension* onfi = nullptr;
        OnfiExtension* behind = nullptr;      ///< waits in the cache registers
        OnfiExtension* unanswered = nullptr;  ///< ended before `onfi`; its result is reported with that of `onfi` (10h)
    };
    std::vector<Die> dies_;
    std::vector<Running> running_;                           // by LUN
    tlm::tlm_bw_nonblocking_transport_if<>* bus_ = nullptr;  // what the socket is bound to
};

}  // namespace ssdtlm
