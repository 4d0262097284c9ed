// SPDX-License-Identifier: Apache-2.0
// A whole SSD on a user's flash: loosely-timed packages, or, with an argument, a flash that is busy for a constant
// time.
#include <cstdio>

#include "examples/own_flash_ssd.h"
#include "reads.h"
#include "sim/config/config_loader.h"

template <class Ssd>
int run(Ssd& ssd) {
    ssd.host.driver.start();
    ssd.process.run();
    const std::uint64_t errors = ssd.host.driver.counters().errors;
    std::printf("own flash: %llu errors, %.3f us\n", static_cast<unsigned long long>(errors),
                ssdtlm::to_seconds(ssd.agenda.now().time_since_epoch()) * 1e6);
    return errors == 0 ? 0 : 1;
}

int sc_main(int argc, char*[]) {
    const ssdtlm::SsdConfig config = ssdtlm::load_config({DEVICE}, {}).config;
    Reads reads;
    if (argc > 1) {
        ssdtlm::examples::OwnFlashSsd ssd("ssd", config, std::chrono::microseconds(50), reads, nullptr);
        return run(ssd);
    }
    ssdtlm::examples::LtFlashSsd ssd("ssd", config, reads, nullptr);
    return run(ssd);
}
