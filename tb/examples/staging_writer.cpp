// SPDX-License-Identifier: Apache-2.0
// What the staging area does in time: a core writes the list of each superblock that is full, and collection looks
// whether one is to be emptied.
#include <memory>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/gc/gc_engine.h"
#include "controller/page_writer/page_writer.h"
#include "controller/ports/feature_organ.h"
#include "controller/wait_queues/wait_queues.h"
#include "examples/staging.h"

namespace ssdtlm::examples {
namespace {

class StagingWriter final : public Organ {
public:
    StagingWriter(const OrganPeers& peers, Staging& staging) : peers_(peers), staging_(staging), jobs_(peers.jobs) {
        staging_.on_full([this] { full(); });
    }
    bool idle() const override { return !asked_ && issuing_ == 0 && pages_ == 0; }
    bool under_way() const override { return !idle(); }
    void block_freed() override {
        if (staging_.any_full()) full();
    }
    void check_waiters() const override {
        if (!staging_.any_full() || asked_ || issuing_ != 0 || waits_for_block_) return;
        throw CheckFailed("staging: a superblock is full, and nobody lists it");
    }
    std::string dump() const override {
        return "staging: " + std::to_string(issuing_) + " lists to be placed, " + std::to_string(pages_) +
               " being programmed\n";
    }

private:
    struct Job : ProgramJob {
        Staging::ContentsPage page;
    };
    /// Within the step that ends a program: the rest comes afterwards.
    void full() {
        if (asked_) return;
        asked_ = true;
        peers_.agenda.post(peers_.agenda.now(), Then::to<&StagingWriter::begin>(this));
    }
    void begin() {
        asked_ = false;
        const std::vector<SuperblockId> full = staging_.take_full();
        waits_for_block_ = staging_.any_full();
        // A shutdown may have waited for it.
        if (full.empty()) peers_.wait_queues.pages_changed();
        for (const SuperblockId b : full) {
            ++issuing_;
            const GroupId group = peers_.ftl.shape().group_of(b);
            peers_.cores.run(idx(group), peers_.costs.flash_issue, CoreStep::padding_issue,
                             Then::to<&StagingWriter::issue>(this, idx(b)));
        }
    }
    void issue(std::uint64_t superblock) {
        --issuing_;
        const SuperblockId b{static_cast<std::uint32_t>(superblock)};
        const GroupId group = peers_.ftl.shape().group_of(b);
        Job& job = jobs_.acquire();
        if (staging_.place_contents(b, job.page)) {
            ++pages_;
            peers_.writer.set_up(job, {job.page.at, FlashClass::gc_write, FlashCause::padding, job.page.record},
                                 CoreStep::padding_done, Then::to<&StagingWriter::programmed>(this, job));
            peers_.writer.add_whole(job);
            peers_.writer.hand_over();
        } else {
            jobs_.release(job);
            waits_for_block_ = staging_.any_full();
        }
        peers_.gc.check(group);
        peers_.wait_queues.pages_changed();
    }
    void programmed(Job& job) {
        --pages_;
        staging_.contents_ended(job.page, job.txn.status.result == FlashResult::ok);
        const PlaneId plane = job.page.at.plane;
        jobs_.release(job);
        peers_.gc.check(plane);
        peers_.wait_queues.pages_changed();
    }

    const OrganPeers peers_;
    Staging& staging_;
    JobPool<Job> jobs_;
    bool asked_ = false;            // begin() is to come
    bool waits_for_block_ = false;  // before more can be listed
    std::uint32_t issuing_ = 0, pages_ = 0;
};

const FeatureOrganRegistration kStagingWriter("staging", [](const OrganPeers& peers) -> std::unique_ptr<Organ> {
    auto* const staging = peers.ftl.feature<Staging>();
    return staging != nullptr ? std::make_unique<StagingWriter>(peers, *staging) : nullptr;
});

}  // namespace
}  // namespace ssdtlm::examples
