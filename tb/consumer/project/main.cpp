// SPDX-License-Identifier: Apache-2.0
// A program of your own around the model: a workload in C++, one run, one number. SystemC's library has the main().
#include <cstdio>
#include <string>
#include <vector>

#include "reads.h"
#include "sim/config/config_loader.h"
#include "sim/simulation.h"

/// With an argument: the scheduler in RTL of that name.
int sc_main(int argc, char* argv[]) {
    Reads reads;
    std::vector<std::string> settings{"nand.t_read=50us"};
    if (argc > 1)
        settings.insert(settings.end(),
                        {"scheduler.implementation=rtl", std::string("scheduler.rtl_module=") + argv[1]});
    ssdtlm::Simulation simulation(ssdtlm::load_config({DEVICE}, settings).config, reads, {});
    const ssdtlm::RunSummary r = simulation.run();
    std::printf("%llu reads, %.1f IOPS\n", static_cast<unsigned long long>(r.read.ios), r.read.iops);
    return r.read.ios == 1000 ? 0 : 1;
}
