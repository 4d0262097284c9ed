// SPDX-License-Identifier: Apache-2.0
// What the core of the host bus adapter does outside of itself: host memory, the Serial ATA link, interrupts.
// Kernel-free; AhciHba has the sockets.
#pragma once

#include <cstdint>

namespace ssdtlm {

/// Hears of the end of what it has asked for, in an event of its own.
class MemoryClient {
public:
    virtual void memory_read(std::uint32_t cookie, bool ok) = 0;
    virtual void memory_written(std::uint32_t cookie) = 0;

protected:
    ~MemoryClient() = default;
};

/// Host memory, as the adapter reaches it: writes arrive in the order in which they were begun, and what is read comes
/// in any.
class AdapterMemory {
public:
    /// The bytes are there when the client hears of it.
    virtual void read(std::uint64_t address, std::uint8_t* to, std::uint32_t bytes, MemoryClient& client,
                      std::uint32_t cookie) = 0;
    /// They stay as they are until then.
    virtual void write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, MemoryClient& client,
                       std::uint32_t cookie) = 0;
    /// Of at most kMostPosted bytes, which are copied. Nobody hears of its end.
    static constexpr std::uint32_t kMostPosted = 64;
    virtual void post(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes) = 0;

protected:
    ~AdapterMemory() = default;
};

/// The adapter's end of the Serial ATA link.
class AdapterSerial {
public:
    /// One frame at a time; AhciPort::frame_sent() follows. The bytes stay as they are until then.
    virtual void send(const std::uint8_t* fis, std::uint32_t bytes) = 0;
    /// Answers the frame that the port has kept waiting.
    virtual void answer(bool ok) = 0;
    virtual void comreset() = 0;

protected:
    ~AdapterSerial() = default;
};

/// What a port tells the adapter that it is part of.
class PortEvents {
public:
    /// PxIS or PxIE has changed.
    virtual void interrupts_changed() = 0;
    /// Commands have ended: bits of PxCI (not queued) and PxSACT went.
    virtual void commands_ended(std::uint32_t count) = 0;
    /// Some may be outstanding now that were not, or the other way round.
    virtual void outstanding_changed() = 0;

protected:
    ~PortEvents() = default;
};

}  // namespace ssdtlm
