// SPDX-License-Identifier: Apache-2.0
#include "nand/pins/pin_decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "nand/pins/row_bits.h"

namespace ssdtlm {
namespace {

std::string hex(std::uint8_t opcode) {
    constexpr const char* kDigits = "0123456789ABCDEF";
    return std::string{kDigits[opcode >> 4], kDigits[opcode & 15], 'h'};
}

/// The least time that the array programs after R/B# has risen. It begins to program tPCBSY before that.
Ps shortest_program(const NandConfig& nand) {
    Ps least = nand.slc.t_program;
    for (const Ps t : nand.t_program) least = std::min(least, t);
    return std::max(least - nand.t_cache_busy, Ps{0});
}

bool selects(FlashOp op) {
    return op == FlashOp::change_column || op == FlashOp::select_plane;
}
bool is_status(FlashOp op) {
    return op == FlashOp::read_status || op == FlashOp::read_status_enhanced;
}

}  // namespace

PinDecoder::PinDecoder(const NandConfig& nand, const PinLevels& pins, PinViolations& violations)
    : t_(nand.onfi),
      pins_(pins),
      violations_(violations),
      independent_(nand.independent_plane_read),
      slc_prefix_(nand.slc.prefix),
      dies_per_chip_(nand.geometry.dies_per_chip),
      lun_shift_(bits_for(nand.geometry.pages_per_block) + bits_for(nand.geometry.planes_per_die) +
                 bits_for(nand.geometry.blocks_per_plane)),
      luns_known_(dies_per_chip_ == 1 || lun_shift_ + bits_for(dies_per_chip_) <= 24),
      cache_program_(nand.cache_program),
      array_at_least_(shortest_program(nand)),
      arrays_(nand.cache_program ? nand.geometry.dies_per_channel() : 0),
      targets_(nand.geometry.ways),
      suspended_(nand.geometry.dies_per_channel(), kNothing) {}

// --- chip enables ----------------------------------------------------------------------------------------------------

void PinDecoder::chip(SimTime t, std::uint32_t way, PinValue level) {
    if (level != 0) {
        --low_chips_;
        if (way < targets_.size() && targets_[way].prefixed) end_prefix(t, targets_[way], "the end of its sequence");
        return;
    }
    ++low_chips_;
    way_ = way;
    if (way < targets_.size())
        targets_[way].chip_fell = t;
    else
        violations_.add("CE#", t, to_string(ce_n(way)) + " does not exist");
}

void PinDecoder::power_lost() {
    low_chips_ = 0;
    busy_.clear();
    std::fill(targets_.begin(), targets_.end(), Target{});
    std::fill(arrays_.begin(), arrays_.end(), Array{});
    std::fill(suspended_.begin(), suspended_.end(), kNothing);
}

void PinDecoder::begin_inside(SimTime now) {
    power_lost();
    told_from_ = now;
    for (Target& to : targets_) to.readable = true;
    std::fill(suspended_.begin(), suspended_.end(), kNotKnown);
}

PinDecoder::Target* PinDecoder::target(SimTime t, const char* what) {
    if (low_chips_ == 1 && way_ < targets_.size() && pins_.value(ce_n(way_)) == 0) return &targets_[way_];
    violations_.add("CE#", t,
                    std::string(what) + " with " + std::to_string(low_chips_) + " chip enables low; one has to be");
    return nullptr;
}

bool PinDecoder::Target::takes_data() const {
    return open && onfi_operation(op).data == DataCycles::in && addresses == onfi_operation(op).addresses();
}

void PinDecoder::Target::end_wait(SimTime t, PinViolations& violations) {
    if (*wait_rule != '\0') violations.at_least(wait_rule, t, wait_from, wait);
    wait_rule = "";
}

bool PinDecoder::is_busy(int die) const {
    return die != kUnknown && pins_.value(rb_n(static_cast<std::uint32_t>(die))) == 0;
}

// --- commands --------------------------------------------------------------------------------------------------------

void PinDecoder::command(SimTime t, Target& to, std::uint8_t opcode) {
    ++commands_[opcode];
    if (to.open) return confirm(t, to, opcode);
    const FlashOp op = operation_of(opcode);
    if (to.prefixed && !is_array_operation(op)) end_prefix(t, to, hex(opcode));
    to.prefixed = opcode == slc_prefix_;
    if (to.prefixed) return;
    if (op == FlashOp::count) return violations_.add("sequence", t, hex(opcode) + " begins no sequence in use");
    to.open = true;
    to.opcode = opcode;
    to.op = op;
    to.addresses = 0;
    to.data = false;
    to.row = 0;
    to.die = kUnknown;
    // A page stays selected after a change of column, a status command or a suspend. Any other command ends its
    // selection.
    if (op != FlashOp::change_column && !is_status(op) && onfi_operation(op).effect != ArrayEffect::suspends)
        to.readable = to.status = false;
    if (onfi_operation(op).addresses() != 0) return;
    if (is_status(op)) return status_selected(t, to);
    resumed(t, to);
}

/// The command has no address cycles: it resumes the LUN that the chip enable addressed last.
void PinDecoder::resumed(SimTime t, Target& to) {
    to.open = false;
    const FlashOp operation = suspended_operation(to.op);
    if (to.addressed != kUnknown) {
        FlashOp& suspended = suspended_[static_cast<std::size_t>(to.addressed)];
        if (suspended != operation && suspended != kNotKnown)
            violations_.add("resume", t,
                            hex(to.opcode) + " goes to die " + std::to_string(to.addressed) +
                                ", which was addressed last and has no suspended " + onfi_operation(operation).name +
                                "; select the LUN by 78h and its row first");
        suspended = kNothing;
    }
    busy_.push_back({way_, to.addressed, t});
}

/// Reports a prefix before a command to which it does not belong.
void PinDecoder::end_prefix(SimTime t, Target& to, const std::string& before) {
    to.prefixed = false;
    violations_.add("sequence", t,
                    hex(slc_prefix_) + " before " + before + "; it stands only before a read, program or erase");
}

void PinDecoder::status_selected(SimTime t, Target& to) {
    to.open = false;
    to.readable = to.status = true;
    await_data(t, to);
}

/// The data of the operation must keep their minimum distance from now on.
void PinDecoder::await_data(SimTime t, Target& to) const {
    const OnfiOperation& op = onfi_operation(to.op);
    to.wait_rule = op.data_rule;
    to.wait = op.before_data == nullptr ? Ps{0} : op.before_data(t_);
    to.wait_from = t;
}

void PinDecoder::address(SimTime t, Target& to, std::uint8_t byte) {
    const OnfiOperation& op = onfi_operation(to.op);
    const std::uint32_t wanted = to.open ? op.addresses() : 0;
    if (to.addresses >= wanted)
        return violations_.add("address cycles", t,
                               to.open ? hex(to.opcode) + " takes " + std::to_string(wanted) : "without a command");
    if (op.rows != 0 && to.addresses >= op.columns) to.row |= std::uint32_t{byte} << 8 * (to.addresses - op.columns);
    if (++to.addresses == wanted) addresses_done(t, to);
}

void PinDecoder::addresses_done(SimTime t, Target& to) {
    if (onfi_operation(to.op).rows == 0) return;
    to.die = to.addressed = die_of_row(way_, to.row);
    if (is_status(to.op)) return status_selected(t, to);
    if (onfi_operation(to.op).effect == ArrayEffect::suspends) {
        to.open = false;
        return suspends(t, to);
    }
    const bool may_be_busy = independent_ && (to.op == FlashOp::read || to.op == FlashOp::select_plane);
    if (!may_be_busy && is_busy(to.die))
        violations_.add("R/B#", t, hex(to.opcode) + " to die " + std::to_string(to.die) + ", which is busy");
    if (cache_program_ && to.die != kUnknown && to.op != FlashOp::program &&
        t < arrays_[static_cast<std::size_t>(to.die)].until)
        violations_.add("ARDY", t,
                        hex(to.opcode) + " to die " + std::to_string(to.die) +
                            ", whose array is at work behind 15h until " +
                            nanoseconds(arrays_[static_cast<std::size_t>(to.die)].until.time_since_epoch()) +
                            " at the earliest; 80h may come before");
    to.wait_rule = "";
    if (onfi_operation(to.op).data == DataCycles::in) await_data(t, to);
}

/// Notes a suspend. R/B# is low while an operation runs, except for a cached program: there it falls for the suspend.
void PinDecoder::suspends(SimTime t, const Target& to) {
    if (to.die == kUnknown) return;
    suspended_[static_cast<std::size_t>(to.die)] = suspended_operation(to.op);
    if (!cache_program_) return;
    arrays_[static_cast<std::size_t>(to.die)] = Array{};
    if (!is_busy(to.die)) busy_.push_back({way_, to.die, t});
}

void PinDecoder::confirm(SimTime t, Target& to, std::uint8_t opcode) {
    to.open = false;
    const OnfiOperation& op = onfi_operation(to.op);
    const std::string both = hex(to.opcode) + " .. " + hex(opcode);
    const bool cached = cache_program_ && opcode == op.cache;
    if (!op.confirmed_by(opcode) && !cached) return violations_.add("sequence", t, both + " is no sequence in use");
    if (to.addresses != op.addresses())
        violations_.add("address cycles", t,
                        both + " with " + std::to_string(to.addresses) + " address cycles; it takes " +
                            std::to_string(op.addresses()));
    if (op.data == DataCycles::in && !to.data) violations_.add("sequence", t, both + " without data");
    if (selects(to.op)) {
        if (op.rows != 0) to.source = to.die;
        if (op.rows == 0 && !to.readable) violations_.add("sequence", t, "05h where no page was selected");
        to.readable = true;
        to.status = to.queued = false;
        return await_data(t, to);
    }
    if (op.effect == ArrayEffect::loads_register) {
        const bool single = opcode == op.confirm && !to.queued;
        to.readable = single;  // with several planes, 06h must select one
        to.source = to.die;
        to.queued = opcode == op.queue;
        to.wait_rule = "";
    }
    if (cached && to.die != kUnknown) arrays_[static_cast<std::size_t>(to.die)].caching = true;
    if (is_busy(to.die)) return;  // its R/B# is low already
    busy_.push_back({way_, to.die, t});
}

int PinDecoder::die_of_row(std::uint32_t way, std::uint32_t row) const {
    if (!luns_known_) return kUnknown;
    const std::uint32_t lun = dies_per_chip_ == 1 ? 0 : row >> lun_shift_;
    return lun < dies_per_chip_ ? static_cast<int>(way * dies_per_chip_ + lun) : kUnknown;
}

// --- ready and busy --------------------------------------------------------------------------------------------------

void PinDecoder::ready_busy(SimTime t, std::uint32_t die, PinValue level) {
    if (level != 0) {
        if (cache_program_ && die < arrays_.size() && arrays_[die].caching) arrays_[die] = {false, t + array_at_least_};
        return;
    }
    for (auto b = busy_.begin(); b != busy_.end(); ++b) {
        if (b->die == kUnknown ? b->way != die / dies_per_chip_ : b->die != static_cast<int>(die)) continue;
        busy_.erase(b);
        return;  // overdue() has checked its time
    }
    if (t > told_from_ + t_.t_wb) violations_.add("R/B#", t, to_string(rb_n(die)) + " falls, but nothing was started");
}

void PinDecoder::overdue(SimTime t) {
    for (std::size_t i = 0; i < busy_.size();) {
        if (t <= busy_[i].since + t_.t_wb) {
            ++i;
            continue;
        }
        violations_.add("tWB", busy_[i].since + t_.t_wb, "R/B# has not fallen within " + nanoseconds(t_.t_wb));
        // Its late fall is not another violation.
        busy_[i].since = kNever - t_.t_wb;
        if (t == kNever) busy_.erase(busy_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

}  // namespace ssdtlm
