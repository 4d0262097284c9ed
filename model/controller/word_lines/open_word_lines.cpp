// SPDX-License-Identifier: Apache-2.0
#include "controller/word_lines/open_word_lines.h"

#include <string>

#include "controller/ftl/ftl.h"
#include "controller/ftl/mapping/mapping.h"

namespace ssdtlm {

namespace {
/// Most rows of pages that a victim costs beside its valid units: the rest of a row, and three to close it.
constexpr std::uint32_t kRows = 4;

class WordLineKind final : public FtlFeatureKind {
public:
    using FtlFeatureKind::FtlFeatureKind;
    bool is_wanted() const override { return geometry_.two_step; }
    FeatureNeeds needs() const override { return {0, 0, kRows, false}; }
    void check(std::vector<Problem>& out) const override {
        const auto refuse = [&out](bool wrong, const char* key, const std::string& found, const std::string& allowed) {
            if (wrong)
                out.push_back(
                    {key, found + " with nand.two_step = true", allowed, "change it, or set nand.two_step = false"});
        };
        refuse(geometry_.bits_per_cell != 2, "nand.bits_per_cell", std::to_string(geometry_.bits_per_cell),
               "2: a lower and an upper page in each word line");
        refuse(geometry_.pages_per_block < 6 || geometry_.pages_per_block % 2 != 0, "nand.geometry.pages_per_block",
               std::to_string(geometry_.pages_per_block),
               "an even number, 6 or more: two for each word line, and one beside the five that a collection may cost");
        const auto mapping = mapping_of(config_, geometry_);
        refuse(mapping->is_on_flash() || mapping->places_by_blocks(), "ftl.mapping", "\"" + config_.mapping + "\"",
               "\"page\": closing word lines of a map's or log block's own pages is not implemented");
        refuse(config_.gc_frontier != GcFrontier::own, "gc.frontier", "\"shared\"",
               "\"own\": closing word lines of one write pointer is not implemented");
        refuse(config_.gc_pace != "full", "gc.pace", "\"" + config_.gc_pace + "\"",
               "\"full\": each pause in a victim would have to close word lines");
        refuse(!config_.gc_charge_time, "gc.charge_time", "false",
               "true: data that moves without time closes no word line");
        refuse(config_.parity != Parity::none, "ftl.parity", "\"die\"",
               "\"none\": parity of rows that are padded is not implemented");
        refuse(config_.slc.any(), config_.slc.blocks != 0 ? "slc.blocks" : "slc.dynamic_blocks", "an SLC cache",
               "none: it is not implemented beside blocks of two steps");
        refuse(config_.has_checkpoints(),
               config_.checkpoint_interval_bytes != 0 ? "ftl.checkpoint_interval" : "ftl.checkpoint_at_shutdown",
               "checkpoints of the map", "none: a checkpoint would name pages that are not safe yet");
        refuse(config_.most_spread != 0, "wear.most_spread", std::to_string(config_.most_spread),
               "0: closing word lines of static levelling is not implemented");
        refuse(config_.refresh_reads != 0 || config_.refresh_age != Age{},
               config_.refresh_reads != 0 ? "refresh.reads" : "refresh.age", "refresh",
               "none: what is refreshed wins nothing, and would cost padding");
        refuse(!config_.precondition_workload.empty(), "precondition.workload", "a workload in no time",
               "none: it would leave word lines open");
    }
    std::unique_ptr<FtlFeature> make(const FeatureSetup& setup) const override {
        return std::make_unique<OpenWordLines>(setup);
    }
};
}  // namespace

std::unique_ptr<FtlFeatureKind> OpenWordLines::kind(const FeatureSite& site) {
    return std::make_unique<WordLineKind>(site);
}

bool OpenWordLines::is_open(SuperblockId b) const {
    const BlockState state = in_.blocks[b].state;
    return state == BlockState::open_host || state == BlockState::open_gc;
}

bool OpenWordLines::is_missing(SuperblockId b, std::uint32_t lower_row) const {
    return is_open(b) && in_.blocks[b].write_pointer <
                             (in_.ftl.geometry().word_lines().above(lower_row) + 1) * in_.ftl.shape().planes();
}

bool OpenWordLines::is_quiet(SuperblockId b) const {
    for (std::uint32_t i = 0, handed_out = in_.blocks[b].write_pointer; i < in_.ftl.shape().planes(); ++i)
        if (in_.ftl.flash().next_page(in_.ftl.shape().block(b, i)) !=
            (handed_out + in_.ftl.shape().planes() - 1 - i) / in_.ftl.shape().planes())
            return false;
    return true;
}

OpenWordLines::Page OpenWordLines::take(SuperblockId b) {
    SSDTLM_CHECK(is_open(b), "padding of a superblock that is not open");
    const GroupId group = in_.ftl.shape().group_of(b);
    const BlockRecord& r = in_.blocks[b];
    const std::uint32_t stream = host_stream_of(r.stream);
    Page page;
    page.of_host = r.state == BlockState::open_host;
    page.at = page.of_host ? in_.blocks.allocate_host(group, stream) : in_.ftl.allocate_gc_page(group, stream);
    page.record = in_.ftl.draw_record(page.at, PageKind::padding);
    if (!page.of_host) return page;
    const std::uint32_t next = in_.blocks.write_pointer(group, BlockState::open_host, stream);
    if (next == 0) in_.ftl.update_able(group);
    if (in_.ftl.shape().planes() != 1)
        in_.partitions.cursor(group, stream).set_ragged(group, in_.ftl.shape().plane_in_group(next) != 0);
    return page;
}

void OpenWordLines::programmed(const Page& page) {
    ++(page.of_host ? in_.counters.host_padding_pages : in_.counters.gc_padding_pages);
    in_.ftl.page_ended(page.at, PageEnd::programmed);
}

void OpenWordLines::close(GroupId group, BlockState kind, std::uint32_t stream) {
    const SuperblockId b = in_.blocks.open_block(group, kind, stream);
    if (b == kNoSuperblock) return;
    SSDTLM_CHECK(in_.blocks.close(group, kind, stream), "a superblock is closed while it is programmed");
    in_.ftl.seal(b);
}

void OpenWordLines::lay_out_ended() {
    for (std::uint32_t g = 0; g < in_.ftl.shape().groups(); ++g) {
        const GroupId group{g};
        for (std::uint32_t stream = 0; stream <= in_.partitions.streams(); ++stream) {
            close(group, BlockState::open_host, stream);
            close(group, BlockState::open_gc, stream);
            in_.partitions.cursor(group, stream).set_ragged(group, false);
        }
        in_.ftl.update_able(group);
    }
}

}  // namespace ssdtlm
