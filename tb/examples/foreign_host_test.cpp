// SPDX-License-Identifier: Apache-2.0
// A host of another make on the link's sockets. The model keeps of each logical block the address and version that its first 16
// bytes say, not the bytes; this is what such a host can count on:
// - of a block that it signed as host_pcie/protocol/signature.h says, a read returns the signature of the last write;
// - of one that it wrote unsigned, address, version 0 and the magic number;
// - of one that was never written, zeros;
// - the other bytes of its buffers are left alone: their byte enables are off.
#include "examples/foreign_host.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "examples/own_flash_ssd.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm::examples {
namespace {

constexpr unsigned char kUntouched = 0xA5;

ForeignHost::Bytes signature(std::uint64_t lba, std::uint32_t version) {
    const std::uint32_t magic = 0x544C4D53;
    ForeignHost::Bytes s(16);
    std::memcpy(s.data(), &lba, 8);
    std::memcpy(s.data() + 8, &version, 4);
    std::memcpy(s.data() + 12, &magic, 4);
    return s;
}

class Host final : public ForeignHost {
public:
    using ForeignHost::ForeignHost;
    std::uint64_t filled_units = 0;  ///< at the start of the namespace, by preconditioning
    std::uint64_t written = 0, overwritten = 0, read = 0, never_written = 0, from_fill = 0;
    bool finished = false;

private:
    static constexpr std::uint32_t kUnit = 4096;
    void work() override {
        ASSERT_EQ(blocks * block_bytes % kUnit, 0u);
        units_ = blocks * block_bytes / kUnit;
        ASSERT_LT(filled_units, units_);
        for (std::uint32_t i = 0; i < 8'000; ++i) {
            const std::uint32_t units = 1 + next() % 2;
            const std::uint64_t first = next() % (units_ - 1);
            if (next() % 2 == 0)
                write_units(first, units, next() % 4 != 0);
            else
                read_units(first, units);
        }
        ASSERT_EQ(flush(), 0u);
        for (const auto& [unit, version] : version_) read_units(unit, 1);
        ForeignHost::Bytes beyond(kUnit);
        EXPECT_EQ(read_blocks(blocks, beyond), 0x80u) << "LBA Out of Range";
        finished = true;
    }
    void write_units(std::uint64_t first, std::uint32_t units, bool is_signed) {
        Bytes data(units * kUnit);
        for (unsigned char& b : data) b = static_cast<unsigned char>(next());
        for (std::uint32_t u = 0; u < units; ++u) {
            overwritten += version_.count(first + u);
            const std::uint32_t version = is_signed ? ++last_version_[first + u] + 1 : 0;  // the fill has had version 1
            version_[first + u] = version;
            for (std::uint32_t b = 0; is_signed && b < kUnit; b += block_bytes) {
                const Bytes s = signature(((first + u) * kUnit + b) / block_bytes, version);
                std::copy(s.begin(), s.end(), data.begin() + u * kUnit + b);
            }
        }
        ASSERT_EQ(write_blocks(first * kUnit / block_bytes, data), 0u);
        written += units;
    }
    void read_units(std::uint64_t first, std::uint32_t units) {
        Bytes data(units * kUnit, kUntouched);
        ASSERT_EQ(read_blocks(first * kUnit / block_bytes, data), 0u);
        for (std::uint32_t b = 0; b < data.size(); b += block_bytes) expect_block(first * kUnit / block_bytes + b / block_bytes, &data[b]);
        read += units;
    }
    void expect_block(std::uint64_t lba, const unsigned char* block) {
        const std::uint64_t unit = lba * block_bytes / kUnit;
        const auto mine = version_.find(unit);
        Bytes expected(block_bytes, kUntouched);
        if (mine != version_.end()) {
            const Bytes s = signature(lba, mine->second);
            std::copy(s.begin(), s.end(), expected.begin());
        } else if (unit >= filled_units) {
            std::fill_n(expected.begin(), 16, 0);
            ++never_written;
        } else {  // the fill's version is the model's affair
            std::uint32_t version = 0;
            std::memcpy(&version, block + 8, 4);
            const Bytes s = signature(lba, version);
            std::copy(s.begin(), s.end(), expected.begin());
            ++from_fill;
        }
        EXPECT_EQ(Bytes(block, block + block_bytes), expected) << "LBA " << lba;
    }
    std::uint32_t next() { return static_cast<std::uint32_t>((state_ = state_ * 6364136223846793005u + 1442695040888963407u) >> 33); }

