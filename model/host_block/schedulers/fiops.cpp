// SPDX-License-Identifier: Apache-2.0
// fiops: each context gets the same number of requests, whatever their sizes (Shaohua Li, "block: fiops I/O scheduler",
// linux-kernel, January 2012, with the scales of its later version).
//
// The rules are:
// - A context pays for each of its requests. The price is 1024. It is multiplied by write_scale / read_scale for writes
//   and trims, and by async_scale / sync_scale for requests that nobody waits for. Then (level - 4) / 5 of it is added.
//   The context that has paid least goes next, with its oldest request. If several have paid the same, the one that
//   paid or came earlier goes first.
// - Each class has a tree of its contexts; realtime goes first. Each tree has a floor, which is the least that one of
//   its contexts has paid, and which never falls. A context that comes into the tree starts at the floor or above,
//   unless it has requests in the drive.
// - Nothing goes if nobody waits for the next request, its context is alone in its tree, and awaited requests are in
//   the drive.
// - It neither limits the requests in the drive nor keeps the drive idle.
// These rules are the model's own. The price is also multiplied by 100 / weight. The price of a request that comes back
// from the drive unserved is paid back. A context whose gate is closed keeps its place and is passed over.
#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <tuple>

#include "host_block/io_schedulers.h"
#include "host_block/schedulers/queueing_scheduler.h"

namespace ssdtlm {
namespace {

class Fiops final : public QueueingScheduler {
public:
    struct Scales {
        std::int64_t read, write, sync, async;
    };
    explicit Fiops(Scales scales) : scales_(scales) {}

    std::vector<std::pair<const char*, std::uint64_t>> figures() const override {
        return {{"fiops_async_held", async_held_}};
    }

protected:
    void add(Waiting& w, SimTime) override {
        Context& c = context(w.context());
        const bool arrives = c.fifo.empty();
        c.fifo.push_back(w);
        if (!arrives) return;
        c.tree = static_cast<std::size_t>(w.request->context.io_class);
        if (c.in_drive == 0) c.paid = std::max(c.paid, floor_[c.tree]);
        place(w.context());
    }
    Waiting* take(SimTime, OpenContexts& open) override {
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            const auto place =
                std::find_if(trees_[t].begin(), trees_[t].end(), [&](const Place& p) { return open(std::get<2>(p)); });
            if (place == trees_[t].end()) continue;
            const std::uint32_t number = std::get<2>(*place);
            Waiting& w = contexts_[number].fifo.front();
            if (!w.request->sync && awaited_in_drive_ != 0 && trees_[t].size() == 1) {
                ++async_held_;
                return nullptr;
            }
            serve(number, w);
            return &w;
        }
        return nullptr;
    }
    void ended(Waiting& w, SimTime) override {
        --contexts_[w.context()].in_drive;
        if (w.request->sync) --awaited_in_drive_;
    }
    void returned(Waiting& w, SimTime now) override {
        ended(w, now);
        Context& c = contexts_[w.context()];
        const bool waits = !c.fifo.empty();
        if (waits) leave(w.context());
        c.paid -= w.value;
        if (waits) place(w.context());
    }
    std::string state() const override {
        std::string text;
        for (std::size_t i = 0; i < contexts_.size(); ++i)
            text += "context " + std::to_string(i) + " has paid " + std::to_string(contexts_[i].paid) + ", " +
                    std::to_string(contexts_[i].in_drive) + " in the drive\n";
        return text;
    }

private:
    /// What a context has paid, since when it has this place, and its number.
    using Place = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;
    struct Context {
        WaitingList fifo;
        std::uint64_t paid = 0, since = 0;
        std::uint32_t in_drive = 0;
        std::size_t tree = 0;
        std::set<Place>::node_type place;  // its node while it is in no tree, so that none is allocated each time
    };
    static constexpr std::int64_t kRequest = 1024;  // VIOS_SCALE
    static constexpr std::int64_t kNormal = 4;      // IOPRIO_NORM

    Context& context(std::uint32_t number) {
        while (contexts_.size() <= number) contexts_.emplace_back();
        return contexts_[number];
    }
    std::uint64_t cost(const BlockRequest& r) const {
        std::int64_t v = kRequest;
        if (r.is_write() || r.op == HostOp::trim) v = v * scales_.write / scales_.read;
        if (!r.sync) v = v * scales_.async / scales_.sync;
        v += v * (r.context.level - kNormal) / 5;
        return static_cast<std::uint64_t>(std::max<std::int64_t>(1, v * 100 / r.context.weight));
    }
    void place(std::uint32_t number) {
        Context& c = contexts_[number];
        c.since = ++changes_;
        if (c.place) {
            c.place.value() = {c.paid, c.since, number};
            trees_[c.tree].insert(std::move(c.place));
        } else {
            trees_[c.tree].insert({c.paid, c.since, number});
        }
        raise_floor(c.tree);
    }
    void leave(std::uint32_t number) {
        Context& c = contexts_[number];
        c.place = trees_[c.tree].extract({c.paid, c.since, number});
    }
    void raise_floor(std::size_t tree) {
        if (!trees_[tree].empty()) floor_[tree] = std::max(floor_[tree], std::get<0>(*trees_[tree].begin()));
    }
    void serve(std::uint32_t number, Waiting& w) {
        Context& c = contexts_[number];
        leave(number);
        c.fifo.pop_front();
        w.value = cost(*w.request);
        c.paid += w.value;
        ++c.in_drive;
        if (w.request->sync) ++awaited_in_drive_;
        if (c.fifo.empty())
            raise_floor(c.tree);
        else
            place(number);
    }

    const Scales scales_;
    std::deque<Context> contexts_;
    std::array<std::set<Place>, 3> trees_;  // by class
    std::array<std::uint64_t, 3> floor_{};
    std::uint64_t changes_ = 0, async_held_ = 0;
    std::uint32_t awaited_in_drive_ = 0;
};

PolicyParameter fiops_scale(const char* name, std::int64_t standard, const char* sentence) {
    return policy_integer(name, standard).range("1", "100").says(sentence).from("fiops-iosched.c, Li 2012");
}

const IoSchedulers::Registered kFiops{
    {"fiops",
     "contexts get the same number of requests, whatever their sizes (Li 2012)",
     {fiops_scale("read_scale", 1, "A write costs write_scale / read_scale times what a read costs"),
      fiops_scale("write_scale", 1, "A write costs write_scale / read_scale times what a read costs"),
      fiops_scale("sync_scale", 2,
                  "A buffered write costs async_scale / sync_scale times what an awaited request costs"),
      fiops_scale("async_scale", 5,
                  "A buffered write costs async_scale / sync_scale times what an awaited request costs")},
     [](const IoSchedulerSetup&, const PolicySettings& own) {
         return std::make_unique<Fiops>(Fiops::Scales{own.number("read_scale"), own.number("write_scale"),
                                                      own.number("sync_scale"), own.number("async_scale")});
     }}};

}  // namespace
}  // namespace ssdtlm
