// SPDX-License-Identifier: Apache-2.0
// A drive with a feature of one's own (staging.cpp) loses its power at random times while a host writes, deallocates
// and reads. After each start all bytes are compared with what may be there, and the books with the flash, the
// feature's among them. Arguments: how many losses, a seed, and settings of the device.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "common/random/block_bytes.h"
#include "common/random/random.h"
#include "host_pcie/ports/host_request.h"
#include "sim/config/config_loader.h"
#include "sim/simulation.h"

using namespace ssdtlm;

/// Random requests, as many as there are losses of power for.
class Mix final : public Workload {
public:
    Mix(std::uint64_t seed, std::uint64_t capacity) : random_(seed, 1), places_(capacity / kUnit) {}
    void until(const SsdSystem& system, std::size_t losses) {
        system_ = &system;
        losses_ = losses;
    }
    Next next(SimTime) override {
        if (system_->power_cuts().size() == losses_ && open_ == 0) return {State::done, {}, {}};
        if (open_ == 8 || system_->power_cuts().size() == losses_) return {State::blocked, {}, {}};
        Next n{State::ready, {}, {}};
        const std::uint64_t what = random_.below(100);
        n.request.op = what < 70 ? HostOp::write : what < 80 ? HostOp::trim : what < 85 ? HostOp::flush : HostOp::read;
        // Half of it goes to a part of the drive that is written again soon.
        const std::uint64_t units = 1 + random_.below(8), span = random_.percent(50) ? places_ / 8 : places_;
        n.request.offset = random_.below(span - units) * kUnit;
        n.request.bytes = n.request.op == HostOp::flush ? 0 : static_cast<std::uint32_t>(units * kUnit);
        if (n.request.op == HostOp::flush) n.request.offset = 0;
        ++open_;
        return n;
    }
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override { --open_; }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return 8; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

private:
    static constexpr std::uint64_t kUnit = 4096;
    Random random_;
    const std::uint64_t places_;
    const SsdSystem* system_ = nullptr;
    std::size_t losses_ = 0;
    std::uint32_t open_ = 0;
};

/// Compares what a drive has found on its flash, before the host changes anything. Returns the number of blocks.
std::uint64_t check(const SsdSystem& s) {
    const Ftl& ftl = *s.device.controller.ftl;
    ftl.verify_books();
    const NandGeometry& g = s.config.nand.geometry;
    const BlockBytes bytes(s.config.run.seed, s.config.nvme.lba_bytes);
    const std::uint32_t size = bytes.block_bytes(), blocks = g.unit_bytes / size;
    const UnitBytes zeros = UnitBytes::zeros(g.unit_bytes);
    std::vector<UnitBytes> page(g.units_per_page());
    std::vector<Spare> spare(g.units_per_page());
    std::uint64_t compared = 0;
    for (std::uint32_t u = 0; u < ftl.logical_units(); ++u) {
        const Ppa at = ftl.lookup(Lpa{u});
        if (at != kUnmapped) s.device.flash.spare.read_page(g.page_of(at), spare.data(), page.data());
        const UnitBytes& unit = at == kUnmapped ? zeros : page[g.slot_of(at)];
        for (std::uint32_t b = 0; b < blocks; ++b, ++compared) {
            const std::uint32_t lba = u * blocks + b, possible = s.oracle->possible(lba);
            bool is_one = false;
            for (std::uint32_t v = 0; v < 16 && !is_one; ++v)
                is_one = (possible >> v & 1u) != 0 && bytes.differs_at(lba, v, unit.data() + b * size) == size;
            if (!is_one) throw CheckFailed("LBA " + std::to_string(lba) + " has none of its possible contents");
        }
    }
    return compared;
}

int sc_main(int argc, char* argv[]) {
    const std::size_t losses = argc > 1 ? std::stoul(argv[1]) : 100;
    const std::uint64_t seed = argc > 2 ? std::stoull(argv[2]) : 1;
    std::vector<std::string> settings{"ftl.staging.blocks=3", "run.data=bytes", "host.power_off_time=1ms",
                                      "nvme.ready_time=10us"};
    settings.insert(settings.end(), argv + std::min(argc, 3), argv + argc);
    try {
        SsdConfig config = load_config({DEVICE}, settings).config;
        config.run.seed = seed;
        config.run.check_waiters = true;
        Random random(seed, 2);
        Ps at{};
        for (std::size_t i = 0; i < losses; ++i) {
            const std::uint64_t most = random.percent(20) ? 20'000'000'000 : 800'000'000'000;
            at += Ps{2'000'000'000} + Ps{static_cast<std::int64_t>(random.below(most))};
            config.host.power_cut_at.push_back(at);
        }
        Mix mix(seed, config.ftl.user_capacity_bytes);
        Simulation simulation(config, mix, {});
        SsdSystem& s = simulation.system();
        mix.until(s, losses);
        std::uint64_t looks = 0, compared = 0;
        s.device.set_on_rebuilt([&] {
            compared += check(s);
            ++looks;
        });
        const RunSummary r = simulation.run();
        check(s);
        bool right = r.error_status == 0 && s.oracle->unverified() == 0 && s.power_cuts().size() == losses;
        for (const BookLine& line : r.books) right = right && line.balances();
        std::uint64_t torn = 0;
        for (const PowerCut& cut : s.power_cuts()) torn += cut.loss.pages_torn;
        std::printf("%zu losses of power, %llu pages torn; %llu starts, %llu blocks compared: %s\n", losses,
                    static_cast<unsigned long long>(torn), static_cast<unsigned long long>(looks),
                    static_cast<unsigned long long>(compared), right ? "all right" : "not right");
        for (const auto& [name, value] : r.counters_whole_run)
            if (name.rfind("staging_", 0) == 0)
                std::printf("%s %llu\n", name.c_str(), static_cast<unsigned long long>(value));
        return right ? 0 : 1;
    } catch (const std::exception& e) {
        std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), e.what());
        return 1;
    }
}
