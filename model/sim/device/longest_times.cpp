// SPDX-License-Identifier: Apache-2.0
#include "sim/device/longest_times.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "controller/checkpoint/checkpoint_layout.h"
#include "controller/ftl/ftl_check.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/map/cached/pages/translation_sizes.h"
#include "nand/onfi/onfi_timing.h"

namespace ssdtlm {

std::uint32_t reads_of_a_page(const DeviceConfig& c) {
    return fault_kinds(c.faults, c.nand.geometry).any() ? 1u + c.ecc.read_retries : 1u;
}

namespace {

// A DRAM with banks opens a row for each access, and is refreshed; a DRAM with a rate does neither. Assumed: DDR4, tRP
// + tRCD + tCL.
constexpr double kRowSeconds = 60e-9, kRefreshShare = 0.1;
// A factor for earlier work, such as partly collected victims and requested transfers: assumed.
constexpr double kUnderWay = 2;
// The largest command of a host whose drive has no limit (MDTS 0): 65,536 blocks of 512 bytes.
constexpr std::uint64_t kLargestTransfer = std::uint64_t{32} << 20;

Ps longest_of(const std::vector<Ps>& times) {
    return *std::max_element(times.begin(), times.end());
}
double reads_seconds(const DeviceConfig& c) {
    return to_seconds(reads_of_a_page(c) * longest_of(c.nand.t_read));
}

// The time in s of the merges of a mapping by blocks. A full buffer, whose units are all on one die, causes merges of
// many logical blocks. Each of their pages is read and programmed by itself. Buses and cores are assumed to take as
// long again.
double longest_merges(const DeviceConfig& c, const Mapping& mapping, std::uint64_t namespace_bytes) {
    const NandGeometry& g = c.nand.geometry;
    const SuperblockShape shape(g, c.ftl.superblock);
    const std::uint64_t units = namespace_bytes / g.unit_bytes;
    const Mapping::Merges most =
        mapping.most_merges(std::min(c.ftl.buffer_bytes / g.unit_bytes, units / g.dies() + 1), units);
    const double page = to_seconds(longest_of(c.nand.t_program) + most.reads_of_page * longest_of(c.nand.t_read));
    return 2 * static_cast<double>(most.blocks) *
           (page * shape.pages() + 2 * shape.planes() * to_seconds(c.nand.t_erase));
}

/// The time in which a number of bytes of the host get from the DRAM to the flash of a full drive.
class Writing {
public:
    Writing(const DeviceConfig& c, std::uint64_t namespace_bytes, double bytes)
        : c_(c),
          g_(c.nand.geometry),
          mapping_(mapping_of(c.ftl, g_)),
          namespace_bytes_(namespace_bytes),
          units_(bytes / g_.unit_bytes),
          pages_(bytes / g_.page_bytes) {
        const double in_use = static_cast<double>(g_.raw_bytes()) *
                              (1.0 - static_cast<double>(c.ftl.spare_blocks + c.ftl.slc.blocks) / g_.blocks_per_plane);
        // A victim holds at most the mean share of valid data, so with s the spare share, a page costs at most 1/s
        // programs.
        amplified_ = 1 / std::max(1.0 - static_cast<double>(namespace_bytes) / in_use, 0.01);
    }
    double amplified() const { return amplified_; }
    double seconds() const { return flash() + bus() + dram() + firmware(); }
    /// The time of one page, which is read and programmed in another place. cached() is the time that an SLC cache
    /// adds: the page is programmed there first, and an older page is read there to make room.
    double page() const {
        const double once = to_seconds(longest_of(c_.nand.t_program)) + reads_seconds(c_) +
                            to_seconds(c_.nand.t_erase) / g_.pages_per_block;
        // For each unit one translation page is read, and another one is read, changed and programmed.
        return mapping_->is_on_flash() ? 2 * once + 2 * g_.units_per_page() * reads_seconds(c_) : once;
    }
    double cached() const {
        if (!c_.ftl.slc.any()) return 0;
        return to_seconds(c_.nand.slc.t_program + reads_of_a_page(c_) * c_.nand.slc.t_read) +
               to_seconds(c_.nand.slc.t_erase) / g_.slc_pages_per_block();
    }

private:
    double flash() const {
        double s =
            pages_ / g_.dies() * (page() * amplified_ + cached()) + longest_merges(c_, *mapping_, namespace_bytes_);
        // Each unit may make another translation page dirty. It then waits until one of the few dirty pages is written,
        // which had to be read before.
        if (limits_dirty_pages(c_.ftl))
            s += units_ * page() * amplified_ / std::min<double>(g_.dies(), most_dirty_pages(c_.ftl, g_));
        return s;
    }
    double bus() const {
        const OnfiBusTiming timing(c_.nand);
        const Ps page = timing.issue(FlashOp::program, 1) + timing.select() + timing.turnaround() +
                        timing.burst(g_.page_bytes).out + timing.burst(g_.page_bytes).in;
        return pages_of_flash() / g_.channels * to_seconds(page);
    }
    /// The number of pages, with the translation pages.
    double pages_of_flash() const {
        return (pages_ + (mapping_->is_on_flash() ? 2 * units_ / g_.units_per_page() : 0)) * amplified_;
    }
    double dram() const {
        const double bytes = (2 * pages_ + 2 * pages_of_flash()) * g_.page_bytes,
                     accesses =
                         bytes / g_.unit_bytes + (c_.firmware.table_cache_bytes == 0 ? 0 : 4 * units_ * amplified_);
        const double rate = static_cast<double>(c_.dram.bytes_per_second) * (1 - kRefreshShare);
        return bytes / rate +
               accesses * (to_seconds(c_.dram.access_latency) + kRowSeconds +
                           (c_.firmware.table_cache_bytes == 0 ? 0 : c_.firmware.table_line_bytes / rate));
    }
    double firmware() const {
        const FirmwareConfig& f = c_.firmware;
        const double of_unit = f.map_lookup + f.map_update + f.buffer_insert + f.stream_choice + 64.0 * f.reorder,
                     of_page = 2.0 * f.flash_issue + f.flash_complete;
        const double victims = pages_of_flash() / g_.pages_per_block + SuperblockShape(g_, c_.ftl.superblock).groups();
        return (units_ * amplified_ * of_unit + pages_of_flash() * of_page +
                victims * (f.gc_victim + f.refresh_look + f.flash_issue + f.flash_complete)) /
               static_cast<double>(f.clock_hz);
    }

