// SPDX-License-Identifier: Apache-2.0
#include "sim/derive/transport.h"

#include <algorithm>

#include "common/units/units.h"
#include "host_pcie/link/link_rate.h"
#include "protocol/sata.h"
#include "sim/derive/link_bytes.h"
#include "sim/device/front_ends.h"
#include "sim/host/host_sides.h"

namespace ssdtlm {

namespace {

/// The host's PCIe link, with its memory behind it.
class Pcie {
    using L = LinkBytes;

public:
    explicit Pcie(const LinkConfig& link) : link_(link), bytes_(link), rate_(link_rate(link).bytes_per_second()) {}

    double write(std::uint64_t address, std::uint64_t bytes) const { return bytes_.write(address, bytes) / rate_; }
    /// The time of a read of host memory in s. The first request goes up, and the data of all requests come back one
    /// behind the other.
    double read_memory(std::uint64_t address, std::uint64_t bytes) const {
        return (bytes_.one_request(address) + bytes_.answers(address, bytes)) / rate_ + up() +
               to_seconds(link_.root_complex_latency) + down();
    }
    /// The time in s of a read of a register of the adapter.
    double read_register(double access) const {
        return (bytes_.one_request(L::kHigh) + bytes_.answers(L::kHigh, 4)) / rate_ + down() + access + up();
    }
    double up() const { return to_seconds(link_.device_to_host_latency); }
    double down() const { return to_seconds(link_.host_to_device_latency); }

private:
    const LinkConfig& link_;
    const LinkBytes bytes_;
    const double rate_;
};

class NvmeTransport final : public Transport {
    using L = LinkBytes;

public:
    explicit NvmeTransport(const SsdConfig& c) : c_(c), pcie_(c.link) {}

    double submission(std::uint32_t bytes) const override {
        // The completion handler has rung the head doorbell just before.
        const double doorbells = 2 * pcie_.write(L::kHigh, L::kDoorbell);
        const std::uint64_t pages = div_ceil(c_.host.buffer_offset + bytes, c_.host.page_bytes);
        return doorbells + pcie_.down() + pcie_.read_memory(L::kHigh, L::kSqe) +
               (pages > 2 ? pcie_.read_memory(L::kHigh, (pages - 1) * L::kPrp) : 0);
    }
    double page_to_host(std::uint32_t bytes) const override { return pcie_.write(L::kHigh, bytes); }
    double rest_of_read(std::uint32_t) const override { return 0; }
    double to_drive(std::uint32_t bytes, double firmware) const override {
        return firmware + pcie_.read_memory(L::kHigh + c_.host.buffer_offset, bytes);
    }
    double completion(HostOp, std::uint32_t) const override {
        return pcie_.write(L::kHigh, L::kCqe) + pcie_.write(L::kLow, L::kMessage) + pcie_.up() +
               to_seconds(c_.host.interrupt_latency);
    }

private:
    const SsdConfig& c_;
    const Pcie pcie_;
};

/// Host and drive share one memory, so nothing between them takes time.
class RawTransport final : public Transport {
public:
    double submission(std::uint32_t) const override { return 0; }
    double page_to_host(std::uint32_t) const override { return 0; }
    double rest_of_read(std::uint32_t) const override { return 0; }
    double to_drive(std::uint32_t, double firmware) const override { return firmware; }
    double completion(HostOp, std::uint32_t) const override { return 0; }
};

template <class Registry>
PolicySettings settings_of(const std::string& name, const PolicyTable& table) {
    static const PolicyValues kDefaults;
    const auto values = table.find(name);
    return {Registry::instance().policies().at(name).parameters, values == table.end() ? kDefaults : values->second};
}

double sata_rate(const PolicySettings& drive) {
    const std::string rate = drive.text("rate");
    return rate == "1.5Gbps" ? 150e6 : rate == "3Gbps" ? 300e6 : 600e6;
}

/// AHCI behind the PCIe link, and Serial ATA behind AHCI. A queued command has these frames: the command, the D2H
/// Register that releases BSY, DMA Setup, Data, and Set Device Bits. Before each Data that the host sends, the drive
/// sends a DMA Activate.
class AhciTransport final : public Transport {
    using L = LinkBytes;
    // The sizes of a command header, of a command table without its list of pages, and of an entry of this list (AHCI
    // 1.3.1, 4.2).
    static constexpr std::uint32_t kHeader = 32, kTable = 128, kEntry = 16;
    static constexpr std::uint32_t kFront = 4 * 5, kCrc = 4;  ///< bytes of a frame before and behind its FIS

public:
    explicit AhciTransport(const SsdConfig& c)
        : c_(c),
          pcie_(c.link),
          drive_(settings_of<FrontEnds>("sata", c.front_end.policies)),
          host_(settings_of<HostSides>("sata", c.host_sides)),
          rate_(sata_rate(drive_)),
          access_(time(host_, "access_time")) {}

