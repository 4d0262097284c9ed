// SPDX-License-Identifier: Apache-2.0
#include "controller/parity/row_parity.h"

#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

namespace {
class ParityKind final : public FtlFeatureKind {
public:
    using FtlFeatureKind::FtlFeatureKind;
    bool is_wanted() const override { return config_.parity != Parity::none; }
    FeatureNeeds needs() const override { return {0, 0, 0, true}; }
    void check(std::vector<Problem>& out) const override {
        const auto refuse = [&](bool wrong, const char* key, const std::string& found, const std::string& allowed,
                                const std::string& repair) {
            if (wrong)
                out.push_back(
                    {key, found + " with ftl.parity = \"die\"", allowed, repair + ", or ftl.parity = \"none\""});
        };
        refuse(config_.superblock != SuperblockSpan::drive, "ftl.superblock",
               config_.superblock == SuperblockSpan::die ? "\"die\"" : "\"plane\"",
               "\"drive\": parity is that of a row over all dies", "set it to \"drive\"");
        refuse(geometry_.dies() < 2, "ftl.parity", "1 die", "2 dies or more: one of them takes it", "use more dies");
        refuse(config_.slc.any(), config_.slc.blocks != 0 ? "slc.blocks" : "slc.dynamic_blocks", "an SLC cache",
               "none: rows in SLC mode have no parity", "leave it out");
        refuse(config_.initial_state == InitialState::analytic, "precondition.state", "\"analytic\"",
               "\"fresh\", \"sequential\" or \"random\": by formula any block holds data", "set one of these");
        refuse(!config_.gc_charge_time, "gc.charge_time", "false",
               "true: the parity of data that moves without time is not implemented", "set it to true");
    }
    std::unique_ptr<FtlFeature> make(const FeatureSetup& setup) const override {
        return std::make_unique<RowParity>(setup);
    }
};
}  // namespace

std::unique_ptr<FtlFeatureKind> RowParity::kind(const FeatureSite& site) {
    return std::make_unique<ParityKind>(site);
}

RowParity::RowParity(const FeatureSetup& setup) : in_(setup) {
    in_.events.listen(*this, {FtlEvent::pages_handed_out});
}

/// The parity pages that were handed out with them are due.
void RowParity::pages_handed_out() {
    if (!in_.blocks.owes_parity()) return;
    for (const PageAddress& a : in_.blocks.take_parity_pages()) {
        const BlockId block = in_.ftl.geometry().block_of(a);
        // Where garbage collection goes on behind a loss of power, it may have been programmed before.
        if (in_.ftl.flash_in_no_time().next_page(block) > a.page)
            in_.blocks.page_programmed(in_.ftl.shape().superblock_of(block));
        else
            due_.push_back({a, {}});
    }
    if (!due_.empty() && on_due_) on_due_();
}

void RowParity::draw_numbers() {
    for (Page& page : due_)
        if (page.record.number == 0 &&
            !in_.ftl.is_bad(in_.ftl.shape().superblock_of(in_.ftl.geometry().block_of(page.at))))
            page.record = in_.ftl.draw_record(page.at, PageKind::parity);
}

std::uint32_t RowParity::take_due(std::vector<Page>& out) {
    draw_numbers();
    std::uint32_t failed = 0;
    out.clear();
    for (const Page& page : due_) {
        const SuperblockId b = in_.ftl.shape().superblock_of(in_.ftl.geometry().block_of(page.at));
        if (!in_.ftl.is_bad(b)) {
            out.push_back(page);
            continue;
        }
        ++failed;
        if (page.record.number != 0) {
            dropped(page.at);
        } else {
            in_.blocks[b].cut = true;
            in_.blocks.page_programmed(b);
        }
    }
    due_.clear();
    return failed;
}

void RowParity::programmed(const PageAddress& a) {
    ++in_.counters.parity_pages;
    in_.ftl.page_ended(a, PageEnd::programmed);
}

void RowParity::failed(const PageAddress& a) {
    ++in_.counters.parity_pages;
    in_.ftl.page_ended(a, PageEnd::failed);
}

void RowParity::dropped(const PageAddress& a) {
    const SuperblockId b = in_.ftl.shape().superblock_of(in_.ftl.geometry().block_of(a));
    SSDTLM_CHECK(in_.ftl.is_bad(b), "parity of a superblock that has not failed is given up");
    in_.blocks[b].cut = true;
    in_.ftl.page_ended(a, PageEnd::dropped);
}

void RowParity::program_at_once() {
    if (!any_due()) return;
    std::vector<Page> pages;
    take_due(pages);
    const SuperblockShape& shape = in_.ftl.shape();
    Spare parity[kMaxUnitsPerPage], of_page[kMaxUnitsPerPage];
    for (const Page& page : pages) {
        const SuperblockId b = shape.superblock_of(in_.ftl.geometry().block_of(page.at));
        std::fill_n(parity, kMaxUnitsPerPage, Spare{0});
        for (std::uint32_t i = idx(page.at.plane) % shape.joined(); i < shape.data_planes(); i += shape.joined()) {
            in_.ftl.flash_in_no_time().read_page(shape.page(b, page.at.page * shape.planes() + i), of_page);
            for (std::uint32_t s = 0; s < in_.ftl.geometry().units_per_page(); ++s)
                parity[s] = Spare{idx(parity[s]) ^ addend(of_page[s])};
        }
        in_.ftl.flash_in_no_time().program_page(page.at, parity, page.record);
        programmed(page.at);
    }
}

}  // namespace ssdtlm
