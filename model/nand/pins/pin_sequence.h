// SPDX-License-Identifier: Apache-2.0
// The pins of one channel as edges in time, like on a logic analyser. PinGenerator makes them from the timing model, or
// a clocked sequencer makes them. PinChecker and waveforms read them. There is one edge per change, and no electrical
// detail: a pin is low, high, a byte, or released. Kernel-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"

namespace ssdtlm {

/// A pin of a channel. CE# is one per way; R/B# is one per die (LUN): the die's part in the wired AND of its way.
enum class Pin : std::uint8_t { cle, ale, we_n, re_n, dqs, dq, ce_n = 8, rb_n = 72 };
inline constexpr std::uint32_t kMaxPinWays = 64;
inline constexpr std::uint32_t kMaxPinDies = 64;
inline constexpr std::uint32_t kPinCount = 136;

constexpr std::uint32_t idx(Pin p) {
    return static_cast<std::uint32_t>(p);
}
constexpr Pin ce_n(std::uint32_t way) {
    return static_cast<Pin>(idx(Pin::ce_n) + way);
}
constexpr Pin rb_n(std::uint32_t die) {
    return static_cast<Pin>(idx(Pin::rb_n) + die);
}
constexpr bool is_ce_n(Pin p) {
    return idx(p) >= idx(Pin::ce_n) && idx(p) < idx(Pin::rb_n);
}
constexpr bool is_rb_n(Pin p) {
    return idx(p) >= idx(Pin::rb_n);
}
constexpr std::uint32_t way_of(Pin p) {
    return idx(p) - idx(Pin::ce_n);
}
constexpr std::uint32_t die_of(Pin p) {
    return idx(p) - idx(Pin::rb_n);
}
/// Name of a pin: "cle", "ce_n[3]", ...
std::string to_string(Pin p);

/// Level of a pin. DQ: 0 to 255; the others: 0 or 1. kReleased: nobody drives it (DQ and DQS only).
using PinValue = std::uint16_t;
inline constexpr PinValue kReleased = 0x100;

/// Level of a pin between sequences, and before the first.
constexpr PinValue idle_value(Pin p) {
    switch (p) {
        case Pin::cle:
        case Pin::ale:
            return 0;
        case Pin::dqs:
        case Pin::dq:
            return kReleased;
        default:
            return 1;
    }
}

struct PinEdge {
    SimTime time{};
    Pin pin = Pin::cle;
    PinValue value = 0;
};
constexpr bool operator==(const PinEdge& a, const PinEdge& b) {
    return a.time == b.time && a.pin == b.pin && a.value == b.value;
}

/// One sequence. Edges are in time order; those of one instant take effect together. CE#, CLE, ALE, WE#, RE#, DQS and
/// DQ change within [begin, end] and are idle at its ends; R/B# also falls after the end (tWB), or is a sequence of its
/// own (it rises).
struct PinSequence {
    SimTime begin{};
    SimTime end{};
    std::uint16_t die = 0;          ///< in channel
    std::uint8_t bursts = 0;        ///< of data, in or out
    std::uint32_t burst_bytes = 0;  ///< transfers on DQ in each burst
    std::vector<PinEdge> edges;

    void clear() {
        begin = end = SimTime{};
        die = 0;
        bursts = 0;
        burst_bytes = 0;
        edges.clear();
    }
};

/// Gets every sequence of a channel when it is granted (its edges lie in the future), and every rise of R/B#.
class PinListener {
public:
    /// Sequences come in the order of their begins. Edges of R/B# may lie behind the begin of the next sequence.
    virtual void pins(std::uint16_t channel, const PinSequence& sequence) = 0;

protected:
    ~PinListener() = default;
};

}  // namespace ssdtlm
