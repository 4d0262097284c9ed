// SPDX-License-Identifier: Apache-2.0
// The wire pair of a Serial ATA link as one half-duplex resource. It decides whose frame is next, and when its parts
// are over. It uses no kernel and no FIS.
// - Frames of one end keep their order. When both ends ask at one time, the drive's frame goes first: a host that gets
//   X_RDY while it sends X_RDY gives way (Serial ATA 3.0, 9.6.2). So a frame of the host waits again if the drive asks
//   at the same time.
// - A frame of the drive that begins something new gives way to a frame of the host that has asked before it. Otherwise
//   a drive that always has something to send would keep the host from sending commands, and would empty its own queue
//   (assumed). Data that continue a transfer do not give way.
// - A frame takes wire_bytes() at ten bits a byte, rounded up once. X_RDY and R_RDY of its handshake come before the
//   FIS (4 of 10 dwords), and WTRM, R_IP and R_OK after it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "host_sata/link/sata_link_config.h"

namespace ssdtlm {

/// Counts since the start of the simulation. Arrays are indexed by the end that sends.
struct SataWireCounts {
    std::array<std::uint64_t, 2> frames{};  ///< with R_OK
    std::array<std::uint64_t, 2> bytes{};   ///< bytes of their FISes
    std::array<std::uint64_t, 2> errors{};  ///< frames with R_ERR
    std::array<std::uint64_t, 2> cut{};     ///< frames cut by a reset or a loss of power, on the wire or before it
    std::uint64_t collisions = 0;           ///< times that the host gave way
    Ps busy{};
};

class SataWire {
public:
    /// A frame that has the wire, or waits for it.
    struct Frame {
        std::uint64_t token = 0;   ///< value of the caller
        std::uint64_t number = 0;  ///< number of this use of the wire, from 1 on
        SataEnd from = SataEnd::host;
        std::uint32_t bytes = 0;  ///< bytes of the FIS
        bool continues = false;   ///< it continues something that the drive has begun
        SimTime asked{};
        SimTime begins{};
        SimTime arrives{};  ///< time at which the CRC is at the far end
        SimTime ends{};     ///< time at which R_OK is back if the far end answers at once
    };

    explicit SataWire(const SataLinkConfig& config);

    void ask(SataEnd from, std::uint64_t token, std::uint32_t bytes, SimTime now, bool continues = false);
    /// Returns the frame that gets the wire now, or null if the wire is taken or nobody waits.
    const Frame* grant(SimTime now);
    /// Returns the frame on the wire, or null.
    const Frame* carried() const { return taken_ ? &carried_ : nullptr; }
    /// The far end has answered the frame on the wire. Returns the time at which its sender knows, and the wire is free
    /// again.
    SimTime answered(SimTime now);
    /// Frees the wire now. Call it at the time that answered() has returned.
    void release(SimTime now, bool ok);
    /// Removes all frames. It calls gone(frame) for each: the one on the wire first, then the host's.
    template <class Gone>
    void cut(SimTime now, Gone gone);

    const SataWireCounts& counts() const { return counts_; }
    /// Time for which the wire has been in use up to now.
    Ps busy(SimTime now) const { return counts_.busy + (taken_ ? now - carried_.begins : Ps{}); }
    std::size_t waiting(SataEnd end) const { return waiting_[index(end)].size(); }
    Ps frame_time(std::uint32_t bytes) const;
    std::string dump() const;
    /// Throws CheckFailed if somebody waits for a wire that is free.
    void check_waiters() const;

private:
    bool host_goes_first() const;
    static std::size_t index(SataEnd end) { return static_cast<std::size_t>(end); }

    const Rate rate_;
    const std::uint32_t front_bytes_;  // bytes before the FIS, SOF included
    const std::uint32_t back_bytes_;   // bytes behind the CRC
    std::array<std::deque<Frame>, 2> waiting_;
    Frame carried_;
    bool taken_ = false;
    std::uint64_t granted_ = 0;
    SataWireCounts counts_;
};

template <class Gone>
void SataWire::cut(SimTime now, Gone gone) {
    // Frames that are requested during the calls are not cut.
    std::array<std::deque<Frame>, 2> waiting;
    waiting.swap(waiting_);
    const bool was_taken = taken_;
    const Frame carried = carried_;
    if (was_taken) {
        taken_ = false;
        counts_.busy += now - carried.begins;
        ++counts_.cut[index(carried.from)];
        gone(carried);
    }
    for (auto& frames : waiting)
        for (const Frame& f : frames) {
            ++counts_.cut[index(f.from)];
            gone(f);
        }
}

}  // namespace ssdtlm
