// SPDX-License-Identifier: Apache-2.0
// The wire pair of a Serial ATA link as one half-duplex resource: whose frame is next, and when its parts are over.
// Knows no kernel and no FIS.
// - Frames of one end keep their order. When both ends ask at one time, the drive's frame goes first: a host that gets
//   X_RDY while it sends X_RDY gives way (Serial ATA 3.0, 9.6.2). So a frame of the host that begins at the time at
//   which the drive asks, too, waits again.
// - A frame of the drive that begins something new lets a frame of the host go first that has asked before it (assumed:
//   a drive that has always something to send would else keep the host from sending commands, and empty its own queue).
//   Data that continue a transfer do not.
// - A frame takes wire_bytes() at ten bits a byte, rounded up once. Of its handshake X_RDY and R_RDY come before the
//   FIS (4 of 10 dwords), WTRM, R_IP and R_OK after it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "host_sata/link/sata_link_config.h"

namespace ssdtlm {

/// Since the start of the simulation; arrays by the end that sends.
struct SataWireCounts {
    std::array<std::uint64_t, 2> frames{};  ///< with R_OK
    std::array<std::uint64_t, 2> bytes{};   ///< of their FISes
    std::array<std::uint64_t, 2> errors{};  ///< R_ERR
    std::array<std::uint64_t, 2> cut{};     ///< by a reset or a loss of power, on the wire or before it
    std::uint64_t collisions = 0;           ///< the host gave way
    Ps busy{};
};

class SataWire {
public:
    /// What has the wire, or waits for it.
    struct Frame {
        std::uint64_t token = 0;   ///< the caller's
        std::uint64_t number = 0;  ///< of this use of the wire, from 1 on
        SataEnd from = SataEnd::host;
        std::uint32_t bytes = 0;  ///< of the FIS
        bool continues = false;   ///< what the drive has begun
        SimTime asked{};
        SimTime begins{};
        SimTime arrives{};  ///< the CRC is at the far end
        SimTime ends{};     ///< R_OK is back, if the far end answers at once
    };

    explicit SataWire(const SataLinkConfig& config);

    void ask(SataEnd from, std::uint64_t token, std::uint32_t bytes, SimTime now, bool continues = false);
    /// Who gets the wire now. Null: it is taken, or nobody waits.
    const Frame* grant(SimTime now);
    /// What is on the wire; null: nothing.
    const Frame* carried() const { return taken_ ? &carried_ : nullptr; }
    /// The far end has answered what is on the wire. Returns when its sender knows, and the wire is free again.
    SimTime answered(SimTime now);
    /// The same, now.
    void release(SimTime now, bool ok);
    /// All that waits or is on the wire is gone: gone(frame) for each, what is on the wire first, then the host's.
    template <class Gone>
    void cut(SimTime now, Gone gone);

    const SataWireCounts& counts() const { return counts_; }
    /// The wire was in use so long, up to now.
    Ps busy(SimTime now) const { return counts_.busy + (taken_ ? now - carried_.begins : Ps{}); }
    std::size_t waiting(SataEnd end) const { return waiting_[index(end)].size(); }
    Ps frame_time(std::uint32_t bytes) const;
    std::string dump() const;
    /// Nobody waits for a wire that is free. Throws CheckFailed.
    void check_waiters() const;

private:
    bool host_goes_first() const;
    static std::size_t index(SataEnd end) { return static_cast<std::size_t>(end); }

    const Rate rate_;
    const std::uint32_t front_bytes_;  // before the FIS, SOF included
    const std::uint32_t back_bytes_;   // behind the CRC
    std::array<std::deque<Frame>, 2> waiting_;
    Frame carried_;
    bool taken_ = false;
    std::uint64_t granted_ = 0;
    SataWireCounts counts_;
};

template <class Gone>
void SataWire::cut(SimTime now, Gone gone) {
    // What those who are told ask for anew is not cut.
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
