// SPDX-License-Identifier: Apache-2.0
// What byte enables do from the DMA engine to the host's memory and back.
#include <array>

#include "protocol/signature.h"
#include "unit/dma/dma_link_netlists.h"

namespace ssdtlm {
namespace {

// Data of which only some bytes have content: those arrive, whatever becomes of the others, and the wire carries all.
TEST_F(DmaLink, BytesThatAreEnabledArrive) {
    System& s = get("enables");
    const std::uint64_t base = s.memory.allocate(64_KiB, 4096);
    std::array<std::uint8_t, 24> odd{};
    odd[3] = odd[4] = odd[23] = 0xFF;
    const ByteEnables patterns[] = {signatures_of(512), signatures_of(4096), {odd.data(), 24}};
    std::uint64_t cookie = 0;
    for (const ByteEnables content : patterns) {
        for (const std::uint32_t bytes : {512u, 4096u, 12'000u}) {
            for (const std::uint32_t offset : {0u, 36u, 4092u}) {
                const auto enabled = [&](std::uint32_t i) { return content.pattern[i % content.bytes] != 0; };
                const HostSegment at[] = {{base + offset, 300}, {base + 20'000 + offset, bytes - 300}};
                const auto host = [&](std::uint32_t i) {
                    return (i < 300 ? at[0].address + i : at[1].address + i - 300);
                };
                std::vector<std::uint8_t> out(bytes), in(bytes, 0xAA);
                for (std::uint32_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(i * 7 + cookie + 1);
                const std::uint64_t wire = s.link.upstream().counters().payload_bytes[0];
                s.dma.write_host(at, 2, out.data(), s.then(++cookie), content);
                s.agenda.run();
                EXPECT_GE(s.link.upstream().counters().payload_bytes[0] - wire, bytes);
                for (std::uint32_t i = 0; i < bytes; ++i)
                    if (enabled(i)) {
                        ASSERT_EQ(s.memory.load<std::uint8_t>(host(i)), out[i]) << i;
                    }
                s.dma.read_host(at, 2, in.data(), s.then(++cookie), content);
                s.agenda.run();
                for (std::uint32_t i = 0; i < bytes; ++i)
                    if (enabled(i)) {
                        ASSERT_EQ(in[i], out[i]) << i;
                    }
            }
        }
    }
    EXPECT_EQ(s.done.size(), cookie);
    // One burst moves what is enabled and nothing else.
    std::vector<std::uint8_t> out(4096, 0x55);
    const HostSegment to{base + 40'960, 4096};
    s.dma.write_host(&to, 1, out.data(), s.then(++cookie), signatures_of(512));
    s.agenda.run();
    for (std::uint32_t i = 0; i < 4096; ++i)
        ASSERT_EQ(s.memory.load<std::uint8_t>(to.address + i), i % 512 < sizeof(BlockSignature) ? 0x55 : 0) << i;
}

}  // namespace
}  // namespace ssdtlm
