// SPDX-License-Identifier: Apache-2.0
// The table of all operations of the ONFI bus. It gives the command and address cycles of each, its data cycles and the
// waits before them, its effect on the array, and its time. Timing, die, channel, pins, their checker, the sequencer in
// RTL and the tests use it. Opcodes appear nowhere else. Kernel-free.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/units/units.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

/// The first three are operations of the array. The others serve them on the bus.
enum class FlashOp : std::uint8_t {
    read,
    program,
    erase,
    read_out,       ///< data of the page in the register, with or without a select before
    change_column,  ///< selects a column of the plane that was addressed last, for data out
    select_plane,   ///< selects LUN, plane and column, for data out
    read_status,
    read_status_enhanced,  ///< of a LUN and plane
    program_suspend,       ///< of the LUN addressed
    program_resume,        ///< of the LUN addressed last
    erase_suspend,
    erase_resume,
    count
};
inline constexpr std::size_t kFlashOpCount = static_cast<std::size_t>(FlashOp::count);
/// Number of operations of the array. They are the FlashOps below this number.
inline constexpr std::size_t kArrayOpCount = 3;

enum class ArrayEffect : std::uint8_t { none, loads_register, programs_page, erases_block, suspends, resumes };
enum class DataCycles : std::uint8_t { none, in, out };

/// Stands for an address or command that the operation does not have.
inline constexpr std::int16_t kNoCycle = -1;

struct OnfiOperation {
    const char* name;      ///< for messages
    std::int16_t first;    ///< command before the addresses
    std::int16_t later;    ///< may replace it in all planes but the first
    std::uint8_t columns;  ///< address cycles
    std::uint8_t rows;
    DataCycles data;
    const char* data_rule;                 ///< name of `before_data`
    Ps (*before_data)(const OnfiTiming&);  ///< last cycle before the data to the data; null: no data
    std::int16_t confirm;                  ///< command after addresses and data in
    std::int16_t queue;                    ///< command for all planes but the last, in place of `confirm`
    ArrayEffect effect;
    std::vector<Ps> (*array_time)(const NandConfig&);  ///< one, or one per page type; null: not of the array
    Ps (*slc_time)(const NandConfig&) = nullptr;       ///< time for a block in SLC mode, whose pages have one type
    std::int16_t cache = kNoCycle;  ///< confirms in place of `confirm` if more may follow while the array is at work

    constexpr std::uint32_t addresses() const { return std::uint32_t{columns} + rows; }
    /// WE# cycles of one plane before its data in, and after it (without data: all before).
    constexpr std::uint32_t cycles_before_data() const {
        const std::uint32_t n = (first != kNoCycle) + addresses();
        return data == DataCycles::in ? n : n + (confirm != kNoCycle);
    }
    constexpr std::uint32_t cycles_after_data() const { return data == DataCycles::in && confirm != kNoCycle; }
    constexpr std::uint32_t cycles() const { return cycles_before_data() + cycles_after_data(); }
    /// True: `opcode` confirms a sequence of this operation.
    constexpr bool confirmed_by(std::uint8_t opcode) const { return opcode == confirm || opcode == queue; }
};

