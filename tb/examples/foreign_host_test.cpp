// SPDX-License-Identifier: Apache-2.0
// A host of another make on the link's sockets, without the model's driver and memory. With run.data = "bytes" it gets
// back what it wrote, byte by byte; with signatures, which only the model's own host understands, it is refused.
#include "examples/foreign_host.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "common/random/block_bytes.h"
#include "common/tlm/agenda_process.h"
#include "common/tlm/lt_adapter.h"
#include "host_pcie/link/pcie_link.h"
#include "sim/device/device.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm::examples {
namespace {

constexpr unsigned char kUntouched = 0xA5;

class WritesAndReads final : public ForeignHost {
public:
    using ForeignHost::ForeignHost;
    std::uint64_t filled_blocks = 0;  ///< at the start of the namespace, by preconditioning
    std::uint64_t written = 0, overwritten = 0, read = 0, never_written = 0, from_fill = 0;
    bool finished = false;

private:
    static constexpr std::uint32_t kMostBlocks = 16;
    void work() override {
        ASSERT_LT(filled_blocks, blocks);
        for (std::uint32_t i = 0; i < 12'000; ++i) {
            const std::uint32_t n = 1 + next() % kMostBlocks;
            const std::uint64_t first = next() % (blocks - n + 1);
            if (next() % 2 == 0)
                write(first, n);
            else
                expect(first, n);
        }
        ASSERT_EQ(flush(), 0u);
        for (std::uint64_t lba = 0; lba < blocks; lba += kMostBlocks) expect(lba, kMostBlocks);
        Bytes beyond(block_bytes);
        EXPECT_EQ(read_blocks(blocks, beyond), 0x80u) << "LBA Out of Range";
        finished = true;
    }
    void write(std::uint64_t first, std::uint32_t n) {
        Bytes data(std::size_t{n} * block_bytes);
        for (unsigned char& b : data) b = static_cast<unsigned char>(next());
        ASSERT_EQ(write_blocks(first, data), 0u);
        for (std::uint32_t i = 0; i < n; ++i) {
            Bytes& mine = content_[first + i];
            overwritten += !mine.empty();
            mine.assign(data.begin() + i * block_bytes, data.begin() + (i + 1) * block_bytes);
        }
        written += n;
    }
    void expect(std::uint64_t first, std::uint32_t n) {
        Bytes data(std::size_t{n} * block_bytes, kUntouched), expected;
        ASSERT_EQ(read_blocks(first, data), 0u);
        for (std::uint64_t lba = first; lba < first + n; ++lba) {
            const Bytes block = content(lba);
            expected.insert(expected.end(), block.begin(), block.end());
        }
        ASSERT_EQ(data, expected) << n << " blocks from LBA " << first;
        read += n;
    }
    Bytes content(std::uint64_t lba) {
        if (const auto mine = content_.find(lba); mine != content_.end()) return mine->second;
        Bytes block(block_bytes, 0);
        if (lba >= filled_blocks) {
            ++never_written;
        } else {
            BlockBytes(1, block_bytes).fill(lba, 1, block.data());
            ++from_fill;
        }
        return block;
    }
    std::uint32_t next() {
        return static_cast<std::uint32_t>((state_ = state_ * 6364136223846793005u + 1442695040888963407u) >> 33);
    }

    std::uint64_t state_ = 1;
    std::map<std::uint64_t, Bytes> content_;
};

/// The model's device and link, and a host that is none of the model's.
template <class AnyHost>
struct Netlist {
    const SsdConfig config;
    Agenda agenda;
    AgendaProcess process{"agenda", agenda, false};
    Device device{"device", agenda, config, config.run};
    PcieLink link{"link", agenda, config.link};
    LtInitiatorAdapter register_adapter{"register_adapter", agenda};
    LtTargetAdapter memory_adapter{"memory_adapter", agenda};
    AnyHost host{"host"};

