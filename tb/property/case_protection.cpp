// SPDX-License-Identifier: Apache-2.0
// Of the host of a case: the metadata of blocks and what its commands say of their protection information. What is
// checked is right, but for some writes with a wrong guard, and for reads whose blocks may be copies with the reference
// tags of their source.
#include <algorithm>

#include "property/case_host.h"

namespace ssdtlm {

namespace {
using Kind = DriveOp::Kind;
constexpr std::uint8_t kSpoiled = 0xDB;
}  // namespace

void CaseHost::give_room(Slot& s, std::uint32_t slot) {
    s.data = port_->buffer(slot, s.command.blocks * drive_.lba_bytes);
    s.metadata = port_->metadata(slot, s.command.blocks);
}

void CaseHost::store_metadata(Slot& s, ReferenceMap::Value value) const {
    const CaseMetadata& format = port_->facts().metadata;
    for (std::uint32_t b = 0; b < s.command.blocks && format.bytes != 0; ++b)
        tags_.store(format, s.command.lba + b, value, s.data + std::size_t{b} * drive_.lba_bytes,
                    s.metadata + std::size_t{b} * format.bytes);
}

/// `value`: of a write, whose blocks have their metadata.
void CaseHost::protect(Slot& s, ReferenceMap::Value value) {
    CaseCommand& c = s.command;
    CaseProtection& p = c.protection;
    const CaseMetadata& format = port_->facts().metadata;
    p = {};
    s.has_wrong_guard = false;
    if (format.bytes == 0) return;
    if (c.kind == Kind::read) std::fill_n(s.metadata, std::size_t{c.blocks} * format.bytes, kSpoiled);
    if (format.type == 0 || c.blocks == 0) return;
    const std::uint64_t chance = random_.next();
    if (c.writes()) {
        p = tags_.of_write(format, c.lba, value, chance);
        s.has_wrong_guard =
            c.fuse == 0 && (chance >> 8) % 32 == 0 && !p.acts && checks_guards(s) && tags_.has_guard(format, value);
        if (s.has_wrong_guard) s.metadata[std::size_t{c.blocks - 1} * format.bytes + chance % 2] ^= 4;
    } else if (c.is_zeroes()) {
        p.acts = chance % 2 != 0;
    } else if (c.kind == Kind::read || c.kind == Kind::verify || c.kind == Kind::compare) {
        p.checks = static_cast<std::uint8_t>(chance & (CaseProtection::kGuard | CaseProtection::kApplication));
        p.application = static_cast<std::uint16_t>(chance >> 16);  // no bit of it is compared
        p.reference = static_cast<std::uint32_t>(c.lba);
        if (c.kind != Kind::read || s.then.kind != Kind::read) return;
        p.acts = (chance >> 8) % 4 == 0;
        if (stage_ == Stage::works && format.type == 1 && (chance >> 12) % 4 == 0)
            p.checks |= CaseProtection::kReference;
    }
}

void CaseHost::protect_copy(CaseCommand& c, ReferenceMap::Value source, ReferenceMap::Value value) {
    c.protection = {};
    const CaseMetadata& format = port_->facts().metadata;
    if (format.type == 0) return;
    c.protection = tags_.of_copy(format, c.lba, source, value);
    tags_copied_ = tags_copied_ || !c.protection.acts;
    c.checks_source = random_.below(2) != 0;
}

/// Empty, or why these are not the metadata of a block that holds `value`.
std::string CaseHost::check_metadata(const Slot& s, std::uint64_t lba, ReferenceMap::Value value) {
    const CaseMetadata& format = port_->facts().metadata;
    if (format.bytes == 0) return "";
    const std::uint64_t b = lba - s.command.lba;
    const std::uint8_t* const metadata = s.metadata + b * format.bytes;
    ++counts_.metadata_checked;
    if (!s.command.protection.acts) return tags_.check(format, lba, value, s.data + b * drive_.lba_bytes, metadata);
    const bool untouched =
        std::all_of(metadata, metadata + format.bytes, [](std::uint8_t byte) { return byte == kSpoiled; });
    return untouched ? "" : "the metadata of LBA " + std::to_string(lba) + " came though the drive keeps them back";
}

}  // namespace ssdtlm
