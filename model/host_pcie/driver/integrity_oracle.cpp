// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/integrity_oracle.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

/// The signature of a block as two words, the LBA and the rest. To compare words is cheaper than to compare fields.
using Words = std::uint64_t __attribute__((vector_size(16)));
Words load_words(const std::uint8_t* block) {
    Words w;
    std::memcpy(&w, block, sizeof w);
    return w;
}
constexpr std::uint64_t rest_of(std::uint32_t version) {
    return version == 0 ? 0 : std::uint64_t{BlockSignature::kMagic} << 32 | version;
}

std::string version_list(std::uint32_t acceptable) {
    std::string s;
    for (std::uint32_t v = 0; v < 16; ++v) {
        if ((acceptable >> v & 1u) == 0) continue;
        if (!s.empty()) s += " or ";
        s += v == 0 ? "deallocated" : "version " + std::to_string(v);
    }
    return s;
}

std::string lba_text(std::uint64_t lba, std::uint32_t version) {
    return "LBA " + std::to_string(lba) + " version " + std::to_string(version);
}

/// The number of units. If contents are bytes, a unit is a logical block.
std::uint64_t counted(const IntegrityOracle::Geometry& g) {
    return g.bytes_of_seed ? g.units * (g.unit_bytes / g.lba_bytes) : g.units;
}

}  // namespace

IntegrityOracle::IntegrityOracle(const Geometry& g)
    : units_(counted(g)),
      filled_(static_cast<std::uint32_t>(std::min(g.filled_units, g.units) *
                                         (units_ / std::max<std::uint64_t>(1, g.units)))),
      lba_bytes_(g.lba_bytes),
      trim_blocks_(g.unit_bytes / g.lba_bytes),
      unit_blocks_(g.bytes_of_seed ? 1 : trim_blocks_),
      trim_unit_of_(std::max(trim_blocks_, 1u)),
      unit_of_(std::max(unit_blocks_, 1u)),
      max_version_((1u << (g.bytes_of_seed ? 4u : std::min(4u, g.version_bits))) - 1),
      nibbles_(static_cast<std::size_t>(div_ceil(units_, 2)), "integrity check"),
      durable_(g.power_cuts ? std::make_unique<DurableVersions>(g.bytes_of_seed ? g.unit_bytes / g.lba_bytes : 1)
                            : nullptr),
      durable_writes_(g.durable_writes),
      durable_trims_(g.durable_trims) {
    SSDTLM_CHECK(is_power_of_two(g.lba_bytes) && g.unit_bytes >= g.lba_bytes && g.unit_bytes % g.lba_bytes == 0,
                 "a mapping unit must be whole logical blocks");
    SSDTLM_CHECK(g.units > 0 && g.units < UnitTable::kEmpty, "number of mapping units out of range");
    if (max_version_ == 0)
        throw UserError(
            Problem{"run.integrity",
                    "a device of " + std::to_string(g.units) + " mapping units keeps no version bits in its spare area",
                    "at most 2^31 mapping units with the integrity check",
                    "set run.integrity = false, or use a larger mapping unit"});
    if (units_ >= UnitTable::kEmpty)
        throw UserError(Problem{"run.data", "bytes of " + std::to_string(units_) + " logical blocks are to be compared",
                                "fewer than 2^32 logical blocks with bytes and the integrity check",
                                "use larger logical blocks (nvme.lba_size), less capacity, or signatures"});
    if (g.bytes_of_seed) bytes_.emplace(*g.bytes_of_seed, lba_bytes_);
}

void IntegrityOracle::at_start(std::uint64_t unit, bool holds_data) {
    const std::uint32_t finer = trim_blocks_ / unit_blocks_;
    for (std::uint64_t u = unit * finer; u < (unit + 1) * finer; ++u) {
        const auto counted = static_cast<std::uint32_t>(u);
        if ((version_of(counted) != 0) != holds_data) set_version(counted, holds_data);
    }
}

void IntegrityOracle::set_version(std::uint32_t unit, std::uint32_t version) {
    const std::uint32_t raw = version ^ (unit < filled_ ? 1u : 0u);
    const unsigned shift = (unit & 1) * 4;
    std::uint8_t& byte = nibbles_.at_write(unit >> 1);
    byte = static_cast<std::uint8_t>((byte & ~(15u << shift)) | raw << shift);
}

