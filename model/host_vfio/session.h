// SPDX-License-Identifier: Apache-2.0
// The session with one client. It answers the client's messages, holds its memory and its interrupts, and passes
// requests to the device. It uses no socket and no time. Every command is answered unless it asks for no reply; a
// command that fails is answered with an errno. A client that breaks the protocol itself must be dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host_vfio/dma_regions.h"
#include "host_vfio/irqs.h"
#include "host_vfio/message.h"
#include "host_vfio/pci_config_space.h"

namespace ssdtlm::vfio {

/// The device behind the session. Its reads and resets take time, and end by Session::bar_read() and reset_done().
class SessionDevice {
public:
    /// Reads bytes inside the BAR, at most kMostData.
    virtual void read_bar(std::uint32_t offset, std::uint32_t bytes, std::uint64_t read) = 0;
    virtual void write_bar(std::uint32_t offset, const std::uint8_t* from, std::uint32_t bytes) = 0;
    /// Resets the function. The configuration space has been reset already.
    virtual void reset() = 0;

protected:
    ~SessionDevice() = default;
};

class Session {
public:
    using Send = std::function<void(const Bytes&)>;

    Session(const PciFacts& facts, SessionDevice& device, Send send);

    /// Returns false if the client must be dropped. Precondition: !busy().
    bool take(Message& message);
    /// True while the device is being reset, or owes the largest number of answers. The next message must wait.
    bool busy() const { return resetting_ || reads_ >= kMostReads; }
    void bar_read(std::uint64_t read, const std::uint8_t* data);
    void reset_done();
    /// The client has gone. Answers that are still due are dropped.
    void end();

    /// Accesses memory that only the client can reach. dma_command() makes a command of the server, which the caller
    /// sends. take_dma_reply() takes its reply, and returns false if the message is not the expected reply.
    Bytes dma_command(std::uint16_t id, bool write, std::uint64_t address, const std::uint8_t* data,
                      std::uint32_t bytes) const;
    static bool take_dma_reply(const Message& message, bool write, std::uint64_t address, std::uint8_t* to,
                               std::uint32_t bytes);
    std::uint32_t most_dma() const { return client_.most_data < kMostData ? client_.most_data : kMostData; }

    bool agreed() const { return agreed_; }
    DmaRegions regions;
    Irqs irqs;
    PciConfigSpace config_space;

    struct Counters {
        std::uint64_t messages = 0, refused = 0, reads = 0, writes = 0;
    };
    const Counters& counters() const { return counters_; }

private:
    static constexpr std::size_t kMostReads = 64;  ///< reads of registers under way at once. assumed

    struct Read {
        Header header;
        RegionAccess access;
        bool open = false;
    };
    int version(const Message& m);
    int answer(Message& m);
    int dma_map(Message& m);
    int dma_unmap(const Message& m);
    int device_info(const Message& m);
    int region_info(const Message& m);
    int irq_info(const Message& m);
    int set_irqs(Message& m);
    int region_read(const Message& m);
    int region_write(const Message& m);
    int check(const RegionAccess& access) const;
    void begin_reset();
    template <class T>
    void send_info(const Message& m, const T& info);
    void send_reply(const Header& to, const Bytes& payload = {});

    const PciFacts facts_;
    SessionDevice& device_;
    const Send send_;
    Capabilities client_;
    bool agreed_ = false;
    bool resetting_ = false;
    bool reset_owes_reply_ = false;
    Header reset_header_;
    std::vector<Read> open_reads_;
    std::size_t reads_ = 0;
    std::uint64_t first_read_ = 0;  // number of open_reads_[0]; smaller numbers are from earlier clients
    Counters counters_;
};

}  // namespace ssdtlm::vfio
