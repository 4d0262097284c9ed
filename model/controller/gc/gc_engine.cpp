// SPDX-License-Identifier: Apache-2.0
#include "controller/gc/gc_engine.h"

#include <utility>

namespace ssdtlm {

GcEngine::GcEngine(Agenda& agenda, const FirmwareConfig& firmware, const FtlConfig& config,
                   const NandGeometry& geometry, CorePort& cores, Ftl& ftl, DramPort& dram, FlashPort& flash,
                   PageWriter& writer, FlashJobs& jobs, HostActivity& host)
    : agenda_(agenda),
      firmware_(firmware),
      geometry_(geometry),
      cores_(cores),
      ftl_(ftl),
      dram_(dram),
      flash_(flash),
      writer_(writer),
      jobs_(jobs),
      reads_(jobs),
      programs_(jobs),
      erases_(jobs),
      codec_(ftl.codec()),
      host_(host),
      pacing_(agenda, config, ftl, host),
      at_once_(config.gc_charge_time ? nullptr : std::make_unique<GcAtOnce>(ftl)),
      ages_(config.most_looks() == 0
                ? nullptr
                : std::make_unique<RetentionWatch>(agenda, config.look_interval(), firmware.refresh_look, cores,
                                                   *ftl.feature<Refresh>())),
      most_inflight_((config.gc_max_inflight_pages + (geometry.two_step ? 3 : 0)) *
                     ftl.shape().planes()),  // and two rows of lower pages that wait, and a third that is begun
      idle_free_blocks_(config.gc_idle_free_blocks),
      groups_(ftl.shape().groups()) {
    if (ages_)
        ages_->on_ended([this] {
            if (block_freed_) block_freed_();
        });
    pacing_.on_go_on([this](GroupId group) { pump(group); });
    host.on_quiet([this] {
        pacing_.look_again();
        if (host_.idle()) check_all();
    });
    if (at_once_) host.on_each_end([this] { agenda_.post(agenda_.now(), Then::to<&GcEngine::after_command>(this)); });
}

inline bool GcEngine::wants_collection(GroupId group) const {
    const bool idle = host_.idle();
    return ftl_.wants_collection(group, idle) ||
           (__builtin_expect(idle, 0) && !ftl_.media().read_only && ftl_.free_blocks(group) < idle_free_blocks_);
}

void GcEngine::check(GroupId group) {
    Group& g = groups_[idx(group)];
    if (__builtin_expect(merges_ != nullptr, 0)) merges_->check(group);
    if (__builtin_expect(at_once_ != nullptr, 0)) return look_at_once(group);
    pacing_.look_again(group);
    if (!choose(group)) return;
    g.beginning = true;
    step(group, firmware_.gc_victim, CoreStep::gc_victim, Then::to<&GcEngine::begin>(this, idx(group)));
}

/// False: there is no reason for another victim, or none to be had.
bool GcEngine::choose(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.victim != kNoSuperblock || stopped_ || !wants_collection(group)) return false;
    g.victim = ftl_.select_victim(group, host_.idle());
    if (g.victim == kNoSuperblock) {  // every sealed one is full of valid data: nothing to gain
        if (__builtin_expect(ftl_.media().read_only, 0) && block_freed_) block_freed_();  // the reserve
        return false;
    }
    g.number = ++collections_;
    const VictimReason why = ftl_.victim_reason(g.victim);
    g.cause = why == VictimReason::space  ? FlashCause::of_class
              : why == VictimReason::fold ? FlashCause::fold
                                          : FlashCause::relocation;
    g.whose = jobs_.cause();
    ++active_;
    victims_ += ftl_.shape().planes();
    last_victim_ = ftl_.shape().block(g.victim, 0);
    if (__builtin_expect(probe_ != nullptr, 0)) probe_->victim_chosen(g.victim);
    pacing_.begun(group, g.victim);
    g.cursor = g.inflight = g.reads = 0;
    g.exhausted = g.erase_waits = g.erase_failed = g.left = false;
    return true;
}

void GcEngine::begin(std::uint64_t index) {
    const GroupId group{static_cast<std::uint32_t>(index)};
    groups_[index].beginning = false;
    pump(group);
}

void GcEngine::prepare(FlashJob& job, FlashOp op, FlashClass cls, PageAddress address, const Then& then) {
    set_up(job, op, cls, address, geometry_, then);
    job.txn.slc = ftl_.is_slc(address);
    const Group& g = groups_[idx(group_of(job))];
    job.txn.owner = g.number;
    job.txn.cause = g.cause;
    job.txn.whose = g.whose;
}