    const DeviceConfig& c_;
    const NandGeometry& g_;
    std::unique_ptr<const Mapping> mapping_;
    std::uint64_t namespace_bytes_;
    double units_, pages_, amplified_;
};

Ps as_time(double seconds) {
    return Ps{static_cast<std::int64_t>(std::min(seconds, 1e6) * 1e12)};
}

}  // namespace

Ps longest_shutdown(const DeviceConfig& c, std::uint64_t namespace_bytes) {
    const NandGeometry& g = c.nand.geometry;
    const Writing buffer(c, namespace_bytes, static_cast<double>(c.ftl.buffer_bytes));
    double seconds = kUnderWay * buffer.seconds();
    if (c.ftl.checkpoint_at_shutdown) {
        // One die programs the checkpoint. Before that, each group of planes ends the collection of a block.
        const CheckpointLayout layout(c.ftl, g);
        const double programs = static_cast<double>(layout.most_superblocks()) * layout.shape().pages();
        // Dirty entries go to their translation pages. In the worst case all translation pages are read and programmed.
        const double translation = static_cast<double>(translation_pages_of(c.ftl, g)) * g.unit_bytes;
        seconds += Writing(c, namespace_bytes, translation + programs * g.page_bytes).seconds();
        seconds += to_seconds(longest_of(c.nand.t_program)) * programs +
                   to_seconds(c.nand.t_erase) * (layout.most_superblocks() + 2) +
                   buffer.page() * layout.shape().pages() + buffer.cached() * g.slc_pages_per_block();
    }
    return as_time(seconds);
}

Ps longest_reset(const DeviceConfig& c, std::uint64_t namespace_bytes) {
    const NandGeometry& g = c.nand.geometry;
    const FirmwareConfig& f = c.firmware;
    const std::uint64_t most = c.nvme.max_transfer_bytes == 0 ? kLargestTransfer : c.nvme.max_transfer_bytes;
    std::uint32_t window = c.nvme.fetch_window;
    for (const std::uint32_t w : c.nvme.fetch_windows) window = std::max(window, w);
    const double commands = window,
                 bytes = commands * static_cast<double>(std::min<std::uint64_t>(most, namespace_bytes));
    // In the worst case all pages to be read are on one die.
    const double reads =
        (bytes / g.unit_bytes + commands) *
        (reads_seconds(c) + to_seconds(OnfiBusTiming(c.nand).burst(g.page_bytes).out) + to_seconds(c.ecc.decode_time));
    const double dram = 2 * bytes / (static_cast<double>(c.dram.bytes_per_second) * (1 - kRefreshShare)) +
                        bytes / g.unit_bytes * (to_seconds(c.dram.access_latency) + kRowSeconds);
    const double cycles =
        commands * (f.read_command + f.write_command + f.other_command) +
        bytes / g.unit_bytes * (f.map_lookup + f.map_update + f.buffer_insert + f.flash_issue + f.flash_complete);
    return longest_shutdown(c, namespace_bytes) + as_time(reads + dram + cycles / static_cast<double>(f.clock_hz));
}

Ps longest_held_back(const DeviceConfig& c) {
    return c.nvme.interrupt_coalescing_time * Ps{std::chrono::microseconds(100)};
}

}  // namespace ssdtlm
