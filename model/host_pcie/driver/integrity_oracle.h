// SPDX-License-Identifier: Apache-2.0
// Knows what the host wrote last, and checks every read against it. Each mapping unit has a version of at most 4 bits,
// which the signature of each logical block carries through the device. If contents are bytes, each logical block has a
// version, and its bytes follow from it (BlockBytes) and are compared one by one. A unit in the rules below is then a
// logical block, except for trims.
//
// Rules (the device's contract):
// - A write gives every mapping unit that it touches a new version, even if it covers only a part of the unit. The
//   device returns the unit's version in all of its blocks.
// - A trim deallocates the units that it covers completely. A partly covered unit keeps its content. A block that is
//   deallocated, or was never written, reads as a signature of zeros.
// - A read may return any version that was acceptable at some moment between its submission and its completion.
// - While writes or trims of a unit are in flight, the content before them and each of their versions are acceptable.
//   Once the first of them has completed, the content before them is no longer acceptable. When all have completed,
//   each of their versions stays acceptable until an operation ends that overlaps no other. The order in which the
//   device has applied them is not defined (NVMe 1.4 §6: no order between commands).
// - A failed write or trim may or may not have taken effect.
// - After a loss of power each unit has one of the versions that DurableVersions allows, and all of its blocks have the
//   same. (If contents are bytes, all blocks of a mapping unit have the versions of one instant.) The next read shows
//   which, and the unit keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/address/fast_divide.h"
#include "common/containers/key_table.h"
#include "common/containers/sparse_array.h"
#include "common/random/block_bytes.h"
#include "common/snapshot/snapshot.h"
#include "common/units/units.h"
#include "host_pcie/driver/durable_versions.h"
#include "protocol/signature.h"

namespace ssdtlm {

/// A mapping unit with more than one possible version, because writes or trims are in flight, or were at the same time.
struct UnitState {
    std::uint32_t key = 0;         ///< the unit
    std::uint16_t before = 0;      ///< versions possible before the first operation of the group took effect
    std::uint16_t within = 0;      ///< versions of the operations of the group
    std::uint32_t in_flight : 31;  ///< operations of the group not yet completed
    std::uint32_t lost_power : 1;  ///< since then no read or operation has settled the version

    UnitState() : in_flight(0), lost_power(0) {}

    std::uint16_t acceptable() const { return static_cast<std::uint16_t>(before | within); }
};
using UnitTable = KeyTable<UnitState, 1024>;

class IntegrityOracle {
public:
    struct Geometry {
        std::uint64_t units = 0;          ///< logical mapping units, below 2^32 - 1
        std::uint32_t unit_bytes = 4096;  ///< multiple of lba_bytes
        std::uint32_t lba_bytes = 512;    ///< power of two
        std::uint64_t filled_units = 0;   ///< units below it hold version 1 (preconditioned), the rest nothing
        unsigned version_bits = 4;        ///< kept per unit by the device (SpareCodec::version_bits()); 4 are used
        std::optional<std::uint64_t> bytes_of_seed{};  ///< contents are bytes, from this seed; none: signatures
        bool power_cuts = false;                       ///< power_lost() may be called
        bool durable_writes = false;  ///< no loss of power takes a completed write back (no volatile write cache)
        bool durable_trims = false;   ///< no loss of power takes a completed deallocation back
    };
    /// The reading command, for the text of a mismatch.
    struct Reader {
        std::uint16_t queue = 0;
        std::uint16_t tag = 0;
        SimTime at{};
    };
    /// The position in the log of changes when a read is submitted.
    using ReadToken = std::uint64_t;

    /// Stores or reads what the host has written. Precondition (checked): nothing is in flight, and contents are
    /// signatures. It is read into a fresh oracle.
    void state(Snapshot& s);

    /// Throws UserError when the device keeps no version bits at all, or has more logical blocks with bytes than it can
    /// count.
    explicit IntegrityOracle(const Geometry& geometry);

    /// Sets whether the mapping unit holds version 1 or nothing at start, whatever filled_units says. Call it before
    /// the first operation.
    void at_start(std::uint64_t unit, bool holds_data);

    /// Brings into the cache what a coming command on this block needs.
    [[gnu::always_inline]] void prefetch(std::uint64_t slba) const { nibbles_.prefetch(unit_of_(slba) >> 1); }

    /// True: the unit may hold this version. Precondition: nothing is in flight.
    bool may_hold(std::uint32_t unit, std::uint32_t version) const {
        const UnitState* const several = table_.find(unit);
        return several != nullptr ? version <= max_version_ && (several->acceptable() >> version & 1) != 0
                                  : version_of(unit) == version;
    }

    /// Names a write, trim or flush for the call at its end; 0 if the power is never lost.
    using Operation = DurableVersions::Token;
    /// A write is being submitted: chooses its versions and stamps each of its blocks in `data`.
    Operation begin_write(std::uint64_t slba, std::uint32_t blocks, std::uint8_t* data);
    /// The write has ended. `fua`: it had to go to the flash.
    void end_write(std::uint64_t slba, std::uint32_t blocks, bool ok, Operation operation = 0, bool fua = false);

    Operation begin_trim(std::uint64_t slba, std::uint64_t blocks);
    void end_trim(std::uint64_t slba, std::uint64_t blocks, bool ok, Operation operation = 0);

    Operation begin_flush() { return durable_ == nullptr ? 0 : durable_->begin(); }
    void end_flush(Operation flush, bool ok) {
        if (durable_ != nullptr && ok) durable_->flush_ended(flush);
    }
    /// The drive has lost its power. Precondition: nothing is in flight, and power_cuts.
    void power_lost();
    /// The versions that the unit may have if the power is lost now, one bit each. Precondition: power_cuts.
    std::uint32_t possible(std::uint32_t unit) const { return durable_->possible(unit, version_of(unit)); }
    /// The record of durable versions. Precondition: power_cuts.
    const DurableVersions& durable() const { return *durable_; }

