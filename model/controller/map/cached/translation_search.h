// SPDX-License-Identifier: Apache-2.0
// Finds where the translation pages on the flash differ from the map, after the map has been found. Each of them is
// read. With a checkpoint only those are read that were dirty then, or of which a unit has changed since. Several of a
// die are read at once, and a core compares the entries with the map. Pages that differ were dirty when the power went,
// or the flash does not have their last change. The pages' numbers would not tell this: a unit that garbage collection
// moves has its number before the map has its place. The map as found is in memory until then (assumed: in the memory
// of the write buffer and the caches, which are empty). Kernel-free.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/map/cached/pages/translation_pages.h"
#include "controller/ports/core_port.h"
#include "controller/ports/flash.h"
#include "controller/ports/mount_step.h"

namespace ssdtlm {

class TranslationSearch final : public MountStep {
public:
    /// Told of a translation page and of the units in which it differs from the map.
    using Found = std::function<void(std::uint32_t page, const std::vector<Lpa>& units)>;
    /// `entry_cycles`: cycles of a core for each entry. `suspects`: by translation page, whether it may differ.
    /// Precondition: the map is on the flash.
    TranslationSearch(const MountPeers& peers, Ftl& ftl, std::uint32_t entry_cycles, std::vector<bool> suspects,
                      Found found);
    TranslationSearch(const TranslationSearch&) = delete;
    TranslationSearch& operator=(const TranslationSearch&) = delete;

    void start(std::function<void()> done) override;
    std::uint64_t reads() const override { return reads_; }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t dirty() const override { return dirty_; }
    bool over() const override { return at_work_ == 0; }
    bool waits_for_flash() const override { return at_work_ > on_core_; }
    std::string dump() const override;

private:
    struct Reader {
        FlashTransaction txn;
        std::uint32_t page = 0;  ///< translation page
    };
    bool next_page(Reader& reader);
    void read(Reader& reader);
    void page_read(Reader& reader);
    void compare(Reader& reader);
    void look(std::uint32_t page, Ppa place);
    std::uint64_t entries_of(std::uint32_t page) const;

    const MountPeers peers_;
    Ftl& ftl_;
    TranslationPages& pages_;
    const std::uint32_t entry_cycles_;
    const std::vector<bool> suspects_;
    const Found found_;
    std::vector<Reader> readers_;                   // of die 0, die 1, ...
    std::vector<std::vector<std::uint32_t>> left_;  // by die: translation pages, the first one last
    std::uint32_t at_work_ = 0;
    std::uint32_t on_core_ = 0;  // of those
    std::uint64_t reads_ = 0, entries_ = 0, dirty_ = 0;
    std::function<void()> done_;
};

}  // namespace ssdtlm
