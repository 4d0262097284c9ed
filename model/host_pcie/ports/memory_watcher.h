// SPDX-License-Identifier: Apache-2.0
// Wants to know that a device has written to host memory: software that would look there again and again. So looks cost
// no events, and the watcher says when the software would have seen the write.
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
