// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "controller/raw/raw_front_end.h"
#include "sim/host/host_side.h"
#include "sim/host/raw_driver.h"
#include "sim/host/unused_link.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kMostBytes = 32u << 20;  ///< most bytes of a command, as for NVMe

DriveInfo drive_info(const SsdConfig& c, const RawFrontEnd& drive) {
    DriveInfo info;
    info.queue_pairs = c.host.queue_pairs;
    info.queue_entries = c.host.queue_entries;
    info.lba_bytes = drive.block_bytes();
    info.blocks = drive.bytes() / drive.block_bytes();
    info.max_transfer_bytes = static_cast<std::uint32_t>(
        c.nvme.max_transfer_bytes == 0 ? kMostBytes : std::min<std::uint64_t>(kMostBytes, c.nvme.max_transfer_bytes));
    info.volatile_write_cache = c.ftl.buffer_mode == BufferMode::write_back;
    return info;
}

class RawSide final : public HostSide {
public:
    explicit RawSide(const HostSetup& s) : RawSide(s, s.device.controller.front_end_as<RawFrontEnd>()) {}
    std::vector<Bytes> survivors() const override { return {{driver_.get(), sizeof *driver_}}; }

private:
    sc_core::sc_module& module() override { return *driver_; }
    RawSide(const HostSetup& s, RawFrontEnd& drive)
        : RawSide(s, drive,
                  std::make_unique<RawDriver>("host", s.agenda, s.config.host, drive_info(s.config, drive), s.workload,
                                              s.device.controller.stages, s.oracle, s.observer)) {}
    RawSide(const HostSetup& s, RawFrontEnd& drive, std::unique_ptr<RawDriver> made)
        : HostSide(*made), driver_(std::move(made)), unused_("unused_link", s.link) {
        driver_->socket.bind(drive.target);
    }
    const std::unique_ptr<RawDriver> driver_;
    UnusedLink unused_;
};

}  // namespace

std::unique_ptr<HostSide> make_raw_side(const HostSetup& setup) {
    return std::make_unique<RawSide>(setup);
}

}  // namespace ssdtlm
