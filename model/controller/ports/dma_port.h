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
    /// A read ends now: its data have arrived. A write ends when the link has taken it, so that later posted writes
    /// follow it on the wire. `at` (>= now) is then the time at which its last TLP is visible in the host.
    SimTime at{};
    /// The time from which on the data of a write may be reused. An agenda entry for `at` may run before the link
    /// writes the host's memory at that time.
    SimTime data_free_at() const { return at + Ps{1}; }
    /// The host answered a read with unsupported request or completer abort, and its data are undefined. A user whose
    /// addresses come from the host must check this: after an SQE fetch it sets CSTS.CFS, for a PRP list or data it
    /// returns status 0/04h. Writes are posted and cannot fail here (the root complex counts them).
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
    bool prompt = true;  ///< bulk: it ends at once when the last TLP has its place; else as late as on arrival, but
                         ///< before the next prompt one ends
    bool bulk = false;   ///< all other traffic may pass it at each TLP; writes longer than a burst of the engine are
                         ///< always bulk
};

inline constexpr DmaTerms kPlainTerms{};

/// Writes of at most this many bytes are copied at the call.
inline constexpr std::uint32_t kDmaInlineBytes = 64;

/// All calls return at once. Data requests of one direction start in the order of the calls. Bulk writes start in the
/// order of their `from` times.
/// Short requests (at most kDmaInlineBytes written, 512 bytes read) keep their order among themselves. They may pass
/// data whose `then` has not been called yet. Other data may pass bulk.
/// Segments are copied. `then` may be called before write_host() returns, when the link is idle.
/// `content` says which bytes of `data` must be moved. The other bytes still take time on the wire, and may or may not
/// be written.
class DmaPort {
public:
    virtual ~DmaPort() = default;
    /// Device -> host memory (MWr). `data` holds the sum of the segments' bytes. Up to kDmaInlineBytes it may be
    /// reused when the call returns; longer data is not copied and must stay unchanged until data_free_at() of its end.
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
