// SPDX-License-Identifier: Apache-2.0
// The table of operations against the command set as ONFI and the vendors' datasheets write it.
#include "nand/onfi/onfi_operation.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ssdtlm {
namespace {

std::string hex(std::int16_t opcode) {
    constexpr const char* kDigits = "0123456789ABCDEF";
    return {kDigits[opcode >> 4], kDigits[opcode & 15], 'h'};
}

/// "80h-5A-tADL-in-10h/11h/15h".
std::string notation(const OnfiOperation& op) {
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "-") + part; };
    if (op.first != kNoCycle) add(hex(op.first));
    if (op.addresses() != 0) add(std::to_string(op.addresses()) + "A");
    const auto confirm = [&] {
        if (op.confirm != kNoCycle)
            add(hex(op.confirm) + (op.queue == kNoCycle ? "" : "/" + hex(op.queue)) +
                (op.cache == kNoCycle ? "" : "/" + hex(op.cache)));
    };
    const auto data = [&](const char* direction) {
        add(op.data_rule);
        add(direction);
    };
    if (op.data == DataCycles::in) data("in");
    confirm();
    if (op.data == DataCycles::out) data("out");
    return text;
}

TEST(OnfiOperation, CyclesAreThoseOfTheStandard) {
    EXPECT_EQ(notation(onfi_operation(FlashOp::read)), "00h-5A-30h/32h");
    EXPECT_EQ(notation(onfi_operation(FlashOp::program)), "80h-5A-tADL-in-10h/11h/15h");
    EXPECT_EQ(notation(onfi_operation(FlashOp::erase)), "60h-3A-D0h/D1h");
    EXPECT_EQ(notation(onfi_operation(FlashOp::read_out)), "tRR-out");
    EXPECT_EQ(notation(onfi_operation(FlashOp::change_column)), "05h-2A-E0h-tCCS-out");
    EXPECT_EQ(notation(onfi_operation(FlashOp::select_plane)), "06h-5A-E0h-tCCS-out");
    EXPECT_EQ(notation(onfi_operation(FlashOp::read_status)), "70h-tWHR-out");
    EXPECT_EQ(notation(onfi_operation(FlashOp::read_status_enhanced)), "78h-3A-tWHR-out");
    EXPECT_EQ(notation(onfi_operation(FlashOp::program_suspend)), "84h-3A");
    EXPECT_EQ(notation(onfi_operation(FlashOp::program_resume)), "13h");
    EXPECT_EQ(notation(onfi_operation(FlashOp::erase_suspend)), "61h-3A");
    EXPECT_EQ(notation(onfi_operation(FlashOp::erase_resume)), "D2h");
}

TEST(OnfiOperation, CyclesOfWriteEnableAreCounted) {
    const auto cycles = [](FlashOp op) {
        const OnfiOperation& o = onfi_operation(op);
        return std::pair{o.cycles_before_data(), o.cycles_after_data()};
    };
    EXPECT_EQ(cycles(FlashOp::read), (std::pair{7u, 0u}));
    EXPECT_EQ(cycles(FlashOp::program), (std::pair{6u, 1u}));
    EXPECT_EQ(cycles(FlashOp::erase), (std::pair{5u, 0u}));
    EXPECT_EQ(cycles(FlashOp::read_out), (std::pair{0u, 0u}));
    EXPECT_EQ(cycles(FlashOp::change_column), (std::pair{4u, 0u}));
    EXPECT_EQ(cycles(FlashOp::select_plane), (std::pair{7u, 0u}));
    EXPECT_EQ(cycles(FlashOp::read_status), (std::pair{1u, 0u}));
    EXPECT_EQ(cycles(FlashOp::read_status_enhanced), (std::pair{4u, 0u}));
}

