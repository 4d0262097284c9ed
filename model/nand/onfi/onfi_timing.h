// SPDX-License-Identifier: Apache-2.0
// Computes how long each ONFI command sequence holds an 8-bit channel bus, once from the configured timing. Command and
// address cycles are asynchronous on WE# (tWC each; NV-DDR: tCAD), independent of the data rate. Not modelled: status
// polling (R/B# is a wire), warm-up cycles, training, ZQ calibration, on-die termination.
//
//   cmd(n)             tCS + n * tWC                                     n command and address cycles
//                      n from the table of operations; with its values:
//   read issue         (p-1) * (cmd(7) + tWB + tPLRBSY) + cmd(7)         00h-5A-32h .. 00h-5A-30h, p planes
//   select             cmd(7) + tCCS                                     06h-5A-E0h
//   data out           tRR + access + data + postamble                   then tRHW before the next command
//   program            (p-1) * (tWB + tPLPBSY) + p * (cmd(6) + tADL + data in + cmd(1))
//   erase              p * cmd(5) + (p-1) * (tWB + tPLEBSY)              60h-3A-D1h .. 60h-3A-D0h
//   resume             cmd(1); select of its LUN: 4 * tWC more           13h, D2h; 78h-3A in front, in the same group
//   SLC mode           tWC more in each plane in SLC mode                A2h in front of 00h, 80h or 60h, in the same
//                                                                        group
// With the interface "ideal" all of it is zero.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/units/units.h"
#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_operation.h"

namespace ssdtlm {

inline constexpr std::uint32_t kMaxMultiPlane = 8;

/// The highest rate of a data interface.
struct OnfiInterfaceLimit {
    const char* name;  ///< as in configuration files
    std::uint32_t max_megatransfers;
    const char* source;
};
const OnfiInterfaceLimit& onfi_interface_limit(OnfiInterface interface);

class OnfiBusTiming {
public:
    explicit OnfiBusTiming(const NandConfig& config);

    /// Time of all planes' command and address cycles of an operation, without its data.
    Ps issue(FlashOp op, std::uint32_t planes) const { return issue_[static_cast<std::size_t>(op)][planes]; }
    /// Additional time of an operation of the array for each plane in SLC mode: its prefix is one more cycle of the
    /// first group.
    Ps slc_prefix() const { return slc_prefix_; }
    /// Times and bytes of the data cycles of one plane.
    struct Burst {
        Ps in{};                  ///< data in
        Ps out{};                 ///< data out, from R/B# high (or E0h) to the last cycle
        std::uint32_t bytes = 0;  ///< on DQ: with their share of the spare area, rounded up
    };
    /// Burst of this many user bytes. Whole sectors come from a table, so a transfer needs no division.
    Burst burst(std::uint32_t user_bytes) const {
        if (user_bytes % kSector == 0 && user_bytes / kSector < bursts_.size()) return bursts_[user_bytes / kSector];
        return compute(user_bytes);
    }
    /// The burst of user bytes or, with `spare_only`, of bytes of the spare area.
    Burst burst(std::uint32_t bytes, bool spare_only) const {
        return __builtin_expect(spare_only, 0) ? of_bus_bytes(bytes) : burst(bytes);
    }
    /// Time of a data-in burst of one plane.
    Ps data_in(std::uint32_t user_bytes) const { return burst(user_bytes).in; }
    /// Time of a data-out burst, from R/B# high (or E0h) to the last cycle.
    Ps data_out(std::uint32_t user_bytes) const { return burst(user_bytes).out; }
    /// Time before a data-out burst when another LUN or plane of the target was addressed last, and for each plane of a
    /// multi-plane read.
    Ps select() const { return select_; }
    /// Additional time of a resume when its chip enable addressed another LUN last: 78h and the LUN's row come first.
    Ps select_lun() const { return select_lun_; }
    /// tRHW, from the last data-out cycle to the next command.
    Ps turnaround() const { return turnaround_; }
    /// tWB, from the last WE# edge to R/B# low, where the array time starts.
    Ps busy_delay() const { return busy_delay_; }
    /// Bytes on DQ for these user bytes, with their share of the spare area, rounded up.
    std::uint32_t bus_bytes(std::uint32_t user_bytes) const { return burst(user_bytes).bytes; }

private:
    static constexpr std::uint32_t kSector = 512;
    Burst compute(std::uint32_t user_bytes) const { return of_bus_bytes(bus_share(user_bytes)); }
    Burst of_bus_bytes(std::uint32_t bytes) const;
    std::uint32_t bus_share(std::uint32_t user_bytes) const {
        return static_cast<std::uint32_t>(div_ceil(std::uint64_t{user_bytes} * page_total_, page_bytes_));
    }

    bool ddr_ = true, ideal_ = false;
    Rate rate_;
    std::uint32_t page_bytes_ = 0;
    std::uint32_t page_total_ = 0;
    std::uint32_t data_in_transfers_ = 0;  // preamble and postamble counted in transfers
    std::uint32_t data_out_transfers_ = 0;
    Ps data_in_fixed_{};
    Ps data_out_fixed_{};
    Ps select_{};
    Ps select_lun_{};
    Ps turnaround_{};
    Ps slc_prefix_{};
    Ps busy_delay_{};
    std::vector<Burst> bursts_;  // by user sectors, up to a page
    std::array<std::array<Ps, kMaxMultiPlane + 1>, kFlashOpCount> issue_{};
};

}  // namespace ssdtlm
