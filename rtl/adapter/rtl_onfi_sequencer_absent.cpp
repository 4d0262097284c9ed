// SPDX-License-Identifier: Apache-2.0
// In place of rtl_onfi_sequencer.cpp in a program that was built without Verilator.
#include "adapter/rtl_onfi_sequencer.h"
#include "common/report/error.h"

namespace ssdtlm {

struct RtlOnfiSequencer::Model {};

RtlOnfiSequencer::RtlOnfiSequencer(const NandConfig& nand, std::uint64_t hertz, int)
    : t_(nand.onfi),
      timing_(nand),
      clocks_(nand, hertz),
      rows_(nand.geometry),
      layout_(timing_, nand.geometry),
      hertz_(hertz),
      dies_per_chip_(nand.geometry.dies_per_chip) {
    throw UserError(Problem{"channel.rtl_sequencer", "this program was built without Verilator",
                            "only [], the timing model on every channel",
                            "install Verilator 5.006 or newer (Debian: apt-get install verilator) and build again"});
}
RtlOnfiSequencer::~RtlOnfiSequencer() = default;
BusSequencer::Held RtlOnfiSequencer::play(const PinCommand&, bool) {
    panic(__func__, "no Verilator");
}
BusSequencer::Held RtlOnfiSequencer::play_status(PinSelect, std::uint16_t, const OnfiTarget&, SimTime, bool) {
    panic(__func__, "no Verilator");
}
void RtlOnfiSequencer::pins(const PinCommand&, PinSequence&) {
    panic(__func__, "no Verilator");
}
void RtlOnfiSequencer::open_trace(const std::string&) {
    panic(__func__, "no Verilator");
}
void RtlOnfiSequencer::close_trace() {}

}  // namespace ssdtlm
