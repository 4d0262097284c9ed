// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/link/pcie_link.h"

#include <fmt/format.h>

#include <algorithm>

#include "host_pcie/link/link_rate.h"

namespace ssdtlm {

namespace {

// BAR0 is a 64-bit BAR that firmware places above 4 GiB, so its headers have 4 DW.
constexpr std::uint64_t kBar0Base = 0x80'0000'0000;
// The host never runs out of tags for MMIO reads, because credits limit them.
constexpr std::uint32_t kHostTags = 1024;

const LinkConfig& checked(const LinkConfig& config) {
    auto problems = check_link(config, "link");
    if (!problems.empty()) throw UserError(std::move(problems));
    return config;
}

std::uint32_t smallest_overhead(const LinkConfig& c) {
    return tlp_overhead_bytes(c.generation, c.ecrc, TlpKind::completion, 0);
}

LinkDirectionConfig upstream_of(const LinkConfig& c) {
    LinkDirectionConfig d;
    d.rate = link_rate(c);
    d.latency = c.device_to_host_latency;
    d.credit_return_latency = c.credit_return_latency;
    d.posted_headers = c.upstream_posted_headers;
    d.posted_data = c.upstream_posted_data;
    // A request keeps its tag longer than its credit is out. So credits never limit if there are no more tags than
    // credits.
    const bool tags_bind_first = c.read_tags <= c.upstream_nonposted_headers &&
                                 c.credit_return_latency <= c.root_complex_latency + c.host_to_device_latency;
    d.nonposted_headers = tags_bind_first ? 0 : c.upstream_nonposted_headers;
    d.min_overhead = smallest_overhead(c);
    d.max_payload = c.max_payload_bytes;
    return d;
}

LinkDirectionConfig downstream_of(const LinkConfig& c) {
    LinkDirectionConfig d = upstream_of(c);
    d.latency = c.host_to_device_latency;
    d.posted_headers = c.downstream_posted_headers;
    d.posted_data = c.downstream_posted_data;
    d.nonposted_headers = c.downstream_nonposted_headers;
    return d;
}

/// Returns the number n of requests whose tags may be freed together, when the last of their completions has arrived.
/// This delays nothing while the completions of the other tags keep the link busy for a round trip. It is 1 if there
/// are too few tags for that.
std::uint32_t reads_per_burst(const LinkConfig& c) {
    const Rate rate = link_rate(c);
    const auto completions = TlpTrain::data(0, c.max_read_request_bytes, c.completion_payload_bytes,
                                            tlp_overhead_bytes(c.generation, c.ecrc, TlpKind::completion_data, 0));
    const Ps busy = rate.time_for(completions.wire_bytes());
    const Ps request = rate.time_for(tlp_overhead_bytes(c.generation, c.ecrc, TlpKind::mem_read, 4_GiB));
    const Ps round_trip = c.device_to_host_latency + c.root_complex_latency + c.host_to_device_latency;
    std::uint32_t n = std::max(1u, kPageBoundary / c.max_read_request_bytes);
    while (n > 1 && (n >= c.read_tags || busy * (c.read_tags - n) < round_trip + request * n)) --n;
    return n;
}

LinkPathConfig dma_of(const LinkConfig& c) {
    LinkPathConfig p;
    p.generation = c.generation;
    p.ecrc = c.ecrc;
    p.max_payload_bytes = c.max_payload_bytes;
    p.max_read_request_bytes = c.max_read_request_bytes;
    p.completion_payload_bytes = c.completion_payload_bytes;
    p.read_tags = c.read_tags;
    p.reads_per_burst = reads_per_burst(c);
    p.completer_latency = c.root_complex_latency;
    return p;
}

LinkPathConfig mmio_of(const LinkConfig& c) {
    LinkPathConfig p = dma_of(c);
    p.address_offset = kBar0Base;
    p.completion_payload_bytes = c.max_payload_bytes;
    p.read_tags = kHostTags;
    p.completer_latency = Ps{};
    p.reports_inline = false;  // nobody asks when doorbells are visible
    p.byte_enables = false;    // register accesses are always complete
    return p;
}

}  // namespace

std::vector<Problem> check_link(const LinkConfig& c, const std::string& where) {
    std::vector<Problem> problems;
    const auto size = [&](const char* name, std::uint32_t value, std::uint32_t low, std::uint32_t high) {
        if (!is_power_of_two(value) || value < low || value > high)
            problems.push_back({where + "." + name, fmt::format("{}", value),
                                fmt::format("a power of two from {} to {}", low, high), ""});
    };
    if (c.generation < 1 || c.generation > 6)
        problems.push_back({where + ".generation", fmt::format("{}", c.generation), "1 to 6", ""});
    size("lanes", c.lanes, 1, 16);
    size("max_payload_bytes", c.max_payload_bytes, 128, 4096);
    size("max_read_request_bytes", c.max_read_request_bytes, 128, 4096);
    size("completion_payload_bytes", c.completion_payload_bytes, 64, 4096);
    if (c.completion_payload_bytes > c.max_payload_bytes)
        problems.push_back({where + ".completion_payload_bytes", fmt::format("{}", c.completion_payload_bytes),
                            fmt::format("at most max_payload_bytes = {}", c.max_payload_bytes),
                            "lower it or raise max_payload_bytes"});
    if (c.read_tags < 1 || c.read_tags > 768)
        problems.push_back({where + ".read_tags", fmt::format("{}", c.read_tags), "1 to 768 (10-bit tags)", ""});
    if (!(c.data_link_efficiency >= 1e-6 && c.data_link_efficiency <= 1.0))
        problems.push_back(
            {where + ".data_link_efficiency", fmt::format("{}", c.data_link_efficiency), "above 0, at most 1.0", ""});
    const std::uint32_t needed = c.max_payload_bytes / kCreditBytes;
    const auto data_credits = [&](const char* name, std::uint32_t value) {
        if (value != 0 && value < needed)
            problems.push_back({where + "." + name, fmt::format("{} credits", value),
                                fmt::format("0 (infinite) or at least max_payload_bytes / 16 = {}", needed),
                                "raise it or lower max_payload_bytes"});
    };
    data_credits("upstream_posted_data", c.upstream_posted_data);
    data_credits("downstream_posted_data", c.downstream_posted_data);
    return problems;
}

PcieLink::PcieLink(sc_core::sc_module_name name, Agenda& agenda, const LinkConfig& config)
    : sc_module(name),
      host_target("host_target"),
      device_initiator("device_initiator"),
      device_target("device_target"),
      host_initiator("host_initiator"),
      agenda_(agenda),
      config_(checked(config)) {
    wires_.emplace(*this, config_);
    wires_->mmio.bind_sockets();
    wires_->dma.bind_sockets();
}

PcieLink::Wires::Wires(PcieLink& link, const LinkConfig& config)
    : up(link.agenda_, upstream_of(config), &LinkPath::on_grant),
      down(link.agenda_, downstream_of(config), &LinkPath::on_grant),
      mmio(link.agenda_, mmio_of(config), down, up, link.host_target, link.device_initiator),
      dma(link.agenda_, dma_of(config), up, down, link.device_target, link.host_initiator) {}

void PcieLink::restart() {
    SSDTLM_CHECK(!mmio().blocks_threads() && !dma().blocks_threads(),
                 "the link loses its power under a thread that waits for it");
    const SimTime now = agenda_.now();
    const LinkCounters up = upstream().counters(), down = downstream().counters();
    const Ps up_busy = upstream().busy(now), down_busy = downstream().busy(now);
    const CreditStalls up_stalls = upstream().stalls(now), down_stalls = downstream().stalls(now);
    const LinkPath::Counts mmio_counts = mmio().counts(), dma_counts = dma().counts();
    LinkProbe* const up_probe = wires_->up.probe();
    LinkProbe* const down_probe = wires_->down.probe();
    wires_.emplace(*this, config_);
    set_probes(up_probe, down_probe);
    wires_->up.go_on_from(up, up_busy, up_stalls);
    wires_->down.go_on_from(down, down_busy, down_stalls);
    wires_->mmio.go_on_from(mmio_counts);
    wires_->dma.go_on_from(dma_counts);
    wires_->mmio.bound();
    wires_->dma.bound();
}

void PcieLink::check_waiters() const {
    wires_->up.check_waiters("upstream");
    wires_->down.check_waiters("downstream");
    wires_->dma.check_waiters("DMA");
    wires_->mmio.check_waiters("MMIO");
}

std::string PcieLink::dump() const {
    return wires_->up.dump("upstream") + wires_->down.dump("downstream") + wires_->dma.dump("DMA") +
           wires_->mmio.dump("MMIO");
}

}  // namespace ssdtlm
