// SPDX-License-Identifier: Apache-2.0
#include "nand/onfi/onfi_timing.h"

#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr OnfiInterfaceLimit kLimits[] = {
    {"sdr", 50, "ONFI 4.x asynchronous timing mode 5, tRC 20 ns"},
    {"nv-ddr", 200, "ONFI 4.x NV-DDR timing mode 5, tCK 10 ns"},
    {"nv-ddr2", 533, "ONFI 3.2 NV-DDR2 timing mode 8, tRC 3.75 ns"},
    {"nv-ddr3", 2400, "ONFI 5.0 NV-DDR3 timing mode 19, tRC 0.833 ns"},
    {"nv-lpddr4", 3600, "ONFI 5.1 NV-LPDDR4"},
    {"ideal", 4800, "no bus"},
};

/// The largest tREA of the slowest asynchronous mode that reaches the rate (Linux drivers/mtd/nand/raw/nand_timings.c).
Ps sdr_access(std::uint32_t megatransfers) {
    struct Mode {
        std::uint32_t megatransfers;
        Ps t_rea;
    };
    constexpr Mode kModes[] = {{10, 40ns}, {20, 30ns}, {28, 25ns}, {33, 20ns}, {40, 20ns}};
    for (const Mode& m : kModes)
        if (megatransfers <= m.megatransfers) return m.t_rea;
    return 16ns;
}

// Maximum tDQSCK of NV-DDR in all modes (Linux drivers/mtd/nand/raw/nand_timings.c).
constexpr Ps kNvDdrDqsck = 25ns;

}  // namespace

const OnfiInterfaceLimit& onfi_interface_limit(OnfiInterface interface) {
    return kLimits[static_cast<std::size_t>(interface)];
}

OnfiBusTiming::OnfiBusTiming(const NandConfig& config)
    : rate_(Rate::megatransfers(config.onfi.megatransfers)),
      page_bytes_(config.geometry.page_bytes),
      page_total_(config.geometry.page_bytes + (config.transfer_spare ? config.geometry.spare_bytes : 0)) {
    const OnfiTiming& t = config.onfi;
    SSDTLM_CHECK(t.megatransfers > 0, "ONFI data rate is zero");
    SSDTLM_CHECK(config.geometry.planes_per_die <= kMaxMultiPlane, "more planes per die than the ONFI payload holds");
    ideal_ = t.interface == OnfiInterface::ideal;
    if (ideal_) {
        for (std::uint32_t bytes = 0; bytes <= page_bytes_; bytes += kSector)
            bursts_.push_back({Ps{}, Ps{}, bus_share(bytes)});
        return;
    }
    const auto cmd = [&t](std::uint32_t cycles) { return t.t_cs + std::int64_t{cycles} * t.t_wc; };

    switch (t.interface) {
        case OnfiInterface::sdr:
            ddr_ = false;
            data_out_fixed_ = t.t_rr + sdr_access(t.megatransfers);
            break;
        case OnfiInterface::nv_ddr: {
            // tWPRE = tWPST = 1.5 tCK = 3 transfers. Data out: tDQSCK from the first clock, then the die releases DQS
            // within tCKWR = ceil((tDQSCK + tCK) / tCK) clocks (Micron L06B model parameters).
            const Ps clock = rate_.time_for(2);
            const auto release_clocks = static_cast<std::uint32_t>((kNvDdrDqsck + 2 * clock - Ps{1}) / clock);
            data_in_transfers_ = 6;
            data_out_transfers_ = 2 * release_clocks;
            data_out_fixed_ = t.t_rr + kNvDdrDqsck;
            break;
        }
        case OnfiInterface::nv_ddr2:
        case OnfiInterface::nv_ddr3:
        case OnfiInterface::nv_lpddr4:
            data_in_fixed_ = t.t_wpre + t.t_wpst + t.t_wpsth;
            // tRPRE + tDQSRE + n/2 * tRC + tRPST + tRPSTH with tRPST = tDQSRE + tRC/2: one more transfer.
            data_out_transfers_ = 1;
            data_out_fixed_ = t.t_rr + t.t_rpre + 2 * t.t_dqsre + t.t_rpsth;
            break;
        case OnfiInterface::ideal:
            break;
    }
    const OnfiOperation& select = onfi_operation(FlashOp::select_plane);
    select_ = cmd(select.cycles()) + select.before_data(t);
    select_lun_ = std::int64_t{onfi_operation(FlashOp::read_status_enhanced).cycles()} * t.t_wc;
    turnaround_ = t.t_rhw;
    slc_prefix_ = t.t_wc;
    busy_delay_ = t.t_wb;
    for (std::size_t o = 0; o < kFlashOpCount; ++o) {
        const OnfiOperation& op = kOnfiOperations[o];
        Ps plane = op.cycles() == 0 ? Ps{0} : cmd(op.cycles_before_data());
        if (op.data == DataCycles::in) plane += op.before_data(t) + cmd(op.cycles_after_data());
        for (std::uint32_t p = 1; p <= kMaxMultiPlane; ++p)
            issue_[o][p] =
                static_cast<std::int64_t>(p) * plane + static_cast<std::int64_t>(p - 1) * (t.t_wb + t.t_plane_busy);
    }
    for (std::uint32_t bytes = 0; bytes <= page_bytes_; bytes += kSector) bursts_.push_back(compute(bytes));
}

OnfiBusTiming::Burst OnfiBusTiming::of_bus_bytes(std::uint32_t bytes) const {
    Burst b;
    b.bytes = bytes;
    if (ideal_) return b;
    const std::uint32_t transfers = ddr_ ? (b.bytes + 1u) & ~1u : b.bytes;  // double data rate moves an even number
    b.in = data_in_fixed_ + rate_.time_for(std::uint64_t{transfers} + data_in_transfers_);
    b.out = data_out_fixed_ + rate_.time_for(std::uint64_t{transfers} + data_out_transfers_);
    return b;
}

}  // namespace ssdtlm