std::uint32_t IntegrityOracle::fresh_version(std::uint32_t unit, std::uint32_t avoid) {
    std::uint32_t last = version_of(unit);
    if (last == 0) {
        // The unit's own count is lost. A rolling count keeps a stale copy from matching by accident.
        last = rolling_;
        rolling_ = rolling_ % max_version_ + 1;
    }
    const std::uint32_t first = last % max_version_ + 1;
    std::uint32_t v = first;
    do {
        if ((avoid >> v & 1u) == 0) return v;
        v = v % max_version_ + 1;
    } while (v != first);
    return first;  // all versions are acceptable already
}

void IntegrityOracle::log(std::uint32_t unit, std::uint32_t acceptable) {
    if (reads_in_flight_ == 0) return;
    if (log_.empty()) log_.resize(kLogSize);
    log_[log_end_++ & (kLogSize - 1)] = Change{unit, acceptable};
}

std::uint32_t IntegrityOracle::begin_unit(std::uint32_t unit, bool deallocate, Operation operation) {
    bool fresh = false;
    const std::uint32_t before = version_of(unit);
    UnitState& e = table_.insert(unit, fresh);
    if (fresh) {
        e.before = static_cast<std::uint16_t>(1u << before);
    } else if (e.in_flight == 0) {
        e.before = e.acceptable();
        e.within = 0;
    }
    if (__builtin_expect(e.lost_power, 0)) {
        e.lost_power = 0;
        --leftovers_;
    }
    log(unit, e.acceptable());
    const std::uint32_t avoid = durable_ == nullptr ? 0 : durable_->possible(unit, before);
    const std::uint32_t version = deallocate ? 0 : fresh_version(unit, e.acceptable() | avoid);
    if (durable_ != nullptr) durable_->touch(operation, unit, version, before);
    e.within = static_cast<std::uint16_t>(e.within | 1u << version);
    ++e.in_flight;
    set_version(unit, version);
    return version;
}

void IntegrityOracle::end_unit(std::uint32_t unit, bool ok) {
    UnitState* e = table_.find(unit);
    SSDTLM_CHECK(e != nullptr && e->in_flight > 0, "end of an operation that was never begun");
    log(unit, e->acceptable());
    if (!ok) e->within = e->acceptable();
    e->before = 0;
    if (--e->in_flight != 0) return;
    // The version outside the table is that of the operation that began last, which is always in `within`.
    if ((e->within & (e->within - 1)) == 0) table_.erase(*e);
}

inline void IntegrityOracle::check_range(std::uint64_t slba, std::uint64_t blocks) const {
    SSDTLM_CHECK(slba <= capacity_blocks() && blocks <= capacity_blocks() - slba, "blocks outside the device");
}

IntegrityOracle::Operation IntegrityOracle::begin_write(std::uint64_t slba, std::uint32_t blocks, std::uint8_t* data) {
    check_range(slba, blocks);
    const Operation operation = begin_operation();
    const std::uint64_t end = slba + blocks;
    for (std::uint64_t lba = slba; lba < end;) {
        const auto unit = static_cast<std::uint32_t>(unit_of_(lba));
        const std::uint64_t unit_end = std::min(end, (std::uint64_t{unit} + 1) * unit_blocks_);
        const std::uint32_t version = begin_unit(unit, false, operation);
        if (__builtin_expect(bytes_.has_value(), 0)) {
            bytes_->fill(lba++, version, data);
            data += lba_bytes_;
            continue;
        }
        for (; lba < unit_end; ++lba, data += lba_bytes_)
            BlockSignature{lba, version, BlockSignature::kMagic}.store(data);
    }
    return operation;
}

void IntegrityOracle::end_write(std::uint64_t slba, std::uint32_t blocks, bool ok, Operation operation, bool fua) {
    const auto first = static_cast<std::uint32_t>(unit_of_(slba)),
               last = static_cast<std::uint32_t>(unit_of_(slba + blocks - 1));
    for (std::uint32_t unit = first; unit <= last; ++unit) end_unit(unit, ok);
    if (__builtin_expect(durable_ == nullptr, 1)) return;
    durable_->ends();
    for (std::uint32_t unit = first; unit <= last; ++unit) durable_->end(operation, unit, ok, fua || durable_writes_);
}

