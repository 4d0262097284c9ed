// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/root_complex.h"

#include <cstring>

#include "common/report/error.h"
#include "common/tlm/pooled_payload.h"
#include "protocol/signature.h"

namespace ssdtlm {

RootComplex::RootComplex(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, InterruptSink* interrupts)
    : sc_module(name), link_target("link_target"), door_(agenda, *this), memory_(memory), sink_(interrupts) {
    link_target.bind(door_);
}

inline bool RootComplex::is_message(const tlm::tlm_generic_payload& p) {
    return p.get_address() - kMsiBase < kMsiEnd - kMsiBase && p.is_write() && p.get_data_length() == 4 &&
           p.get_byte_enable_ptr() == nullptr;
}

inline void RootComplex::interrupt(tlm::tlm_generic_payload& p) {
    std::uint32_t data = 0;
    std::memcpy(&data, p.get_data_ptr(), sizeof data);
    ++interrupts_;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    if (sink_ != nullptr) sink_->interrupt(p.get_address(), data);
}

/// Copies the signatures of logical blocks of `block_bytes`.
inline void RootComplex::copy_signatures(std::uint8_t* to, const std::uint8_t* from, std::uint32_t bytes,
                                         std::uint32_t block_bytes) {
    constexpr std::uint32_t kBytes = sizeof(BlockSignature);
    std::uint32_t i = 0;
    for (; i + kBytes <= bytes; i += block_bytes) std::memcpy(to + i, from + i, kBytes);
    if (i < bytes) std::memcpy(to + i, from + i, bytes - i);
}

tlm::tlm_sync_enum RootComplex::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    ++requests_;
    const std::uint32_t bytes = p.get_data_length();
    const std::uint64_t address = p.get_address();
    if (is_message(p)) {
        interrupt(p);
        return tlm::TLM_COMPLETED;
    }
    std::uint8_t* memory = memory_.find(address, bytes);
    const unsigned char* const enables = p.get_byte_enable_ptr();
    if (__builtin_expect(memory == nullptr || (enables != nullptr && enables != kSignatureOnly.data()) ||
                             !(p.is_write() || p.is_read()),
                         0)) {
        serve_other(p);
        return tlm::TLM_COMPLETED;
    }
    std::uint8_t* const to = p.is_write() ? memory : p.get_data_ptr();
    const std::uint8_t* const from = p.is_write() ? p.get_data_ptr() : memory;
    if (enables == nullptr)
        copy_bytes(to, from, bytes);
    else
        copy_signatures(to, from, bytes, p.get_byte_enable_length());
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    if (p.is_write()) memory_.written(address);
    return tlm::TLM_COMPLETED;
}

void RootComplex::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
    ++requests_;
    if (is_message(p))
        interrupt(p);
    else
        serve_other(p);
}

unsigned RootComplex::transport_dbg(tlm::tlm_generic_payload& p) {
    return access(p) ? p.get_data_length() : 0;
}

/// Serves the rare requests: to memory that was not touched before or in several chunks, with byte enables, or
/// unsupported ones.
__attribute__((noinline)) void RootComplex::serve_other(tlm::tlm_generic_payload& p) {
    if (access(p)) {
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        if (p.is_write()) memory_.written(p.get_address());
    } else {
        ++unsupported_;
        p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
}

bool RootComplex::access(tlm::tlm_generic_payload& p) {
    const std::uint64_t address = p.get_address();
    const std::uint32_t bytes = p.get_data_length();
    if (!memory_.contains(address, bytes)) return false;
    const unsigned char* const enables = p.get_byte_enable_ptr();
    const std::uint32_t pattern = p.get_byte_enable_length();
    if (enables != nullptr && pattern == 0) return false;
    for (std::uint32_t begin = 0; begin < bytes;) {
        std::uint32_t end = bytes;
        if (enables != nullptr) {
            while (begin < bytes && enables[begin % pattern] == 0) ++begin;
            end = begin;
            while (end < bytes && enables[end % pattern] != 0) ++end;
        }
        if (p.is_write())
            memory_.write(address + begin, p.get_data_ptr() + begin, end - begin);
        else if (p.is_read())
            memory_.read(address + begin, p.get_data_ptr() + begin, end - begin);
        begin = end;
    }
    return true;
}

}  // namespace ssdtlm
