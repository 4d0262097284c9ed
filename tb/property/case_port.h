// SPDX-License-Identifier: Apache-2.0
// Between the host of a case and a drive: a protocol's half of the host. The host knows what is to be done and what may
// be read; a port brings the drive up and down, carries commands there and says how they ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "property/drive_case.h"

namespace ssdtlm {

/// How a command ended, in the words of the reference map.
enum class CaseEnd : std::uint8_t {
    good,
    refused,      ///< by a drive that is read-only
    write_fault,  ///< the flash took no data
    unrecovered,  ///< the flash has lost data
    beyond,       ///< there are no such blocks
    transfer,     ///< data did not get across the link
    differs,      ///< of a compare
    guard,        ///< the guard of a block is not that of its data
    reference,    ///< a block has another reference tag
    unfused,      ///< it was not begun, as the other one of its pair has failed
    aborted,      ///< another one has failed; it was done or not, and what was not will not be
    other
};

/// How the erasure of all blocks ended.
enum class Erasure : std::uint8_t {
    done,
    failed,
    not_begun,  ///< the power went, or a reset came, before
    unknown,    ///< the power went, or a reset came, before the drive had said that it began
    over        ///< the drive does not say how; one that is not read-only has erased all blocks
};

/// What a logical block has beside its data: none, or eight bytes.
struct CaseMetadata {
    std::uint32_t bytes = 0;
    std::uint32_t type = 0;  ///< of the protection information in them; 0: none
    bool extended = false;   ///< behind the data of each block, not in a buffer of their own
    bool operator==(const CaseMetadata& o) const {
        return bytes == o.bytes && type == o.type && extended == o.extended;
    }
};

/// What a command says of the protection information of its blocks.
struct CaseProtection {
    static constexpr std::uint8_t kGuard = 4, kApplication = 2, kReference = 1;
    bool acts = false;  ///< the drive makes it, or keeps it back
    std::uint8_t checks = 0;
    std::uint16_t application = 0, mask = 0;
    std::uint32_t reference = 0;  ///< of the first block
};

struct CaseCommand {
    struct Range {
        std::uint64_t lba;
        std::uint32_t blocks;
    };
    DriveOp::Kind kind = DriveOp::Kind::read;
    bool dma = false;  ///< Serial ATA: not queued
    std::uint64_t lba = 0;
    std::uint32_t blocks = 0;
    std::vector<Range> ranges;  ///< trim
    std::uint64_t source = 0;   ///< copy: to `lba`
    std::uint8_t fuse = 0;      ///< 1, 2: the first, the second of a pair
    CaseProtection protection;
    bool checks_source = false;  ///< copy: the guards that are there

    bool writes() const { return kind == DriveOp::Kind::write || kind == DriveOp::Kind::forced_write; }
    bool is_forced() const { return kind == DriveOp::Kind::forced_write || kind == DriveOp::Kind::forced_zeroes; }
    bool is_zeroes() const { return kind == DriveOp::Kind::zeroes || kind == DriveOp::Kind::forced_zeroes; }
};

/// The host, as its port sees it.
class CasePortClient {
public:
    /// `status`: in the words of the protocol.
    virtual void command_ended(std::uint32_t slot, CaseEnd end, const std::string& status) = 0;
    /// A flush of the port's own has said that the drive gave up what was not durable.
    virtual void flush_failed() = 0;
    /// What was erasing all blocks when the power went, or a reset came, may go on now. It ends before start() or
    /// reset() does.
    virtual void erasure_goes_on() = 0;
    virtual void erasure_ended(Erasure end) = 0;
    /// There may be room for more. Not while commands are told of.
    virtual void room() = 0;

protected:
    ~CasePortClient() = default;
};

class CasePort {
public:
    struct Facts {
        std::uint64_t blocks = 0;
        std::uint32_t most_blocks = 0;  ///< of a command
        std::uint32_t slots = 0;        ///< commands under way at most
        bool write_cache = true;        ///< false: the host has switched it off
        CaseMetadata metadata;          ///< known anew after each start, reset and erasure
    };
    using Done = std::function<void()>;

    CasePort() = default;
    CasePort(const CasePort&) = delete;
    CasePort& operator=(const CasePort&) = delete;
    virtual ~CasePort() = default;

    /// Brings the drive up, at the start and when its power is back.
    virtual void start(Done started) = 0;
    /// Known when the drive has been brought up once.
    virtual const Facts& facts() const = 0;
    virtual bool has_room(const CaseCommand& command) const = 0;
    /// Of the next command.
    virtual std::uint32_t next_slot() const = 0;
    /// Of a command's data; its own until the next command of the slot.
    virtual std::uint8_t* buffer(std::uint32_t slot, std::uint32_t bytes) = 0;
    /// The same of the metadata of so many blocks, for commands that move data.
    virtual std::uint8_t* metadata(std::uint32_t /*slot*/, std::uint32_t /*blocks*/) { return nullptr; }
    /// Precondition: has_room(), and `slot` is next_slot().
    virtual void submit(std::uint32_t slot, const CaseCommand& command) = 0;
    /// What was submitted may go.
    virtual void announce() {}

    /// What has ended without the host's having been told of it is told; nobody hears of the others.
    virtual void drop() = 0;
    /// `variant`: bit 0: with a normal shutdown before; bit 1: NVMe, of the function, Serial ATA, a software reset.
    /// `stopped`: the drive has forgotten every command; `done`: it was brought up again. What was not told of before
    /// `stopped` is not told of.
    virtual void reset(std::uint32_t variant, Done stopped, Done done) = 0;
    /// A normal shutdown after which the power goes; one at the end. Precondition: nothing is under way.
    virtual void stop(Done done) = 0;
    virtual void shutdown(Done done) = 0;
    /// Whatever was being done is given up. The power went, and start() begins anew.
    virtual void power_lost() = 0;
    /// What was not done when a reset has ended will not be.
    virtual bool resets_end_commands() const { return false; }
    /// All blocks of the drive are erased, in one of several ways. Precondition: nothing is under way.
    virtual void erase(std::uint32_t /*way*/, std::function<void(Erasure)> ended) { ended(Erasure::failed); }
    /// The n-th frame from now on arrives broken.
    virtual void break_frame(std::uint32_t) {}

    /// Commands that the host has heard the end of, as the drive counts them.
    virtual std::uint64_t commands() const = 0;
    virtual std::string doing() const = 0;
};

}  // namespace ssdtlm
