// SPDX-License-Identifier: Apache-2.0
#include "controller/functional/workload_play.h"

#include "common/report/error.h"

namespace ssdtlm {

WorkloadPlay::WorkloadPlay(const FtlConfig& config, const NandConfig& nand, std::uint32_t lba_bytes, Ftl& ftl,
                           SpareArea& contents)
    : light_(config.precondition_load == PreconditionLoad::light),
      keeps_caches_(config.caches_filled),
      lba_bytes_(lba_bytes),
      ftl_(ftl),
      counts_reads_(counts_reads(ftl.feature<Refresh>())),
      drive_(config, nand, lba_bytes, ftl, contents) {}

void WorkloadPlay::submit(FunctionalHost& host, const FunctionalCommand& c) {
    ++books_.commands[static_cast<std::size_t>(c.op)];
    if (c.op == IoOp::write) books_.bytes_written += std::uint64_t{c.blocks} * lba_bytes_;
    // Reads leave only state that is dropped, except for counts of reads, which lead to a refresh.
    if (c.op == IoOp::read && !keeps_caches_ && !counts_reads_) {
        ++books_.reads_passed_over;
        host.ended(c.tag);
        return;
    }
    drive_.submit(c);
    if (light_) drive_.run();
}

const WorkloadBooks& WorkloadPlay::run(FunctionalHost& host) {
    SSDTLM_CHECK(!books_.any, "a workload is played once");
    books_.any = true;
    const FtlCounters before = ftl_.counters();
    const std::uint64_t mapped = ftl_.mapped_units();
    const std::uint64_t written = drive_.firmware().host_units_written();
    drive_.on_end([&host](std::uint64_t tag) { host.ended(tag); });
    FunctionalCommand command;
    for (FunctionalHost::State state{}; state != FunctionalHost::State::done;) {
        if (!drive_.has_room()) {
            drive_.step();
            continue;
        }
        state = host.next(command);
        if (state == FunctionalHost::State::ready) {
            submit(host, command);
        } else if (state == FunctionalHost::State::blocked && !drive_.step()) {
            throw CheckFailed("preconditioning: the workload waits, and nothing is left to happen\n" +
                              drive_.firmware().dump());
        }
    }
    // The caches are looked at in the midst of the work.
    if (keeps_caches_) caches_ = drive_.firmware().cache_contents();
    // If it were programmed here, the run would write it once more. The copies made here would be invalid at once, and
    // all in the same blocks, which garbage collection could then free at no cost.
    if (keeps_caches_ && !light_) drive_.firmware().drop_copied(ftl_);
    while (drive_.under_way() != 0 && drive_.step()) {
    }
    books_.units_written = drive_.firmware().host_units_written() - written;
    keeps_caches_ ? drive_.stop_at_work() : drive_.come_to_rest(true);
    books_.changes_mapped =
        mapped != ftl_.mapped_units() || books_.commands[static_cast<std::size_t>(IoOp::deallocate)] != 0;
    books_.ftl = ftl_.counters() - before;
    return books_;
}

}  // namespace ssdtlm
