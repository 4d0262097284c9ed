// SPDX-License-Identifier: Apache-2.0
// The interface of observers of completed commands, such as latency statistics and time series.
#pragma once

#include "common/latency/timeline.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class CompletionObserver {
public:
    /// Called once per I/O command in the completion handler. `timeline` is complete: its sum is now - issued.
    virtual void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                             const Timeline& timeline, bool measured) = 0;

protected:
    ~CompletionObserver() = default;
};

}  // namespace ssdtlm
