// SPDX-License-Identifier: Apache-2.0
#include "host_block/io_schedulers.h"

namespace ssdtlm {

std::unique_ptr<IoScheduler> make_io_scheduler(const std::string& name, const IoSchedulerSetup& setup,
                                               const PolicyTable& table) {
    return IoSchedulers::instance().make("block.scheduler", name, setup, table);
}

}  // namespace ssdtlm
