// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common/units/units.h"
#include "host_pcie/driver/host_cpu.h"
#include "host_pcie/link/link_rate.h"
#include "sim/derive/demand.h"
#include "sim/derive/link_bytes.h"
#include "sim/derive/transport.h"
#include "sim/derive/words.h"

namespace ssdtlm {

namespace {

void host_cpu(const SsdConfig& c, const Work& w, Demands& all) {
    const HostCpu cpu(c.host);
    if (!cpu.submits_in_time() && !cpu.completes_in_time()) return;
    if (c.host.block.on()) {
        all.left_out.push_back("host CPU: the block layer (block.scheduler) merges requests and has costs of its own.");
        return;
    }
    HostRequest request;
    request.op = w.op;
    request.bytes = w.bytes;
    const double submit = to_seconds(cpu.submission(request)), complete = to_seconds(cpu.completion(request));
    const double before = to_seconds(cpu.polls() ? c.host.poll_time : c.host.interrupt_time);
    Demand d;
    d.resource = "host CPU";
    d.members = c.host.cores == 0 ? c.host.queue_pairs : std::min(c.host.cores, c.host.queue_pairs);
    d.least = submit + complete;
    d.most = d.least + before;
    d.formula = fmt::format("{:.0f} cores / (submission {} + completion {})", d.members, time_words(submit),
                            time_words(complete));
    if (before != 0)
        d.formula += fmt::format("; {} {} is shared by the completions that it finds", time_words(before),
                                 cpu.polls() ? "of a look" : "of an interrupt");
    if (d.least > 0) all.of.push_back(d);
}

struct Traffic {
    double up = 0, down = 0;  ///< bytes for one command
};

/// The traffic of data, submission entries and completion entries. `least`: commands share all that they can share.
Traffic traffic_of(const SsdConfig& c, const Work& w, bool least) {
    using L = LinkBytes;
    const L bytes(c.link);
    Traffic t;
    const auto read_host = [&](std::uint64_t address, std::uint64_t n, double commands) {
        t.up += bytes.requests(address, n) / commands;
        t.down += bytes.answers(address, n) / commands;
    };
    const std::uint64_t address = L::kHigh + c.host.buffer_offset;
    if (w.reads())
        t.up += bytes.write(address, w.bytes);
    else
        read_host(address, w.bytes, 1);
    const std::uint32_t entries = least ? c.nvme.fetch_burst : 1;
    read_host(L::kHigh, std::uint64_t{entries} * L::kSqe, entries);
    const std::uint64_t pages = div_ceil(c.host.buffer_offset + w.bytes, c.host.page_bytes);
    if (pages > 2) read_host(L::kHigh, (pages - 1) * L::kPrp, 1);
    t.up += bytes.write(L::kHigh, L::kCqe);
    const bool messages = c.host.completion == CompletionBy::interrupt;
    const bool one_each = messages && c.nvme.interrupt_coalescing_threshold == 0;
    if (messages && (one_each || !least)) t.up += bytes.write(L::kLow, L::kMessage);
    // A driver that takes no time rings both doorbells for each command.
    const HostCpu cpu(c.host);
    const bool rings_each =
        one_each && !cpu.submits_in_time() && !cpu.completes_in_time() && c.host.interrupt_latency == Ps{};
    if (!least || rings_each) t.down += 2 * bytes.write(L::kHigh, L::kDoorbell);
    return t;
}

void sata_link(const SsdConfig& c, const Work& w, Demands& all) {
    const SataTraffic t = sata_traffic(c, w.op, w.bytes);
    Demand d;
    d.resource = "SATA link";
    d.least = t.least / t.bytes_per_second;
    d.most = t.most / t.bytes_per_second;
    d.formula = fmt::format("{:.0f} MB/s / {:.0f} B for {} B: frames with their handshakes, data in frames of 8 KiB",
                            t.bytes_per_second * 1e-6, t.least, w.bytes);
    all.of.push_back(d);
}

void link(const SsdConfig& c, const Work& w, Demands& all) {
    if (c.front_end.kind == "raw") return;  // there is none
    if (c.front_end.kind == "sata") return sata_link(c, w, all);
    if (c.front_end.kind != "nvme") {
        all.left_out.push_back("link: no formula is here for frontend.kind = \"" + c.front_end.kind + "\".");
        return;
    }
    const double rate = link_rate(c.link).bytes_per_second();
    const Traffic least = traffic_of(c, w, true), most = traffic_of(c, w, false);
    const auto add = [&](const char* name, double bytes, double more, const char* what) {
        Demand d;
        d.resource = name;
        d.least = bytes / rate;
        d.most = more / rate;
        d.formula =
            fmt::format("{:.1f} MB/s of TLPs (Gen{} x{}, {:.2f} % left by DLLPs) / {:.1f} B for {} B: {}", rate * 1e-6,
                        c.link.generation, c.link.lanes, 100 * c.link.data_link_efficiency, bytes, w.bytes, what);
        all.of.push_back(d);
    };
    add("link to device", least.down, most.down,
        w.reads() ? "submission entries and doorbells" : "data, submission entries and doorbells, with TLP headers");
    add("link to host", least.up, most.up,
        w.reads() ? "data, completion entries and messages, with TLP headers"
                  : "requests for data, completion entries and messages");
}

}  // namespace

void add_host_demands(const SsdConfig& c, const Work& w, Demands& all) {
    host_cpu(c, w, all);
    link(c, w, all);
}

}  // namespace ssdtlm
