// SPDX-License-Identifier: Apache-2.0
// Moves the data of one command at a time between Data FISes and the pieces of host memory that its PRDT names: a ring
// of frames in each direction. Data to the host go to memory as they come; data to the device are read ahead, so that
// the next frame is there when the device asks for it. Kernel-free.
//
// - begin(): a transfer, from some byte of the command's data on. The first entries of the PRDT are read.
// - to the host: receive() each Data FIS while there is room(). all_delivered(): its bytes are on their way to memory,
// in
//   order, so what is written behind them arrives behind them.
// - to the device: activate() each time the device asks for a frame; frame_ready() when it can be sent, frame_left()
// when
//   it has been.
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
    /// Told when something has changed: a frame is ready, room was made, data were delivered, or nothing is under way.
    class Listener {
    public:
        virtual void data_moved() = 0;
        /// A read of host memory has failed.
        virtual void memory_failed() = 0;

    protected:
        ~Listener() = default;
    };

    DataMover(AdapterMemory& memory, std::uint32_t frames, Listener& listener);

    /// No reads or writes are under way.
    bool idle() const { return under_way_ == 0; }
    /// `most`: bytes of the transfer. Precondition: idle() of reads, that is may_begin().
    void begin(std::uint64_t prdt, std::uint32_t entries, std::uint64_t offset, std::uint64_t most, bool to_host);
    bool may_begin() const { return reads_ == 0 && incoming_.empty_of_data(); }
    /// Nothing more is to be moved; what is under way comes to its end. Data that were received are dropped.
    void abandon();

    // To the host.
    bool has_room() const { return incoming_.used < incoming_.frames.size(); }
    /// Payload of a Data FIS. Precondition: has_room().
    void receive(const std::uint8_t* data, std::uint32_t bytes);
    bool all_delivered() const { return incoming_.empty_of_data(); }
    /// More bytes have come than the PRDT has room for.
    bool overflowed() const { return overflowed_; }

    // To the device.
    void activate();
    /// The device waits for data.
    bool is_asked() const { return asked_ != 0; }
    bool frame_ready() const;
    /// A whole Data FIS. Preconditions: is_asked(), frame_ready(). The bytes stay until frame_left().
    const std::uint8_t* frame() const { return outgoing_.frames[outgoing_.first].fis.data(); }
    std::uint32_t frame_bytes() const { return sata::kDataHeaderBytes + outgoing_.frames[outgoing_.first].bytes; }
    void frame_left();

    /// Bytes of this transfer that have gone to memory or to the device.
    std::uint64_t moved() const { return moved_; }

private:
    struct Frame {
        std::array<std::uint8_t, sata::kDataHeaderBytes + sata::kMostDataBytes> fis{};
        std::uint32_t bytes = 0;      // of data
        std::uint32_t begun = 0;      // of these, given to memory, or asked for
        std::uint32_t under_way = 0;  // writes or reads
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
        /// All of the data in it have been given to memory.
        bool empty_of_data() const {
            for (std::uint32_t i = 0; i < used; ++i)
                if (at(i).begun != at(i).bytes) return false;
            return true;
        }
    };
    /// Largest piece of one transaction: as the drive's DMA engine, so that nobody keeps others off the wire for long.
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
    std::uint32_t reads_ = 0;      // under way
    std::uint32_t under_way_ = 0;  // reads and writes
    std::uint64_t left_ = 0;       // bytes of the transfer not begun
    std::uint64_t moved_ = 0;
};

}  // namespace ssdtlm
