// SPDX-License-Identifier: Apache-2.0
// A Serial ATA drive at queue depth 1: what a read takes beyond its time in the drive (which the front end "raw" shows,
// because its transport takes none) is that of the frames, of the adapter's reads and writes over PCIe, and of the
// interrupt handler. A write has a formula of its own.
#include <algorithm>
#include <systemc>

#include "formula/reference.h"
#include "sim/config/config_loader.h"
#include "support/devices.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

using reference::ceil_div;
using reference::header;
using reference::Wide;
using reference::wire;

// As the parameters' defaults, none of which these runs set.
constexpr std::int64_t kAccess = 100'000, kIssue = 200'000, kDecode = 1'000'000;
constexpr std::uint32_t kDataBytes = 8192, kPage = 4096, kPrdEntry = 16;
// Of a command table, before its PRDT (AHCI 1.3.1, 4.2.3). The first table lies at a multiple of 256 bytes.
constexpr std::uint32_t kTable = 128;
// Of ten dwords of primitives four stand before a frame, with SOF; six behind it, with EOF. CRC belongs to the frame.
constexpr std::int64_t kFront = 20, kCrc = 4, kBack = 28;

struct Formula {
    const SsdConfig& c;
    std::int64_t rate;  // bytes/s of the Serial ATA link

    std::int64_t down() const { return c.link.host_to_device_latency.count(); }
    std::int64_t up() const { return c.link.device_to_host_latency.count(); }
    std::int64_t serial(std::int64_t bytes) const { return ceil_div(Wide{bytes} * 1'000'000'000'000, rate); }
    std::int64_t frame(std::int64_t fis) const { return serial(kFront + fis + kCrc + kBack); }
    std::int64_t arrives(std::int64_t fis) const { return serial(kFront + fis + kCrc); }

    /// A read of host memory by the adapter in one burst of requests of at most 512 bytes, answered 256 bytes at a
    /// time. It begins `after` bytes behind a multiple of these 256.
    std::int64_t memory_read(std::uint64_t bytes, std::uint64_t after = 0) const {
        const std::uint64_t payload = c.link.completion_payload_bytes;
        const std::uint64_t answers = (after + bytes + payload - 1) / payload;
        return wire(c.link, header(true)) + up() + c.link.root_complex_latency.count() +
               wire(c.link, bytes + answers * header(false)) + down();
    }
    /// A register is read while nothing else is on the way.
    std::int64_t register_read() const {
        return wire(c.link, header(true)) + down() + kAccess + wire(c.link, 4 + header(false)) + up();
    }
    /// The request is issued -> the drive's firmware has the command. The handler has just acknowledged IS; then PxSACT
    /// and PxCI.
    std::int64_t submission() const {
        const std::int64_t stores = 3 * wire(c.link, 4 + header(true)) + down() + kAccess;
        return stores + memory_read(32) + memory_read(128) + kIssue + arrives(20) + kDecode;
    }
    /// Set Device Bits has reached the adapter, and PCIe is free from `free` after that on -> the request has ended.
    std::int64_t completion(std::int64_t free) const {
        const std::int64_t message = std::max<std::int64_t>(free, 0) + wire(c.link, 8 + header(true)) +
                                     wire(c.link, 4 + header(false)) + up() + c.host.interrupt_latency.count();
        // IS, PxIS; then PxIS is acknowledged, and PxSACT read.
        return message + 3 * register_read() + wire(c.link, 4 + header(true));
    }
    std::int64_t data_frames(std::uint32_t bytes) const {
        std::int64_t all = 0;
        for (std::uint32_t done = 0; done < bytes; done += kDataBytes)
            all += frame(4 + std::min(bytes - done, kDataBytes));
        return all;
    }
    /// Data of the last Data FIS on their way to memory, in pieces of a page.
    std::int64_t last_data(std::uint32_t bytes) const {
        std::uint32_t last = bytes % kDataBytes == 0 ? kDataBytes : bytes % kDataBytes;
        std::int64_t all = 0;
        for (; last != 0; last -= std::min(last, kPage))
            all += wire(c.link, reference::write_bytes(c.link, std::min(last, kPage)));
        return all;
    }
    std::int64_t read(std::int64_t in_drive, std::uint32_t bytes) const {
        const std::int64_t phase = frame(28) + data_frames(bytes) + arrives(8);
        // The last data have arrived that long before Set Device Bits.
        return submission() + in_drive + phase + completion(last_data(bytes) - serial(kBack) - arrives(8));
    }
    /// Into the write buffer. The firmware asks for the data while the D2H Register that releases BSY is on the wire.
    /// When DMA Setup has come and been copied to memory, the PRDT, an entry for each host page, and the first frame's
    /// data are read, which takes longer than DMA Activate. The adapter has read each later frame before the drive asks
    /// for it, so only the wire counts. The firmware takes the data of a command as a whole, through the DRAM.
    std::int64_t write(std::uint32_t bytes) const {
        const std::uint32_t first = std::min(bytes, kDataBytes), last = bytes - (bytes - 1) / kDataBytes * kDataBytes;
        const std::uint32_t pages = (bytes + kPage - 1) / kPage;
        const std::int64_t before =
            reference::cycles(c.firmware, c.firmware.write_command + c.firmware.buffer_insert * pages);
        const std::int64_t ready =
            arrives(28) + wire(c.link, 28 + header(true)) + memory_read(kPrdEntry * pages, kTable) + memory_read(first);
        EXPECT_GT(ready, frame(28) + frame(4)) << "the drive would ask later";
        EXPECT_LT(memory_read(kDataBytes), frame(4 + kDataBytes)) << "the adapter would read too slowly";
        std::int64_t data = arrives(4 + last);
        for (std::uint32_t left = bytes - last; left != 0; left -= kDataBytes) data += frame(4 + kDataBytes) + frame(4);
        const std::int64_t behind = reference::dram(c.dram, bytes);
        EXPECT_GT(behind, serial(kBack)) << "the wire would not be free";
        return submission() + std::max(before, frame(20)) + ready + data + behind + arrives(8) + completion(0);
    }
};

