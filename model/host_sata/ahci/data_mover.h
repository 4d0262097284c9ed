// SPDX-License-Identifier: Apache-2.0
// Moves the data of one command at a time between Data FISes and the pieces of host memory that its PRDT names. It has
// a ring of frames in each direction. Data to the host go to memory as they come. Data to the device are read ahead, so
// that the next frame is ready when the device asks for it. It needs no SystemC kernel.
//
// - begin() starts a transfer from any byte of the command's data on, and reads the first entries of the PRDT.
// - To the host: call receive() for each Data FIS while there is room(). When all_delivered() is true, its bytes are on
//   their way to memory, in order. So bytes that are written later arrive later.
// - To the device: call activate() each time the device asks for a frame. frame_ready() says when it can be sent. Call
//   frame_left() when it was sent.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host_sata/ahci/adapter_ports.h"
#include "host_sata/ahci/prd_walk.h"
#include "protocol/sata.h"

namespace ssdtlm {

class DataMover final : private MemoryClient {
public:
    /// Is told when something has changed: a frame is ready, room was made, data were delivered, or all accesses have
    /// ended.
    class Listener {
    public:
        virtual void data_moved() = 0;
        /// A read of host memory has failed.
        virtual void memory_failed() = 0;

    protected:
        ~Listener() = default;
    };

    DataMover(AdapterMemory& memory, std::uint32_t frames, Listener& listener);

    /// True if no reads or writes are under way.
    bool idle() const { return under_way_ == 0; }
    /// `most` is the number of bytes of the transfer. Precondition: may_begin(), so no reads are under way.
    void begin(std::uint64_t prdt, std::uint32_t entries, std::uint64_t offset, std::uint64_t most, bool to_host);
    bool may_begin() const { return reads_ == 0 && incoming_.empty_of_data(); }
    /// Ends the transfer. Accesses under way come to their end, and received data are dropped.
    void abandon();

    // These functions transfer data to the host.
    bool has_room() const { return incoming_.used < incoming_.frames.size(); }
    /// Takes the payload of a Data FIS. Precondition: has_room().
    void receive(const std::uint8_t* data, std::uint32_t bytes);
    bool all_delivered() const { return incoming_.empty_of_data(); }
    /// True if more bytes have come than the PRDT has room for.
    bool overflowed() const { return overflowed_; }

    // These functions transfer data to the device.
    void activate();
    /// True if the device waits for data.
    bool is_asked() const { return asked_ != 0; }
    bool frame_ready() const;
    /// Returns a whole Data FIS. Preconditions: is_asked(), frame_ready(). The bytes stay valid until frame_left().
    const std::uint8_t* frame() const { return outgoing_.frames[outgoing_.first].fis.data(); }
    std::uint32_t frame_bytes() const { return sata::kDataHeaderBytes + outgoing_.frames[outgoing_.first].bytes; }
    void frame_left();

    /// Number of bytes of this transfer that have gone to memory or to the device.
    std::uint64_t moved() const { return moved_; }

private:
    struct Frame {
        std::array<std::uint8_t, sata::kDataHeaderBytes + sata::kMostDataBytes> fis{};
        std::uint32_t bytes = 0;      // bytes of data
        std::uint32_t begun = 0;      // bytes given to memory, or requested
        std::uint32_t under_way = 0;  // writes or reads under way
        bool closed = false;          // outgoing: it will have no more bytes
        std::uint8_t* data() { return fis.data() + sata::kDataHeaderBytes; }
    };
    struct Ring {
        std::vector<Frame> frames;
        std::uint32_t first = 0;
        std::uint32_t used = 0;
        Frame& at(std::uint32_t n) { return frames[(first + n) % frames.size()]; }
        const Frame& at(std::uint32_t n) const { return frames[(first + n) % frames.size()]; }
        void pop() {
            first = static_cast<std::uint32_t>((first + 1) % frames.size());
            --used;
        }
        /// True if all data in the ring have been given to memory.
        bool empty_of_data() const {
            for (std::uint32_t i = 0; i < used; ++i)
                if (at(i).begun != at(i).bytes) return false;
            return true;
        }
    };
    /// Largest piece of one transaction. It is that of the drive's DMA engine, so that others do not wait long for the
    /// link.
    static constexpr std::uint32_t kMostPiece = 4096;
    static constexpr std::uint32_t kOfPrdt = ~0u;  // cookie; else the place of a frame in its ring

    bool has_entries();
    void deliver();
    void read_ahead();
    void release_delivered();
    void memory_read(std::uint32_t cookie, bool ok) override;
    void memory_written(std::uint32_t cookie) override;

    AdapterMemory& memory_;
    Listener& listener_;
    PrdWalk walk_;
    Ring incoming_;
    Ring outgoing_;
    bool to_host_ = true;
    bool abandoned_ = true;
    bool overflowed_ = false;
    bool entries_asked_ = false;
    std::uint32_t asked_ = 0;
    std::uint32_t reads_ = 0;      // reads under way
    std::uint32_t under_way_ = 0;  // reads and writes under way
    std::uint64_t left_ = 0;       // bytes of the transfer not begun
    std::uint64_t moved_ = 0;
};

}  // namespace ssdtlm
