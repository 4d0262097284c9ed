// SPDX-License-Identifier: Apache-2.0
#include "controller/wait_queues/program_path.h"

#include <algorithm>
#include <array>

namespace ssdtlm {

namespace {
/// Charges the last `part` of the time that the flash spent in a stage, and for whom, if that is known.
void charge_part(Timeline& t, const Timeline& flash, Stage stage, Ps part) {
    if (!is_flash_wait(stage) || !flash.knows_flows() || part == Ps{}) return t.charge(stage, t.last() + part);
    std::array<std::int64_t, 256> of_flow{};
    flash.for_each_wait([&](Stage s, std::uint8_t flow, std::int64_t ps) { of_flow[flow] += s == stage ? ps : 0; });
    std::int64_t left_out = flash.of(stage).count() - part.count();
    for (std::size_t flow = 0; flow < of_flow.size(); ++flow) {
        const std::int64_t out = std::min(left_out, of_flow[flow]);
        left_out -= out;
        t.charge_wait(stage, t.last() + Ps{of_flow[flow] - out}, static_cast<std::uint8_t>(flow));
    }
}
}  // namespace

void charge_program(Timeline& t, const ProgramJob& program, SimTime now) {
    const auto mark = [&t](Stage s, SimTime until) {
        if (until > t.last()) t.charge(s, until);
    };
    const Timeline& flash = program.txn.timeline;
    mark(Stage::buffer, program.formed);
    mark(Stage::firmware_wait, std::min(program.core_start, flash.start()));
    mark(Stage::firmware, std::min(program.core_end, flash.start()));
    mark(Stage::mapping, std::min(program.map_at, flash.start()));
    mark(Stage::buffer, flash.start());
    if (t.last() == flash.start()) {
        t.append(flash);
    } else if (t.last() < flash.last()) {
        static constexpr std::array<Stage, 18> kStages = {
            Stage::die_wait_mapping,
            Stage::die_wait_erase,
            Stage::die_wait_rmw,
            Stage::die_wait_fold,
            Stage::die_wait_relocation,
            Stage::die_wait_merge,
            Stage::die_wait_journal,
            Stage::die_wait_parity,
            Stage::die_wait_padding,
            Stage::die_wait_checkpoint,
            Stage::die_wait_host_read,
            Stage::die_wait_gc,
            Stage::die_wait_host_write,
            Stage::channel_wait,
            Stage::scheduler,
            Stage::channel,
            Stage::array,
            Stage::buffer};  // the last: a lower page, until its upper one is programmed (../word_lines)
        std::array<Ps, kStages.size()> parts{};
        Ps left = flash.last() - t.last();
        for (std::size_t i = kStages.size(); i-- != 0;) {
            parts[i] = std::min(left, flash.of(kStages[i]));
            left -= parts[i];
        }
        for (std::size_t i = 0; i < kStages.size(); ++i) {
            if (kStages[i] == Stage::channel) t.begins({program.txn.number, idx(program.txn.address.plane), true});
            charge_part(t, flash, kStages[i], parts[i]);
        }
        SSDTLM_CHECK(left == Ps{0}, "flash program has stages that a waiting command cannot be charged with");
    }
    mark(Stage::firmware_wait, program.done_start);
    mark(Stage::firmware, now);
}

}  // namespace ssdtlm
