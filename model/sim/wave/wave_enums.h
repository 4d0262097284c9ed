// SPDX-License-Identifier: Apache-2.0
// The names and colours of the values of signals. Kernel-free.
#pragma once

#include "common/wave/wave_signal.h"
#include "controller/ports/flash.h"

namespace ssdtlm {

/// The classes of the scheduler. 0: none, then by FlashClass.
const WaveEnum& class_names();
constexpr std::uint64_t class_value(FlashClass c) {
    return 1 + static_cast<std::uint64_t>(c);
}
/// The names of class_names(), and behind them those of work with a cause of its own.
const WaveEnum& work_names();
std::uint64_t work_value(FlashCause cause, FlashClass cls);
/// What FlashTransaction::owner numbers: "command", "collection" (a victim of the collector) or "merge".
const char* owner_name(FlashCause cause, FlashClass cls);

enum class BusState : std::uint8_t { idle, command, data_in, data_out, turnaround };
const WaveEnum& bus_state_names();

/// The states of a die: idle, selected (its command is on the bus), data_ready (a read waits for the bus), data_out.
/// From `array` on it is work in the array, by work_value().
enum class DieState : std::uint8_t { idle, selected, data_ready, data_out, array };
const WaveEnum& die_state_names();
inline std::uint64_t die_state(FlashCause cause, FlashClass cls) {
    return static_cast<std::uint64_t>(DieState::array) + work_value(cause, cls) - 1;
}

/// Kinds of TLPs. 0: idle, then by TlpKind.
const WaveEnum& tlp_names();
/// fis_names(): FISes of Serial ATA; 0: idle. sata_end_names(): the sending end of the link; 0: none, 1: the host, 2:
/// the drive.
const WaveEnum& fis_names();
const WaveEnum& sata_end_names();
/// Steps of a core. 0: idle, then by CoreStep.
const WaveEnum& core_step_names();

enum class RunPhase : std::uint8_t { bring_up, workload, shutdown };
const WaveEnum& run_phase_names();

}  // namespace ssdtlm
