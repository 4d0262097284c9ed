// SPDX-License-Identifier: Apache-2.0
// Which units must answer 2/81h, by what the flash did and not by what the firmware believes: a unit is lost from the
// end of a read that could not read its copy until the host's next data for it go to flash, or it is mapped nowhere.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/ports/flash.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

class LostUnits {
public:
    LostUnits(const Ftl& ftl, const SpareArea& spare, const WriteBuffer& buffer, const Agenda& agenda)
        : ftl_(ftl), spare_(spare), buffer_(buffer), agenda_(agenda), units_(ftl.logical_units()) {}

    /// A program is submitted.
    void programs(const FlashTransaction& t) {
        if (t.cls != FlashClass::host_write) return;
        for (std::uint32_t s = 0; s < ftl_.geometry().units_per_page(); ++s)
            if (t.spare[s] != kPadding) heal(units_[idx(ftl_.codec().lpa(t.spare[s]))]);
    }
    /// A read of the page has ended as uncorrectable; not `for_good`: a later one may do better, if nobody has given up
    /// the unit for it.
    void cannot_read(const PageAddress& page, bool for_good = true) {
        if (spare_.record(page).kind == PageKind::parity) return;  // of no unit
        for (std::uint32_t s = 0; s < ftl_.geometry().units_per_page(); ++s) {
            const Ppa at = ftl_.geometry().ppa_of(page, s);
            const Spare held = spare_.at(at);
            if (held == kPadding || held == kErased) continue;
            const Lpa lpa = ftl_.codec().lpa(held);
            if (ftl_.is_own(lpa)) continue;  // never lost
            Unit& u = units_[idx(lpa)];
            u.unreadable_at = agenda_.now();
            if (ftl_.lookup(lpa) != at || u.lost) continue;
            if (!for_good) {
                u.maybe = true;
                continue;
            }
            u.lost = true;
            u.buffered = buffer_.find(lpa) != WriteBuffer::kNone;
            u.lost_at = agenda_.now();
            ++found;
        }
    }
    /// The host begins and ends to write the unit, or a part of it.
    void write_begins(std::uint32_t unit) { ++units_[unit].writes; }
    void write_ended(std::uint32_t unit) {
        --units_[unit].writes;
        units_[unit].written_at = agenda_.now();
    }
    /// Every read that fails has a lost unit; one that does not has none, unless there was newer data.
    void read_ended(std::uint32_t first, std::uint32_t last, bool failed, SimTime begun) {
        bool cause = gave_up;
        for (std::uint32_t i = first; i <= last; ++i) {
            Unit& u = units_[i];
            if (u.lost && ftl_.lookup(Lpa{i}) == kUnmapped) heal(u);
            cause = cause || u.lost || u.maybe || u.healed_at >= begun || u.unreadable_at >= begun;
            if (!failed && u.lost && !u.buffered && u.lost_at < begun && u.writes == 0 && u.written_at < u.lost_at)
                throw std::logic_error("a read of lost unit " + std::to_string(i) + " succeeded");
        }
        if (failed && !cause)
            throw std::logic_error("a read of units from " + std::to_string(first) + " failed, and none is lost");
        failed_reads += failed;
    }
    /// Of a device at rest.
    bool is_lost(std::uint32_t unit) const { return units_[unit].lost && ftl_.lookup(Lpa{unit}) != kUnmapped; }

    bool gave_up = false;  ///< the flash took no more pages: what the buffer held is lost as well
    std::uint64_t found = 0, healed = 0, failed_reads = 0;

private:
    struct Unit {
        bool lost = false;
        bool maybe = false;     ///< lost, or not
        bool buffered = false;  ///< newer data were in the buffer then
        SimTime lost_at{}, written_at{}, healed_at{}, unreadable_at{};
        std::uint32_t writes = 0;  ///< under way
    };
    void heal(Unit& u) {
        if (!u.lost && !u.maybe) return;
        u.maybe = false;
        u.lost = false;
        u.healed_at = agenda_.now();
        ++healed;
    }

    const Ftl& ftl_;
    const SpareArea& spare_;
    const WriteBuffer& buffer_;
    const Agenda& agenda_;
    std::vector<Unit> units_;
};

}  // namespace ssdtlm
