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
                            "completion {}{}",
                            time_words(asks), time_words(looks + issues), time_words(data),
                            time_words(mean_of_pages(g_, c_.nand.t_read)), parts, time_words(ends), conditions(bytes))};
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
    /// The conditions under which the figure holds, as text.
    std::string conditions(std::uint32_t bytes) const {
        std::string text;
        if (c_.ftl.slc.any()) text += fmt::format("; in the SLC cache tR is {}", time_words(c_.nand.slc.t_read));
        if (bytes > g_.page_bytes) text += "; data were written in ascending order";
        if (c_.ftl.read_ahead.bytes != 0) text += "; nothing is read ahead";
        return text;
    }
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

    /// The die and plane of page i in the order of ftl.allocation.
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

    /// A die, or a plane that reads independently. It reads the next pages when the data of the pages before are out.
    struct Reader {
        std::uint32_t number;    ///< number of the die or plane
        std::uint32_t left = 0;  ///< pages that are not yet read
        std::uint32_t in_register = 0;
        std::uint32_t joined = 1;  ///< pages of the last read
        double ready = 0;          ///< when it takes a command, or has data
    };

    /// The readers of each channel, in the order of their first pages.
    std::vector<std::vector<Reader>> readers(std::uint32_t parts) const {
        std::vector<std::vector<Reader>> all(g_.channels);
        for (std::uint32_t i = 0; i < parts; ++i) {
            const auto [die, plane] = place_of(i);
            const std::uint32_t number = c_.nand.independent_plane_read ? die * g_.planes_per_die + plane : die;
            std::vector<Reader>& of = all[die / g_.dies_per_channel()];
            auto it = std::find_if(of.begin(), of.end(), [number](const Reader& r) { return r.number == number; });
            if (it == of.end()) it = of.insert(of.end(), Reader{number});
            ++it->left;
        }
        return all;
    }

    /// Adds the times at which the pages of one channel have left the decoder. The bus serves what can begin first, and
    /// commands before data.
    void add_arrivals(std::vector<Reader>& of, std::uint32_t page_bytes, std::vector<double>& arrived) const {
        const double array = to_seconds(bus_.busy_delay()) + mean_of_pages(g_, c_.nand.t_read);
        const double out = to_seconds(bus_.data_out(page_bytes)), select = to_seconds(bus_.select());
        const std::uint32_t most_joined =
            c_.scheduler.multi_plane && !c_.nand.independent_plane_read ? g_.planes_per_die : 1;
        for (double bus = 0;;) {
            Reader* next = nullptr;
            for (Reader& r : of) {
                if (r.left == 0 && r.in_register == 0) continue;
                const double begins = std::max(bus, r.ready), least = next ? std::max(bus, next->ready) : 0;
                if (next == nullptr || begins < least ||
                    (begins == least && r.in_register == 0 && next->in_register != 0))
                    next = &r;
            }
            if (next == nullptr) return;
            Reader& r = *next;
            const double begins = std::max(bus, r.ready);
            if (r.in_register == 0) {
                r.in_register = r.joined = std::min(r.left, most_joined);
                r.left -= r.joined;
                bus = begins + to_seconds(bus_.issue(FlashOp::read, r.joined));
                r.ready = bus + array;
            } else {
                r.ready = begins + out + (r.joined > 1 ? select : 0);
                --r.in_register;
                bus = r.ready + to_seconds(bus_.turnaround());
                arrived.push_back(r.ready + to_seconds(c_.ecc.decode_time));
            }
        }
    }

    /// The time until all pages are in the host. All reads begin at once. A channel's bus, the DRAM and the link each
    /// transfer one page after the other.
    double from_flash(std::uint32_t bytes, std::uint32_t parts) const {
        const std::uint32_t of_part = bytes / parts;
        double memory = 0, link = 0, last = 0;
        std::vector<double> arrived;
        for (std::vector<Reader>& of : readers(parts)) add_arrivals(of, of_part, arrived);
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