/// tWHR, from the status command to data out, in all modes (Linux drivers/mtd/nand/raw/nand_timings.c).
inline constexpr Ps kStatusDelay{80'000};

namespace onfi_times {
constexpr Ps t_adl(const OnfiTiming& t) {
    return t.t_adl;
}
constexpr Ps t_rr(const OnfiTiming& t) {
    return t.t_rr;
}
constexpr Ps t_ccs(const OnfiTiming& t) {
    return t.t_ccs;
}
constexpr Ps t_whr(const OnfiTiming&) {
    return kStatusDelay;
}
inline std::vector<Ps> t_r(const NandConfig& c) {
    return c.t_read;
}
inline std::vector<Ps> t_prog(const NandConfig& c) {
    return c.t_program;
}
inline std::vector<Ps> t_bers(const NandConfig& c) {
    return {c.t_erase};
}
inline Ps slc_t_r(const NandConfig& c) {
    return c.slc.t_read;
}
inline Ps slc_t_prog(const NandConfig& c) {
    return c.slc.t_program;
}
inline Ps slc_t_bers(const NandConfig& c) {
    return c.slc.t_erase;
}
}  // namespace onfi_times

/// The command set of ONFI 4.x/5.x; 81h is the JEDEC form. Suspend and resume are as in Micron's parts (ONFI has none).
/// An operation of the array on a block in SLC mode has one more command in front, SlcMode::prefix (ONFI has none for
/// this either).
inline constexpr std::array<OnfiOperation, kFlashOpCount> kOnfiOperations{{
    {"read", 0x00, kNoCycle, 2, 3, DataCycles::none, "", nullptr, 0x30, 0x32, ArrayEffect::loads_register,
     onfi_times::t_r, onfi_times::slc_t_r},
    {"program", 0x80, 0x81, 2, 3, DataCycles::in, "tADL", onfi_times::t_adl, 0x10, 0x11, ArrayEffect::programs_page,
     onfi_times::t_prog, onfi_times::slc_t_prog, 0x15},
    {"erase", 0x60, kNoCycle, 0, 3, DataCycles::none, "", nullptr, 0xD0, 0xD1, ArrayEffect::erases_block,
     onfi_times::t_bers, onfi_times::slc_t_bers},
    {"data out", kNoCycle, kNoCycle, 0, 0, DataCycles::out, "tRR", onfi_times::t_rr, kNoCycle, kNoCycle,
     ArrayEffect::none, nullptr},
    {"change column", 0x05, kNoCycle, 2, 0, DataCycles::out, "tCCS", onfi_times::t_ccs, 0xE0, kNoCycle,
     ArrayEffect::none, nullptr},
    {"select plane", 0x06, kNoCycle, 2, 3, DataCycles::out, "tCCS", onfi_times::t_ccs, 0xE0, kNoCycle,
     ArrayEffect::none, nullptr},
    {"read status", 0x70, kNoCycle, 0, 0, DataCycles::out, "tWHR", onfi_times::t_whr, kNoCycle, kNoCycle,
     ArrayEffect::none, nullptr},
    {"read status enhanced", 0x78, kNoCycle, 0, 3, DataCycles::out, "tWHR", onfi_times::t_whr, kNoCycle, kNoCycle,
     ArrayEffect::none, nullptr},
    {"program suspend", 0x84, kNoCycle, 0, 3, DataCycles::none, "", nullptr, kNoCycle, kNoCycle, ArrayEffect::suspends,
     nullptr},
    {"program resume", 0x13, kNoCycle, 0, 0, DataCycles::none, "", nullptr, kNoCycle, kNoCycle, ArrayEffect::resumes,
     nullptr},
    {"erase suspend", 0x61, kNoCycle, 0, 3, DataCycles::none, "", nullptr, kNoCycle, kNoCycle, ArrayEffect::suspends,
     nullptr},
    {"erase resume", 0xD2, kNoCycle, 0, 0, DataCycles::none, "", nullptr, kNoCycle, kNoCycle, ArrayEffect::resumes,
     nullptr},
}};

constexpr const OnfiOperation& onfi_operation(FlashOp op) {
    return kOnfiOperations[static_cast<std::size_t>(op)];
}
constexpr bool is_array_operation(FlashOp op) {
    return static_cast<std::size_t>(op) < kArrayOpCount;
}

/// The operation that a suspend stops or a resume continues.
constexpr FlashOp suspended_operation(FlashOp op) {
    return op == FlashOp::program_suspend || op == FlashOp::program_resume ? FlashOp::program : FlashOp::erase;
}

/// The operation that begins with the opcode; FlashOp::count: there is none.
constexpr FlashOp operation_of(std::uint8_t opcode) {
    for (std::size_t op = 0; op < kFlashOpCount; ++op)
        if (kOnfiOperations[op].first == opcode || kOnfiOperations[op].later == opcode) return static_cast<FlashOp>(op);
    return FlashOp::count;
}

/// True: a sequence has this opcode, so no other command can have it.
constexpr bool opcode_in_use(std::uint8_t opcode) {
    for (const OnfiOperation& op : kOnfiOperations)
        if (op.first == opcode || op.later == opcode || op.confirmed_by(opcode) || op.cache == opcode) return true;
    return false;
}

}  // namespace ssdtlm