IntegrityOracle::Units IntegrityOracle::trimmed(std::uint64_t slba, std::uint64_t blocks) const {
    const std::uint64_t end = trim_unit_of_(slba + blocks);
    const std::uint64_t first = std::min(trim_unit_of_(slba + trim_blocks_ - 1), end);
    const std::uint32_t finer = trim_blocks_ / unit_blocks_;
    return {static_cast<std::uint32_t>(first * finer), static_cast<std::uint32_t>(end * finer)};
}

IntegrityOracle::Operation IntegrityOracle::begin_trim(std::uint64_t slba, std::uint64_t blocks) {
    check_range(slba, blocks);
    const Operation operation = begin_operation();
    const Units all = trimmed(slba, blocks);
    for (std::uint32_t unit = all.first; unit < all.end; ++unit) begin_unit(unit, true, operation);
    return operation;
}

void IntegrityOracle::end_trim(std::uint64_t slba, std::uint64_t blocks, bool ok, Operation operation) {
    const Units all = trimmed(slba, blocks);
    for (std::uint32_t unit = all.first; unit < all.end; ++unit) end_unit(unit, ok);
    if (__builtin_expect(durable_ == nullptr, 1)) return;
    durable_->ends();
    for (std::uint32_t unit = all.first; unit < all.end; ++unit) durable_->end(operation, unit, ok, durable_trims_);
}

void IntegrityOracle::power_lost() {
    SSDTLM_CHECK(durable_ != nullptr && reads_in_flight_ == 0, "the oracle does not expect a loss of power now");
    durable_->power_lost([this](std::uint32_t unit, std::uint32_t versions) {
        bool fresh = false;
        UnitState& e = table_.insert(unit, fresh);
        SSDTLM_CHECK(fresh || e.in_flight == 0, "a loss of power with operations in flight");
        if (fresh || !e.lost_power) ++leftovers_;
        e.before = 0;
        e.within = static_cast<std::uint16_t>(versions);
        e.lost_power = 1;
    });
}

void IntegrityOracle::refuse_leftover(std::uint64_t lba, std::uint32_t version, const std::string& why,
                                      const Reader& reader) const {
    throw CheckFailed("integrity: LBA " + std::to_string(lba) + " (mapping unit " + std::to_string(trim_unit_of_(lba)) +
                      ") has version " + std::to_string(version) + " after a loss of power, " + why + "; queue " +
                      std::to_string(reader.queue) + " CID " + std::to_string(reader.tag));
}

/// Checks units whose version is open since a loss of power. The version that the read has found is the unit's version
/// from now on.
__attribute__((noinline, cold)) void IntegrityOracle::look_at_leftovers(std::uint64_t slba, std::uint32_t blocks,
                                                                        const std::uint8_t* data,
                                                                        const Reader& reader) {
    const std::uint64_t end = slba + blocks;
    for (std::uint64_t lba = slba; lba < end;) {
        const auto unit = static_cast<std::uint32_t>(unit_of_(lba));
        const std::uint64_t first = lba, unit_end = std::min(end, (std::uint64_t{unit} + 1) * unit_blocks_);
        lba = unit_end;
        UnitState* const e = table_.find(unit);
        if (e == nullptr || !e->lost_power) continue;
        const std::uint8_t* const block = data + (first - slba) * lba_bytes_;
        const std::uint32_t version = version_found(first, block, e->acceptable());
        for (std::uint64_t b = first + 1; b < unit_end; ++b) {
            const std::uint32_t other = BlockSignature::load(data + (b - slba) * lba_bytes_).version;
            if (other != version)
                refuse_leftover(b, other,
                                "LBA " + std::to_string(first) + " of the same unit version " + std::to_string(version),
                                reader);
        }
        if (durable_ != nullptr && !durable_->found(unit, version))
            refuse_leftover(first, version, "which the unit never had together with what was found of its other blocks",
                            reader);
        log(unit, e->acceptable());
        set_version(unit, version);
        table_.erase(*e);
        --leftovers_;
    }
}

