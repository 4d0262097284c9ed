// SPDX-License-Identifier: Apache-2.0
// fiops a second time, from its description (Shaohua Li, block/fiops-iosched.c, RFC of January 2012).
#include "unit/block/naive_scheduler.h"

namespace ssdtlm::naive {
namespace {

class Fiops final : public NaiveScheduler {
public:
    explicit Fiops(Settings s) : settings_(std::move(s)) {}

    void arrives(BlockRequest& r, SimTime) override {
        Owner& o = owners_[r.context.number];
        if (o.queued++ == 0) {
            const int tree = static_cast<int>(r.context.io_class);
            if (o.in_drive == 0 && o.vios < min_vios_[tree]) o.vios = min_vios_[tree];
            o.tree = tree;
            o.tick = ++tick_;
            update();
        }
    }
    BlockRequest* choose(SimTime) override {
        const BlockRequest* best = nullptr;
        for (const BlockRequest* r : open) {
            if (best == nullptr || before(*r, *best)) best = r;
        }
        if (best == nullptr) return nullptr;
        if (!best->sync) {
            bool sync_in_drive = false;
            for (const BlockRequest* r : in_drive) sync_in_drive |= r->sync;
            int in_tree = 0;
            for (const auto& [number, o] : owners_)
                in_tree += o.queued > 0 && o.tree == static_cast<int>(best->context.io_class);
            if (sync_in_drive && in_tree == 1) return nullptr;
        }
        return const_cast<BlockRequest*>(best);
    }
    void goes(BlockRequest& r, SimTime) override {
        Owner& o = owners_[r.context.number];
        std::int64_t v = 1024;
        if (r.op == HostOp::write || r.op == HostOp::trim)
            v = v * settings_.at("write_scale") / settings_.at("read_scale");
        if (!r.sync) v = v * settings_.at("async_scale") / settings_.at("sync_scale");
        const std::int64_t more = v * (static_cast<int>(r.context.level) - 4) / 5;
        v = (v + more) * 100 / static_cast<std::int64_t>(r.context.weight);
        if (v < 1) v = 1;
        o.vios += v;
        charged_[r.handle] = v;
        o.queued -= 1;
        o.in_drive += 1;
        o.tick = ++tick_;
        update();
    }
    void ends(const BlockRequest& r, SimTime, bool unserved) override {
        Owner& o = owners_[r.context.number];
        o.in_drive -= 1;
        if (!unserved) return;
        o.vios -= charged_[r.handle];
        o.tick = ++tick_;
        update();
    }

private:
    struct Owner {
        std::int64_t vios = 0, tick = 0;
        int queued = 0, in_drive = 0, tree = 0;
    };
    bool before(const BlockRequest& a, const BlockRequest& b) {
        if (a.context.number == b.context.number) return false;  // the one that came first is found first
        if (a.context.io_class != b.context.io_class) return a.context.io_class < b.context.io_class;
        const Owner& x = owners_[a.context.number];
        const Owner& y = owners_[b.context.number];
        return x.vios != y.vios ? x.vios < y.vios : x.tick < y.tick;
    }
    void update() {
        for (int tree = 0; tree < 3; ++tree) {
            bool any = false;
            std::int64_t least = 0;
            for (const auto& [number, o] : owners_)
                if (o.queued > 0 && o.tree == tree && (!any || o.vios < least)) {
                    any = true;
                    least = o.vios;
                }
            if (any && least > min_vios_[tree]) min_vios_[tree] = least;
        }
    }
    Settings settings_;
    std::map<std::uint32_t, Owner> owners_;
    std::map<std::uint32_t, std::int64_t> charged_;
    std::int64_t min_vios_[3] = {0, 0, 0};
    std::int64_t tick_ = 0;
};

}  // namespace

std::unique_ptr<IoScheduler> fiops(const Settings& s) {
    return std::make_unique<Fiops>(s);
}

}  // namespace ssdtlm::naive
