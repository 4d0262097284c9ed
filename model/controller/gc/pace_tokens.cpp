// SPDX-License-Identifier: Apache-2.0
// tokens: each unit that the host writes to a group of planes pays for units that collection moves there. A victim with
// v of its u units in use gives back u - v units for v moves, so v / (u - v) moves for each unit of the host keep the
// free blocks where they are. With fewer free blocks than half way between the thresholds a unit pays for more, with
// more for less, so their number returns there. When collection lags behind what is paid for, the host's next pages
// wait for it in turn: many short waits take the place of the long one for a whole block.
#include <algorithm>
#include <vector>

#include "controller/gc/paces.h"

namespace ssdtlm {
namespace {

class Tokens final : public GcPace {
public:
    // `ahead_pages` is at least a row of pages, so that what is read and has no row yet never holds the host alone.
    Tokens(const SuperblockShape& shape, std::uint32_t ahead_pages, std::uint32_t most)
        : most_(most),
          ahead_units_(std::uint64_t{ahead_pages} * shape.units() / shape.pages() * shape.planes()),
          groups_(shape.groups()) {}

    void begun(GroupId group, std::uint32_t valid, std::uint32_t units) override {
        Group& g = groups_[idx(group)];
        g.rate = valid >= units ? most_ : std::min<double>(most_, static_cast<double>(valid) / (units - valid));
        g.paid = 0;
    }
    void host_wrote(GroupId group, std::uint32_t units, const GcLevel& level) override {
        const double middle = (level.soft - level.hard + 1) / 2.0;
        const double missing = level.free > level.soft ? 0.0 : level.soft - level.free + 1;
        groups_[idx(group)].paid += units * groups_[idx(group)].rate * missing / middle;
    }
    bool may_move(GroupId group, std::uint64_t started, std::uint32_t) const override {
        return static_cast<double>(started) < groups_[idx(group)].paid;
    }
    bool holds_host(GroupId group, std::uint64_t finished) const override {
        return static_cast<double>(finished + ahead_units_) <= groups_[idx(group)].paid;
    }

private:
    struct Group {
        double rate = 0;  // units moved for each of the host's
        double paid = 0;  // units of the victim that may have been moved
    };
    const double most_;
    const std::uint64_t ahead_units_;
    std::vector<Group> groups_;
};

const GcPaces::Registered kTokens{
    {"tokens",
     "in proportion to what the host writes to the same planes, and the host waits if collection lags",
     {policy_integer("ahead", 8)
          .range("1", "4096")
          .says("Pages of a plane by which collection may lag behind the host's writes before these wait")
          .from("assumed: as gc.max_inflight_pages"),
      policy_integer("most", 16)
          .range("1", "1000")
          .says("Units moved for one of the host's, at most, before the number of free blocks corrects it")
          .from("assumed: blocks that are 94 % valid")},
     [](const GcPaceSetup& setup, const PolicySettings& own) {
         return std::make_unique<Tokens>(setup.shape, static_cast<std::uint32_t>(own.number("ahead")),
                                         static_cast<std::uint32_t>(own.number("most")));
     }}};

}  // namespace
}  // namespace ssdtlm
