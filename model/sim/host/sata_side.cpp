// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "controller/sata/sata_front_end.h"
#include "sim/host/host_side.h"
#include "sim/host/sata_host.h"

namespace ssdtlm {

namespace {

HostConfig for_io_path(HostConfig c) {
    c.interrupt_latency = Ps{};
    return c;
}

}  // namespace

SataHost::SataHost(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& host, const SataHostConfig& sata,
                   const SataLinkConfig& link, Workload& workload, CommandTracker* stages, IntegrityOracle* oracle,
                   CompletionObserver* observer)
    : sc_module(name),
      config(for_io_path(host)),
      driver("driver", agenda, memory, config, host.interrupt_latency, sata.driver, workload, stages, oracle, observer),
      root_complex("root_complex", agenda, memory, &driver),
      adapter("adapter", agenda, sata.adapter),
      sata_link("sata_link", agenda, link) {
    adapter.set_message(AhciDriver::kMessageAddress, AhciDriver::kMessageData);
    adapter.sata_initiator.bind(sata_link.host_target);
    sata_link.host_initiator.bind(adapter.sata_target);
}

namespace {

/// The driver's transfers are limited to nvme.max_transfer, because the drive's firmware and map are built for such
/// commands.
SataHostConfig config_of(const HostSetup& setup, const PolicySettings& own) {
    SataHostConfig c;
    c.driver.queue_depth = static_cast<std::uint32_t>(own.number("queue_depth"));
    c.driver.ncq = own.flag("ncq");
    c.driver.max_transfer = static_cast<std::uint32_t>(own.number("max_transfer"));
    if (const std::uint64_t most = setup.config.nvme.max_transfer_bytes; most != 0 && most < c.driver.max_transfer)
        c.driver.max_transfer = static_cast<std::uint32_t>(most);
    const std::string cache = own.text("write_cache");
    c.driver.write_cache = cache == "on"    ? WriteCacheWish::on
                           : cache == "off" ? WriteCacheWish::off
                                            : WriteCacheWish::as_is;
    c.driver.debounce = Ps{own.number("debounce")};
    c.driver.coalescing_commands = static_cast<std::uint32_t>(own.number("coalescing_commands"));
    c.driver.coalescing_ms = static_cast<std::uint32_t>(own.number("coalescing_time") / 1'000'000'000);
    c.adapter.access_time = Ps{own.number("access_time")};
    c.adapter.issue_time = Ps{own.number("issue_time")};
    c.adapter.fifo_frames = static_cast<std::uint32_t>(own.number("fifo_frames"));
    return c;
}

SataLinkConfig link_of(const SataFrontEnd& drive) {
    SataLinkConfig c;
    c.device_generation = drive.config().generation;
    return c;
}

/// A host that speaks AHCI over the PCIe link, with Serial ATA behind it.
class SataSide final : public HostSide {
public:
    SataSide(const HostSetup& s, const PolicySettings& own)
        : SataSide(s, s.device.controller.front_end_as<SataFrontEnd>(), config_of(s, own)) {}

    std::vector<Bytes> survivors() const override {
        // The adapter and its PCIe link have the host's power. cut_way() drops the entries of the link to the drive.
        return {{host_.get(), sizeof *host_}, {&pcie_, sizeof pcie_}};
    }
    void cut_way(Agenda& agenda, PcieLink&) override {
        agenda.drop_if([this](const void* self) { return host_->sata_link.owns(self); });
        host_->sata_link.restart();
    }
    void check_waiters() const override {
        HostSide::check_waiters();
        host_->root_complex.check_waiters();
        host_->adapter.check_waiters();
        host_->sata_link.check_waiters();
    }
    std::vector<Resource> resources() const override { return {{"SATA link", host_->sata_link.busy()}}; }
    Counters figures() const override {
        const AhciPort::Counters& port = host_->adapter.counters();
        const SataWireCounts& wire = host_->sata_link.counts();
        constexpr auto kHost = static_cast<std::size_t>(SataEnd::host),
                       kDevice = static_cast<std::size_t>(SataEnd::device);
        return {{"hba_commands", port.commands},
                {"hba_messages", host_->adapter.adapter().interrupts()},
                {"hba_frames_held", port.held},
                {"hba_comresets", port.comresets},
                {"hba_errors", port.errors},
                {"sata_frames_to_device", wire.frames[kHost]},
                {"sata_frames_to_host", wire.frames[kDevice]},
                {"sata_bytes_to_device", wire.bytes[kHost]},
                {"sata_bytes_to_host", wire.bytes[kDevice]},
                {"host_error_recoveries", host_->driver.control().recoveries()},
                {"host_commands_submitted_again", host_->driver.queue().submitted_again()}};
    }
    /// Names all parameters that set this bound. If none of them does, it is the 32 tags of the protocol.
    Bound queue_slots(const SsdConfig&) const override {
        const std::uint32_t most = own_.ncq ? std::min(own_.queue_depth, drive_tags_) : 1;
        if (most == ahci::kSlots) return {{}, fmt::format("the {} tags of NCQ", ahci::kSlots)};
        Bound b;
        if (!own_.ncq) b.parameters.emplace_back("host.sata.ncq");
        if (own_.queue_depth == most) b.parameters.emplace_back("host.sata.queue_depth");
        if (drive_tags_ == most) b.parameters.emplace_back("frontend.sata.queue_depth");
        return b;
    }
    std::string dump() const override { return host_->adapter.adapter().dump() + host_->sata_link.dump(); }

private:
    sc_core::sc_module& module() override { return *host_; }
    SataSide(const HostSetup& s, SataFrontEnd& drive, const SataHostConfig& c)
        : SataSide(s, drive, c.driver,
                   std::make_unique<SataHost>("host", s.agenda, s.config.host, c, link_of(drive), s.workload,
                                              &s.device.controller.stages, s.oracle, s.observer)) {}
    SataSide(const HostSetup& s, SataFrontEnd& drive, const AhciDriverConfig& own, std::unique_ptr<SataHost> host)
        : HostSide(host->driver),
          own_(own),
          drive_tags_(drive.config().queue_depth),
          host_(std::move(host)),
          pcie_(s.link) {
        s.taps.join_mmio(host_->driver.mmio_initiator, s.link.host_target);
        s.link.device_initiator.bind(host_->adapter.mmio_target);
        s.taps.join_dma(host_->adapter.dma_initiator, s.link.device_target);
        s.link.host_initiator.bind(host_->root_complex.link_target);
        host_->sata_link.device_initiator.bind(drive.link_target);
        drive.link_initiator.bind(host_->sata_link.device_target);
    }
    const AhciDriverConfig own_;
    const std::uint32_t drive_tags_;
    const std::unique_ptr<SataHost> host_;
    PcieLink& pcie_;
};

const HostSides::Registered kSata{
    {"sata",
     "a host with an AHCI adapter and its driver",
     {policy_integer("queue_depth", 32)
          .range("1", "32")
          .says("Commands that the driver has in the drive at a time. The drive may have fewer tags")
          .from("Linux include/linux/libata.h ATA_MAX_QUEUE = 32 (31 before 4.19); /sys/block/sda/device/queue_depth"),
      policy_boolean("ncq", true)
          .says("Reads and writes are queued commands, if the drive has them. false: DMA EXT commands, one at a time")
          .from("Linux drivers/ata/libata-core.c ata_dev_config_ncq()"),
      policy_quantity("max_transfer", Dimension::bytes, 1280 * 1024)
          .range("4KiB", "32760KiB")
          .multiple_of("4KiB")
          .says("Data of a command. Larger requests are split. The drive is made for commands of at most "
                "nvme.max_transfer, so the smaller one of both acts")
          .from("Linux include/linux/blkdev.h BLK_DEF_MAX_SECTORS: 2560 sectors (max_sectors_kb = 1280)"),
      policy_choice("write_cache", {"as_is", "on", "off"}, "as_is")
          .says("What the driver does about the drive's write cache when it starts (SET FEATURES 02h, 82h)")
          .from("as_is: Linux leaves it as it is"),
      policy_quantity("debounce", Dimension::time, 100'000'000'000)
          .range("0s", "10s")
          .says("For how long the link must be up after a COMRESET before the driver speaks to the drive")
          .from("Linux drivers/ata/libata-sata.c sata_deb_timing_normal: 100 ms"),
      policy_integer("coalescing_commands", 0)
          .range("0", "255")
          .says("Ends of commands for one interrupt (CCC_CTL.CC). 0: each Set Device Bits has its own")
          .from("Linux drivers/ata/libahci.c does not use command completion coalescing; CCC_CTL.CC is at most 255"),
      policy_quantity("coalescing_time", Dimension::time, 1'000'000'000)
          .range("1ms", "65535ms")
          .multiple_of("1ms")
          .says("After this the interrupt comes for fewer of them (CCC_CTL.TV)")
          .from("assumed")
          .only_with("host.sata.coalescing_commands != 0"),
      policy_quantity("access_time", Dimension::time, 100'000)
          .range("0s", "1ms")
          .says("A register access has reached the adapter -> it takes effect, or the value of a read goes back")
          .from("assumed"),
      policy_quantity("issue_time", Dimension::time, 200'000)
          .range("0s", "1ms")
          .says(
              "The table of a command has reached the adapter -> its frame is ready for the link. What is read in the "
              "host's memory takes the time of the PCIe link besides")
          .from("assumed"),
      policy_integer("fifo_frames", 2)
          .range("1", "16")
          .says("Data frames of 8 KiB that the adapter has room for in each direction. One without room holds the link")
          .from("assumed")},
     [](const HostSetup& s, const PolicySettings& own) { return std::make_unique<SataSide>(s, own); }}};

}  // namespace
}  // namespace ssdtlm
