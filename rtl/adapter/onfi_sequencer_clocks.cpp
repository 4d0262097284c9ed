// SPDX-License-Identifier: Apache-2.0
#include "adapter/onfi_sequencer_clocks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000u;

/// The least number of clocks whose instant, in whole picoseconds, is not before the time.
std::uint64_t clocks(Ps time, std::uint64_t hertz) {
    const Clock clock = Clock::hertz(hertz);
    auto n = static_cast<std::uint64_t>(static_cast<Wide>(time.count()) * hertz / kPsPerSecond);
    while (clock.cycles(n) < time) ++n;
    return n;
}

/// In fixed point, rounded up.
std::uint64_t fixed_clocks(Ps time, std::uint64_t hertz) {
    return static_cast<std::uint64_t>(
        (static_cast<Wide>(time.count()) * hertz * OnfiSequencerClocks::kOne + kPsPerSecond - 1) / kPsPerSecond);
}

std::string megahertz(std::uint64_t hertz) {
    return std::to_string(hertz / 1'000'000) + " MHz";
}

}  // namespace

OnfiSequencerClocks::OnfiSequencerClocks(const NandConfig& nand, std::uint64_t hertz) {
    const OnfiTiming& t = nand.onfi;
    std::vector<Problem> problems;
    if (t.interface == OnfiInterface::sdr || t.interface == OnfiInterface::nv_ddr ||
        t.interface == OnfiInterface::ideal)
        problems.push_back({"channel.rtl_sequencer", "the sequencer in RTL strobes data with DQS on both edges",
                            "it plays nv-ddr2, nv-ddr3 and nv-lpddr4",
                            "set nand.onfi.interface to one of these, or channel.rtl_sequencer to []"});
    const auto whole = [&](const char* name, Ps time, std::uint64_t least = 1) {
        const std::uint64_t n = std::max(least, clocks(time, hertz));
        if (n > 0xFFFF)
            problems.push_back(
                {std::string("nand.onfi.") + name,
                 std::to_string(n) + " clocks of " + megahertz(hertz) + " are too many for the sequencer in RTL",
                 "at most 65535", "lower channel.sequencer_clock or the time"});
        return static_cast<std::uint16_t>(std::min<std::uint64_t>(n, 0xFFFF));
    };
    t_cs = whole("t_cs", t.t_cs);
    t_wc = whole("t_wc", t.t_wc, 2);
    t_adl = whole("t_adl", t.t_adl, 2);
    t_ccs = whole("t_ccs", t.t_ccs);
    t_rr = whole("t_rr", t.t_rr);
    t_whr = whole("t_whr", kStatusDelay);
    t_plane = whole("t_plane_busy", t.t_wb + t.t_plane_busy);
    t_wpre = whole("t_wpre", t.t_wpre);
    t_rpre = whole("t_rpre", t.t_rpre);
    t_rhw = whole("t_rhw", t.t_rhw);
    // WE# falls and rises as near to 3/10 and 8/10 of the cycle as the clock allows.
    t_we_fall = static_cast<std::uint16_t>(std::max(1, t_wc * 3 / 10));
    t_we_rise = static_cast<std::uint16_t>(std::max(t_we_fall + 1, t_wc * 8 / 10));

    // Rounded down: a burst's end is rounded up to a clock, which must not add another one.
    const auto fraction =
        static_cast<std::uint64_t>(static_cast<Wide>(hertz) * kOne / (std::uint64_t{t.megatransfers} * 1'000'000));
    if (fraction * kSequencerLanes < kOne)
        problems.push_back({"nand.onfi.rate",
                            std::to_string(t.megatransfers) + " MT/s are not fewer than " +
                                std::to_string(kSequencerLanes) + " transfers per clock of " + megahertz(hertz) +
                                ", what the sequencer in RTL can do",
                            "below " + std::to_string(hertz * kSequencerLanes / 1'000'000) + " MT/s",
                            "raise channel.sequencer_clock, or set channel.rtl_sequencer to []"});
    if (fraction >= std::uint64_t{kOne} << 8)
        problems.push_back({"nand.onfi.rate",
                            std::to_string(t.megatransfers) + " MT/s take 256 clocks of " + megahertz(hertz) +
                                " per transfer, too many for the sequencer in RTL",
                            "fewer than 256", "lower channel.sequencer_clock"});
    const auto tail = [&](const char* name, Ps time, std::uint64_t more) {
        const std::uint64_t n = std::max<std::uint64_t>(2 * kOne, fixed_clocks(time, hertz) + more);
        if (n >> 32 != 0)
            problems.push_back({std::string("nand.onfi.") + name,
                                "the time after a data burst is too long for the "
                                "sequencer in RTL",
                                "at most 4095 clocks of " + megahertz(hertz), "lower it or channel.sequencer_clock"});
        return static_cast<std::uint32_t>(n);
    };
    step = static_cast<std::uint32_t>(fraction);
    post_in = tail("t_wpsth", t.t_wpst + t.t_wpsth, 0);
    // The die's access time tDQSRE, tRPST = tDQSRE + half a cycle, tRPSTH.
    post_out = tail("t_rpsth", 2 * t.t_dqsre + t.t_rpsth, fraction);
    if (!problems.empty()) throw UserError(std::move(problems));
}

std::uint64_t OnfiSequencerClocks::burst(std::uint32_t transfers, std::uint32_t post) const {
    return std::uint64_t{transfers} * step + post;
}

std::uint64_t OnfiSequencerClocks::sequence(const PinCommand& c, std::uint32_t transfers) const {
    const std::uint64_t gaps = (c.count - std::uint64_t{1}) * t_plane;
    const OnfiOperation& op = onfi_operation(c.op);
    if (op.data == DataCycles::out) {
        const std::uint64_t selected =
            c.select == PinSelect::none ? 0 : command(select_operation(c.select).cycles()) + t_ccs;
        return selected + t_rr + t_rpre + div_ceil(burst(transfers, post_out), kOne);
    }
    std::uint64_t total = gaps;
    for (std::uint32_t p = 0; p < c.count; ++p) total += c.target[p].slc ? t_wc : 0u;  // its prefix
    if (op.data == DataCycles::none) return total + c.count * command(op.cycles());
    std::int64_t late = 0;
    for (std::uint32_t p = 0; p < c.count; ++p) {
        const std::uint64_t data = burst(transfers, post_in), whole = div_ceil(data, kOne);
        total += command(op.cycles_before_data()) + t_adl + t_wpre + whole + command(op.cycles_after_data());
        if (late > 0) {  // taken off this plane's tADL
            --total;
            late -= kOne;
        }
        late += static_cast<std::int64_t>(whole * kOne - data);
    }
    return total;
}

std::uint64_t OnfiSequencerClocks::status(PinSelect select) const {
    return command(status_operation(select).cycles()) + t_whr + t_rpre + div_ceil(burst(2, post_out), kOne);
}

}  // namespace ssdtlm