TEST(OnfiOperation, AnOpcodeBeginsOneOperation) {
    std::set<std::int16_t> seen;
    for (std::size_t op = 0; op < kFlashOpCount; ++op)
        for (const std::int16_t opcode : {kOnfiOperations[op].first, kOnfiOperations[op].later}) {
            if (opcode == kNoCycle) continue;
            EXPECT_TRUE(seen.insert(opcode).second) << hex(opcode);
            EXPECT_EQ(operation_of(static_cast<std::uint8_t>(opcode)), static_cast<FlashOp>(op));
        }
    for (int opcode = 0; opcode < 256; ++opcode)
        EXPECT_EQ(operation_of(static_cast<std::uint8_t>(opcode)) == FlashOp::count,
                  seen.count(static_cast<std::int16_t>(opcode)) == 0)
            << opcode;
}

TEST(OnfiOperation, AnOperationIsConfirmedByItsLastCycles) {
    for (std::size_t o = 0; o < kFlashOpCount; ++o) {
        const OnfiOperation& op = kOnfiOperations[o];
        for (int opcode = 0; opcode < 256; ++opcode)
            EXPECT_EQ(op.confirmed_by(static_cast<std::uint8_t>(opcode)),
                      std::int16_t{op.confirm} == opcode || std::int16_t{op.queue} == opcode)
                << op.name << " by " << hex(static_cast<std::int16_t>(opcode));
    }
    // ONFI 5.1: 30h reads, 32h queues another plane's read; 10h programs, 11h queues; 15h only where cache program is
    // on.
    EXPECT_TRUE(onfi_operation(FlashOp::read).confirmed_by(0x30));
    EXPECT_TRUE(onfi_operation(FlashOp::program).confirmed_by(0x10));
    EXPECT_TRUE(onfi_operation(FlashOp::program).confirmed_by(0x11));
    EXPECT_FALSE(onfi_operation(FlashOp::program).confirmed_by(0x15));
    EXPECT_FALSE(onfi_operation(FlashOp::read).confirmed_by(0x10));
}

TEST(OnfiOperation, AnOpcodeIsInUseWhereverItStandsInASequence) {
    const std::set<int> used{0x00, 0x30, 0x32, 0x80, 0x81, 0x10, 0x11, 0x15, 0x60, 0xD0,
                             0xD1, 0x05, 0xE0, 0x06, 0x70, 0x78, 0x84, 0x13, 0x61, 0xD2};
    for (int opcode = 0; opcode < 256; ++opcode)
        EXPECT_EQ(opcode_in_use(static_cast<std::uint8_t>(opcode)), used.count(opcode) != 0) << opcode;
    EXPECT_FALSE(opcode_in_use(NandConfig{}.slc.prefix));
}

TEST(OnfiOperation, OnlyOperationsOfTheArrayTakeArrayTime) {
    NandConfig c;
    c.t_read = {45us, 55us, 50us};
    c.t_program = {500us};
    c.t_erase = 5ms;
    for (std::size_t o = 0; o < kFlashOpCount; ++o) {
        const OnfiOperation& op = kOnfiOperations[o];
        EXPECT_EQ(op.array_time != nullptr, is_array_operation(static_cast<FlashOp>(o))) << op.name;
        EXPECT_EQ(op.slc_time != nullptr, op.array_time != nullptr) << op.name;
        const bool changes = op.effect == ArrayEffect::loads_register || op.effect == ArrayEffect::programs_page ||
                             op.effect == ArrayEffect::erases_block;
        EXPECT_EQ(changes, op.array_time != nullptr) << op.name;
    }
    EXPECT_EQ(onfi_operation(FlashOp::read).array_time(c), c.t_read);
    EXPECT_EQ(onfi_operation(FlashOp::program).array_time(c), c.t_program);
    EXPECT_EQ(onfi_operation(FlashOp::erase).array_time(c), std::vector<Ps>{5ms});
    c.slc.t_read = 20us;
    c.slc.t_program = 110us;
    c.slc.t_erase = 2ms;
    EXPECT_EQ(onfi_operation(FlashOp::read).slc_time(c), 20us);
    EXPECT_EQ(onfi_operation(FlashOp::program).slc_time(c), 110us);
    EXPECT_EQ(onfi_operation(FlashOp::erase).slc_time(c), 2ms);
}

}  // namespace
}  // namespace ssdtlm
