// SPDX-License-Identifier: Apache-2.0
// The controller's DRAM as its users see it. Accesses pass it one after the other. The user is called back at the end
// of its access, or is told beforehand when that will be. An outside DRAM simulator can stand behind this port.
#pragma once

#include <cstdint>

#include "common/tlm/agenda.h"
#include "common/units/units.h"

namespace ssdtlm {

/// A stretch of the DRAM that an access passes.
struct DramPiece {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint32_t passes = 1;  ///< 2: written and read again, as data from the flash on their way to the host
};

class DramPort {
public:
    /// `agenda` must outlive it.
    explicit DramPort(Agenda& agenda) : agenda_(agenda) {}
    virtual ~DramPort() = default;
    /// Moves the bytes of all pieces, one after the other. Returns the time at which the last byte is accessed. Returns
    /// kNever if that is not known yet: then `then`, if given, is called at that time, but never within this call.
    /// Accesses may end in another order than they were begun.
    virtual SimTime begin(const DramPiece* pieces, std::uint32_t count, const Then& then) = 0;
    /// True when no data are under way.
    virtual bool idle(SimTime now) const = 0;
    /// Time in which data were under way, up to the end of what was asked for.
    virtual Ps busy() const = 0;

    SimTime begin(const DramPiece& piece, const Then& then) { return begin(&piece, 1, then); }
    /// As begin(), but `then` is always called at the end.
    void access(const DramPiece* pieces, std::uint32_t count, const Then& then) {
        const SimTime end = begin(pieces, count, then);
        if (end != kNever) agenda_.post(end, then);
    }
    void access(const DramPiece& piece, const Then& then) { access(&piece, 1, then); }
    /// An address for incoming data. Addresses rise with each call and start again from 0 at the end of the ring.
    std::uint64_t place(std::uint64_t bytes) {
        if (next_ + bytes > kRing) next_ = 0;
        const std::uint64_t at = next_;
        next_ += bytes;
        return at;
    }
    template <class Archive>
    void state(Archive& s) {
        s(next_);
        s.require(next_ <= kRing, "a place behind the room for data");
    }

protected:
    Agenda& agenda_;

private:
    static constexpr std::uint64_t kRing = std::uint64_t{1} << 30;  // assumed: more than is in the DRAM at once
    std::uint64_t next_ = 0;
};

}  // namespace ssdtlm
