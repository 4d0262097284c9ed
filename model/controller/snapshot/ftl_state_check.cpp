// SPDX-License-Identifier: Apache-2.0
// Checks an FTL that was read from a snapshot, for errors that no organ can see by itself. Ftl::verify_books() later
// compares the map with the flash. These checks cover what it takes for granted, and what would be missed only when the
// drive works.
#include <cstdint>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/ftl/image.h"
#include "controller/snapshot/ftl_state.h"

namespace ssdtlm {

void FtlState::check_read(const Ftl& ftl, const FtlImage& image, Snapshot& s) {
    check_flash(ftl, image, s);
    check_turns(ftl, image, s);
    std::vector<std::uint32_t> candidates(ftl.shape().superblocks(), VictimPolicy::kNoCandidate);
    for (std::uint32_t b = 0; b < candidates.size(); ++b)
        if (image.blocks[SuperblockId{b}].state == BlockState::sealed)
            candidates[b] = image.blocks[SuperblockId{b}].valid;
    s.require(image.policy.agrees(candidates), "the choice of victims has others than the sealed superblocks");
}

/// The flash must have no units that the drive does not have, and no pages with numbers that are yet to come.
void FtlState::check_flash(const Ftl& ftl, const FtlImage& image, Snapshot& s) {
    const NandGeometry& g = ftl.geometry();
    const std::uint64_t units = ftl.units();
    for (std::uint32_t n = 0; n < g.blocks(); ++n) {
        std::uint64_t number = 0;
        for (auto record = image.flash.records(BlockId{n}); !record.at_end(); record.next()) {
            s.require(record.record().number >= number && record.record().number <= image.last_number,
                      "a page of the flash that is yet to come");
            number = record.record().number;
            if (record.record().kind == PageKind::parity) continue;  // a sum, which is no unit
            const std::uint32_t first = (n * g.pages_per_block + record.page()) * g.units_per_page();
            for (std::uint32_t i = 0; i < g.units_per_page(); ++i) {
                const Spare spare = image.flash.at(Ppa{first + i});
                s.require(spare >= kTorn || idx(ftl.codec().lpa(spare)) < units,
                          "a unit of the flash that the drive does not have");
            }
        }
    }
}

void FtlState::check_turns(const Ftl& ftl, const FtlImage& image, Snapshot& s) {
    const std::uint32_t groups = ftl.shape().groups();
    for (std::uint32_t n = 0; n < groups; ++n) {
        const SuperblockId b = image.begun.of(GroupId{n});
        s.require(b == kNoSuperblock ||
                      (idx(b) / ftl.shape().blocks_per_group() == n && image.blocks[b].state == BlockState::victim),
                  "a victim that is none");
    }
    for (std::uint32_t n = 0; n < groups; ++n) {
        s.require(image.gc_stream.empty() || image.gc_stream[n] <= image.partitions.streams(),
                  "a stream that there is not");
    }
    for (std::uint32_t partition = 0; partition < image.partitions.count(); ++partition)
        s.require(!image.partitions.any_held(partition), "a group that is held for nothing");
    for (std::uint32_t n = 0; n < groups; ++n)
        for (std::uint32_t stream = 0; stream <= image.partitions.streams(); ++stream)
            s.require(image.partitions.able(GroupId{n}, stream) == ftl.takes_host_pages(GroupId{n}, stream),
                      "a group that takes pages, and does not");
}

}  // namespace ssdtlm
