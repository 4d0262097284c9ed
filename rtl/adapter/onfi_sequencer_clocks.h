// SPDX-License-Identifier: Apache-2.0
// The bus timing for rtl/onfi/onfi_sequencer.sv, in clocks of a given frequency. It also has the formula for the time
// of each sequence, exact to the clock. Kernel-free, needs no Verilator.
#pragma once

#include <cstdint>

#include "nand/onfi/nand_config.h"
#include "nand/pins/pin_generator.h"

namespace ssdtlm {

/// Module parameters of the Verilated block.
inline constexpr std::uint32_t kSequencerChips = 64;
inline constexpr std::uint32_t kSequencerLanes = 10;  ///< 4000 MT/s at 400 MHz

struct OnfiSequencerClocks {
    static constexpr std::uint32_t kOne = 1u << 20;  ///< a clock, in fixed point

    // Clocks, rounded up, at least 1.
    std::uint16_t t_cs, t_wc, t_we_fall, t_we_rise, t_adl, t_ccs, t_rr, t_whr, t_plane, t_wpre, t_rpre, t_rhw;
    // 20 fractional bits.
    std::uint32_t step, post_in, post_out;

    /// A UserError where the interface, the rate or a time does not fit the block.
    OnfiSequencerClocks(const NandConfig& nand, std::uint64_t hertz);

    std::uint64_t command(std::uint64_t cycles) const { return t_cs + cycles * t_wc; }
    /// Clocks from CE# low to CE# high. `transfers`: of each burst; status: PinSelect as for play_status.
    std::uint64_t sequence(const PinCommand& command, std::uint32_t transfers) const;
    std::uint64_t status(PinSelect select) const;

private:
    std::uint64_t burst(std::uint32_t transfers, std::uint32_t post) const;  // fixed point
};

}  // namespace ssdtlm