MoveRead& GcEngine::start_read(GroupId group, std::uint32_t mask) {
    Group& g = groups_[idx(group)];
    MoveRead& job = reads_.acquire();
    prepare(job, FlashOp::read, FlashClass::gc_read, ftl_.shape().page(g.victim, g.cursor),
            Then::to<&GcEngine::page_read>(this, job));
    job.units = 0;
    for (std::uint32_t s = 0; s < geometry_.units_per_page(); ++s)
        if ((mask >> s) & 1u) job.slot[job.units++] = static_cast<std::uint8_t>(s);
    job.txn.first_byte = job.slot[0] * geometry_.unit_bytes;
    job.txn.data_bytes = job.units * geometry_.unit_bytes;
    ++g.inflight, ++g.reads;
    pacing_.started(group, job.units);
    return job;
}

void GcEngine::exhaust(GroupId group) {
    groups_[idx(group)].exhausted = true;
    pacing_.exhausted(group);
}

void GcEngine::pump(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.victim == kNoSuperblock) return;  // this, or the last one, has ended within: where cores take no time
    if (__builtin_expect(ftl_.media().read_only, 0)) return abandon(group);
    if (__builtin_expect(g.left, 0)) return leave(group);
    std::uint32_t mask = 0;
    while (!g.exhausted && g.inflight < most_inflight_) {
        if (!ftl_.next_valid_page(g.victim, g.cursor, mask)) {
            exhaust(group);
            break;
        }
        if (!pacing_.may_read(group)) break;
        const std::uint32_t row = ftl_.shape().row_of(g.cursor);
        JobChain<MoveRead> chain;
        std::uint32_t pages = 0;
        do {
            chain.add(start_read(group, mask));
            ++pages;
        } while (ftl_.next_valid_page(g.victim, ++g.cursor, mask) && ftl_.shape().row_of(g.cursor) == row);
        step(group, std::uint64_t{firmware_.flash_issue} * pages, CoreStep::gc_read_issue,
             Then::to<&GcEngine::issue>(this, *chain.first()));
    }
    if (g.exhausted && g.reads == 0) {
        const std::uint64_t number = g.number;
        while (!g.moves.empty()) form_row(group);
        if (on_wait_) on_wait_();
        if (g.inflight == 0 && g.number == number && g.victim != kNoSuperblock) try_erase(group);
    }
}

// The pages are taken only now: programs of a block reach the die in page order whatever the cores do. Their numbers
// are drawn now, too: what the host has rewritten meanwhile has the higher one, and is not copied any more.
void GcEngine::issue_programs(MoveProgram& first) {
    if (__builtin_expect(ftl_.media().read_only, 0)) return drop_programs(first);
    const GroupId group = group_of(first);
    Group& g = groups_[idx(group)];
    std::uint32_t dropped_units = 0;
    for (MoveProgram* job = &first; job != nullptr;) {
        MoveProgram& program = *job;
        job = next_of(program);
        --g.unplaced;
        if (__builtin_expect(!has_wanted(program), 0)) {
            --g.inflight;
            dropped_units += program.units;
            programs_.release(program);
            continue;
        }
        prepare(program, FlashOp::program, FlashClass::gc_write, ftl_.allocate_moved_page(group),
                Then::to<&GcEngine::programmed>(this, program));
        program.txn.data_bytes = geometry_.page_bytes;
        program.txn.record = ftl_.draw_record(program.txn.address);
        program.content.clear();
        ftl_.units_moving(program.txn.address, &program.txn.spare[0], &program.from[0], program.units, program.content);
        if (__builtin_expect(!program.content.empty(), 0)) program.txn.record.content = &program.content;
        for (std::uint32_t i = 0; i < program.units; ++i)
            if (program.txn.spare[i] != kPadding)
                writer_.add_data(std::uint64_t{program.dram_unit[i]} * geometry_.unit_bytes, geometry_.unit_bytes);
        writer_.add(program);
    }
    writer_.hand_over();
    pacing_.look_again(group);  // the last free block may have been opened
    if (dropped_units == 0) return;
    pacing_.finished(group, dropped_units);
    pump(group);
}

/// Leaves out what is not in use any more.
bool GcEngine::has_wanted(MoveProgram& program) {
    bool wanted = false;
    for (std::uint32_t i = 0; i < program.units; ++i) {
        Spare& unit = program.txn.spare[i];
        if (ftl_.move_wanted(codec_.lpa(unit), program.from[i]))
            wanted = true;
        else
            unit = kPadding;
    }
    return wanted;
}

// What is looked up when the next step is over is on its way into the host's caches until then.
void GcEngine::page_read(MoveRead& job) {
    for (std::uint32_t i = 0; i < job.units; ++i) ftl_.prefetch(codec_.lpa(job.txn.spare[job.slot[i]]));
    take_in(job);
}

