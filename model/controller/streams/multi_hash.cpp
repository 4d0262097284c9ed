// SPDX-License-Identifier: Apache-2.0
// multi_hash estimates how often a unit is written, by a counting Bloom filter (Hsieh, Kuo and Chang, "Efficient
// identification of hot data for flash memory storage systems", ACM Transactions on Storage 2(1), 2006). Each write
// adds one to as many small counters as there are hash functions; a unit's count is the smallest of them, so others
// that share a counter make it too high now and then, never too low. Counters are halved at intervals, so that what was
// hot long ago is not any more. With several streams each begins at twice the count of the one before.
#include <algorithm>
#include <vector>

#include "controller/streams/stream_choices.h"

namespace ssdtlm {
namespace {

class MultiHash final : public StreamChoice {
public:
    struct Shape {
        std::uint32_t counters, hashes, bits, hot;
        std::uint64_t halve_after;  ///< writes of units
        std::uint32_t streams;
    };
    explicit MultiHash(const Shape& shape)
        : shape_(shape),
          most_(static_cast<std::uint8_t>((1u << shape.bits) - 1)),
          counters_(shape.counters),
          left_(shape.halve_after) {}

    std::uint8_t written(Lpa lpa) override {
        std::uint8_t least = most_;
        for (std::uint32_t h = 0; h < shape_.hashes; ++h) {
            std::uint8_t& c = counters_[place(idx(lpa), h)];
            c = static_cast<std::uint8_t>(c + (c != most_));
            least = std::min(least, c);
        }
        if (--left_ == 0) halve();
        std::uint8_t stream = 0;
        for (std::uint32_t from = shape_.hot; stream < shape_.streams && least >= from; from *= 2) ++stream;
        return stream;
    }
    void state(Snapshot& s) override {
        s.fixed(counters_);
        s(left_);
        if (!s.reads()) return;
        for (const std::uint8_t c : counters_) s.require(c <= most_, "a counter above its highest value");
        s.require(left_ <= shape_.halve_after, "counters that are not halved");
    }

private:
    /// Each hash function has its own multiplier (Fibonacci hashing of the unit, turned by the number of the function).
    std::size_t place(std::uint32_t unit, std::uint32_t h) const {
        std::uint64_t z = (unit + 1) * (0x9E3779B97F4A7C15u + 2 * std::uint64_t{h} * 0xD1B54A32D192ED03u);
        z = (z ^ (z >> 29)) * 0xBF58476D1CE4E5B9u;
        return static_cast<std::size_t>((z >> 32) * counters_.size() >> 32);
    }
    void halve() {
        left_ = shape_.halve_after;
        for (std::uint8_t& c : counters_) c = static_cast<std::uint8_t>(c / 2);
    }

    const Shape shape_;
    const std::uint8_t most_;
    std::vector<std::uint8_t> counters_;
    std::uint64_t left_;  // writes until they are halved
};

const StreamChoices::Registered kHost{
    {"host", "the host (write_hint, Streams directive)", {}, [](const StreamChoiceSetup&, const PolicySettings&) {
         return nullptr;
     }}};

const StreamChoices::Registered kMultiHash{
    {"multi_hash",
     "the firmware, by how often a unit was written lately (counting Bloom filter, Hsieh et al. 2006), whatever the "
     "host says",
     {policy_integer("counters", 0)
          .range("0", "1000000000")
          .says("Counters; 0: one for each eight units of the drive, at least 4096")
          .from("Hsieh et al. 2006: 4096 for 512 MB; the rest assumed"),
      policy_integer("hashes", 2).range("1", "8").says("Counters that a unit adds to").from("Hsieh et al. 2006"),
      policy_integer("bits", 4).range("2", "8").says("Size of a counter").from("Hsieh et al. 2006"),
      policy_integer("hot", 4)
          .range("1", "255")
          .says("Count from which a unit goes with the first stream. Each further stream begins at twice the count of "
                "the one before")
          .from("Hsieh et al. 2006: a bit of the two highest"),
      policy_integer("halve_after", 0)
          .range("0", "1000000000000")
          .says("Writes of units after which all counters are halved; 0: five for each four counters")
          .from("Hsieh et al. 2006: counters / (1 - share of hot data), a fifth")},
     [](const StreamChoiceSetup& setup, const PolicySettings& own) {
         MultiHash::Shape s{};
         const auto number = [&own](const char* name) { return static_cast<std::uint32_t>(own.number(name)); };
         s.counters = number("counters");
         if (s.counters == 0)
             s.counters = static_cast<std::uint32_t>(std::max<std::uint64_t>(4096, setup.logical_units / 8));
         s.hashes = number("hashes");
         s.bits = number("bits");
         s.hot = number("hot");
         s.halve_after = static_cast<std::uint64_t>(own.number("halve_after"));
         if (s.halve_after == 0) s.halve_after = std::uint64_t{s.counters} * 5 / 4;
         s.streams = setup.streams;
         if (s.hot << (s.streams - 1) >= 1u << s.bits)
             throw UserError(
                 Problem{"ftl.multi_hash.hot",
                         std::to_string(s.hot) + " with ftl.stream_frontiers = " + std::to_string(s.streams) +
                             ": the last stream begins at " + std::to_string(std::uint64_t{s.hot} << (s.streams - 1)) +
                             ", and counters of " + std::to_string(s.bits) + " bits end at " +
                             std::to_string((1u << s.bits) - 1),
                         "", "lower it or ftl.stream_frontiers, or raise ftl.multi_hash.bits"});
         return std::make_unique<MultiHash>(s);
     }}};

}  // namespace
}  // namespace ssdtlm
