// SPDX-License-Identifier: Apache-2.0
// What stands between the host of a case and a drive, by the drive's frontend.kind: the host's port and the model's
// link.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/tlm/agenda.h"
#include "property/case_port.h"
#include "sim/device/device.h"
#include "sim/sim_config.h"

namespace ssdtlm {

class CaseSide {
public:
    virtual ~CaseSide() = default;
    virtual CasePort& port() = 0;
    /// The power of the drive went: what is on the link is gone.
    virtual void cut_way(Agenda& agenda) = 0;
    /// That object has the host's power, and its entries of the agenda stay.
    virtual bool keeps(const void* object) const = 0;
    virtual void check_waiters() const = 0;
    /// At the end. Throws CheckFailed.
    virtual void check_books() const = 0;
    virtual void add_counts(nlohmann::json& counts) const = 0;
    virtual std::string dump() const = 0;
};

/// UserError when there is none for that kind.
std::unique_ptr<CaseSide> make_case_side(Agenda& agenda, const SsdConfig& config, Device& device, std::uint32_t depth,
                                         CasePortClient& host);

}  // namespace ssdtlm
