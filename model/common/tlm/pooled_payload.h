// SPDX-License-Identifier: Apache-2.0
// Payloads of a class that is derived from tlm_generic_payload. The derived class holds what the initiator knows about
// a transaction. So the backward path needs a static_cast instead of a look-up of an extension. Other modules see the
// base class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tlm>

#include "common/containers/pool.h"

namespace ssdtlm {

/// A Pool of such payloads that is their TLM memory manager. A free payload keeps a reference count of 1. Only the
/// owner of the pool may cast a payload to Payload, and only one from this pool. The cast is safe because a response
/// has the object of its request.
template <class Payload>
class PooledPayloads final : public tlm::tlm_mm_interface {
public:
    PooledPayloads() = default;
    PooledPayloads(const PooledPayloads&) = delete;
    PooledPayloads& operator=(const PooledPayloads&) = delete;

    /// Returns a payload with reference count 1 and the attributes of its last use. A new payload has no byte enables.
    Payload& acquire() {
        return pool_.acquire([this](Payload& p) {
            p.set_mm(this);
            p.acquire();
        });
    }
    /// Call it when the owner no longer needs the payload. The payload returns to the pool at once, or when the last
    /// module that acquired it releases it.
    void release(Payload& p) {
        if (__builtin_expect(p.get_ref_count() == 1, 1))
            pool_.release(p);
        else
            p.tlm::tlm_generic_payload::release();
    }
    void free(tlm::tlm_generic_payload* p) override {
        p->acquire();
        pool_.release(static_cast<Payload&>(*p));
    }
    /// Number of payloads in use, for reports.
    std::size_t in_use() const { return pool_.in_use(); }

    /// See Pool.
    static Handle<Payload> handle_of(const Payload& p) { return Pool<Payload>::handle_of(p); }
    Payload& at(std::uint64_t number) { return pool_.at(number); }
    Payload* find(std::uint64_t number) { return pool_.find(Handle<Payload>::of(number)); }
    /// Takes back all payloads, even those that other modules hold. Precondition: nobody uses one of them again.
    void take_all_back() { pool_.release_all(); }

private:
    Pool<Payload> pool_;
};

/// Sets all attributes of a transaction of the base protocol without byte enables.
inline void set_up(tlm::tlm_generic_payload& p, tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                   std::uint32_t bytes) {
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(data);
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    p.set_byte_enable_ptr(nullptr);
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

/// Copies like memcpy, but without a function call for the sizes of doorbells, CQEs and SQEs.
inline void copy_bytes(std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes) {
    if (bytes == 16)
        std::memcpy(to, from, 16);
    else if (bytes == 4)
        std::memcpy(to, from, 4);
    else if (bytes == 64)
        std::memcpy(to, from, 64);
    else
        std::memcpy(to, from, bytes);
}

}  // namespace ssdtlm