void GcEngine::programmed(MoveProgram& job) {
    for (std::uint32_t i = 0; i < job.units; ++i) ftl_.prefetch(codec_.lpa(job.txn.spare[i]));
    step(group_of(job), firmware_.flash_complete, CoreStep::gc_program_done,
         Then::to<&GcEngine::program_done>(this, job));
}

void GcEngine::erased(FlashJob& job) {
    step(group_of(job), firmware_.flash_complete, CoreStep::gc_erase_done, Then::to<&GcEngine::erase_done>(this, job));
}

void GcEngine::take_in(MoveRead& job) {
    if (__builtin_expect(job.txn.status.result != FlashResult::ok, 0) && !holds_own_units(job)) return read_done(job);
    const std::uint64_t place = dram_.place(job.txn.data_bytes);
    job.dram_unit = static_cast<std::uint32_t>(place / geometry_.unit_bytes);
    dram_.access({place, job.txn.data_bytes}, Then::to<&GcEngine::read_done>(this, job));
}

void GcEngine::read_done(MoveRead& job) {
    const GroupId group = group_of(job);
    Group& g = groups_[idx(group)];
    const bool readable = job.txn.status.result == FlashResult::ok;
    // What a page of the journal says is in memory as well.
    const std::size_t moves = g.moves.size();
    const bool is_journal = __builtin_expect(ftl_.notes().renew_page(job.txn.address), 0);
    for (std::uint32_t i = 0; i < job.units && !is_journal; ++i) {
        Spare spare = job.txn.spare[job.slot[i]];
        const Ppa from = geometry_.ppa_of(job.txn.address, job.slot[i]);
        if (__builtin_expect(!readable, 0) && !keeps(from, spare)) continue;
        // The host may have rewritten or deallocated the unit since the page was chosen.
        if (spare != kPadding && spare != kErased && ftl_.lookup(codec_.lpa(spare)) == from)
            g.moves.add(spare, from, job.dram_unit + i, job, job.slot[i]);
    }
    const std::uint32_t needless = job.units - static_cast<std::uint32_t>(g.moves.size() - moves);
    reads_.release(job);
    --g.inflight;
    --g.reads;
    pacing_.finished(group, needless);
    form_full_rows(group);
    pump(group);
}

void GcEngine::form_full_rows(GroupId group) {
    const Group& g = groups_[idx(group)];
    while (g.moves.size() >= std::size_t{row_room(group)} * geometry_.units_per_page() && !ftl_.media().read_only)
        form_row(group);
}

// A row is completed before the next is begun; pages on their way to the flash count as written.
std::uint32_t GcEngine::row_room(GroupId group) const {
    const std::uint32_t planes = ftl_.shape().data_planes();
    return planes - (planes - ftl_.gc_row_left(group) + groups_[idx(group)].unplaced) % planes;
}

void GcEngine::form_row(GroupId group) {
    Group& g = groups_[idx(group)];
    const std::uint32_t room = row_room(group);
    JobChain<MoveProgram> chain;
    std::uint32_t pages = 0, taken = 0;
    for (; pages < room && g.moves.any_left(); ++pages) {
        MoveProgram& job = programs_.acquire();
        job.by = this;
        job.txn.address.plane = PlaneId{idx(group) * ftl_.shape().planes()};
        job.txn.spare.fill(kPadding);
        taken += g.moves.give(job, geometry_.units_per_page());
        chain.add(job);
    }
    g.moves.drop_given();
    g.inflight += pages;
    g.unplaced += pages;
    step(group, std::uint64_t{firmware_.flash_issue} * pages + std::uint64_t{firmware_.map_update} * taken,
         CoreStep::gc_program_issue, Then::to<&GcEngine::issue_programs>(this, *chain.first()),
         wait_for_moved(cores_, idx(group), chain, codec_));
}

void GcEngine::program_done(MoveProgram& job) {
    if (__builtin_expect(job.txn.status.result != FlashResult::ok, 0)) return program_failed(job);
    const GroupId group = group_of(job);
    for (std::uint32_t i = 0; i < job.units; ++i)
        if (job.txn.spare[i] != kPadding)
            ftl_.commit_move(codec_.lpa(job.txn.spare[i]), job.from[i], geometry_.ppa_of(job.txn.address, i));
    if (__builtin_expect(map_ != nullptr, 0)) tell_map(job);
    ftl_.gc_page_programmed(job.txn.address);
    const std::uint32_t units = job.units;
    programs_.release(job);
    --groups_[idx(group)].inflight;
    pacing_.finished(group, units);
    pump(group);
}

