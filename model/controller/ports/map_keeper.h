// SPDX-License-Identifier: Apache-2.0
// A map on the flash, as those see it who write checkpoints and shut the drive down.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace ssdtlm {

class MapKeeper {
public:
    virtual ~MapKeeper() = default;
    /// Dirty entries go to their translation pages; `done` follows when all have, but for those that have become dirty
    /// meanwhile, or wait for a free block when nothing is collected. At once if there are none. Precondition: an
    /// earlier call has been done.
    virtual void write_all(std::function<void()> done) = 0;
    /// Reads these translation pages, as far as they are on the flash; `done` is called later. Precondition: the same,
    /// and not empty.
    virtual void read_pages(std::vector<std::uint32_t> pages, std::function<void()> done) = 0;
    /// Nothing is being read or written, but for what waits for a free block.
    virtual bool idle() const = 0;
    /// Called when it may have become idle().
    virtual void on_idle(std::function<void()> callback) = 0;
};

}  // namespace ssdtlm
