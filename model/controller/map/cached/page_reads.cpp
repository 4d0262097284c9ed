// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/page_reads.h"

#include <utility>

namespace ssdtlm {

void PageReads::start(std::vector<std::uint32_t> pages, std::function<void()> done) {
    SSDTLM_CHECK(idle() && !pages.empty(),
                 "translation pages are read for a checkpoint while others are, or none at all");
    pages_ = std::move(pages);
    next_ = 0;
    done_ = std::move(done);
    peers_.agenda.post(peers_.agenda.now(), Then::to<&PageReads::begin>(this));
}

void PageReads::begin() {
    // assumed: as many at a time as keep each group of planes busy.
    for (std::uint32_t i = 0; i < 2 * peers_.ftl.shape().groups() && next_ != pages_.size(); ++i) go_on();
}

void PageReads::go_on() {
    ++under_way_;
    const std::uint32_t page = pages_[next_++];
    peers_.cores.run(page, peers_.costs.flash_issue, CoreStep::map_read, Then::to<&PageReads::read>(this, page));
}

void PageReads::read(std::uint64_t page) {
    const auto number = static_cast<std::uint32_t>(page);
    if (in_dram_(number) || !is_place(peers_.pages.place(number))) return ended();
    ++reads_;
    TranslationRead& job = jobs_.acquire();
    start_translation_read(peers_, job, number);
    job.txn.then = Then::to<&PageReads::flash_done>(this, job);
    job.txn.cause = FlashCause::checkpoint;
    peers_.flash.submit(job.txn);
}

void PageReads::flash_done(TranslationRead& job) {
    end_translation_read(peers_, job, Then::to<&PageReads::page_read>(this, job));
}

void PageReads::page_read(TranslationRead& job) {
    jobs_.release(job);
    ended();
}

void PageReads::ended() {
    --under_way_;
    if (next_ != pages_.size()) return go_on();
    if (under_way_ == 0) std::exchange(done_, nullptr)();
}

}  // namespace ssdtlm