    explicit Netlist(const SsdConfig& c) : config(c) {
        host.registers.bind(register_adapter.lt_target);
        register_adapter.model_initiator.bind(link.host_target);
        link.device_initiator.bind(device.nvme().mmio_target);
        device.nvme().dma_initiator.bind(link.device_target);
        link.host_initiator.bind(memory_adapter.model_target);
        memory_adapter.lt_initiator.bind(host.memory);
    }
};

SsdConfig half_filled(DataMode data) {
    SsdConfig c = grid(2, 2, 2);
    c.run.data = data;
    c.run.seed = 1;
    c.nand.geometry.blocks_per_plane = 32;
    c.nand.geometry.pages_per_block = 16;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 55 / 4096 * 4096;
    c.ftl.buffer_bytes = 64_KiB;
    c.ftl.fill = 0.5;
    return c;
}

/// Writes block 0 and copies it to block 8, as file systems do. What is read there then; or the message that ended the
/// simulation.
std::string copied(DataMode data) {
    struct Copier final : ForeignHost {
        using ForeignHost::ForeignHost;
        Bytes found;
        void work() override {
            Bytes data(block_bytes, 'x');
            found.resize(block_bytes);
            EXPECT_EQ(write_blocks(0, data), 0u);
            EXPECT_EQ(read_blocks(0, data), 0u);
            EXPECT_EQ(write_blocks(8, data), 0u);
            EXPECT_EQ(read_blocks(8, found), 0u);
        }
    };
    return in_child([&] {
        Netlist<Copier> n(half_filled(data));
        try {
            sc_core::sc_start();
        } catch (const sc_core::sc_report& stopped) {
            // The kernel reports that the process ended with an error; the process keeps the error itself.
            EXPECT_STREQ(stopped.get_msg_type(), "/ssdtlm/stopped");
        }
        try {
            n.process.rethrow_error();
        } catch (const UserError& e) {
            return std::string(e.what());
        }
        return std::string(n.host.found.begin(), n.host.found.end());
    });
}

TEST(ForeignHost, CopiesBlocks) {
    EXPECT_EQ(copied(DataMode::bytes), std::string(512, 'x'));
}

TEST(ForeignHost, IsRefusedWithSignatures) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "an exception that leaves the stack of an SC_THREAD: the sanitizer reports what is none";
#endif
    const std::string message = copied(DataMode::signatures);
    EXPECT_NE(message.find("run.data: signatures, but link.host_initiator is bound to host memory of another make"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("set run.data = \"bytes\""), std::string::npos) << message;
}

// Last: it leaves this process with a simulation that was run.
TEST(ForeignHost, BringsUpWritesReadsAndShutsDown) {
    Netlist<WritesAndReads> n(half_filled(DataMode::bytes));
    n.host.filled_blocks = n.device.controller.ftl->mapped_units() * 4096 / n.config.nvme.lba_bytes;
    sc_core::sc_start();
    n.process.rethrow_error();
    EXPECT_TRUE(n.host.finished);
    EXPECT_EQ(n.host.wrong_addresses, 0u);
    EXPECT_GT(n.host.overwritten, 1'000u);
    EXPECT_GT(n.host.never_written, 0u);
    EXPECT_GT(n.host.from_fill, 0u);
    const NvmeCounters& seen = n.device.nvme().controller.counters();
    EXPECT_EQ(seen.flushes, 1u);
    EXPECT_GT(n.device.controller.firmware->merge_reads(), 0u);
    EXPECT_GT(n.device.controller.firmware->gc().victims(), 0u);
    n.device.nvme().controller.check_books();
    n.device.controller.ftl->verify_books();
    std::printf(
        "[   FIGURE ] %llu blocks written (%llu of them again), %llu read, %llu of them of the fill, %llu never "
        "written; %llu victims collected\n",
        static_cast<unsigned long long>(n.host.written), static_cast<unsigned long long>(n.host.overwritten),
        static_cast<unsigned long long>(n.host.read), static_cast<unsigned long long>(n.host.from_fill),
        static_cast<unsigned long long>(n.host.never_written),
        static_cast<unsigned long long>(n.device.controller.firmware->gc().victims()));
}

}  // namespace
}  // namespace ssdtlm::examples
