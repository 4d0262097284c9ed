// SPDX-License-Identifier: Apache-2.0
// The latency of one command alone in a drive at rest, in a closed loop, from the entry in host memory to the
// completion handler.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "common/units/units.h"
#include "host_pcie/driver/host_cpu.h"
#include "nand/onfi/onfi_timing.h"
#include "sim/derive/derive.h"
#include "sim/derive/page_times.h"
#include "sim/derive/transport.h"
#include "sim/derive/words.h"

namespace ssdtlm {

namespace {

class Alone {
public:
    Alone(const SsdConfig& c, const Transport& transport)
        : c_(c), g_(c.nand.geometry), transport_(transport), bus_(c.nand) {}

    Figure read(std::uint32_t bytes) const {
        const double asks = transport_.submission(bytes);
        const double looks = cycles(c_.firmware.read_command + c_.firmware.map_lookup * units(bytes));
        const auto parts = static_cast<std::uint32_t>(div_ceil(bytes, g_.page_bytes));
        const double issues = cycles(std::uint64_t{c_.firmware.flash_issue} * parts);
        const double data = from_flash(bytes, parts) + transport_.rest_of_read(bytes);
        const double ends = completion(HostOp::read, bytes);
        return {fmt::format("read_{}k", bytes / 1024), asks + looks + issues + data + ends, "s",
                fmt::format("submission and fetch {} + firmware {} + flash, DRAM and link {} (tR {}, {} pages) + "
                            "completion {}",
                            time_words(asks), time_words(looks + issues), time_words(data), time_words(mean_read(c_)),
                            parts, time_words(ends))};
    }
    Figure write(std::uint32_t bytes) const {
        const double asks = transport_.submission(bytes);
        const std::uint32_t insert =
            c_.firmware.buffer_insert + (c_.ftl.streams_by != "host" ? c_.firmware.stream_choice : 0);
        const double firmware = cycles(c_.firmware.write_command + insert * units(bytes));
        const double data = transport_.to_drive(bytes, firmware), in = dram(bytes);
        const double ends = completion(HostOp::write, bytes);
        return {
            fmt::format("write_{}k", bytes / 1024), asks + data + in + ends, "s",
            fmt::format("submission and fetch {} + firmware {} and data from the host, together {} + into the "
                        "buffer {} + completion {}",
                        time_words(asks), time_words(firmware), time_words(data), time_words(in), time_words(ends))};
    }

private:
    std::uint64_t units(std::uint32_t bytes) const { return div_ceil(bytes, g_.unit_bytes); }
    double cycles(std::uint64_t n) const { return static_cast<double>(n) / static_cast<double>(c_.firmware.clock_hz); }
    double dram(std::uint64_t bytes) const {
        return static_cast<double>(bytes) / static_cast<double>(c_.dram.bytes_per_second) +
               to_seconds(c_.dram.access_latency);
    }
    double completion(HostOp op, std::uint32_t bytes) const {
        HostRequest request;
        request.op = op;
        request.bytes = bytes;
        const HostCpu cpu(c_.host);
        return transport_.completion(op, bytes) +
               to_seconds(c_.host.interrupt_time + cpu.submission(request) + cpu.completion(request));
    }

    /// Die and plane of the i-th page in the order of ftl.allocation.
    std::array<std::uint32_t, 2> place_of(std::uint32_t i) const {
        std::string order = c_.ftl.allocation;
        if (c_.ftl.superblock != SuperblockSpan::plane) {
            order.erase(std::remove(order.begin(), order.end(), 'P'), order.end());
            order.insert(order.begin(), 'P');
        }
        std::uint32_t channel = 0, way = 0, lun = 0, plane = 0;
        const auto take = [&i](std::uint32_t of) {
            const std::uint32_t digit = i % of;
            i /= of;
            return digit;
        };
        for (const char dimension : order) {
            if (dimension == 'C') channel = take(g_.channels);
            if (dimension == 'W') way = take(g_.ways);
            if (dimension == 'D') lun = take(g_.dies_per_chip);
            if (dimension == 'P') plane = take(g_.planes_per_die);
        }
        return {(channel * g_.ways + way) * g_.dies_per_chip + lun, plane};
    }