nlohmann::json run(SsdConfig c, const char* kind, const char* rate, HostOp op, std::uint32_t bytes) {
    c.front_end.kind = kind;
    if (std::string(kind) == "sata") c.front_end.policies["sata"]["rate"] = Value{std::string(rate)};
    ClosedLoop::Spec s;
    s.op = op;
    s.bytes = bytes;
    s.depth = 1;
    s.requests = 100;
    s.span = c.ftl.user_capacity_bytes / bytes * bytes;
    return run_closed_loop(c, s);
}

void expect_exact(const SsdConfig& c, const char* rate, std::int64_t bytes_per_second, HostOp op, std::uint32_t bytes) {
    const auto found = run(c, "sata", rate, op, bytes);
    const Formula f{c, bytes_per_second};
    std::int64_t expected = 0;
    if (op == HostOp::read) {
        SsdConfig drive = c;  // the host's interrupts are the formula's
        drive.host.interrupt_latency = Ps{};
        const auto raw = run(drive, "raw", rate, op, bytes);
        ASSERT_EQ(raw["exact_min_ps"], raw["exact_max_ps"]);
        expected = f.read(raw["exact_max_ps"].get<std::int64_t>(), bytes);
    } else {
        expected = f.write(bytes);
    }
    std::printf("[   FIGURE ] %s of %u bytes at %s: formula %ld ps, model %ld .. %ld ps\n",
                op == HostOp::read ? "read" : "write", bytes, rate, expected, found["exact_min_ps"].get<std::int64_t>(),
                found["exact_max_ps"].get<std::int64_t>());
    // Transfers that follow each other on a wire are rounded up once together, here one by one.
    constexpr std::int64_t kRounding = 2;
    EXPECT_EQ(found["exact_min_ps"], found["exact_max_ps"]);
    EXPECT_LE(std::abs(found["exact_max_ps"].get<std::int64_t>() - expected), kRounding);
}

TEST(UnloadedSata, FourKiBAtEachRate) {
    expect_exact(table3_small(), "6Gbps", 600'000'000, HostOp::read, 4096);
    expect_exact(table3_small(), "3Gbps", 300'000'000, HostOp::read, 4096);
    expect_exact(table3_small(), "1.5Gbps", 150'000'000, HostOp::read, 4096);
}

TEST(UnloadedSata, OneSectorAndManyFrames) {
    expect_exact(table3_small(), "6Gbps", 600'000'000, HostOp::read, 512);
    expect_exact(table3_small(), "6Gbps", 600'000'000, HostOp::read, 131072);
    expect_exact(table3_small(), "3Gbps", 300'000'000, HostOp::read, 131072);
    expect_exact(table3_small(), "1.5Gbps", 150'000'000, HostOp::read, 131072);
}

TEST(UnloadedSata, WritesIntoTheBuffer) {
    expect_exact(table3_small(), "6Gbps", 600'000'000, HostOp::write, 4096);
    expect_exact(table3_small(), "3Gbps", 300'000'000, HostOp::write, 4096);
    expect_exact(table3_small(), "1.5Gbps", 150'000'000, HostOp::write, 4096);
    expect_exact(table3_small(), "6Gbps", 600'000'000, HostOp::write, 8192);
    expect_exact(table3_small(), "6Gbps", 600'000'000, HostOp::write, 131072);
    expect_exact(table3_small(), "3Gbps", 300'000'000, HostOp::write, 131072);
    expect_exact(table3_small(), "1.5Gbps", 150'000'000, HostOp::write, 131072);
}

TEST(UnloadedSata, LatencyOfInterruptsAndAFasterPcie) {
    SsdConfig c = table3_small();
    c.link.generation = 4;
    c.link.lanes = 8;
    c.host.interrupt_latency = Ps{3'000'000};
    expect_exact(c, "6Gbps", 600'000'000, HostOp::read, 4096);
}

}  // namespace
}  // namespace ssdtlm
