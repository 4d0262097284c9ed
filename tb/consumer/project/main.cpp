// SPDX-License-Identifier: Apache-2.0
// A program of your own around the model: a workload in C++, one run, one number. SystemC's library has the main().
#include <cstdio>
#include <string>
#include <vector>

#include "sim/config/config_loader.h"
#include "sim/simulation.h"

/// 1000 reads of 4 KiB, one after the other.
class Reads final : public ssdtlm::Workload {
public:
    Next next(ssdtlm::SimTime) override {
        if (busy_) return {State::blocked, {}, {}};
        if (issued_ == 1000) return {State::done, {}, {}};
        busy_ = true;
        Next n{State::ready, {}, {}};
        n.request.op = ssdtlm::HostOp::read;
        n.request.offset = issued_++ * 4096;
        n.request.bytes = 4096;
        return n;
    }
    void completed(const ssdtlm::HostRequest&, ssdtlm::SimTime, ssdtlm::SimTime, ssdtlm::SimTime, bool) override { busy_ = false; }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(ssdtlm::SimTime) const override { return static_cast<double>(issued_) / 1000; }
    bool measuring(const ssdtlm::HostRequest&, ssdtlm::SimTime) const override { return true; }

private:
    std::uint64_t issued_ = 0;
    bool busy_ = false;
};

/// With an argument: the scheduler in RTL of that name.
int sc_main(int argc, char* argv[]) {
    Reads reads;
    std::vector<std::string> settings{"nand.t_read=50us"};
    if (argc > 1) settings.insert(settings.end(), {"scheduler.implementation=rtl", std::string("scheduler.rtl_module=") + argv[1]});
    ssdtlm::Simulation simulation(ssdtlm::load_config({DEVICE}, settings).config, reads, {});
    const ssdtlm::RunSummary r = simulation.run();
    std::printf("%llu reads, %.1f IOPS\n", static_cast<unsigned long long>(r.read.ios), r.read.iops);
    return r.read.ios == 1000 ? 0 : 1;
}
