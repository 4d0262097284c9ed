// SPDX-License-Identifier: Apache-2.0
// A feature of the FTL: a staging area. It has superblocks of its own in each group, which take the host's pages first.
// When one is full, its contents are listed in a page of the feature's own (staging_writer.cpp). Later what is still
// valid in it is moved to the other superblocks, the oldest first, and it is erased. Data that the host writes again
// soon are never moved. With `ftl.staging.blocks` = 0 there is no such area.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/ftl/allocation/host_partition.h"
#include "controller/ftl/events.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/victims/victim_source.h"

namespace ssdtlm::examples {

struct StagingConfig {
    std::uint32_t blocks = 0;  ///< per plane
    std::uint32_t keep_free = 1;
    bool contents = true;
};

class Staging final : public FtlFeature, private FtlListener, private VictimSource, private HostPartition {
public:
    Staging(const FeatureSetup& setup, const StagingConfig& config);

    // --- Pages of its own, for the half that works in time ---
    /// `callback` is called when a superblock is full, within the step that ends its last program.
    void on_full(std::function<void()> callback) { on_full_ = std::move(callback); }
    struct ContentsPage {
        SuperblockId of{};
        PageAddress at{};
        PageRecord record{};
        PageContent words;
    };
    /// Takes over the full superblocks whose contents are to be listed now. Those of a group that is short of free
    /// superblocks wait.
    std::vector<SuperblockId> take_full();
    bool any_full() const { return !full_.empty(); }
    /// Takes a place for the page of a superblock and lists its contents. False: the superblock is being emptied, or
    /// waits again. The page must end with contents_ended().
    bool place_contents(SuperblockId of, ContentsPage& page);
    void contents_ended(const ContentsPage& page, bool programmed);

    // --- A feature ---
    FeatureCounters counters() const override;
    void state(Snapshot& s) override;
    bool remembers() const override { return true; }
    std::uint32_t remembered(GroupId group) const override { return groups_[idx(group)].filled; }
    void remember(GroupId group, std::uint32_t filled) override { groups_[idx(group)].filled = filled; }
    void found_pages(const FoundSuperblocks& found) override;
    void found_records(const FoundSuperblocks& found, std::vector<std::vector<SuperblockId>>& free) override;
    /// While preconditioning lays data out, the area takes none.
    void lay_out_begins() override { in_use_ = false; }
    void lay_out_ended() override { in_use_ = true; }
    std::string check() const override;

private:
    struct Group {
        SuperblockId open = kNoSuperblock;
        std::deque<SuperblockId> free;    // in the order in which they were erased
        std::deque<SuperblockId> sealed;  // in the order in which they were filled
        std::uint32_t filled = 0;         // so far
        std::uint8_t gave_last = 0;       // a victim, when it was asked last
    };
    Group& group_of(SuperblockId b);
    SuperblockId own(std::uint32_t group, std::uint32_t i) const;
    std::uint64_t last_number(SuperblockId b) const;
    std::vector<SuperblockId> oldest_first(const FoundSuperblocks& found) const;
    void find_contents(const FoundSuperblocks& found);
    std::string check_contents(SuperblockId of, const PageAddress& at) const;

    // --- A listener ---
    void page_ended(const PageAddress& a, PageEnd end) override;
    void superblock_erased(SuperblockId b) override;

    // --- A source of victims ---
    bool wants(GroupId group, bool idle) const override;
    SuperblockId take(GroupId group, bool idle) override;
    void chosen(GroupId group, SuperblockId victim, const VictimSource& by) override;
    VictimReason reason() const override { return VictimReason::fold; }

    // --- A write partition ---
    bool owns(SuperblockId b) const override { return in_.blocks[b].stream == in_.own.stream; }
    std::uint32_t pages() const override;
    bool takes_pages(GroupId group) const override;
    PageAddress allocate(GroupId group) override;
    SuperblockId open_block(GroupId group) const override { return groups_[idx(group)].open; }
    std::uint32_t write_pointer(GroupId group) const override;
    void sealed(SuperblockId b) override;
    void erased(SuperblockId b) override;
    void lost(SuperblockId b) override;
    bool is_replaced(SuperblockId) const override { return false; }  // the area is smaller from then on
    void left_out(SuperblockId b) override;
    void for_each_free(GroupId group, const std::function<void(SuperblockId)>& visit) const override;

    const FeatureSetup in_;
    const StagingConfig config_;
    std::vector<Group> groups_;
    bool in_use_ = true;
    std::vector<SuperblockId> full_;
    std::function<void()> on_full_;
    std::map<std::uint32_t, PageAddress> contents_;  // by superblock of the area: where its contents are listed
    std::uint64_t pages_ = 0, emptied_ = 0, moved_ = 0, listed_ = 0, not_listed_ = 0, found_ = 0;
};

}  // namespace ssdtlm::examples
