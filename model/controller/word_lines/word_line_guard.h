// SPDX-License-Identifier: Apache-2.0
// Stands between the firmware and flash that is programmed in two steps (NandGeometry::two_step). To whoever asked for
// it, the program of a lower page ends only when the upper page of its word line has been programmed too. So as long as
// a loss of power could take the lower page, its data stay in the buffer, what it replaces stays on the flash, and no
// flush has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/ports/flash.h"
#include "controller/ports/program_job.h"

namespace ssdtlm {

class WordLineGuard final : public FlashPort {
public:
    /// A superblock with programs under way, or lower pages whose upper ones are not programmed yet.
    struct Open {
        std::uint32_t under_way = 0;
        std::vector<FlashTransaction*> held;  ///< of these, programs that have not ended for who asked for them
    };
    /// All arguments must outlive it. Precondition: the geometry says two_step.
    WordLineGuard(const Agenda& agenda, FlashPort& flash, const Ftl& ftl)
        : agenda_(agenda), flash_(flash), ftl_(ftl), geometry_(ftl.geometry()) {}

    void submit(FlashTransaction& txn) override;
    /// `callback` is called when a program is held, or the last one under way in a superblock has ended.
    void on_change(std::function<void()> callback) { change_ = std::move(callback); }
    const std::map<std::uint32_t, Open>& open() const { return open_; }  ///< by superblock
    std::uint32_t held() const { return held_; }
    /// Programs of this owner that are held.
    std::uint32_t held_of(const ProgramOwner& owner) const;
    std::uint32_t held_of(const ProgramOwner& owner, GroupId group) const;
    /// The job of a transaction that is a program.
    static const ProgramJob& job_of(const FlashTransaction& txn) {
        return static_cast<const ProgramJob&>(ssdtlm::job_of(txn));
    }
    std::string dump() const;

private:
    std::uint32_t held_in(const Open& open, const ProgramOwner& owner) const;
    void programmed(FlashTransaction& txn);
    void answer(FlashTransaction& txn);

    const Agenda& agenda_;
    FlashPort& flash_;
    const Ftl& ftl_;
    const NandGeometry geometry_;
    std::map<std::uint32_t, Open> open_;
    std::unordered_map<FlashTransaction*, Then> then_;  // of programs that were passed on
    std::uint32_t held_ = 0;
    std::function<void()> change_;
};

}  // namespace ssdtlm
