// SPDX-License-Identifier: Apache-2.0
// A victim policy of your own, chosen and set like one of the model's: 4 KiB overwrites that need garbage collection.
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "sim/config/config_loader.h"
#include "sim/simulation.h"

/// Writes of 4 KiB, one after the other, at random places of the 12 MiB of the device.
class Overwrites final : public ssdtlm::Workload {
public:
    Next next(ssdtlm::SimTime) override {
        if (busy_) return {State::blocked, {}, {}};
        if (issued_ == kWrites) return {State::done, {}, {}};
        busy_ = true;
        Next n{State::ready, {}, {}};
        n.request.op = ssdtlm::HostOp::write;
        n.request.offset = random_() % 3072 * 4096;
        ++issued_;
        n.request.bytes = 4096;
        return n;
    }
    void completed(const ssdtlm::HostRequest&, ssdtlm::SimTime, ssdtlm::SimTime, ssdtlm::SimTime, bool) override { busy_ = false; }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(ssdtlm::SimTime) const override { return static_cast<double>(issued_) / kWrites; }
    bool measuring(const ssdtlm::HostRequest&, ssdtlm::SimTime) const override { return true; }

private:
    static constexpr std::uint64_t kWrites = 60'000;
    std::mt19937 random_{1};
    std::uint64_t issued_ = 0;
    bool busy_ = false;
};

/// Arguments: KEY=VALUE settings.
int sc_main(int argc, char* argv[]) {
    try {
        Overwrites overwrites;
        const std::vector<std::string> settings(argv + 1, argv + argc);
        ssdtlm::Simulation simulation(ssdtlm::load_config({DEVICE}, settings).config, overwrites, {});
        const ssdtlm::RunSummary r = simulation.run();
        std::printf("%llu writes, write amplification %.4f\n", static_cast<unsigned long long>(r.write.ios), r.written.waf().value_or(0));
        return 0;
    } catch (const ssdtlm::UserError& e) {
        for (const auto& problem : e.problems()) std::printf("%s\n", problem.text().c_str());
        return 2;
    }
}
