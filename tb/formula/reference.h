// SPDX-License-Identifier: Apache-2.0
// Closed formulas for unloaded latency and saturated throughput, from the protocols' own numbers. Nothing here calls
// the model: only its configuration structs are read. All times in picoseconds.
#pragma once

#include <cstdint>

#include "sim/sim_config.h"

namespace ssdtlm::reference {

using Wide = __int128;

inline std::int64_t ceil_div(Wide a, Wide b) {
    return static_cast<std::int64_t>((a + b - 1) / b);
}

/// Time of `bytes` on the wire. Gen1/2: 8b/10b; Gen3..5: 128b/130b (PCIe 5.0 §4.2).
inline std::int64_t wire(const LinkConfig& l, std::uint64_t bytes) {
    static constexpr std::int64_t kMegaTransfers[] = {0, 2500, 5000, 8000, 16000, 32000};
    const bool old = l.generation <= 2;
    const Wide numerator = Wide{static_cast<std::int64_t>(bytes)} * 8 * (old ? 10 : 130) * 1'000'000 * 1'000'000;
    const Wide denominator = Wide{kMegaTransfers[l.generation]} * l.lanes * (old ? 8 : 128) *
                             static_cast<std::int64_t>(l.data_link_efficiency * 1e6 + 0.5);
    return ceil_div(numerator, denominator);
}
/// TLP overhead Gen3..5: framing 4 + LCRC 4 + header 12 (below 4 GiB, completions) or 16.
inline std::uint64_t header(bool four_dw) {
    return four_dw ? 24 : 20;
}
/// `bytes` of data in MWr TLPs of MPS to an address above 4 GiB.
inline std::uint64_t write_bytes(const LinkConfig& l, std::uint64_t bytes) {
    return bytes + (bytes + l.max_payload_bytes - 1) / l.max_payload_bytes * header(true);
}

/// ONFI bus time of bytes on DQ, tRR to the end of the postamble (ONFI 5.0 §4.20: NV-DDR2/3).
inline std::int64_t bytes_out(const NandConfig& n, std::uint64_t bytes) {
    const OnfiTiming& o = n.onfi;
    bytes += bytes & 1;  // both edges
    // tRPST = tDQSRE + tRC/2; tRC = two transfers, so half of it is one more.
    return (o.t_rr + o.t_rpre + o.t_dqsre + o.t_dqsre + o.t_rpsth).count() +
           ceil_div(Wide{static_cast<std::int64_t>(bytes + 1)} * 1'000'000, o.megatransfers);
}
/// User data of a page, with their share of its spare area.
inline std::int64_t data_out(const NandConfig& n, std::uint64_t user_bytes) {
    const std::uint64_t page = n.geometry.page_bytes;
    return bytes_out(n,
                     n.transfer_spare ? (user_bytes * (page + n.geometry.spare_bytes) + page - 1) / page : user_bytes);
}
/// The spare area of a page, from its own column: its bytes, and no others.
inline std::int64_t spare_out(const NandConfig& n) {
    return bytes_out(n, n.geometry.spare_bytes);
}
/// From one program of a row of `planes` full pages of a die to the next, transfers not hidden: 80h-5A-data-11h/10h per
/// plane (ONFI 5.0 §5.9): tCS + 6 tWC, tADL, data in, tCS + tWC; tWB + tPLPBSY between; tWB and tPROG at the end.
inline std::int64_t program_cycle(const NandConfig& n, std::uint32_t planes) {
    const OnfiTiming& o = n.onfi;
    const std::int64_t bytes = n.geometry.page_bytes + (n.transfer_spare ? n.geometry.spare_bytes : 0);
    const std::int64_t data_in =
        (o.t_wpre + o.t_wpst + o.t_wpsth).count() + ceil_div(Wide{bytes} * 1'000'000, o.megatransfers);
    const std::int64_t issue = (o.t_cs + 6 * o.t_wc + o.t_adl + o.t_cs + o.t_wc).count() + data_in;
    return planes * issue + (planes - 1) * (o.t_wb + o.t_plane_busy).count() + o.t_wb.count() + n.t_program[0].count();
}
inline std::int64_t read_issue(const NandConfig& n) {
    return (n.onfi.t_cs + 7 * n.onfi.t_wc).count();
}

inline std::int64_t cycles(const FirmwareConfig& f, std::uint64_t n) {
    return ceil_div(Wide{static_cast<std::int64_t>(n)} * 1'000'000'000'000, static_cast<std::int64_t>(f.clock_hz));
}

/// `bytes` pass an idle DRAM.
inline std::int64_t dram(const DramConfig& d, std::uint64_t bytes) {
    return ceil_div(Wide{static_cast<std::int64_t>(bytes)} * 1'000'000'000'000,
                    static_cast<std::int64_t>(d.bytes_per_second)) +
           d.access_latency.count();
}

/// End-to-end latency of one read of `bytes` that lies in one flash page, alone in the device: from the SQE in host
/// memory to the completion handler.
inline std::int64_t unloaded_read(const SsdConfig& c, std::uint64_t bytes) {
    const LinkConfig& l = c.link;
    const std::int64_t down = l.host_to_device_latency.count();
    const std::int64_t up = l.device_to_host_latency.count();
    // Doorbell: 4-byte MWr. BAR0 is mapped above 4 GiB (64-bit BAR). In a closed loop the completion handler has stored
    // the CQ head doorbell just before; it is on the wire first.
    const std::int64_t doorbell = 2 * wire(l, 4 + header(true)) + down;
    // SQE fetch: MRd up, root complex, CplD of 64 bytes down.
    const std::int64_t fetch =
        wire(l, header(true)) + up + l.root_complex_latency.count() + wire(l, 64 + header(false)) + down;
    const std::uint64_t units = (bytes + c.nand.geometry.unit_bytes - 1) / c.nand.geometry.unit_bytes;
    // Two steps: the look-up, and what follows from it.
    const std::int64_t firmware = cycles(c.firmware, c.firmware.read_command + c.firmware.map_lookup * units) +
                                  cycles(c.firmware, c.firmware.flash_issue);
    const std::int64_t flash = read_issue(c.nand) + c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() +
                               data_out(c.nand, bytes) + c.ecc.decode_time.count();
    // From the flash into the DRAM, and out of it to the host.
    const std::int64_t buffer = dram(c.dram, 2 * bytes);
    // Data, CQE (16 bytes) and MSI-X (4 bytes, to FEExxxxxh: 3DW header) leave back to back; one flight time.
    const std::int64_t back =
        wire(l, write_bytes(l, bytes)) + wire(l, 16 + header(true)) + wire(l, 4 + header(false)) + up;
    return doorbell + fetch + firmware + flash + buffer + back + c.host.interrupt_latency.count();
}

}  // namespace ssdtlm::reference
