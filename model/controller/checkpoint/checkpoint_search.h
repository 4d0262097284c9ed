// SPDX-License-Identifier: Apache-2.0
// How a drive that starts finds its newest complete checkpoint, in time. In each of the two anchors, one after the
// other, it looks for the last page in use by bisection, and reads it whole; if that page is torn, it reads the ones
// before it. The newer of the two is the root record. It says where the pages of the books are, and these say where the
// pages of the map are. All of these are read, several of a die at once. Kernel-free.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/checkpoint/checkpoints.h"
#include "controller/ports/core_port.h"
#include "controller/ports/flash.h"
#include "controller/ports/mount_step.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class CheckpointSearch final : public MountStep {
public:
    /// `clean_from`: after a clean checkpoint without dirty translation pages, the checkpoint's pages of the map are
    /// read only from this number on.
    CheckpointSearch(const MountPeers& peers, const CheckpointLayout& layout, std::uint32_t clean_from);
    CheckpointSearch(const CheckpointSearch&) = delete;
    CheckpointSearch& operator=(const CheckpointSearch&) = delete;

    void start(std::function<void()> done) override;
    std::uint64_t reads() const override { return reads_; }
    bool over() const override { return at_work_ == 0; }
    bool waits_for_flash() const override { return at_work_ > on_core_; }
    std::string dump() const override;

    struct Found {
        CheckpointRoot root;
        CheckpointBooks books;
        std::uint32_t anchor = 0;
        std::uint32_t anchor_pages = 0;  ///< in use
    };
    /// Empty: there is no checkpoint.
    const std::optional<Found>& found() const { return found_; }
    /// Number of the newest root record, even if its checkpoint cannot be used; 0: there is none.
    std::uint64_t root_number() const { return root_number_; }

private:
    struct Anchor {
        FlashTransaction txn;
        std::uint32_t low = 0, high = 0;  ///< the first erased page is one of these
        std::uint32_t used = 0;           ///< known when it is found
        bool whole = false;               ///< the page that is read may be the root record
        std::optional<CheckpointRoot> root;
        std::uint64_t number = 0;
    };
    void read(FlashTransaction& txn, bool whole);
    void anchor_read(Anchor& anchor);
    void look_at_anchor(Anchor& anchor);
    void step(Anchor& anchor);
    void anchor_done(const Anchor& anchor);
    void read_all(const std::vector<PageAddress>& pages);
    void page_read(FlashTransaction& reader);
    void go_on(FlashTransaction& reader);
    bool next_page(FlashTransaction& txn);
    void pages_done();
    std::vector<PageAddress> map_pages() const;
    bool decode_books();
    bool has_map() const;
    void end();

    const MountPeers peers_;
    const CheckpointLayout layout_;
    const std::uint32_t clean_from_;
    Anchor anchors_[CheckpointLayout::kAnchors];
    std::vector<FlashTransaction> readers_;       // of die 0, die 1, ...
    std::vector<std::vector<PageAddress>> left_;  // by die
    bool books_known_ = false;
    std::uint32_t at_work_ = 0;
    std::uint32_t on_core_ = 0;  // of those
    std::uint64_t reads_ = 0;
    std::optional<Found> found_;
    std::uint64_t root_number_ = 0;
    std::function<void()> done_;
};

}  // namespace ssdtlm
