// SPDX-License-Identifier: Apache-2.0
#include "sim/config/media_checks.h"

#include <algorithm>
#include <set>
#include <string>

#include "controller/ftl/superblock.h"
#include "controller/slc/slc_cache.h"
#include "nand/array/array_faults.h"
#include "sim/config/config_checker.h"

namespace ssdtlm {
namespace {

class MediaChecker final : private ConfigChecker {
public:
    explicit MediaChecker(const ResolvedConfig& resolved) : ConfigChecker(resolved) {}

    std::vector<Problem> run() {
        const auto faults = make_faults(c_.faults, c_.nand.geometry, c_.run.seed);
        if (c_.nand.geometry.two_step && faults->kinds().programs) {
            const bool by_rate = c_.faults.program_fails > 0;
            add(by_rate ? "nand.faults.program_fail" : "nand.faults.model",
                value(by_rate ? "nand.faults.program_fail" : "nand.faults.model") + " with nand.two_step = true",
                (by_rate ? "0%" : "a model without failing programs") +
                    std::string(": the effect of a failed upper page on its lower page is not implemented"),
                (by_rate ? "set it to 0%" : "set another one") + std::string(", or nand.two_step = false"));
        }
        if (c_.nand.cache_program) cache_program();
        bad_at_factory(faults->factory_bad());
        return std::move(out_);
    }

private:
    void cache_program() {
        if (!c_.channel.rtl_sequencer.empty())
            add("nand.cache_program", "true with channel.rtl_sequencer",
                "no cache program on channels with an RTL sequencer, which does not play 15h",
                "set channel.rtl_sequencer = [], or nand.cache_program = false");
        const bool slc = c_.ftl.slc.blocks + c_.ftl.slc.dynamic_blocks != 0;
        Ps shortest = *std::min_element(c_.nand.t_program.begin(), c_.nand.t_program.end());
        const char* of = "nand.t_program";
        if (slc && c_.nand.slc.t_program < shortest) {
            shortest = c_.nand.slc.t_program;
            of = "nand.slc.t_program";
        }
        if (c_.nand.t_cache_busy > shortest)
            add("nand.t_cache_busy", value("nand.t_cache_busy") + " is longer than the array takes for a page",
                "at most " + time_text(shortest) + " (" + of + ")", std::string("lower it, or raise ") + of);
    }
    /// Checks the blocks that are marked as bad at the factory. They follow from the seed, so they are known before the
    /// drive is built.
    void bad_at_factory(const std::vector<BlockId>& marked) {
        if (marked.empty()) return;
        const NandGeometry& g = c_.nand.geometry;
        const SuperblockShape shape(g, c_.ftl.superblock);
        const SlcRegion slc = slc_region_of(c_.ftl, g);
        std::set<SuperblockId> bad;
        for (const BlockId b : marked)
            if (const std::uint32_t in_plane = g.block_in_plane(b);
                in_plane < slc.first || in_plane >= slc.first + slc.blocks)
                bad.insert(shape.superblock_of(b));
        std::vector<std::uint32_t> of_group(shape.groups());
        for (const SuperblockId b : bad) ++of_group[idx(shape.group_of(b))];
        const std::uint32_t most = *std::max_element(of_group.begin(), of_group.end());
        if (most <= c_.ftl.spare_blocks) return;
        const char* const key = c_.faults.factory_bad > 0 ? "nand.faults.factory_bad" : "nand.faults.model";
        const std::string said = key + (" = " + value(key));
        const char* const where = c_.ftl.superblock == SuperblockSpan::plane ? "a plane"
                                  : c_.ftl.superblock == SuperblockSpan::die ? "the planes of a die"
                                                                             : "the drive";
        add("ftl.spare_blocks",
            value("ftl.spare_blocks") + " with " + said + ", which gives " + where + " up to " + std::to_string(most) +
                " superblocks with a bad block",
            std::to_string(most) + " or more with this run.seed",
            "raise it, or lower " + said.substr(0, said.find(' ')));
    }
};

}  // namespace

std::vector<Problem> check_media(const ResolvedConfig& resolved) {
    return MediaChecker(resolved).run();
}

}  // namespace ssdtlm
