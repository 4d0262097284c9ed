// SPDX-License-Identifier: Apache-2.0
// Gets notice when a device has written to host memory. It stands for software that polls there, and works out when
// that software sees the write. So polls cost no events.
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
