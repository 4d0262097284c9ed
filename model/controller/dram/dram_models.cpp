// SPDX-License-Identifier: Apache-2.0
#include "controller/dram/dram_models.h"

namespace ssdtlm {

std::unique_ptr<DramPort> make_dram(const DramConfig& config, Agenda& agenda) {
    return DramModels::instance().make("dram.model", config.model, {agenda, config}, config.policies);
}

}  // namespace ssdtlm
