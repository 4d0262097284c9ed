// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/checkpoint_writer.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"
#include "controller/checkpoint/checkpoint_capture.h"

namespace ssdtlm {

CheckpointWriter::CheckpointWriter(const FirmwareConfig& costs, const FtlConfig& config, const Peers& peers)
    : costs_(costs),
      geometry_(peers.ftl.geometry()),
      peers_(peers),
      feature_(*peers.ftl.feature<CheckpointFeature>()),
      checkpoints_(feature_.tables()),
      erases_(peers.jobs),
      programs_(peers.jobs),
      interval_units_(
          config.checkpoint_interval_bytes == 0 ? 0 : div_ceil(config.checkpoint_interval_bytes, geometry_.unit_bytes)),
      row_pages_(peers.ftl.shape().planes()) {
    checkpoints_.in_flight().on_end([this] { program_ended(); });
    if (peers.map != nullptr)
        checkpoints_.set_dirty([&map = *peers.map](std::uint32_t page) { return map.table().dirty_in(page) != 0; });
}

/// The FTL's books are being changed here, so it looks only afterwards.
void CheckpointWriter::program_ended() {
    if (look_posted_ || (state_ != State::settling && (state_ != State::idle || !is_due()))) return;
    look_posted_ = true;
    peers_.agenda.post(peers_.agenda.now(), Then::to<&CheckpointWriter::look>(this));
}

/// True: a checkpoint is due. After a start that was not clean the last one is old, so the first is due when something
/// is written.
bool CheckpointWriter::is_due() const {
    return interval_units_ != 0 && !held_off_ && !given_up_ && !clean() && !peers_.ftl.media().read_only &&
           peers_.ftl.counters().host_units >= due_at_;
}

void CheckpointWriter::look() {
    look_posted_ = false;
    if (state_ == State::settling) return try_root();
    if (state_ != State::idle || !is_due()) return;
    is_clean_ = false;
    begin();
}

void CheckpointWriter::write_clean(std::function<void()> done) {
    SSDTLM_CHECK(idle(), "a checkpoint at a shutdown begins while another is being written");
    if (state_ == State::settling) abandon(false);  // what it waits for does not come any more
    done_ = std::move(done);
    is_clean_ = true;
    tries_ = 0;
    begin();
}

void CheckpointWriter::begin() {
    due_at_ = peers_.ftl.counters().host_units + interval_units_;
    const CheckpointCapture::Result result =
        given_up_ ? CheckpointCapture::Result::no_room : CheckpointCapture::begin(peers_.ftl, is_clean_);
    if (result == CheckpointCapture::Result::not_now && !is_clean_) {
        due_at_ = 0;  // when the next program has ended
        return;
    }
    if (result != CheckpointCapture::Result::begun) return end();
    turn_ = peers_.journal.demand();
    next_page_ = 0;
    broken_ = false;
    state_ = State::erasing;
    for (const SuperblockId b : checkpoints_.attempt()->erases) erase(b);
    if (peers_.map != nullptr) read_map();
    go_on();
}

/// Reads the translation pages with the entries of the map's pages that are to be written.
void CheckpointWriter::read_map() {
    const std::uint64_t per_page = checkpoints_.layout().entries_per_page(), per_own = peers_.ftl.needs().units_per_own;
    std::vector<std::uint32_t> pages;
    for (const std::uint32_t page : checkpoints_.attempt()->map) {
        const std::uint64_t end = std::min((page + 1) * per_page, peers_.ftl.logical_units());
        for (std::uint64_t u = page * per_page; u < end; u = (u / per_own + 1) * per_own) {
            const auto own = static_cast<std::uint32_t>(u / per_own);
            if (is_place(peers_.ftl.lookup(peers_.ftl.own_unit(own))) && (pages.empty() || pages.back() != own))
                pages.push_back(own);
        }
    }
    if (pages.empty()) return;
    ++in_flight_;
    peers_.map->read_pages(std::move(pages), [this] {
        --in_flight_;
        go_on();
    });
}

void CheckpointWriter::erase(SuperblockId b) {
    const SuperblockShape& shape = peers_.ftl.shape();
    JobChain<FlashJob> chain;
    for (std::uint32_t i = 0; i < shape.planes(); ++i) {
        FlashJob& job = erases_.acquire();
        set_up(job, FlashOp::erase, FlashClass::erase, shape.page(b, i), geometry_,
               Then::to<&CheckpointWriter::erased>(this, job));
        job.txn.cause = FlashCause::checkpoint;
        job.txn.data_bytes = 0;
        chain.add(job);
    }
    in_flight_ += shape.planes();
    feature_.count(0, shape.planes());
    peers_.cores.run(idx(shape.group_of(b)), std::uint64_t{costs_.flash_issue} * shape.planes(),
                     CoreStep::checkpoint_issue, Then::to<&CheckpointWriter::issue_erases>(this, *chain.first()));
}

/// Goes on with the attempt: it issues pages, a few rows at a time.
void CheckpointWriter::go_on() {
    if (broken_ || checkpoints_.in_flight().disturbed()) {
        if (in_flight_ == 0 && !issuing_) abandon(true);
        return;
    }
    if (state_ == State::erasing) {
        if (in_flight_ != 0) return;
        state_ = State::writing;
    }
    const std::size_t left = checkpoints_.attempt()->pages.size() - next_page_;
    if (left == 0) {
        if (in_flight_ != 0) return;
        state_ = State::settling;
        if (on_idle_) on_idle_();
        return try_root();
    }
    if (issuing_ || in_flight_ >= 2 * row_pages_) return;
    const auto pages = static_cast<std::uint32_t>(std::min<std::size_t>(left, row_pages_));
    issuing_ = true;
    peers_.cores.run(0, std::uint64_t{costs_.flash_issue} * pages, CoreStep::checkpoint_issue,
                     Then::to<&CheckpointWriter::issue_pages>(this, pages));
}

void CheckpointWriter::issue_pages(std::uint64_t pages) {
    issuing_ = false;
    for (; pages != 0; --pages, ++next_page_) {
        const Checkpoints::Page& page = checkpoints_.attempt()->pages[next_page_];
        add(page.at, PageKind::checkpoint, page.content);
    }
    peers_.writer.hand_over();
    go_on();
}

void CheckpointWriter::add(const PageAddress& at, PageKind kind, const PageContent& content) {
    ProgramJob& job = programs_.acquire();
    PageRecord record = feature_.draw_record(kind);
    record.content = &content;
    if (kind == PageKind::root) root_number_ = record.number;
    peers_.writer.set_up(job, {at, FlashClass::mapping_write, FlashCause::checkpoint, record},
                         CoreStep::checkpoint_done, Then::to<&CheckpointWriter::program_done>(this, job));
    peers_.writer.add_whole(job);
    ++in_flight_;
}

void CheckpointWriter::erased(FlashJob& job) {
    peers_.cores.run(idx(job.txn.die), costs_.flash_complete, CoreStep::checkpoint_done,
                     Then::to<&CheckpointWriter::erase_done>(this, job));
}

void CheckpointWriter::erase_done(FlashJob& job) {
    const bool ok = job.txn.status.result == FlashResult::ok;
    const PageAddress at = job.txn.address;
    erases_.release(job);
    ended(ok, true, at);
}

void CheckpointWriter::program_done(ProgramJob& job) {
    const bool ok = job.txn.status.result == FlashResult::ok;
    const PageAddress at = job.txn.address;
    programs_.release(job);
    feature_.count(1, 0);
    ended(ok, false, at);
}

void CheckpointWriter::ended(bool ok, bool erased, const PageAddress& at) {
    const SuperblockId b = peers_.ftl.shape().superblock_of(geometry_.block_of(at));
    --in_flight_;
    broken_ = broken_ || !ok;
    if (state_ == State::root) {
        if (in_flight_ != 0) return;
        if (!erased) return root_done(!broken_);
        checkpoints_.root_erased(!std::exchange(broken_, false));
        return write_root();
    }
    if (!ok) checkpoints_.fail(b);
    go_on();
}

/// `again`: the attempt is begun anew, because its contents are not true any more or have no place.
void CheckpointWriter::abandon(bool again) {
    checkpoints_.give_up();
    state_ = State::idle;
    broken_ = false;
    if (!again) return;
    due_at_ = 0;
    if (!is_clean_) return end();
    if (++tries_ == kMostTries) return end();
    begin();
}

void CheckpointWriter::try_root() {
    if (checkpoints_.in_flight().disturbed()) return abandon(true);
    if (!checkpoints_.in_flight().awaited_ended() || !peers_.journal.is_durable(turn_)) return;
    if (peers_.journal.is_lost(turn_)) {
        abandon(false);
        return end();
    }
    root_ = checkpoints_.attempt()->root.encode();
    works_ = false;
    state_ = State::root;
    write_root();
}

void CheckpointWriter::write_working(std::function<void()> done) {
    SSDTLM_CHECK(clean() && state_ == State::idle, "a drive says again that it works");
    done_ = std::move(done);
    is_clean_ = false;
    root_ = checkpoints_.working_root();
    works_ = true;
    broken_ = false;
    state_ = State::root;
    write_root();
}

void CheckpointWriter::write_root() {
    PageAddress at;
    SuperblockId first = kNoSuperblock;
    if (!checkpoints_.root_place(at, first)) {
        given_up_ = true;
        if (works_) peers_.ftl.refuse_writes();
        if (!works_) checkpoints_.give_up();
        state_ = State::idle;
        return end();
    }
    if (first != kNoSuperblock) return erase(first);
    peers_.cores.run(0, costs_.flash_issue, CoreStep::checkpoint_issue, Then::to<&CheckpointWriter::issue_root>(this));
}

void CheckpointWriter::issue_root() {
    PageAddress at;
    SuperblockId none = kNoSuperblock;
    checkpoints_.root_place(at, none);
    checkpoints_.root_taken();
    add(at, PageKind::root, root_);
    peers_.writer.hand_over();
}

void CheckpointWriter::root_done(bool ok) {
    broken_ = false;
    if (!ok) return write_root();  // the anchor's next page
    checkpoints_.set_root_number(root_number_);
    if (works_)
        checkpoints_.works();
    else
        checkpoints_.complete();
    state_ = State::idle;
    end();
}

/// Whoever waits for it goes on; another may be due by now.
void CheckpointWriter::end() {
    if (done_) std::exchange(done_, nullptr)();
    if (on_idle_) on_idle_();
    program_ended();
}

void CheckpointWriter::check_waiters() const {
    const bool busy = in_flight_ != 0 || issuing_;
    if ((state_ == State::erasing || state_ == State::writing) && !busy)
        throw CheckFailed("checkpoint: its pages are to be written, and nothing is under way");
    if (state_ == State::settling && !look_posted_ && checkpoints_.in_flight().awaited_ended() &&
        peers_.journal.is_durable(turn_))
        throw CheckFailed("checkpoint: all that it names is in flash, and its root record is not written");
}

std::string CheckpointWriter::dump() const {
    static const char* const kDoing[] = {"idle", "erases", "writes pages", "waits for what it names",
                                         "writes its root record"};
    return std::string("checkpoint: ") + kDoing[static_cast<std::size_t>(state_)] + ", " + std::to_string(in_flight_) +
           " operations in flight\n";
}

}  // namespace ssdtlm