    /// All reads begin at once. A channel's bus, the DRAM and the link each transfer one page after the other.
    double from_flash(std::uint32_t bytes, std::uint32_t parts) const {
        struct Page {
            std::uint32_t channel;
            double ready;
            bool select;
        };
        const std::uint32_t of_part = bytes / parts;
        const double issue = to_seconds(bus_.issue(FlashOp::read, 1)),
                     array = to_seconds(bus_.busy_delay()) + mean_read(c_);
        const double out = to_seconds(bus_.data_out(of_part)), select = to_seconds(bus_.select());
        std::vector<double> bus(g_.channels), die(g_.dies());
        std::vector<std::uint32_t> of_die(g_.dies());
        for (std::uint32_t i = 0; i < parts; ++i) ++of_die[place_of(i)[0]];
        std::vector<Page> pages;
        const std::uint32_t most_joined =
            c_.scheduler.multi_plane && !c_.nand.independent_plane_read ? g_.planes_per_die : 1;
        for (std::uint32_t i = 0; i < parts; ++i) {
            const std::uint32_t d = place_of(i)[0], channel = d / g_.dies_per_channel();
            std::uint32_t left = of_die[d];
            of_die[d] = 0;  // the first page of a die asks for all
            for (double at = die[d]; left != 0;) {
                const std::uint32_t joined = std::min(left, most_joined);
                left -= joined;
                const double begins = std::max(bus[channel], c_.nand.independent_plane_read ? 0 : at);
                bus[channel] = begins + (joined == 1 ? issue : to_seconds(bus_.issue(FlashOp::read, joined)));
                at = bus[channel] + array;
                for (std::uint32_t p = 0; p < joined; ++p) pages.push_back({channel, at, joined > 1});
                at += joined * (out + (joined > 1 ? select : 0));
            }
        }
        std::stable_sort(pages.begin(), pages.end(), [](const Page& a, const Page& b) { return a.ready < b.ready; });
        double memory = 0, link = 0, last = 0;
        std::vector<double> arrived;
        for (const Page& p : pages) {
            const double end = std::max(bus[p.channel], p.ready) + out + (p.select ? select : 0);
            bus[p.channel] = end + to_seconds(bus_.turnaround());
            arrived.push_back(end + to_seconds(c_.ecc.decode_time));
        }
        std::sort(arrived.begin(), arrived.end());
        for (const double at : arrived) {
            memory = std::max(memory, at) + 2.0 * of_part / static_cast<double>(c_.dram.bytes_per_second);
            link = std::max(link, memory + to_seconds(c_.dram.access_latency)) + transport_.page_to_host(of_part);
            last = link;
        }
        return last;
    }

    const SsdConfig& c_;
    const NandGeometry& g_;
    const Transport& transport_;
    const OnfiBusTiming bus_;
};

std::string why_no_latency(const SsdConfig& c) {
    if (c.dram.model != "rate")
        return "an access takes what rows and refresh of dram.model = \"" + c.dram.model + "\" make of it";
    if (c.host.completion == CompletionBy::poll) return "it depends on when a core that polls looks";
    if (c.host.block.on()) return "the block layer (block.scheduler) has times of its own";
    if (c.scheduler.implementation != "tlm") return "a clocked scheduler decides in cycles";
    if (c.firmware.table_cache_bytes != 0) return "a core waits for lines of the map's table (firmware.table_cache)";
    return "";
}

}  // namespace

Figures latency_figures(const SsdConfig& c) {
    Figures all{"unloaded latency", {}, {}};
    const std::unique_ptr<Transport> transport = transport_of(c);
    const std::string why = transport != nullptr ? why_no_latency(c)
                            : c.front_end.kind == "sata"
                                ? "no formula is here for commands that are not queued (host.sata.ncq = false)"
                                : "no formula is here for the link of frontend.kind = \"" + c.front_end.kind + "\"";
    if (!why.empty()) {
        all.left_out.push_back("read_4k, read_128k, write_4k, write_128k: " + why + ".");
        return all;
    }
    const Alone alone(c, *transport);
    for (const std::uint32_t bytes : {4096u, 131072u}) {
        if (c.nvme.max_transfer_bytes != 0 && bytes > c.nvme.max_transfer_bytes) {
            all.left_out.push_back(fmt::format("read_{0}k, write_{0}k: nvme.max_transfer = {1} cuts them.",
                                               bytes / 1024, size_words(c.nvme.max_transfer_bytes)));
            continue;
        }
        all.of.push_back(alone.read(bytes));
        if (c.ftl.buffer_mode != BufferMode::write_through) all.of.push_back(alone.write(bytes));
    }
    if (c.ftl.buffer_mode == BufferMode::write_through)
        all.left_out.push_back(
            "write_4k, write_128k: with buffer.mode = \"write_through\" they wait for a program, and "
            "for the others of its row.");
    return all;
}

}  // namespace ssdtlm
