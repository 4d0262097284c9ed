// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/allocation/plane_order.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

std::vector<std::string> allocation_orders() {
    std::vector<std::string> all;
    std::string order = "CDPW";
    do {
        all.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    return all;
}

std::vector<PlaneId> plane_sequence(const std::string& order, const NandGeometry& g) {
    const auto orders = allocation_orders();
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) {
        const std::string near = nearest(order, orders);
        throw UserError(
            Problem{"ftl.allocation", "unknown order '" + order + "'",
                    "allowed are the 24 orders of C (channel), W (way), D (die) and P (plane), the fastest first",
                    near.empty() ? "for example CWDP" : "did you mean " + near + "?"});
    }
    // Digits of a mixed-radix counter: `count` values, each `stride` planes apart.
    struct Digit {
        std::uint32_t count, stride, value;
    };
    const auto digit = [&g](char letter) {
        const std::uint32_t die = g.planes_per_die;
        if (letter == 'C') return Digit{g.channels, g.dies_per_channel() * die, 0};
        if (letter == 'W') return Digit{g.ways, g.dies_per_chip * die, 0};
        if (letter == 'D') return Digit{g.dies_per_chip, die, 0};
        return Digit{g.planes_per_die, 1, 0};
    };
    Digit digits[4] = {digit(order[0]), digit(order[1]), digit(order[2]), digit(order[3])};
    std::vector<PlaneId> sequence(g.planes());
    for (auto& plane : sequence) {
        std::uint32_t p = 0;
        for (const auto& d : digits) p += d.value * d.stride;
        plane = PlaneId{p};
        for (auto& d : digits) {
            if (++d.value < d.count) break;
            d.value = 0;
        }
    }
    return sequence;
}

std::vector<PlaneId> row_sequence(const std::string& order, const NandGeometry& g, SuperblockSpan span) {
    if (span == SuperblockSpan::plane) return plane_sequence(order, g);
    std::string planes_first = order;
    const std::size_t p = planes_first.find('P');
    if (p != std::string::npos) {
        planes_first.erase(p, 1);
        planes_first.insert(0, "P");
    }
    return plane_sequence(planes_first, g);
}

GroupCursor::GroupCursor(const std::vector<PlaneId>& rows, const SuperblockShape& shape)
    : position_of_(shape.groups()),
      able_((shape.groups() + 63) / 64),
      held_(able_.size()),
      open_(able_.size()),
      ragged_(able_.size()) {
    for (std::size_t i = 0; i < rows.size(); i += shape.planes()) sequence_.push_back(shape.group_of(rows[i]));
    for (std::size_t i = 0; i < sequence_.size(); ++i) {
        position_of_[idx(sequence_[i])] = static_cast<std::uint32_t>(i);
        set_able(sequence_[i], true);
    }
}

bool GroupCursor::next_least(const std::vector<std::uint32_t>& load, GroupId& out) {
    std::size_t at = 0, best = 0;
    if (!find(open_, at)) return false;
    const std::size_t from = cursor_, first = at;
    best = at;
    do {
        const GroupId group = sequence_[at];
        if (load[idx(group)] < load[idx(sequence_[best])]) best = at;
        if (load[idx(sequence_[best])] == 0) break;
        move_to(at + 1);
        find(open_, at);
    } while (at != first && cursor_ != from);
    out = sequence_[best];
    move_to(best + 1);
    return true;
}

}  // namespace ssdtlm