void IntegrityOracle::check_read(ReadToken token, std::uint64_t slba, std::uint32_t blocks, std::uint8_t* data,
                                 const Reader& reader) {
    check_range(slba, blocks);
    --reads_in_flight_;
    blocks_checked_ += blocks;
    const std::uint64_t end = slba + blocks;
    const std::size_t stride = lba_bytes_;
    const std::uint8_t* block = data;
    Words wrong{};
    if (__builtin_expect(bytes_.has_value(), 0)) wrong[0] = !check_bytes(slba, blocks, data);
    for (std::uint64_t lba = bytes_ ? end : slba; lba < end;) {
        const std::uint64_t unit = unit_of_(lba);
        const std::uint64_t unit_end = std::min(end, (unit + 1) * unit_blocks_);
        // The version of the operation that began last is always acceptable. Only another version needs a closer check.
        const std::uint32_t version = version_of(static_cast<std::uint32_t>(unit));
        const Words step{version == 0 ? 0u : 1u, 0};
        Words expected{version == 0 ? 0 : lba, rest_of(version)};
        for (const std::uint8_t* const last = block + (unit_end - lba) * stride; block != last; block += stride) {
            wrong |= load_words(block) ^ expected;
            expected += step;
        }
        lba = unit_end;
    }
    if (__builtin_expect((wrong[0] | wrong[1]) != 0, 0)) {  // some block has another version
        for (std::uint64_t lba = slba; lba < end;) {
            const std::uint64_t unit = unit_of_(lba);
            const std::uint64_t unit_end = std::min(end, (unit + 1) * unit_blocks_);
            check_unit_slow(token, static_cast<std::uint32_t>(unit), slba, lba, unit_end, blocks, data, reader);
            lba = unit_end;
        }
    }
    if (__builtin_expect(leftovers_ != 0, 0)) look_at_leftovers(slba, blocks, data, reader);
    spoil(blocks, data);
}

/// True: all blocks have the version of the operation that began last.
bool IntegrityOracle::check_bytes(std::uint64_t slba, std::uint32_t blocks, const std::uint8_t* data) const {
    for (std::uint32_t i = 0; i < blocks; ++i) {
        const std::uint64_t lba = slba + i;
        if (bytes_->differs_at(lba, version_of(static_cast<std::uint32_t>(lba)), data + std::size_t{i} * lba_bytes_) !=
            lba_bytes_)
            return false;
    }
    return true;
}

__attribute__((noinline, cold)) std::uint32_t IntegrityOracle::version_found(std::uint64_t lba,
                                                                             const std::uint8_t* block,
                                                                             std::uint32_t acceptable) const {
    constexpr std::uint32_t kNone = 16;
    if (bytes_) {
        for (std::uint32_t v = 0; v <= max_version_; ++v)
            if ((acceptable >> v & 1u) != 0 && bytes_->differs_at(lba, v, block) == lba_bytes_) return v;
        return kNone;
    }
    const auto s = BlockSignature::load(block);
    const bool zero = s.lba == 0 && s.version == 0 && s.magic == 0;
    const bool whole = zero || (s.lba == lba && s.magic == BlockSignature::kMagic && s.version != 0);
    return whole && s.version <= max_version_ && (acceptable >> s.version & 1u) != 0 ? s.version : kNone;
}

// Describes what was found. The bytes may be those of another version, or of a neighbour. This and the first wrong byte
// are the best hints at the cause.
__attribute__((noinline, cold)) std::string IntegrityOracle::found_text(std::uint64_t lba,
                                                                        const std::uint8_t* block) const {
    if (!bytes_) {
        const auto s = BlockSignature::load(block);
        if (s.magic == kSpoiled >> 32) return "no data (the block was never transferred)";
        if (s.lba == 0 && s.version == 0 && s.magic == 0) return "a deallocated block";
        return s.magic != BlockSignature::kMagic ? "no signature" : lba_text(s.lba, s.version);
    }
    if (std::all_of(block, block + lba_bytes_, [](std::uint8_t b) { return b == kSpoiledByte; }))
        return "no data (the block was never transferred)";
    if (bytes_->differs_at(lba, 0, block) == lba_bytes_) return "a deallocated block";
    const std::uint64_t near = 16ull * trim_blocks_;  // a few pages
    std::uint64_t other = lba > near ? lba - near : 0;
    for (const std::uint64_t end = std::min(capacity_blocks(), lba + near); other < end; ++other)
        for (std::uint32_t v = 1; v <= max_version_; ++v)
            if (bytes_->differs_at(other, v, block) == lba_bytes_) return "the bytes of " + lba_text(other, v);
    const std::uint32_t version = version_of(static_cast<std::uint32_t>(lba));
    return "other bytes, of version " + std::to_string(version) + " up to byte " +
           std::to_string(bytes_->differs_at(lba, version, block));
}

