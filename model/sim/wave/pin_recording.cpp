// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/pin_recording.h"

#include <charconv>
#include <deque>
#include <map>
#include <tuple>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

/// The pins of one channel in the file.
struct Channel {
    explicit Channel(const NandConfig& nand) : checker(nand) {}

    PinChecker checker;
    std::map<std::size_t, Pin> pins;  // by signal
    std::vector<PinEdge> edges;       // of one instant
    CheckedRecording result;
    bool begun = false;
    std::size_t power_losses = 0;  // losses of power so far
};

bool exists(Pin pin, const NandGeometry& geometry) {
    if (is_ce_n(pin)) return way_of(pin) < geometry.ways;
    return !is_rb_n(pin) || die_of(pin) < geometry.dies_per_channel();
}

void check(Channel& c, SimTime now, const std::vector<SimTime>& power_losses) {
    if (c.edges.empty()) return;
    c.result.end = now;
    if (!c.begun) {
        c.begun = true;
        c.result.begin = now;
        while (c.power_losses < power_losses.size() && power_losses[c.power_losses] <= now) ++c.power_losses;
        return c.checker.begin_inside(c.edges);
    }
    bool lost = false;
    for (; c.power_losses < power_losses.size() && power_losses[c.power_losses] <= now; ++c.power_losses) {
        c.checker.power_lost(power_losses[c.power_losses]);
        lost = lost || power_losses[c.power_losses] == now;
    }
    if (!lost) c.checker.check_edges(c.edges);  // else all pins are released
}

}  // namespace

bool pin_of_name(const std::string& name, Pin& pin) {
    for (std::uint32_t p = 0; p < idx(Pin::ce_n); ++p)
        if (const Pin one = static_cast<Pin>(p); p <= idx(Pin::dq) && name == to_string(one)) {
            pin = one;
            return true;
        }
    for (const auto& [prefix, first, count] :
         {std::tuple{"ce_n_", Pin::ce_n, kMaxPinWays}, std::tuple{"rb_n_", Pin::rb_n, kMaxPinDies}}) {
        const std::string digits = name.rfind(prefix, 0) == 0 ? name.substr(5) : "";
        std::uint32_t number = 0;
        if (digits.empty() ||
            std::from_chars(digits.data(), digits.data() + digits.size(), number).ptr !=
                digits.data() + digits.size() ||
            number >= count)
            continue;
        pin = static_cast<Pin>(idx(first) + number);
        return true;
    }
    return false;
}

std::vector<CheckedRecording> check_recorded_pins(const std::string& vcd, const NandConfig& nand,
                                                  const std::vector<SimTime>& power_losses) {
    VcdReader file(vcd);
    std::deque<Channel> channels;
    std::map<std::size_t, Channel*> of_signal;
    for (std::size_t s = 0; s < file.signals().size(); ++s) {
        const VcdReader::Signal& signal = file.signals()[s];
        const std::size_t dot = signal.scope.rfind('.');
        Pin pin{};
        if (signal.scope.substr(dot == std::string::npos ? 0 : dot + 1) != "pins" || !pin_of_name(signal.name, pin))
            continue;
        if (!exists(pin, nand.geometry))
            throw UserError(Problem{vcd, signal.scope + " has " + signal.name + ", which the device does not have",
                                    std::to_string(nand.geometry.ways) + " chip enables and " +
                                        std::to_string(nand.geometry.dies_per_channel()) + " R/B# a channel",
                                    "name the device that was recorded"});
        if (channels.empty() || channels.back().result.scope != signal.scope)
            channels.emplace_back(nand).result.scope = signal.scope;
        channels.back().pins[s] = pin;
        of_signal[s] = &channels.back();
    }
    if (channels.empty())
        throw UserError(Problem{vcd, "has no pins", "scopes \"pins\" with ce_n_0, cle, dq, ...",
                                "record them: ssdtlm run ... --wave='channel[0].pins'"});
    SimTime now{};
    for (std::vector<VcdReader::Change> changes; file.next(now, changes);) {
        for (const VcdReader::Change& c : changes)
            if (const auto found = of_signal.find(c.signal); found != of_signal.end())
                found->second->edges.push_back(
                    {now, found->second->pins[c.signal], c.released ? kReleased : static_cast<PinValue>(c.value)});
        for (Channel& channel : channels) {
            check(channel, now, power_losses);
            channel.edges.clear();
        }
    }
    std::vector<CheckedRecording> results;
    for (Channel& channel : channels) {
        channel.result.violations = channel.checker.violation_count();
        channel.result.strobes = channel.checker.strobes();
        channel.result.report = channel.checker.report(10);
        results.push_back(channel.result);
    }
    return results;
}

}  // namespace ssdtlm
