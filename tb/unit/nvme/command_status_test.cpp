// SPDX-License-Identifier: Apache-2.0
// The firmware's words as the host reads them: status and result of a completion queue entry.
#include <gtest/gtest.h>

#include <map>

#include "unit/nvme/fake_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::NvmeBench;

// NVMe 1.4 figures 126 to 128: SCT << 8 | SC, and whether the command is worth another try.
struct Words {
    std::uint16_t code;
    bool media;
    bool again;
};
const std::map<CommandStatus, Words> kTable{
    {CommandStatus::success, {0x000, false, true}},          {CommandStatus::not_possible, {0x002, false, false}},
    {CommandStatus::read_only, {0x182, false, false}},       {CommandStatus::write_fault, {0x280, true, true}},
    {CommandStatus::unrecovered_read, {0x281, true, false}}, {CommandStatus::transfer_error, {0x004, false, true}},
    {CommandStatus::aborted, {0x007, false, true}},
};

TEST(CommandStatus, EachWordHasItsCodeAndTheResultGoesWithIt) {
    ASSERT_EQ(kTable.size(), kCommandStatusNames.size());
    std::uint64_t failed = 0, media = 0;
    NvmeBench b;
    b.enable();
    test::Pair p = b.create_pair(1);
    for (const auto& [status, words] : kTable) {
        b.push(p, b.rw(kIoRead, 9));
        b.ring(p);
        b.agenda.run();
        ASSERT_EQ(b.firmware.waiting.size(), 1u);
        b.firmware.waiting.front()->result = 0x1122334455667788;
        b.complete_oldest(status);
        b.agenda.run();
        const Cqe e = b.take(p);
        EXPECT_EQ(e.status(), words.code) << status_name(status);
        EXPECT_EQ(e.dnr(), !words.again) << status_name(status);
        EXPECT_EQ(e.dw0, 0x55667788u);
        EXPECT_EQ(e.dw1, 0x11223344u);
        b.ring_head(p);
        failed += words.code != 0;
        media += words.media;
        EXPECT_EQ(b.nvme.counters().failed, failed);
        EXPECT_EQ(b.nvme.counters().media_errors, media);
    }
    // The next command of the same slot begins without a result.
    b.push(p, b.rw(kIoRead, 9));
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.firmware.waiting.front()->result, 0u);
    EXPECT_EQ(b.firmware.waiting.front()->status, CommandStatus::success);
    b.complete_oldest();
    EXPECT_EQ(b.take(p).dw0, 0u);
    b.nvme.check_books();
}

}  // namespace
}  // namespace ssdtlm
