// SPDX-License-Identifier: Apache-2.0
#include "controller/parity/parity_engine.h"

#include <algorithm>

namespace ssdtlm {

ParityEngine::ParityEngine(FlashPort& flash, Ftl& ftl)
    : flash_(flash), ftl_(ftl), geometry_(ftl.geometry()), shape_(ftl.shape()) {}

void ParityEngine::submit(FlashTransaction& txn) {
    if (txn.op == FlashOp::erase) {
        const std::uint32_t b = idx(shape_.superblock_of(geometry_.block_of(txn.address)));
        rows_.erase(b);
        broken_.erase(b);
    } else if (txn.record.stream != kSetApartStream || txn.op == FlashOp::read) {
        if (txn.op == FlashOp::program) pass_program(txn);
        if (free_asked_.empty()) {
            free_asked_.push_back(static_cast<std::uint32_t>(asked_.size()));
            asked_.emplace_back();
        }
        const std::uint32_t number = free_asked_.back();
        free_asked_.pop_back();
        asked_[number] = {&txn, txn.then};
        txn.then = Then::to<&ParityEngine::ended>(this, number);
    }
    flash_.submit(txn);
}

void ParityEngine::pass_program(FlashTransaction& txn) {
    const SuperblockId b = shape_.superblock_of(geometry_.block_of(txn.address));
    Sum& sum = sums_of(b, txn.address.page)[idx(txn.address.plane) % shape_.joined()];
    if (txn.record.kind != PageKind::parity) return add(sum, txn.spare.data(), txn.bytes);
    txn.spare = sum.spare;
    for (std::uint32_t s = 0; s < geometry_.units_per_page() && txn.bytes != nullptr; ++s)
        txn.bytes[s] = sum.bytes[s] ? sum.bytes[s] : UnitBytes::zeros(geometry_.kept_bytes());
    // The last plane's page of a row comes last.
    if (idx(txn.address.plane) % shape_.joined() + 1 == shape_.joined()) rows_[idx(b)].erase(txn.address.page);
}

std::vector<ParityEngine::Sum>& ParityEngine::sums_of(SuperblockId b, std::uint32_t row) {
    Rows& rows = rows_[idx(b)];
    const auto [at, is_new] = rows.try_emplace(row);
    if (!is_new) return at->second;
    at->second.resize(shape_.joined());
    const SpareArea& flash = ftl_.flash();
    Spare spare[kMaxUnitsPerPage];
    UnitBytes bytes[kMaxUnitsPerPage];
    for (std::uint32_t i = 0; i < shape_.data_planes(); ++i) {
        const PageAddress a = shape_.page(b, row * shape_.planes() + i);
        if (flash.next_page(geometry_.block_of(a)) <= row) continue;
        flash.read_page(a, spare, bytes);
        add(at->second[idx(a.plane) % shape_.joined()], spare, bytes);
    }
    return at->second;
}

void ParityEngine::add(Sum& sum, const Spare* spare, const UnitBytes* bytes) const {
    for (std::uint32_t s = 0; s < geometry_.units_per_page(); ++s) {
        sum.spare[s] = Spare{idx(sum.spare[s]) ^ RowParity::addend(spare[s])};
        if (bytes == nullptr || !bytes[s] || spare[s] == kPadding)
            continue;  // of a unit that is not moved any more they are there still
        if (!sum.bytes[s]) {
            sum.bytes[s] = bytes[s];
            continue;
        }
        std::uint8_t* const to = sum.bytes[s].change();
        const std::uint8_t* const from = bytes[s].data();
        for (std::uint32_t i = 0; i < geometry_.kept_bytes(); ++i) to[i] ^= from[i];
    }
}

void ParityEngine::ended(std::uint32_t asked) {
    const FlashTransaction& txn = *asked_[asked].txn;
    if (__builtin_expect(txn.status.result != FlashResult::ok, 0)) {
        if (txn.op == FlashOp::program)
            broken_[idx(shape_.superblock_of(geometry_.block_of(txn.address)))].insert(txn.address.page);
        else if (begin(asked))
            return;
    }
    answer(asked);
}

void ParityEngine::answer(std::uint32_t asked) {
    const Asked a = asked_[asked];
    free_asked_.push_back(asked);
    a.txn->then = a.then;
    a.then();
}

ParityEngine::Rebuild& ParityEngine::take_rebuild() {
    if (free_rebuilds_.empty()) {
        rebuilds_.push_back(std::make_unique<Rebuild>());
        Rebuild& r = *rebuilds_.back();
        free_rebuilds_.push_back(&r);
        for (std::uint32_t i = 1; i < shape_.planes() / shape_.joined(); ++i) {
            r.parts.push_back(std::make_unique<Part>());
            r.parts.back()->of = &r;
        }
    }
    Rebuild& r = *free_rebuilds_.back();
    free_rebuilds_.pop_back();
    return r;
}

/// False: its row is not complete, or has no parity, or a program of it has failed.
bool ParityEngine::begin(std::uint32_t asked) {
    const FlashTransaction& failed = *asked_[asked].txn;
    const SuperblockId b = shape_.superblock_of(geometry_.block_of(failed.address));
    const std::uint32_t row = failed.address.page;
    const std::uint32_t first = idx(failed.address.plane) % shape_.joined();
    const auto broken = broken_.find(idx(b));
    bool complete = ftl_.superblock(b).state != BlockState::set_apart &&
                    (broken == broken_.end() || broken->second.count(row) == 0);
    for (std::uint32_t i = first; i < shape_.planes() && complete; i += shape_.joined())
        complete = ftl_.flash().next_page(shape_.block(b, i)) > row;
    if (!complete) {
        ++counters_.not_rebuilt;
        return false;
    }
    Rebuild& r = take_rebuild();
    r.asked = asked;
    r.left = 0;
    for (std::uint32_t i = first; i < shape_.planes(); i += shape_.joined()) {
        const PageAddress a = shape_.page(b, row * shape_.planes() + i);
        if (a.plane == failed.address.plane) continue;
        Part& part = *r.parts[r.left++];
        FlashTransaction& txn = part.txn;
        txn.op = FlashOp::read;
        txn.cls = failed.cls;
        txn.cause = FlashCause::parity;
        txn.address = a;
        txn.die = geometry_.die_of(a.plane);
        txn.data_bytes = geometry_.page_bytes;
        txn.then = Then::to<&ParityEngine::part_read>(this, part);
        txn.owner = failed.owner;
        txn.whose = failed.whose;
        txn.path = nullptr;
        txn.bytes = failed.bytes == nullptr ? nullptr : part.bytes.data();
    }
    counters_.reads += r.left;
    for (const auto& part : r.parts) flash_.submit(part->txn);
    return true;
}

/// All were read, and the page for parity is the youngest of the row: not left by a loss of power in front of data that
/// came later.
bool ParityEngine::is_sum(const Rebuild& r) const {
    if (std::any_of(r.parts.begin(), r.parts.end(),
                    [](const auto& part) { return part->txn.status.result != FlashResult::ok; }))
        return false;
    const SpareArea& flash = ftl_.flash();
    if (!flash.keeps_records()) return true;  // the power does not go
    const PageRecord parity = flash.record(r.parts.back()->txn.address);
    // The page is torn, or its program failed in an earlier life.
    const auto has_nothing = [&](const FlashTransaction& txn, PageKind kind) {
        return txn.spare[0] == kTorn || (kind != PageKind::journal &&
                                         std::all_of(txn.spare.begin(), txn.spare.begin() + geometry_.units_per_page(),
                                                     [](Spare s) { return s == kPadding; }));
    };
    const auto is_addend = [&](const auto& part) {
        const PageRecord record = flash.record(part->txn.address);
        return record.number < parity.number && !has_nothing(part->txn, record.kind);
    };
    return parity.kind == PageKind::parity && !has_nothing(r.parts.back()->txn, parity.kind) &&
           flash.record(asked_[r.asked].txn->address).number < parity.number &&
           std::all_of(r.parts.begin(), r.parts.end() - 1, is_addend);
}

void ParityEngine::part_read(Part& part) {
    if (--part.of->left == 0) end(*part.of, part.txn);
}

// The command is charged with the page that came last.
void ParityEngine::end(Rebuild& r, const FlashTransaction& last) {
    FlashTransaction& txn = *asked_[r.asked].txn;
    txn.path->append(last.timeline);
    if (is_sum(r)) {
        ++counters_.rebuilt;
        Sum sum;
        for (const auto& part : r.parts) add(sum, part->txn.spare.data(), part->txn.bytes);
        txn.spare = sum.spare;
        if (txn.bytes != nullptr) {
            // For rows that preconditioning left, no bytes of parity are kept. They are made from the start contents,
            // as those of the missing page are.
            const FlashTransaction& parity = r.parts.back()->txn;
            const bool kept = !parity.bytes[0] || !parity.bytes[0].is_from_start(ftl_.codec().lpa(parity.spare[0]));
            if (kept)
                give_bytes(sum, txn);
            else
                ftl_.flash().read_bytes(geometry_.ppa_of(txn.address, 0), txn.spare.data(), txn.bytes);
        }
        txn.status.result = FlashResult::ok;
    } else {
        ++counters_.not_rebuilt;
    }
    for (const auto& part : r.parts)
        for (UnitBytes& unit : part->bytes) unit.reset();
    free_rebuilds_.push_back(&r);
    answer(r.asked);
}

/// A translation page that preconditioning left has no kept bytes either, even if its row's other pages are of a later
/// time.
void ParityEngine::give_bytes(const Sum& sum, FlashTransaction& txn) const {
    UnitBytes at_start[kMaxUnitsPerPage];
    ftl_.flash().read_bytes(geometry_.ppa_of(txn.address, 0), txn.spare.data(), at_start);
    for (std::uint32_t s = 0; s < geometry_.units_per_page(); ++s) {
        const Lpa lpa = ftl_.codec().lpa(txn.spare[s]);
        const bool has_none = txn.spare[s] != kPadding && ftl_.is_own(lpa) && at_start[s].is_from_start(lpa);
        txn.bytes[s] = has_none ? at_start[s] : sum.bytes[s];
    }
}

std::string ParityEngine::dump() const {
    return "parity: " + std::to_string(rebuilds_.size() - free_rebuilds_.size()) + " pages being rebuilt, " +
           std::to_string(rows_.size()) + " superblocks whose rows are added up\n";
}

}  // namespace ssdtlm
