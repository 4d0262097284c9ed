// SPDX-License-Identifier: Apache-2.0
// The table of all parameters of device and run. It has an entry for every field of SsdConfig that a user may set.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/config/parameter.h"
#include "common/config/parameter_docs.h"
#include "common/report/error.h"
#include "sim/sim_config.h"

namespace ssdtlm {

using SsdParameter = Parameter<SsdConfig>;

/// The parameters in the order in which they are shown.
const std::vector<SsdParameter>& ssd_parameters();
/// Index of a key; -1 when there is none.
int parameter_index(const std::string& key);
/// The TOML tables in the order in which they are shown, each with a sentence.
const std::vector<TableSentence>& parameter_tables();

/// Adds the parameters of all policies of a kind, as "<table>.<policy>.<name>". `field` returns the PolicyTable in
/// SsdConfig. They have an effect if the parameter `chosen_by` names their policy; it must be in the table already. If
/// it is empty, another rule chooses the policy.
template <class Registry, class Field>
void add_policy_parameters(std::vector<SsdParameter>& table, const std::string& name, const std::string& chosen_by,
                           const Registry& registry, Field field) {
    if (!chosen_by.empty()) {
        const auto chooser =
            std::find_if(table.begin(), table.end(), [&](const SsdParameter& p) { return p.key == chosen_by; });
        SSDTLM_CHECK(chooser != table.end(),
                     "no parameter " + chosen_by + " stands before those of the policies that it chooses");
        chooser->linked = true;
    }
    for (const auto& [policy, entry] : registry.policies())
        for (const PolicyParameter& own : entry.parameters) {
            SsdParameter p;
            static_cast<ParameterInfo&>(p) = own;
            p.key = name + "." + policy + "." + own.key;
            if (!chosen_by.empty()) p.only_with(chosen_by + " = " + policy);
            p.get = [own, field, policy = policy](const SsdConfig& c) {
                const auto values = field(c).find(policy);
                return own.get(values == field(c).end() ? PolicyValues{} : values->second);
            };
            p.set = [own, field, policy = policy](SsdConfig& c, const Value& v) { own.set(field(c)[policy], v); };
            table.push_back(std::move(p));
        }
}

// The parts of the table, one per organ.
void add_general_parameters(std::vector<SsdParameter>& table);
void add_host_parameters(std::vector<SsdParameter>& table);
void add_files_parameters(std::vector<SsdParameter>& table);
void add_block_parameters(std::vector<SsdParameter>& table);
void add_link_parameters(std::vector<SsdParameter>& table);
void add_front_end_parameters(std::vector<SsdParameter>& table);
void add_nvme_parameters(std::vector<SsdParameter>& table);
void add_firmware_parameters(std::vector<SsdParameter>& table);
void add_ftl_parameters(std::vector<SsdParameter>& table);
void add_care_parameters(std::vector<SsdParameter>& table);  ///< called by the function for the FTL
void add_back_end_parameters(std::vector<SsdParameter>& table);
void add_nand_parameters(std::vector<SsdParameter>& table);
void add_power_parameters(std::vector<SsdParameter>& table);
void add_run_parameters(std::vector<SsdParameter>& table);

}  // namespace ssdtlm
