// SPDX-License-Identifier: Apache-2.0
#include "controller/functional/functional_ports.h"

#include <algorithm>
#include <numeric>

#include "protocol/signature.h"

namespace ssdtlm {

namespace {
Ps mean(const std::vector<Ps>& of_page_types) {
    return std::accumulate(of_page_types.begin(), of_page_types.end(), Ps{}) /
           static_cast<std::int64_t>(of_page_types.size());
}
}  // namespace

FunctionalFlash::FunctionalFlash(Agenda& agenda, SpareArea& contents, const NandConfig& config)
    : agenda_(agenda),
      contents_(contents),
      planes_per_die_(config.geometry.planes_per_die),
      read_(mean(config.t_read)),
      program_(mean(config.t_program)),
      erase_(config.t_erase),
      slc_(config.slc),
      dies_(config.geometry.dies()) {}

Ps FunctionalFlash::time_of(const FlashTransaction& t) const {
    if (t.op == FlashOp::read) return t.slc ? slc_.t_read : read_;
    if (t.op == FlashOp::program) return t.slc ? slc_.t_program : program_;
    return t.slc ? slc_.t_erase : erase_;
}

void FunctionalFlash::submit(FlashTransaction& t) {
    const SimTime now = agenda_.now();
    t.begin(now);
    DieState& die = dies_[idx(t.die)];
    const std::uint32_t plane = 1u << (idx(t.address.plane) % planes_per_die_);
    if (die.asked == now && die.op == t.op && die.end > now && (die.planes & plane) == 0) {
        die.planes |= plane;
        die.end = std::max(die.end, die.begin + time_of(t));
    } else {
        die = {now, std::max(now, die.end), {}, t.op, plane};
        die.end = die.begin + time_of(t);
    }
    agenda_.post(die.end, Then::to<&FunctionalFlash::end>(this, t));
}

void FunctionalFlash::end(FlashTransaction& t) {
    switch (t.op) {
        case FlashOp::read:
            contents_.read_page(t.address, t.spare.data(), nullptr);
            break;
        case FlashOp::program:
            contents_.program_page(t.address, t.spare.data(), t.record, nullptr, t.slc);
            break;
        default:
            contents_.erase(contents_.geometry().block_of(t.address));
    }
    t.path->charge(Stage::array, agenda_.now());
    t.then();
}

void FunctionalTransfers::to_host(Command&, std::uint64_t, std::uint32_t, const std::uint8_t*, const DmaThen& then,
                                  ByteEnables, const DmaTerms&) {
    then({agenda_.now()});
}

// Only the first block of each unit is looked at.
void FunctionalTransfers::from_host(Command& c, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data,
                                    const DmaThen& then, ByteEnables) {
    const std::uint64_t begin = c.slba * lba_bytes_ + offset, end = begin + bytes;
    for (std::uint64_t at = begin; at < end; at = (at / unit_bytes_ + 1) * unit_bytes_)
        BlockSignature{at / lba_bytes_, kVersion, BlockSignature::kMagic}.store(data + (at - begin));
    then({agenda_.now()});
}

}  // namespace ssdtlm
