// SPDX-License-Identifier: Apache-2.0
// Moves bytes between the controller and host memory. Owns no policy.
#pragma once

#include <cstdint>

#include "common/tlm/then.h"
#include "common/units/units.h"
#include "protocol/byte_enables.h"

namespace ssdtlm {

/// How a request ended.
struct DmaEnd {
    /// Of a read: now; its data have arrived. Of a write, which has been handed to the link, so that later posted
    /// writes follow it on the wire: when its last TLP is visible in the host (>= now). An entry of the agenda that is
    /// posted for then runs after the memory is written.
    SimTime at{};
    /// A read was answered with an unsupported request or completer abort: its data are undefined. Whose addresses come
    /// from the host must look: SQE fetch -> CSTS.CFS, PRP list or data -> status 0/04h. Writes are posted and cannot
    /// fail here (the root complex counts them).
    bool failed = false;
};

/// Called once for each request. Empty: nobody asks when it ends.
using DmaThen = ThenOf<void, DmaEnd>;

struct HostSegment {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
};

/// How a write of data goes.
struct DmaTerms {
    SimTime from{};      ///< bulk: the data are there from then on; past: now
    bool prompt = true;  ///< bulk: it ends at once when the last TLP has its place; else as late as on arrival,
                         ///< but before that of the next
    bool bulk = false;   ///< all else may go before each of its TLPs. Data that are longer than a burst of the engine
                         ///< are, in any case
};

inline constexpr DmaTerms kPlainTerms{};

/// Writes of at most this many bytes are copied at the call.
inline constexpr std::uint32_t kDmaInlineBytes = 64;

/// All calls return at once; data requests of one direction start in call order, bulk writes in order of the times from
/// which their data are there, and so do short ones (up to kDmaInlineBytes written, 512 bytes read), which may pass
/// data of which `then` has not been called. Other data may pass bulk. Segments are copied. `then` may be called
/// before write_host returns (idle link). `content` says which bytes of `data` have to be moved;
/// the others still take their time on the wire, and their place may or may not be written.
class DmaPort {
public:
    virtual ~DmaPort() = default;
    /// Device -> host memory (MWr). `data` holds the sum of the segments' bytes. Up to kDmaInlineBytes it may be
    /// reused when the call returns; longer data is not copied and must stay unchanged until `at` of its end.
    virtual void write_host(const HostSegment* segments, std::uint32_t count, const std::uint8_t* data,
                            const DmaThen& then, ByteEnables content = {}, const DmaTerms& terms = kPlainTerms) = 0;
    /// write_host() of at most kDmaInlineBytes to one place, without a successor.
    virtual void post_host(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes) {
        const HostSegment to{address, bytes};
        write_host(&to, 1, data, {});
    }
    /// Host memory -> device (MRd/CplD). `data` must stay valid until its end.
    virtual void read_host(const HostSegment* segments, std::uint32_t count, std::uint8_t* data, const DmaThen& then,
                           ByteEnables content = {}) = 0;
};

}  // namespace ssdtlm
