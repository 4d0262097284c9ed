// SPDX-License-Identifier: Apache-2.0
// Checks every frame that has crossed a Serial ATA link against the protocol: which frame may follow which (Serial ATA
// 3.0, 11 and 13.6; AHCI adds nothing). It uses neither end and no kernel. A violation throws CheckFailed and shows the
// frames before it.
// - A command comes after the signature, and while no other command keeps the drive busy (BSY). Tags are not used
//   twice. A command that is not queued comes when no tag is outstanding.
// - A Register, device to host, answers one command. DMA Setup names an outstanding, released tag and its direction.
//   There is one data phase at a time. DMA Activate comes inside a write, once for each Data FIS (the first one may be
//   auto-activated).
// - Data add up to the count of the DMA Setup or PIO Setup, and those of a tag to its sectors, of 512 or 4,096 bytes.
// - Between SRST and the signature it ignores earlier frames.
// - Set Device Bits ends outstanding tags. With ERR it ends all of them. Then READ LOG EXT comes, and Set Device Bits
//   of all tags answers it first. Until then the drive refuses all commands.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "host_sata/link/sata_link_config.h"

namespace ssdtlm {

class SataChecker {
public:
    /// Checks a frame that has arrived and is answered by R_OK.
    void frame(SimTime at, SataEnd from, const std::uint8_t* fis, std::uint32_t bytes);
    /// Data have arrived with an error. Their data phase is over, and the drive may send other frames before it reports
    /// the error.
    void data_lost();
    /// The phy is down. The next frame must be the signature.
    void reset();

    std::uint64_t frames() const { return frames_; }
    std::uint32_t outstanding() const { return queued_; }
    std::string dump() const;

private:
    static constexpr int kNobody = -1;

    struct Tag {
        bool writes = false;
        std::uint64_t sectors = 0;
        std::uint64_t moved = 0;
    };
    void from_host(const std::uint8_t* fis, std::uint32_t bytes);
    void from_device(const std::uint8_t* fis, std::uint32_t bytes);
    void command(const std::uint8_t* fis);
    void answer(const std::uint8_t* fis);
    void dma_setup(const std::uint8_t* fis);
    void dma_activate();
    void pio_setup(const std::uint8_t* fis);
    void data(std::uint32_t bytes, bool to_host);
    void device_bits(const std::uint8_t* fis);
    void forget();
    void halt();
    void require(bool holds, const char* what) const {
        if (!holds) breach(what);
    }
    [[noreturn]] void breach(const char* what) const;
    bool busy() const { return unreleased_ != kNobody || other_ != 0; }

    bool ready_ = false;        // the signature has come
    bool in_reset_ = false;     // SRST is set
    bool halted_ = false;       // after an error of a queued command, until READ LOG EXT
    int unreleased_ = kNobody;  // tag whose command waits for its Register FIS
    std::uint8_t other_ = 0;    // command that is not queued
    std::uint32_t queued_ = 0;
    std::uint32_t released_ = 0;
    std::array<Tag, 32> tags_{};
    int phase_ = kNobody;  // tag whose data are transferred
    std::uint64_t left_ = 0;
    bool activated_ = false;  // the host may send one Data FIS
    bool pio_ = false;        // Data of a PIO Setup come next
    bool pio_ends_ = false;   // they also end the command
    struct Seen {
        SimTime at;
        SataEnd from;
        std::array<std::uint8_t, 28> head;
        std::uint32_t bytes;
    };
    std::deque<Seen> seen_;
    std::uint64_t frames_ = 0;
};

}  // namespace ssdtlm
