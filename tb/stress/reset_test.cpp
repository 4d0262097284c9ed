// SPDX-License-Identifier: Apache-2.0
// Controller resets (CC.EN 1 -> 0) at random times under load, 1,000 in all. Each leaves no command, queue or transfer
// behind in the controller, host memory is left alone until the driver starts it again, flash work goes on, and every
// acknowledged write is there: reads are compared under the load, and every unit once at the end. The waiters are
// checked after every entry of the agenda.
#include <cstdio>
#include <functional>

#include "sim/host/host.h"
#include "stress.h"

namespace ssdtlm {
namespace {

/// Random commands until there have been enough resets, then every unit is read once.
class MixThenReadBack final : public Workload {
public:
    MixThenReadBack(const RandomMix::Spec& spec, std::uint64_t capacity, std::uint32_t lba_bytes,
                    std::uint32_t unit_bytes)
        : mix_(spec, capacity, lba_bytes, unit_bytes), capacity_(capacity) {}
    void set_enough(std::function<bool()> enough) { enough_ = std::move(enough); }

    Next next(SimTime now) override {
        Next n;
        if (!reading_back_ && enough_()) reading_back_ = true;
        if (!reading_back_) {
            n = mix_.next(now);
            if (n.state == State::ready) ++open_;
            if (n.state == State::done) throw CheckFailed("the mix ended before the resets");
        } else if (open_ != 0) {
            n.state = State::blocked;
        } else if (next_ < capacity_) {
            n.state = State::ready;
            n.request.op = HostOp::read;
            n.request.offset = next_;
            n.request.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(65536, capacity_ - next_));
            next_ += n.request.bytes;
            ++open_;
        }
        return n;
    }
    void completed(const HostRequest& r, SimTime issued, SimTime submitted, SimTime now, bool ok) override {
        --open_;
        if (next_ == 0) mix_.completed(r, issued, submitted, now, ok);
    }
    std::uint32_t jobs() const override { return mix_.jobs(); }
    std::uint32_t depth(std::uint32_t job) const override { return mix_.depth(job); }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }
    bool read_everything() const { return next_ >= capacity_; }

private:
    RandomMix mix_;
    const std::uint64_t capacity_;
    std::function<bool()> enough_;
    bool reading_back_ = false;
    std::uint64_t next_ = 0, open_ = 0;
};

/// Looks at the device in the moments of a reset.
struct ResetCheck {
    explicit ResetCheck(SsdSystem& system) : s(system), c(system.device.controller) {
        s.host.driver.set_on_reset([this](HostDriver::ResetStep step) {
            if (step == HostDriver::ResetStep::begins) in_flight += s.host.driver.outstanding();
            if (step == HostDriver::ResetStep::stopped) stopped();
        });
    }
    void require(bool ok, const char* what) const {
        if (!ok) throw CheckFailed(std::string("after RDY=0: ") + what);
    }
    void stopped() {
        require(s.device.nvme().controller.registers().csts() == 0, "CSTS is not 0");
        require(s.device.nvme().controller.in_firmware() == 0, "the firmware holds commands of the host");
        require(c.front_end->transfers() == 0, "transfers are under way");
        for (std::uint32_t q = 0; q < s.device.nvme().controller.queues().count(); ++q)
            require(!s.device.nvme().controller.queues().has_sq(q) && !s.device.nvme().controller.queues().has_cq(q),
                    "a queue is left");
        s.device.nvme().controller.check_books();
        flash_at_work += c.backend.idle() ? 0 : 1;
        requests = s.host.module_as<Host>().root_complex.requests();
        // The driver looks for RDY=1 every millisecond, and until then gives the controller nothing to do.
        s.agenda.post(s.agenda.now() + 900us, Then::to<&ResetCheck::still_quiet>(this));
    }
    void still_quiet() {
        require(s.host.module_as<Host>().root_complex.requests() == requests, "the controller has touched host memory");
    }

    SsdSystem& s;
    const SsdController& c;
    std::uint64_t requests = 0, in_flight = 0, flash_at_work = 0;
};

struct ResetResult {
    std::uint64_t commands = 0, cancelled = 0, in_flight = 0, flash_at_work = 0, blocks_checked = 0;
};

constexpr std::uint64_t kResets = 250;

