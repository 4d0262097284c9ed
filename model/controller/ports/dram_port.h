// SPDX-License-Identifier: Apache-2.0
// The controller's DRAM as its users see it: data pass it, one access after the other, and what comes next
// follows when they have, or whoever asked is told when that will be. An outside DRAM simulator can stand behind it.
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
    /// Moves the bytes of all pieces, one after the other. Returns when the last byte will have been accessed; kNever:
    /// not known yet, and `then` is called at that time, if there is one. Never from within. Accesses may end in
    /// another order than they were asked for.
    virtual SimTime begin(const DramPiece* pieces, std::uint32_t count, const Then& then) = 0;
    /// Whether no data are under way.
    virtual bool idle(SimTime now) const = 0;
    /// Time in which data were under way, up to the end of what was asked for.
    virtual Ps busy() const = 0;

    SimTime begin(const DramPiece& piece, const Then& then) { return begin(&piece, 1, then); }
    /// begin() for who has to do something at the end: `then` is called in any case.
    void access(const DramPiece* pieces, std::uint32_t count, const Then& then) {
        const SimTime end = begin(pieces, count, then);
        if (end != kNever) agenda_.post(end, then);
    }
    void access(const DramPiece& piece, const Then& then) { access(&piece, 1, then); }
    /// Where data that come in are put: one stretch after the other, and round again.
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