    /// A read is submitted. Spoils its buffer, so that a block that is never transferred is found. The first `spoiled`
    /// blocks are still spoiled by check_read().
    ReadToken begin_read(std::uint32_t blocks, std::uint8_t* data, std::uint32_t spoiled = 0) {
        if (spoiled < blocks) spoil(blocks - spoiled, data + std::size_t{spoiled} * lba_bytes_);
        ++reads_in_flight_;
        return log_end_;
    }
    /// Ends the read. Throws CheckFailed at the first wrong block. It spoils the blocks for the next read into this
    /// buffer, while they are in the cache.
    void check_read(ReadToken token, std::uint64_t slba, std::uint32_t blocks, std::uint8_t* data,
                    const Reader& reader);
    /// A read has failed.
    void abandon_read() { --reads_in_flight_; }

    std::uint32_t lba_bytes() const { return lba_bytes_; }
    std::uint64_t capacity_blocks() const { return units_ * unit_blocks_; }
    /// The highest version in use; 0 means deallocated.
    std::uint32_t max_version() const { return max_version_; }
    std::uint64_t blocks_checked() const { return blocks_checked_; }
    /// Number of blocks whose version was not checked, because the log no longer reached back to the submission.
    std::uint64_t unverified() const { return unverified_; }
    /// Number of units with operations in flight, or with more than one acceptable version.
    std::size_t open_units() const { return table_.size(); }

private:
    /// The acceptable versions of a unit before a change, while a read was in flight.
    struct Change {
        std::uint32_t unit;
        std::uint32_t acceptable;
    };
    static constexpr std::size_t kLogSize = std::size_t{1} << 16;
    /// The contents of a spoiled read buffer, in place of version and magic. It is neither a valid magic nor zero.
    static constexpr std::uint64_t kSpoiled = 0xBAD0'DA7A'0000'0000u;
    static constexpr std::uint8_t kSpoiledByte = 0xDB;

    std::uint32_t version_of(std::uint32_t unit) const {
        const std::uint32_t raw = nibbles_[unit >> 1] >> ((unit & 1) * 4) & 15u;
        return raw ^ (unit < filled_ ? 1u : 0u);
    }
    void set_version(std::uint32_t unit, std::uint32_t version);
    std::uint32_t fresh_version(std::uint32_t unit, std::uint32_t avoid);
    /// One operation on one unit starts. Returns its version (0 when `deallocate`).
    std::uint32_t begin_unit(std::uint32_t unit, bool deallocate, Operation operation);
    void end_unit(std::uint32_t unit, bool ok);
    Operation begin_operation() { return durable_ == nullptr ? 0 : durable_->begin(); }
    void look_at_leftovers(std::uint64_t slba, std::uint32_t blocks, const std::uint8_t* data, const Reader& reader);
    [[noreturn]] void refuse_leftover(std::uint64_t lba, std::uint32_t version, const std::string& why,
                                      const Reader& reader) const;
    void log(std::uint32_t unit, std::uint32_t acceptable);
    void any_of_durable(const UnitState& u);
    void check_range(std::uint64_t slba, std::uint64_t blocks) const;
    struct Units {
        std::uint32_t first, end;
    };
    /// The mapping units that the blocks cover completely.
    Units trimmed(std::uint64_t slba, std::uint64_t blocks) const;
    void spoil(std::uint32_t blocks, std::uint8_t* data) const {
        const std::size_t stride = lba_bytes_;
        if (__builtin_expect(bytes_.has_value(), 0)) {
            std::memset(data, kSpoiledByte, blocks * stride);
            return;
        }
        for (std::uint8_t* const end = data + blocks * stride; data != end; data += stride)
            std::memcpy(data + 8, &kSpoiled, sizeof kSpoiled);
    }
    bool check_bytes(std::uint64_t slba, std::uint32_t blocks, const std::uint8_t* data) const;
    /// The version that was found, 0 .. max_version(). A higher number means that the contents are no version of the
    /// block.
    std::uint32_t version_found(std::uint64_t lba, const std::uint8_t* block, std::uint32_t acceptable) const;
    std::string found_text(std::uint64_t lba, const std::uint8_t* block) const;
    void check_unit_slow(ReadToken token, std::uint32_t unit, std::uint64_t slba, std::uint64_t first,
                         std::uint64_t end, std::uint32_t blocks, const std::uint8_t* data, const Reader& reader);

    std::uint64_t units_;
    std::uint32_t filled_;
    std::uint32_t lba_bytes_;
    std::uint32_t trim_blocks_;  // per unit of a trim: the mapping unit
    std::uint32_t unit_blocks_;  // per unit
    LongDivide trim_unit_of_;
    LongDivide unit_of_;
    std::optional<BlockBytes> bytes_;  // none: signatures
    std::uint32_t max_version_;
    SparseArray<std::uint8_t> nibbles_;  // version of the last operation begun, two units per byte, XOR 1 if prefilled
    UnitTable table_;
    std::vector<Change> log_;
    std::uint64_t log_end_ = 0;
    std::uint64_t reads_in_flight_ = 0;
    std::unique_ptr<DurableVersions> durable_;  // null: the power is never lost
    bool durable_writes_;
    bool durable_trims_;
    std::uint64_t leftovers_ = 0;  // units that a loss of power has left open, and no read has settled
    std::uint32_t rolling_ = 1;
    std::uint64_t blocks_checked_ = 0;
    std::uint64_t unverified_ = 0;
};

}  // namespace ssdtlm
