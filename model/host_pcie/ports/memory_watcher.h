// SPDX-License-Identifier: Apache-2.0
// Is told that a device has written to host memory. It stands for software that polls there. So polls cost no events,
// and the watcher returns the time at which the software would have seen the write.
#pragma once

#include <cstdint>

namespace ssdtlm {

class MemoryWatcher {
public:
    /// A write that begins at `address` has reached memory; Agenda::now() is that moment.
    virtual void written(std::uint64_t address) = 0;

protected:
    ~MemoryWatcher() = default;
};

}  // namespace ssdtlm