    double submission(std::uint32_t) const override {
        // The handler has just acknowledged IS; the driver then writes PxSACT and PxCI.
        return 3 * pcie_.write(L::kHigh, 4) + pcie_.down() + access_ + pcie_.read_memory(L::kHigh, kHeader) +
               pcie_.read_memory(L::kHigh, kTable) + time(host_, "issue_time") + arrives(sata::kRegisterBytes) +
               time(drive_, "decode_time");
    }
    double page_to_host(std::uint32_t) const override { return 0; }
    double rest_of_read(std::uint32_t bytes) const override {
        double all = frame(sata::kDmaSetupBytes) + arrives(sata::kSetDeviceBitsBytes);
        for (std::uint32_t done = 0; done < bytes; done += sata::kMostDataBytes)
            all += frame(sata::kDataHeaderBytes + std::min(bytes - done, sata::kMostDataBytes));
        return all;
    }
    double to_drive(std::uint32_t bytes, double firmware) const override {
        const std::uint32_t first = std::min(bytes, sata::kMostDataBytes);
        const std::uint32_t last = bytes - (bytes - 1) / sata::kMostDataBytes * sata::kMostDataBytes;
        const std::uint64_t pages = div_ceil(bytes, c_.host.page_bytes);
        const double setup = arrives(sata::kDmaSetupBytes) + pcie_.write(L::kHigh, sata::kDmaSetupBytes) +
                             pcie_.read_memory(L::kHigh + kTable, kEntry * pages) + pcie_.read_memory(L::kHigh, first);
        const double activate = drive_.flag("auto_activate") ? 0 : frame(sata::kDmaActivateBytes);
        double data = std::max(setup, frame(sata::kDmaSetupBytes) + activate) + arrives(sata::kDataHeaderBytes + last);
        for (std::uint32_t left = bytes - last; left != 0; left -= sata::kMostDataBytes)
            data += frame(sata::kDataHeaderBytes + sata::kMostDataBytes) + frame(sata::kDmaActivateBytes);
        return std::max(firmware, frame(sata::kRegisterBytes)) + data;
    }
    double completion(HostOp op, std::uint32_t bytes) const override {
        // The adapter is still writing data of the last frame when a read's Set Device Bits arrives.
        double behind = 0;
        if (op == HostOp::read) {
            const std::uint32_t left = bytes % sata::kMostDataBytes, last = left == 0 ? sata::kMostDataBytes : left;
            behind = pcie_.write(L::kHigh, last) - frame(sata::kSetDeviceBitsBytes);
        }
        const double bits = op == HostOp::write ? arrives(sata::kSetDeviceBitsBytes) : 0;
        const double message = std::max(behind, 0.0) + pcie_.write(L::kHigh, sata::kSetDeviceBitsBytes) +
                               pcie_.write(L::kLow, L::kMessage) + pcie_.up() + to_seconds(c_.host.interrupt_latency);
        // The handler reads IS and PxIS, acknowledges PxIS, and reads PxSACT.
        return bits + message + 3 * pcie_.read_register(access_) + pcie_.write(L::kHigh, 4);
    }

private:
    static double time(const PolicySettings& of, const char* name) { return to_seconds(Ps{of.number(name)}); }
    double frame(std::uint32_t fis) const { return sata::wire_bytes(fis) / rate_; }
    double arrives(std::uint32_t fis) const { return (kFront + fis + kCrc) / rate_; }

    const SsdConfig& c_;
    const Pcie pcie_;
    const PolicySettings drive_, host_;
    const double rate_, access_;
};

}  // namespace

std::unique_ptr<Transport> transport_of(const SsdConfig& c) {
    if (c.front_end.kind == "nvme") return std::make_unique<NvmeTransport>(c);
    if (c.front_end.kind == "raw") return std::make_unique<RawTransport>();
    const auto queued = [&c] { return settings_of<HostSides>("sata", c.host_sides).flag("ncq"); };
    if (c.front_end.kind == "sata" && queued()) return std::make_unique<AhciTransport>(c);
    return nullptr;
}

SataTraffic sata_traffic(const SsdConfig& c, HostOp op, std::uint32_t bytes) {
    const PolicySettings drive = settings_of<FrontEnds>("sata", c.front_end.policies);
    const bool queued = settings_of<HostSides>("sata", c.host_sides).flag("ncq");
    SataTraffic t;
    t.bytes_per_second = sata_rate(drive);
    // The frames are the command and a D2H Register. The latter releases BSY or, for a command that is not queued, ends
    // it.
    t.least = 2.0 * sata::wire_bytes(sata::kRegisterBytes);
    if (queued) t.least += sata::wire_bytes(sata::kDmaSetupBytes);
    for (std::uint32_t done = 0; done < bytes; done += sata::kMostDataBytes) {
        t.least += sata::wire_bytes(sata::kDataHeaderBytes + std::min(bytes - done, sata::kMostDataBytes));
        const bool asked = done != 0 || !queued || !drive.flag("auto_activate");
        if (op == HostOp::write && asked) t.least += sata::wire_bytes(sata::kDmaActivateBytes);
    }
    t.most = t.least + (queued ? sata::wire_bytes(sata::kSetDeviceBitsBytes) : 0);
    return t;
}

}  // namespace ssdtlm