ResetResult run_resets(SsdConfig config, std::uint64_t seed) {
    RandomMix::Spec mix;
    mix.seed = seed;
    mix.depth = 8;
    mix.requests = 1'000'000;
    config.run.seed = seed;
    config.run.check_waiters = true;
    config.host.queue_pairs = mix.jobs;
    config.nvme.ready_time = 10us;
    Random random(seed, 31);
    Ps at{};
    for (std::uint64_t i = 0; i < kResets; ++i) {
        at += Ps{1ms} + Ps{static_cast<std::int64_t>(random.below(25'000'000'000))};
        config.host.reset_at.push_back(at);
    }
    const auto j = nlohmann::json::parse(in_child([&] {
        const NandGeometry& g = config.nand.geometry;
        MixThenReadBack workload(mix, logical_units_of(config.ftl, g) * g.unit_bytes, config.nvme.lba_bytes,
                                 g.unit_bytes);
        Simulation::Options options;
        options.workload_name = "resets";
        Simulation simulation(config, workload, options);
        SsdSystem& s = simulation.system();
        workload.set_enough([&s] { return s.host.driver.resets() == kResets; });
        ResetCheck check(s);
        try {
            const RunSummary r = simulation.run();
            for (const BookLine& b : r.books) {
                if (!b.balances())
                    throw CheckFailed("books: " + b.name + ": " + std::to_string(b.left) + " against " +
                                      std::to_string(b.right));
            }
            s.device.controller.ftl->verify_books();
            if (r.error_status != 0) throw CheckFailed("commands failed");
            if (!workload.read_everything()) throw CheckFailed("not every unit was read at the end");
            if (s.oracle->unverified() != 0) throw CheckFailed("reads not verified");
            const NvmeCounters& n = s.device.nvme().controller.counters();
            if (n.resets != kResets) throw CheckFailed(std::to_string(n.resets) + " resets");
            if (n.unsafe_shutdowns != 0)  // the power was there
                throw CheckFailed(std::to_string(n.unsafe_shutdowns) + " unsafe shutdowns");
            return nlohmann::json{{"commands", s.host.driver.counters().commands_completed},
                                  {"cancelled", s.host.driver.counters().commands_cancelled},
                                  {"in_flight", check.in_flight},
                                  {"flash", check.flash_at_work},
                                  {"checked", r.integrity_checked}}
                .dump();
        } catch (const std::exception& e) {
            throw std::runtime_error(std::string(e.what()) + "\n" + simulation.state_dump());
        }
    }));
    return {j["commands"], j["cancelled"], j["in_flight"], j["flash"], j["checked"]};
}

ResetResult check_resets(const SsdConfig& config, std::uint64_t seed) {
    ResetResult r;
    try {
        r = run_resets(config, seed);
    } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
        return r;
    }
    std::printf(
        "%llu resets with %llu commands in flight, %llu of them cancelled, flash at work after %llu; %llu commands "
        "completed, "
        "%llu blocks compared\n",
        static_cast<unsigned long long>(kResets), static_cast<unsigned long long>(r.in_flight),
        static_cast<unsigned long long>(r.cancelled), static_cast<unsigned long long>(r.flash_at_work),
        static_cast<unsigned long long>(r.commands), static_cast<unsigned long long>(r.blocks_checked));
    EXPECT_GT(r.in_flight, 10 * kResets) << "the resets came when there was nothing to do";
    EXPECT_GT(r.flash_at_work, 0u) << "flash work must go on";
    return r;
}

TEST(Reset, UnderLoad) {
    EXPECT_GT(check_resets(stress_device(), 1).cancelled, kResets);
}

TEST(Reset, WithPartialPagesAndCoalescedInterrupts) {
    SsdConfig c = stress_device(16384, 16384);
    c.nvme.interrupt_coalescing_threshold = 7;
    c.nvme.interrupt_coalescing_time = 2;
    EXPECT_GT(check_resets(c, 2).cancelled, kResets);
}

TEST(Reset, WithAHostThatTakesTime) {
    SsdConfig c = stress_device();
    c.host.submit_time = 3us;
    c.host.completion_time = 5us;
    c.host.interrupt_latency = 2us;
    c.host.queue_entries = 8;
    EXPECT_GT(check_resets(c, 3).cancelled, kResets);
}

TEST(Reset, AfterAShutdown) {
    SsdConfig c = stress_device();
    c.host.reset_shutdown = true;
    check_resets(c, 4);
}

}  // namespace
}  // namespace ssdtlm
