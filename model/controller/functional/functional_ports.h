// SPDX-License-Identifier: Apache-2.0
// The ports around a firmware that works without simulated time. The flash's dies are busy only for the times of the
// array. So the order of all work, and by whom it is done, is as in a drive whose only limit is its flash. Host and
// DRAM answer at once. All of it runs on an agenda of its own, which nobody else looks at.
#pragma once

#include <cstdint>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ports/dram_port.h"
#include "controller/ports/flash.h"
#include "controller/ports/host_port.h"
#include "nand/array/spare_area.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

/// A die does its work in the order in which it comes. Work that comes at one instant for several of its planes is one
/// operation. Page types take their mean time. Nothing fails.
class FunctionalFlash final : public FlashPort {
public:
    FunctionalFlash(Agenda& agenda, SpareArea& contents, const NandConfig& config);
    void submit(FlashTransaction& txn) override;

private:
    struct DieState {
        SimTime asked{}, begin{}, end{};
        FlashOp op = FlashOp::read;
        std::uint32_t planes = 0;  // bit per plane
    };
    Ps time_of(const FlashTransaction& txn) const;
    void end(FlashTransaction& t);

    Agenda& agenda_;
    SpareArea& contents_;
    const std::uint32_t planes_per_die_;
    const Ps read_, program_, erase_;
    const SlcMode slc_;
    std::vector<DieState> dies_;
};

/// For each byte of the drive the host has the data of the version that all preconditioning writes.
class FunctionalTransfers final : public HostPort {
public:
    static constexpr std::uint32_t kVersion = 1;
    FunctionalTransfers(const Agenda& agenda, std::uint32_t unit_bytes, std::uint32_t lba_bytes)
        : agenda_(agenda), unit_bytes_(unit_bytes), lba_bytes_(lba_bytes) {}

    void to_host(Command& command, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                 const DmaThen& then, ByteEnables content, const DmaTerms& terms) override;
    void from_host(Command& command, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data, const DmaThen& then,
                   ByteEnables content) override;

private:
    const Agenda& agenda_;
    const std::uint32_t unit_bytes_, lba_bytes_;
};

class FunctionalDram final : public DramPort {
public:
    explicit FunctionalDram(Agenda& agenda) : DramPort(agenda) {}

    using DramPort::begin;
    SimTime begin(const DramPiece*, std::uint32_t, const Then&) override { return agenda_.now(); }
    bool idle(SimTime) const override { return true; }
    Ps busy() const override { return Ps{}; }
};

}  // namespace ssdtlm