    std::uint64_t state_ = 1, units_ = 0;
    std::map<std::uint64_t, std::uint32_t> version_, last_version_;
};

template <class AnyHost>
struct Netlist : DeviceWithoutFlash {
    std::vector<std::unique_ptr<OnfiBus>> buses;
    std::vector<std::unique_ptr<NandPackage>> packages;
    LtInitiatorAdapter register_adapter{"register_adapter", agenda};
    LtTargetAdapter memory_adapter{"memory_adapter", agenda};
    AnyHost host{"host"};

    Netlist(const SsdConfig& c, bool is_signed) : DeviceWithoutFlash("device", c, is_signed) {
        const NandGeometry& g = config.nand.geometry;
        for (std::uint32_t ch = 0; ch < g.channels; ++ch) {
            buses.push_back(std::make_unique<OnfiBus>(("bus_" + std::to_string(ch)).c_str(), config.nand));
            backend.channel(ch).onfi_initiator.bind(buses[ch]->controller_target);
            for (std::uint32_t way = 0; way < g.ways; ++way) {
                const DieId first{ch * g.dies_per_channel() + way * g.dies_per_chip};
                const std::string name = "package_" + std::to_string(ch) + "_" + std::to_string(way);
                packages.push_back(std::make_unique<NandPackage>(name.c_str(), agenda, config.nand, first, contents));
                buses[ch]->package_initiator[way].bind(packages.back()->bus_target);
            }
        }
        host.registers.bind(register_adapter.lt_target);
        register_adapter.model_initiator.bind(link.host_target);
        link.host_initiator.bind(memory_adapter.model_target);
        memory_adapter.lt_initiator.bind(host.memory);
    }
};

SsdConfig half_filled() {
    SsdConfig c = grid(2, 2, 2);
    c.nand.geometry.blocks_per_plane = 32;
    c.nand.geometry.pages_per_block = 16;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 55 / 4096 * 4096;
    c.ftl.buffer_bytes = 64_KiB;
    c.ftl.fill = 0.5;
    return c;
}

/// Copies block 0, signed, to block 8, as file systems do. What is read there then; or the message that ended the simulation.
std::string copied(bool is_signed) {
    struct Copier final : ForeignHost {
        using ForeignHost::ForeignHost;
        Bytes found = Bytes(512, kUntouched);
        void work() override {
            Bytes data = signature(0, 5);
            data.resize(block_bytes);
            EXPECT_EQ(write_blocks(0, data), 0u);
            EXPECT_EQ(read_blocks(0, data), 0u);
            EXPECT_EQ(write_blocks(8, data), 0u);
            EXPECT_EQ(read_blocks(8, found), 0u);
        }
    };
    return in_child([&] {
        Netlist<Copier> n(half_filled(), is_signed);
        sc_core::sc_start();
        try {
            n.process.rethrow_error();
        } catch (const CheckFailed& e) {
            return std::string(e.what());
        }
        return std::string(n.host.found.begin(), n.host.found.begin() + 16);
    });
}

TEST(ForeignHost, CopiesBlocksIfTheDeviceDoesNotCheckSignatures) {
    const ForeignHost::Bytes plain = signature(8, 0);
    EXPECT_EQ(copied(false), std::string(plain.begin(), plain.end()));
    EXPECT_NE(copied(true).find("write to LBA 8 brought the data of LBA 0"), std::string::npos);
}

// Last: it leaves this process with a simulation that was run.
TEST(ForeignHost, BringsUpWritesReadsAndShutsDown) {
    Netlist<Host> n(half_filled(), true);
    n.host.filled_units = n.ftl.mapped_units();
    sc_core::sc_start();
    n.process.rethrow_error();
    EXPECT_TRUE(n.host.finished);
    EXPECT_EQ(n.host.wrong_addresses, 0u);
    EXPECT_GT(n.host.overwritten, 1'000u);
    EXPECT_GT(n.host.never_written, 0u);
    EXPECT_GT(n.host.from_fill, 0u);
    const NvmeCounters& seen = n.front_end.counters();
    EXPECT_EQ(seen.flushes, 1u);
    EXPECT_EQ(n.firmware.host_units_written(), n.host.written);
    n.front_end.check_books();
    n.ftl.verify_books();
    std::printf("[   FIGURE ] %llu units written (%llu of them again), %llu read, %llu blocks of fill, %llu never written, %llu victims collected\n",
                static_cast<unsigned long long>(n.host.written), static_cast<unsigned long long>(n.host.overwritten),
                static_cast<unsigned long long>(n.host.read), static_cast<unsigned long long>(n.host.from_fill),
                static_cast<unsigned long long>(n.host.never_written), static_cast<unsigned long long>(n.firmware.gc().victims()));
}

}  // namespace
}  // namespace ssdtlm::examples
