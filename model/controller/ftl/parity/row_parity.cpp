// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/parity/row_parity.h"

#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

void RowParity::check(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& g) {
    if (config.parity == Parity::none) return;
    const auto refuse = [&](bool wrong, const char* key, const std::string& found, const std::string& allowed,
                            const std::string& repair) {
        if (wrong)
            out.push_back({key, found + " with ftl.parity = \"die\"", allowed, repair + ", or ftl.parity = \"none\""});
    };
    refuse(config.superblock != SuperblockSpan::drive, "ftl.superblock",
           config.superblock == SuperblockSpan::die ? "\"die\"" : "\"plane\"",
           "\"drive\": parity is that of a row over all dies", "set it to \"drive\"");
    refuse(g.dies() < 2, "ftl.parity", "1 die", "2 dies or more: one of them takes it", "use more dies");
    refuse(config.slc.any(), config.slc.blocks != 0 ? "slc.blocks" : "slc.dynamic_blocks", "an SLC cache",
           "none: rows in SLC mode have no parity", "leave it out");
    refuse(config.initial_state == InitialState::analytic, "precondition.state", "\"analytic\"",
           "\"fresh\", \"sequential\" or \"random\": by formula any block holds data", "set one of these");
    refuse(!config.gc_charge_time, "gc.charge_time", "false",
           "true: the parity of data that moves without time is not implemented", "set it to true");
}

void RowParity::owe() {
    if (!ftl_.blocks_.owes_parity()) return;
    for (const PageAddress& a : ftl_.blocks_.take_parity_pages()) {
        const BlockId block = ftl_.geometry_.block_of(a);
        // Where garbage collection goes on behind a loss of power, it may have been programmed before.
        if (ftl_.spare_.next_page(block) > a.page)
            ftl_.blocks_.page_programmed(ftl_.shape_.superblock_of(block));
        else
            due_.push_back({a, {}});
    }
    if (!due_.empty() && on_due_) on_due_();
}

void RowParity::draw_numbers() {
    for (Page& page : due_)
        if (page.record.number == 0 && !ftl_.is_bad(ftl_.shape_.superblock_of(ftl_.geometry_.block_of(page.at))))
            page.record = ftl_.draw_record(page.at, PageKind::parity);
}

std::uint32_t RowParity::take_due(std::vector<Page>& out) {
    draw_numbers();
    std::uint32_t failed = 0;
    out.clear();
    for (const Page& page : due_) {
        const SuperblockId b = ftl_.shape_.superblock_of(ftl_.geometry_.block_of(page.at));
        if (!ftl_.is_bad(b)) {
            out.push_back(page);
            continue;
        }
        ++failed;
        if (page.record.number != 0) {
            dropped(page.at);
        } else {
            ftl_.blocks_[b].cut = true;
            ftl_.blocks_.page_programmed(b);
        }
    }
    due_.clear();
    return failed;
}

void RowParity::programmed(const PageAddress& a) {
    ++ftl_.counters_.parity_pages;
    ftl_.page_programmed(a);
}

void RowParity::failed(const PageAddress& a) {
    ++ftl_.counters_.parity_pages;
    ftl_.close_failed(a);
}

void RowParity::dropped(const PageAddress& a) {
    const SuperblockId b = ftl_.shape_.superblock_of(ftl_.geometry_.block_of(a));
    SSDTLM_CHECK(ftl_.is_bad(b), "parity of a superblock that has not failed is given up");
    ftl_.blocks_[b].cut = true;
    ftl_.page_not_programmed(a, PageEnd::dropped);
}

void RowParity::program_at_once() {
    if (!any_due()) return;
    std::vector<Page> pages;
    take_due(pages);
    const SuperblockShape& shape = ftl_.shape_;
    Spare parity[kMaxUnitsPerPage], of_page[kMaxUnitsPerPage];
    for (const Page& page : pages) {
        const SuperblockId b = shape.superblock_of(ftl_.geometry_.block_of(page.at));
        std::fill_n(parity, kMaxUnitsPerPage, Spare{0});
        for (std::uint32_t i = idx(page.at.plane) % shape.joined(); i < shape.data_planes(); i += shape.joined()) {
            ftl_.spare_.read_page(shape.page(b, page.at.page * shape.planes() + i), of_page);
            for (std::uint32_t s = 0; s < ftl_.geometry_.units_per_page(); ++s)
                parity[s] = Spare{idx(parity[s]) ^ addend(of_page[s])};
        }
        ftl_.spare_.program_page(page.at, parity, page.record);
        programmed(page.at);
    }
}

}  // namespace ssdtlm
