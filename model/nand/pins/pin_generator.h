// SPDX-License-Identifier: Apache-2.0
// Makes the pins of each ONFI sequence of the timing model. The first and last instant are those of OnfiBusTiming.
// Between them:
//
//   command, address   a cycle is tWC long: CLE, ALE and DQ change at its begin, WE# falls at 3/10 and rises at 8/10
//   SLC mode           the prefix is a command cycle in front of the first command of each plane in that mode, behind
//                      its tCS
//   data out           RE# falls tRR after the begin (or at E0h's tCCS), rests tRPRE, then toggles once per byte; DQS
//                      and DQ follow each edge of RE# by tDQSRE; RE# rests tRPST + tRPSTH, then CE#, RE# and DQS go
//   data in            DQS falls tADL after the last address cycle, rests tWPRE, then toggles once per byte in the
//                      middle of DQ's bytes, rests tWPST + tWPSTH
//   SDR                bytes move by RE# and WE# pulses, DQS is not used
//
// R/B# falls tWB after the last rise of WE#. In a data burst DQ has the bytes of the target or, without these, the 32
// bits of each mapping unit, repeated. Row addresses have 24 bits; the highest bits of a larger device are cut off. Not
// generated: NV-DDR with its clock, RE_c and DQS_c, WP#, warm-up cycles. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_operation.h"
#include "nand/onfi/onfi_target.h"
#include "nand/onfi/onfi_timing.h"
#include "nand/pins/pin_sequence.h"

namespace ssdtlm {

/// How a data-out burst or a status selects its source.
enum class PinSelect : std::uint8_t {
    none,     ///< continues with the page in the register; status: 70h
    column,   ///< 05h-2A-E0h
    enhanced  ///< 06h-5A-E0h; status: 78h-3A
};

/// The operation that selects the page of a data-out burst. Precondition: `select` is not none.
constexpr const OnfiOperation& select_operation(PinSelect select) {
    return onfi_operation(select == PinSelect::enhanced ? FlashOp::select_plane : FlashOp::change_column);
}
constexpr const OnfiOperation& status_operation(PinSelect select) {
    return onfi_operation(select == PinSelect::enhanced ? FlashOp::read_status_enhanced : FlashOp::read_status);
}

struct PinCommand {
    FlashOp op = FlashOp::read;
    PinSelect select = PinSelect::none;  ///< read_out; a resume: enhanced selects its LUN by 78h
    std::uint16_t die = 0;               ///< in channel
    std::uint8_t count = 0;              ///< planes
    const OnfiTarget* target = nullptr;  ///< `count` of them
    SimTime begin{};
    bool more = false;   ///< program: 15h confirms it
    bool ready = false;  ///< suspend: R/B# is high, as after 15h, and falls
};

/// tDQSD, from RE# low to DQS driven by the die: 5..18 ns (Micron L06B model parameters).
inline constexpr Ps kDqsDriven{10'000};

/// Row address of a plane's page: page, plane, block and LUN from the lowest bit up (ONFI 4.x §3.1).
class RowAddress {
public:
    explicit RowAddress(const NandGeometry& geometry);
    std::uint32_t row(std::uint32_t lun, const OnfiTarget& target) const {
        return (target.page | std::uint32_t{target.plane} << plane_shift_ | target.block << block_shift_ |
                static_cast<std::uint32_t>(std::uint64_t{lun} << lun_shift_)) &
               0xFFFFFF;
    }

private:
    unsigned plane_shift_ = 0;
    unsigned block_shift_ = 0;
    unsigned lun_shift_ = 0;
};

/// The layout of a page in the register and on DQ. Each sector of 512 B is followed by its share of the spare area,
/// like the code words of an ECC engine.
class PageLayout {
public:
    PageLayout(const OnfiBusTiming& timing, const NandGeometry& geometry);
    /// Column at which a user byte lies, which is the first of a sector.
    std::uint32_t column(std::uint32_t user_byte) const { return starts_[user_byte / kSector]; }
    /// The byte in a column. It is from the data where the target has its bytes, else from the 32 bits that stand for
    /// the mapping unit.
    std::uint8_t byte(const OnfiTarget& target, std::uint32_t column) const;

private:
    static constexpr std::uint32_t kSector = 512;
    std::vector<std::uint32_t> starts_;  // column of each sector, and the end of the last
    std::uint32_t unit_bytes_;
};

class PinGenerator {
public:
    /// Throws UserError for NV-DDR, whose clocked cycles are not generated.
    explicit PinGenerator(const NandConfig& config);

    /// The command of a sequence that the bus payload describes. Its duration shows whether a data-out burst selects
    /// its plane first (06h-5A-E0h), or a resume its LUN (78h-3A).
    PinCommand command(FlashOp op, std::uint16_t die, std::uint8_t count, const OnfiTarget* target, SimTime begin,
                       SimTime end) const;

    /// Writes the edges of a command to `out`. Replaces what is in it.
    void play(const PinCommand& command, PinSequence& out) const;
    /// Plays 70h or 78h-3A, tWHR, and the status byte once per strobe edge.
    void play_status(PinSelect select, std::uint16_t die, const OnfiTarget& target, std::uint8_t status, SimTime begin,
                     PinSequence& out) const;
    /// Plays the rise of a die's R/B#, because its operation has ended.
    static void play_ready(std::uint16_t die, SimTime time, PinSequence& out);

    /// Limits the edges of a data burst to this many bytes at each of its ends, so that a waveform stays small. Between
    /// them strobes rest, and DQ keeps its value. By default all bytes have edges.
    void limit_burst_edges(std::uint32_t bytes) { burst_edges_ = bytes; }

private:
    class Writer;
    /// The bytes that a burst carries.
    struct Bytes {
        const OnfiTarget* target = nullptr;
        std::uint32_t column = 0;
        std::uint32_t user = 0;  // transfers beyond it only complete a pair
        std::uint32_t transfers = 0;
        std::int32_t status = -1;  // status byte instead of data
    };
    Bytes bytes_of(const OnfiTarget& target) const;
    std::uint8_t byte(const Bytes& bytes, std::uint32_t k) const {
        if (bytes.status >= 0) return static_cast<std::uint8_t>(bytes.status);
        return k < bytes.user ? layout_.byte(*bytes.target, bytes.column + k) : 0xFF;
    }
    bool skipped(const Bytes& bytes, std::uint32_t k) const {
        return k >= burst_edges_ && bytes.transfers - k > burst_edges_;
    }
    /// Plays the first command and the addresses.
    void address_cycles(Writer& w, const OnfiOperation& op, std::uint16_t die, const OnfiTarget& target) const;
    void data_in(Writer& w, const Bytes& bytes) const;
    void data_out(Writer& w, const Bytes& bytes) const;

    const OnfiTiming t_;
    const std::uint8_t slc_prefix_;
    const OnfiBusTiming timing_;
    const RowAddress rows_;
    const PageLayout layout_;
    const Rate rate_;
    const bool sdr_;
    const std::uint32_t dies_per_chip_;
    const Ps access_;  // SDR: tREA
    std::uint32_t burst_edges_ = 0xFFFFFFFF;
};

}  // namespace ssdtlm
