// SPDX-License-Identifier: Apache-2.0
// TLM memory manager: payloads with their extension come from a Pool (4 ns instead of 23 ns for new).
#pragma once

#include <tlm>

#include "common/containers/pool.h"

namespace ssdtlm {

/// Hands out payloads that carry one sticky extension of type Extension.
template <class Extension>
class PayloadPool final : public tlm::tlm_mm_interface {
public:
    PayloadPool() = default;
    PayloadPool(const PayloadPool&) = delete;
    PayloadPool& operator=(const PayloadPool&) = delete;

    /// A payload with reference count 1. release() it when done.
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
        Extension* extension = new Extension;  // freed by the payload
    };
    Pool<Carrier> pool_;
};

}  // namespace ssdtlm
