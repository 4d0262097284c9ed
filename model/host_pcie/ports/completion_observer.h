// SPDX-License-Identifier: Apache-2.0
// Observes finished commands, for latency statistics and time series. Null: nobody observes.
#pragma once

#include "common/latency/timeline.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class CompletionObserver {
public:
    /// Called once per I/O command in the completion handler. `timeline` is whole: its sum is now - issued.
    virtual void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                             const Timeline& timeline, bool measured) = 0;

protected:
    ~CompletionObserver() = default;
};

}  // namespace ssdtlm
