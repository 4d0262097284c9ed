// SPDX-License-Identifier: Apache-2.0
// The journal of deallocations as commands see it.
#pragma once

#include <cstdint>

namespace ssdtlm {

class JournalPort {
public:
    virtual ~JournalPort() = default;
    /// Units may be deallocated. False: a full page waits to be written; Waiters::pages_changed() follows when it is.
    virtual bool takes_note() const = 0;
    /// Everything noted until now is to be written. Returns what is_durable() is asked for.
    virtual std::uint64_t demand() = 0;
    virtual bool is_durable(std::uint64_t demanded) const = 0;
    /// It never will be, though is_durable() says that there is nothing to wait for: a read-only drive had no page
    /// left.
    virtual bool is_lost(std::uint64_t demanded) const = 0;
    /// A program that ends by itself, or a collection that will give a page to one without.
    virtual bool under_way() const = 0;
    /// A unit was deallocated while a command (index) waited for its durability: Waiters::release(command) when the
    /// deallocation is durable, now or later.
    virtual void release_when_durable(std::uint32_t command) = 0;
};

}  // namespace ssdtlm
