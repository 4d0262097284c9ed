// SPDX-License-Identifier: Apache-2.0
// What the core of the host bus adapter needs from outside: host memory, the Serial ATA link, and interrupts. It needs
// no SystemC kernel; AhciHba has the sockets.
#pragma once

#include <cstdint>

namespace ssdtlm {

/// Is told of the end of an access, in an event of its own.
class MemoryClient {
public:
    virtual void memory_read(std::uint32_t cookie, bool ok) = 0;
    virtual void memory_written(std::uint32_t cookie) = 0;

protected:
    ~MemoryClient() = default;
};

/// Host memory, as the adapter reaches it. Writes arrive in the order in which they were begun; reads may come back in
/// any order.
class AdapterMemory {
public:
    /// The bytes are valid when the client is told.
    virtual void read(std::uint64_t address, std::uint8_t* to, std::uint32_t bytes, MemoryClient& client,
                      std::uint32_t cookie) = 0;
    /// The bytes must stay unchanged until the client is told.
    virtual void write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, MemoryClient& client,
                       std::uint32_t cookie) = 0;
    /// Writes at most kMostPosted bytes, which are copied. Nobody is told of the end.
    static constexpr std::uint32_t kMostPosted = 64;
    virtual void post(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes) = 0;

protected:
    ~AdapterMemory() = default;
};

/// The adapter's end of the Serial ATA link.
class AdapterSerial {
public:
    /// Sends one frame at a time; AhciPort::frame_sent() follows. The bytes must stay unchanged until then.
    virtual void send(const std::uint8_t* fis, std::uint32_t bytes) = 0;
    /// Answers the frame that the port has delayed.
    virtual void answer(bool ok) = 0;
    virtual void comreset() = 0;

protected:
    ~AdapterSerial() = default;
};

/// Events that a port reports to its adapter.
class PortEvents {
public:
    /// PxIS or PxIE has changed.
    virtual void interrupts_changed() = 0;
    /// Commands have ended: bits of PxCI (not queued) or PxSACT were cleared.
    virtual void commands_ended(std::uint32_t count) = 0;
    /// Commands are outstanding now and were not before, or the reverse.
    virtual void outstanding_changed() = 0;

protected:
    ~PortEvents() = default;
};

}  // namespace ssdtlm
