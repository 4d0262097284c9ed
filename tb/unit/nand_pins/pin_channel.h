// SPDX-License-Identifier: Apache-2.0
// Sequences of one channel as PinGenerator makes them, edits of their edges, and what PinChecker says of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nand/pins/pin_checker.h"

namespace ssdtlm {

inline NandConfig config(std::uint32_t megatransfers = 400) {
    NandConfig c;
    c.geometry.ways = 2;
    c.geometry.dies_per_chip = 2;
    c.geometry.planes_per_die = 2;
    c.geometry.blocks_per_plane = 64;
    c.geometry.pages_per_block = 128;
    c.geometry.page_bytes = 4096;
    c.geometry.spare_bytes = 512;
    c.onfi.megatransfers = megatransfers;
    return c;
}

/// Sequences of one channel, one after the other, by the timing of one configuration.
struct Channel {
    explicit Channel(const NandConfig& c) : nand(c), generator(c) {}

    PinSequence& add(FlashOp kind, std::uint16_t die, std::uint8_t planes = 1, PinSelect select = PinSelect::none) {
        for (std::uint8_t p = 0; p < planes; ++p) {
            targets[p] = OnfiTarget{p, 7, 9, 512, spare.data()};
            targets[p].slc = (slc >> p & 1) != 0;
        }
        PinCommand c;
        c.op = kind;
        c.select = select;
        c.die = die;
        c.count = planes;
        c.target = targets.data();
        c.begin = now;
        c.more = more && kind == FlashOp::program;
        c.ready = more && onfi_operation(kind).effect == ArrayEffect::suspends;
        PinSequence s;
        generator.play(c, s);
        return append(std::move(s), kind == FlashOp::read_out);
    }
    PinSequence& status(PinSelect select, std::uint16_t die) {
        targets[0] = OnfiTarget{0, 7, 9, 0, nullptr};
        PinSequence s;
        generator.play_status(select, die, targets[0], 0xE0, now, s);
        return append(std::move(s), true);
    }
    void ready(std::uint16_t die) {
        now += 20us;
        PinSequence s;
        PinGenerator::play_ready(die, now, s);
        append(std::move(s), false);
    }
    PinSequence& append(PinSequence s, bool out) {
        now = s.end + (out ? nand.onfi.t_rhw : Ps{0});
        sequences.push_back(std::move(s));
        return sequences.back();
    }
    /// One of each sequence, several dies at work, as the channel controller orders them.
    void everything() {
        add(FlashOp::read, 0);
        add(FlashOp::read, 1);
        add(FlashOp::erase, 3);
        ready(0);
        ready(1);
        add(FlashOp::read_out, 1);
        add(FlashOp::read_out, 0, 1, PinSelect::enhanced);
        add(FlashOp::read_out, 0, 1, PinSelect::column);
        add(FlashOp::program, 0, 2);
        status(PinSelect::enhanced, 0);
        ready(3);
        add(FlashOp::read, 2, 2);
        ready(2);
        add(FlashOp::read_out, 2, 1, PinSelect::enhanced);
        status(PinSelect::none, 2);
        add(FlashOp::program, 3);
        ready(3);
        ready(0);
        add(FlashOp::erase, 0, 2);
        ready(0);
    }

    NandConfig nand;
    PinGenerator generator;
    SimTime now{1us};
    bool more = false;      // 15h confirms the programs that are added; R/B# is high when a suspend comes
    std::uint32_t slc = 0;  // of what is added: a bit per plane
    std::vector<PinSequence> sequences;
    std::array<OnfiTarget, 8> targets{};
    std::array<Spare, 1> spare{Spare{0x44332211}};
};

struct Checked : PinChecker {
    Checked(const NandConfig& nand, const std::vector<PinSequence>& sequences) : PinChecker(nand) {
        for (const PinSequence& s : sequences) check(s);
        finish();
    }
};

inline std::set<std::string> rules(const PinChecker& c) {
    std::set<std::string> names;
    for (const PinViolation& v : c.violations()) names.insert(v.rule);
    return names;
}

// --- single edges ----------------------------------------------------------------------------------------------------

/// Picks an edge: the n-th of a pin with a value.
struct Edge {
    Pin pin;
    PinValue value;
    std::size_t n = 0;
};
inline std::size_t find(const PinSequence& s, const Edge& e) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < s.edges.size(); ++i)
        if (s.edges[i].pin == e.pin && s.edges[i].value == e.value && n++ == e.n) return i;
    ADD_FAILURE() << "no such edge of " << to_string(e.pin);
    return 0;
}
inline void sort(PinSequence& s) {
    std::stable_sort(s.edges.begin(), s.edges.end(),
                     [](const PinEdge& a, const PinEdge& b) { return a.time < b.time; });
}
inline void move(PinSequence& s, const Edge& e, Ps by) {
    s.edges[find(s, e)].time += by;
    sort(s);
}
inline void remove(PinSequence& s, const Edge& e) {
    s.edges.erase(s.edges.begin() + static_cast<std::ptrdiff_t>(find(s, e)));
}
/// The byte that the n-th rise of WE# latches.
inline void relatch(PinSequence& s, std::size_t n, std::uint8_t byte) {
    const std::size_t rise = find(s, {Pin::we_n, 1, n});
    const SimTime at = s.edges[rise].time;
    PinValue before = kReleased;
    for (const PinEdge& e : s.edges)
        if (e.pin == Pin::dq && e.time <= at) before = e.value;
    s.edges.push_back({at - 20ns, Pin::dq, byte});
    s.edges.push_back({at + 5ns, Pin::dq, before});
    sort(s);
}
/// Takes the n-th WE# pulse out.
inline void skip_cycle(PinSequence& s, std::size_t n) {
    remove(s, {Pin::we_n, 0, n});
    remove(s, {Pin::we_n, 1, n});
}

}  // namespace ssdtlm