__attribute__((noinline, cold)) void IntegrityOracle::check_unit_slow(ReadToken token, std::uint32_t unit,
                                                                      std::uint64_t slba, std::uint64_t first,
                                                                      std::uint64_t end, std::uint32_t blocks,
                                                                      const std::uint8_t* data, const Reader& reader) {
    const UnitState* e = table_.find(unit);
    std::uint32_t acceptable = e != nullptr ? e->acceptable() : 1u << version_of(unit);
    // Each change of the unit during the read has logged the versions that were acceptable before it.
    const bool forgotten = log_end_ - token > kLogSize;
    for (std::uint64_t i = forgotten ? log_end_ : token; i < log_end_; ++i) {
        const Change& c = log_[i & (kLogSize - 1)];
        if (c.unit == unit) acceptable |= c.acceptable;
    }
    for (std::uint64_t lba = first; lba < end; ++lba) {
        const std::uint8_t* const block = data + (lba - slba) * lba_bytes_;
        if (version_found(lba, block, acceptable) <= max_version_) continue;
        if (forgotten && version_found(lba, block, ~0u) <= max_version_) {
            ++unverified_;
            continue;
        }
        throw CheckFailed("integrity: LBA " + std::to_string(lba) + " (mapping unit " +
                          std::to_string(trim_unit_of_(lba)) + "): expected " + version_list(acceptable) + ", found " +
                          found_text(lba, block) + "; read of " + std::to_string(blocks) + " blocks at LBA " +
                          std::to_string(slba) + ", queue " + std::to_string(reader.queue) + " CID " +
                          std::to_string(reader.tag) + ", completed at " +
                          std::to_string(reader.at.time_since_epoch().count()) + " ps");
    }
}

/// The unit comes from a race in an earlier run, so each of its versions may be on the flash.
void IntegrityOracle::any_of_durable(const UnitState& u) {
    std::vector<Operation> at_once;
    for (std::uint32_t v = 0; v <= max_version_; ++v) {
        if ((u.acceptable() >> v & 1) == 0) continue;
        at_once.push_back(durable_->begin());
        durable_->touch(at_once.back(), u.key, v, v);
    }
    durable_->ends();
    for (const Operation o : at_once) durable_->end(o, u.key, true, true);
}

void IntegrityOracle::state(Snapshot& s) {
    SSDTLM_CHECK(reads_in_flight_ == 0 && !bytes_, "a snapshot while reads are in flight, or of bytes");
    s.section("what the host has written");
    s(filled_, nibbles_, rolling_);
    s.require(filled_ <= units_ && rolling_ >= 1 && rolling_ <= max_version_, "a version that a unit cannot have");
    std::vector<UnitState> settled;
    table_.for_each([&](const UnitState& u) { settled.push_back(u); });
    std::sort(settled.begin(), settled.end(), [](const UnitState& a, const UnitState& b) { return a.key < b.key; });
    std::uint64_t count = settled.size();
    s(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (s.reads()) settled.emplace_back();  // one by one, as a damaged file may have fewer than it says
        UnitState& u = settled[static_cast<std::size_t>(i)];
        SSDTLM_CHECK(u.in_flight == 0, "a snapshot while writes are in flight");
        bool left = u.lost_power;  // a loss of power has left it, and no read has shown its version
        s(u.key, u.before, u.within, left);
        bool fresh = false;
        if (!s.reads()) continue;
        if (u.key >= units_ || u.acceptable() == 0 || u.acceptable() >> (max_version_ + 1) != 0)
            s.refuse("versions of a unit that it cannot have");
        u.lost_power = left;
        leftovers_ += left;
        UnitState& entry = table_.insert(u.key, fresh);
        if (!fresh) s.refuse("a unit that is there twice");
        entry = u;
        if (durable_ != nullptr) any_of_durable(u);
    }
}

}  // namespace ssdtlm
