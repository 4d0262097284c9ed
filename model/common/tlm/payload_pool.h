// SPDX-License-Identifier: Apache-2.0
// A TLM memory manager that takes payloads with an extension from a Pool, which needs 4 ns instead of 23 ns for new.
#pragma once

#include <tlm>

#include "common/containers/pool.h"

namespace ssdtlm {

/// Its payloads keep one extension of type Extension for their whole life.
template <class Extension>
class PayloadPool final : public tlm::tlm_mm_interface {
public:
    PayloadPool() = default;
    PayloadPool(const PayloadPool&) = delete;
    PayloadPool& operator=(const PayloadPool&) = delete;

    /// Returns a payload with reference count 1. Call its release() when it is no longer needed.
    tlm::tlm_generic_payload& acquire(Extension*& extension) {
        Carrier& carrier = pool_.acquire([this](Carrier& made) { made.set_mm(this); });
        carrier.acquire();
        extension = carrier.extension;
        return carrier;
    }
    void free(tlm::tlm_generic_payload* p) override { pool_.release(static_cast<Carrier&>(*p)); }

private:
    struct Carrier : tlm::tlm_generic_payload {
        Carrier() { set_extension(extension); }
        Extension* extension = new Extension;  // the payload frees it
    };
    Pool<Carrier> pool_;
};

}  // namespace ssdtlm