/// Tells the map of the host's units that are now where this program has put them.
__attribute__((noinline)) void GcEngine::tell_map(const MoveProgram& job) const {
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const Lpa lpa = codec_.lpa(job.txn.spare[i]);
        if (job.txn.spare[i] != kPadding && !ftl_.is_own(lpa) &&
            ftl_.lookup(lpa) == geometry_.ppa_of(job.txn.address, i))
            map_->moved(lpa);
    }
}

void GcEngine::try_erase(GroupId group) {
    Group& g = groups_[idx(group)];
    if (__builtin_expect(ftl_.is_bad(g.victim), 0)) {
        ftl_.superblock_emptied(g.victim);
        return end_victim(group);
    }
    if (!ftl_.erase_allowed(g.victim)) {
        g.erase_waits = true;
        if (erase_waits_) erase_waits_(g.victim);
        return;
    }
    g.erase_waits = false;
    if (__builtin_expect(at_once_ != nullptr, 0)) {
        ++g.inflight;
        agenda_.post(agenda_.now(), Then::to<&GcEngine::erase_at_once>(this, idx(group)));
        return;
    }
    const std::uint32_t planes = ftl_.shape().planes();
    JobChain<FlashJob> chain;
    for (std::uint32_t i = 0; i < planes; ++i) {
        FlashJob& job = erases_.acquire();
        prepare(job, FlashOp::erase, FlashClass::erase, ftl_.shape().page(g.victim, i),
                Then::to<&GcEngine::erased>(this, job));
        job.txn.data_bytes = 0;
        chain.add(job);
    }
    g.inflight += planes;
    step(group, std::uint64_t{firmware_.flash_issue} * planes, CoreStep::gc_erase_issue,
         Then::to<&GcEngine::issue>(this, *chain.first()));
}

void GcEngine::erase_done(FlashJob& job) {
    const GroupId group = group_of(job);
    Group& g = groups_[idx(group)];
    g.erase_failed = g.erase_failed || job.txn.status.result != FlashResult::ok;
    erases_.release(job);
    if (--g.inflight != 0) return;
    g.erase_failed ? ftl_.superblock_not_erased(g.victim) : ftl_.superblock_erased(g.victim);
    end_victim(group);
}

void GcEngine::end_victim(GroupId group) {
    if (__builtin_expect(probe_ != nullptr, 0)) probe_->victim_ended(groups_[idx(group)].victim);
    pacing_.ended(group);
    groups_[idx(group)].victim = kNoSuperblock;
    --active_;
    if (block_freed_) block_freed_();
    check(group);
}

// What an untimed drive hands over says nothing of looks, as it has none.
void GcEngine::state(Snapshot& s) {
    pacing_.state(s);
    std::int64_t left = ages_ ? ages_->left().age.count() : -1, less = ages_ ? ages_->left().less.count() : 0;
    s(left, less);
    s.require(left >= -1 && less >= 0 && less < 1000, "a time until the next look at ages that cannot be");
    if (s.reads() && ages_ && left >= 0) ages_->set_left({Age::nanoseconds(left), Ps{less}});
}

void GcEngine::check_waiters() const {
    std::uint32_t active = 0;
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
        const Group& g = groups_[i];
        const auto fail = [i](const std::string& what) {
            throw CheckFailed("gc: group " + std::to_string(i) + " " + what);
        };
        if (g.victim == kNoSuperblock) {
            if (g.inflight != 0 || !g.moves.empty())
                fail("has no victim, but " + std::to_string(g.inflight) + " operations in flight and " +
                     std::to_string(g.moves.size()) + " units to move");
            continue;
        }
        ++active;
        if (g.reads > g.inflight || g.unplaced > g.inflight)
            fail("counts more reads or programs to be placed than it has operations in flight");
        if (g.beginning || g.inflight != 0) continue;  // a core step or a flash operation comes back
        if (pacing_.host_waits(GroupId{i})) fail("is paused with nothing in flight, and the host waits for it");
        if (pacing_.paused(GroupId{i})) continue;
        if (!g.erase_waits)
            fail("has victim " + std::to_string(idx(g.victim)) +
                 " with nothing in flight, and does not wait for a read");
        if (ftl_.erase_allowed(g.victim))
            fail("waits to erase victim " + std::to_string(idx(g.victim)) + ", but nobody reads it");
    }
    pacing_.check_waiters();
    if (active != active_)
        throw CheckFailed("gc: " + std::to_string(active) + " groups have a victim, " + std::to_string(active_) +
                          " are counted");
}

}  // namespace ssdtlm
