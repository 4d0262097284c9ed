// SPDX-License-Identifier: Apache-2.0
// Each I/O scheduler against its second implementation: the same streams, the same order of dispatch and the same
// merges.
#include <functional>
#include <map>

#include "support/seeds.h"
#include "unit/block/naive_scheduler.h"
#include "unit/block/request_streams.h"

namespace ssdtlm {
namespace {

using naive::Settings;

struct Second {
    std::function<std::unique_ptr<IoScheduler>(const Settings&)> make;
    /// Values that are drawn from, beside the default.
    std::map<std::string, std::vector<std::int64_t>> values;
};

constexpr std::int64_t kMs = 1'000'000'000;

std::map<std::string, std::vector<std::int64_t>> deadlines() {
    return {{"read_expire", {kMs / 100, kMs, 20 * kMs}},
            {"write_expire", {kMs / 100, kMs, 100 * kMs}},
            {"fifo_batch", {1, 2, 5}},
            {"writes_starved", {0, 1, 4}},
            {"front_merges", {0, 1}}};
}
std::map<std::string, std::vector<std::int64_t>> aging_deadlines() {
    auto values = deadlines();
    values["prio_aging_expire"] = {kMs / 10, kMs, 50 * kMs};
    return values;
}

const std::map<std::string, Second>& seconds() {
    static const std::map<std::string, Second> all{
        {"none", {[](const Settings&) { return std::make_unique<naive::Fifo>(false); }, {}}},
        {"noop", {[](const Settings&) { return std::make_unique<naive::Fifo>(true); }, {}}},
        {"fiops",
         {naive::fiops,
          {{"read_scale", {1, 3}}, {"write_scale", {1, 2, 7}}, {"sync_scale", {1, 100}}, {"async_scale", {1, 100}}}}},
        {"deadline", {naive::deadline, deadlines()}},
        {"mq-deadline", {naive::mq_deadline, aging_deadlines()}},
        {"kyber", {naive::kyber, {{"read_latency", {kMs / 100, kMs / 10}}, {"write_latency", {kMs / 10, kMs}}}}},
        {"cfq",
         {naive::cfq,
          {{"quantum", {1, 2, 4}},
           {"fifo_expire_sync", {kMs / 10, kMs}},
           {"fifo_expire_async", {kMs / 10, 5 * kMs}},
           {"back_seek_max", {0, 16'384, 65'536}},
           {"back_seek_penalty", {1, 5}},
           {"slice_sync", {kMs / 10, kMs, 5 * kMs}},
           {"slice_async", {kMs / 10, 2 * kMs}},
           {"slice_async_rq", {1, 5}},
           {"slice_idle", {0, kMs / 20, kMs}},
           {"group_idle", {0, kMs / 20, kMs}},
           {"low_latency", {0, 1}},
           {"target_latency", {kMs / 10, 2 * kMs}}}}},
        {"bfq",
         {naive::bfq,
          {{"slice_idle", {0, kMs / 20, kMs}},
           {"timeout_sync", {kMs / 10, kMs, 5 * kMs}},
           {"max_budget", {1, 31, 64, 512}},
           {"strict_guarantees", {0, 0, 1}},
           {"fifo_expire_sync", {kMs / 10, kMs}},
           {"fifo_expire_async", {kMs / 10, 5 * kMs}},
           {"back_seek_max", {0, 16'384, 65'536}},
           {"back_seek_penalty", {1, 5}}}}},
        {"flashfq",
         {naive::flashfq,
          {{"read_cost", {0, 200'000'000}},
           {"read_cost_4k", {0, 50'000'000}},
           {"write_cost", {0, 500'000'000}},
           {"write_cost_4k", {1, 100'000'000}},
           {"throttle", {0, kMs / 10, 10 * kMs}},
           {"anticipation", {0, kMs / 10, 10 * kMs}}}}},
    };
    return all;
}

class SecondSchedulers : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, SecondSchedulers, testing::ValuesIn(IoSchedulers::instance().names()),
                         [](const auto& name) {
                             std::string text = name.param;
                             std::replace(text.begin(), text.end(), '-', '_');
                             return text;
                         });

/// A stream of `steps` calls; false when the answers differ.
bool agree(const std::string& name, std::uint64_t seed, int steps) {
    StreamPlayer::Shape shape;
    Random random(seed, 7);
    shape.contexts = 1 + static_cast<std::uint32_t>(random.below(4));
    shape.depth = 1u << random.below(6);
    shape.one_class = random.percent(60);
    shape.places = random.percent(50) ? 64 : 4096;
    const Second& second = seconds().at(name);
    PolicyTable table;
    Settings settings;
    const IoSchedulers::Policy& policy = IoSchedulers::instance().policies().at(name);
    for (const PolicyParameter& p : policy.parameters) {
        const Value standard = p.get({});
        settings[p.key] = p.kind == ParameterKind::boolean ? std::int64_t{std::get<bool>(standard)}
                                                           : std::get<std::int64_t>(standard);
        const auto drawn = second.values.find(p.key);
        EXPECT_NE(drawn, second.values.end()) << "no values of " << p.key << " are tried";
        if (drawn == second.values.end() || random.percent(40)) continue;
        const std::int64_t value = drawn->second[random.below(drawn->second.size())];
        settings[p.key] = value;
        table[name][p.key] = p.kind == ParameterKind::boolean ? Value{value != 0} : Value{value};
    }
    IoSchedulerSetup setup;
    setup.queue_depth = shape.depth;
    setup.queueing = shape.depth > 1;
    settings["queue_depth"] = shape.depth;
    const auto one = make_io_scheduler(name, setup, table);
    const auto two = second.make(settings);
    StreamPlayer player(shape, seed);
    std::uint32_t dispatched = 0;
    const auto where = [&](int step) {
        return name + ", seed " + std::to_string(seed) + ", step " + std::to_string(step) + "\n" + one->dump();
    };
    for (int step = 0; step < steps; ++step) {
        player.pass_time();
        switch (player.draw_step()) {
            case StreamPlayer::Step::insert: {
                const BlockRequest r = player.draw();
                bool front = false, other_front = false;
                BlockRequest* const into = one->find_merge(r, front);
                BlockRequest* const other = two->find_merge(r, other_front);
                EXPECT_EQ(into, other) << where(step);
                if (into != other) return false;
                if (into != nullptr) {
                    EXPECT_EQ(front, other_front) << where(step);
                    const std::uint64_t old = into->offset;
                    StreamPlayer::enlarge(*into, r, front);
                    one->merged(*into, old);
                    two->merged(*into, old);
                    break;
                }
                BlockRequest& stored = player.store(r);
                one->insert(stored, player.now);
                two->insert(stored, player.now);
                break;
            }
            case StreamPlayer::Step::ask:
                if (one->ask_again() != kNever) player.now = std::max(player.now, one->ask_again());
                [[fallthrough]];
            case StreamPlayer::Step::dispatch:
                while (player.in_drive.size() < shape.depth) {
                    BlockRequest* const r = one->dispatch(player.now, player.gate);
                    BlockRequest* const other = two->dispatch(player.now, player.gate);
                    EXPECT_EQ(r, other) << where(step) << (r == nullptr ? -1 : int(r->order)) << " or "
                                        << (other == nullptr ? -1 : int(other->order));
                    if (r != other) return false;
                    if (r == nullptr) break;
                    ++dispatched;
                    player.in_drive.push_back(r->handle);
                    if (player.random().percent(30)) break;
                }
                break;
            case StreamPlayer::Step::complete: {
                if (player.in_drive.empty()) break;
                const std::size_t i = player.random().below(player.in_drive.size());
                const std::uint32_t handle = player.in_drive[i];
                player.in_drive.erase(player.in_drive.begin() + static_cast<std::ptrdiff_t>(i));
                one->completed(player.at(handle), player.now);
                two->completed(player.at(handle), player.now);
                player.release(handle);
                break;
            }
            case StreamPlayer::Step::gate:
                player.turn_a_gate();
                break;
            case StreamPlayer::Step::cancel:
                for (const std::uint32_t handle : player.in_drive) {
                    one->cancelled(player.at(handle), player.now);
                    two->cancelled(player.at(handle), player.now);
                }
                for (const std::uint32_t handle : player.in_drive) {
                    one->insert(player.at(handle), player.now);
                    two->insert(player.at(handle), player.now);
                }
                player.in_drive.clear();
                break;
        }
        EXPECT_EQ(one->waiting(), two->waiting());
    }
    return dispatched != 0 || steps < 50;
}

TEST_P(SecondSchedulers, DispatchInTheSameOrder) {
    ASSERT_EQ(seconds().count(GetParam()), 1u) << "has no second implementation";
    const std::uint64_t streams = share_of(10'000);
    std::uint64_t agreed = 0;
    for (std::uint64_t seed = seed_offset(); seed < seed_offset() + streams; ++seed) {
        // Some streams are long: budgets and slices come round there.
        if (agree(GetParam(), seed, seed % 50 == 0 ? 2'000 : 60)) ++agreed;
        if (HasFailure()) return;
    }
    EXPECT_GT(agreed, streams * 99 / 100);
}

}  // namespace
}  // namespace ssdtlm
