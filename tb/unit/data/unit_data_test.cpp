// SPDX-License-Identifier: Apache-2.0
#include "controller/data/unit_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "common/random/random.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {
namespace {

using Content = std::vector<std::uint8_t>;
using Index = WriteBuffer::Index;
constexpr auto kNone = WriteBuffer::kNone;
constexpr std::uint32_t kLba = 512;

/// A write buffer with its bytes above a flash that is a map; every write, program and read is compared with a plain
/// copy of the device's bytes, and of the metadata of its blocks if there are some.
class Device {
public:
    Device(std::uint32_t unit_bytes, std::uint64_t seed, std::uint32_t of_block = 0)
        : unit_bytes_(unit_bytes),
          blocks_(unit_bytes / kLba),
          of_block_(of_block),
          kept_bytes_(unit_bytes + blocks_ * of_block),
          random_(seed, 5),
          buffer_(16),
          bytes_(buffer_, unit_bytes, kLba, blocks_ * of_block),
          all_(unit_bytes, true),
          jobs_(all_),
          programs_(all_) {
        for (std::uint32_t u = 0; u < kUnits; ++u) {
            truth_[u] = Content(kept_bytes_, 0);
            if (random_.percent(50)) flash_[u] = truth_[u] = drawn(kept_bytes_);
        }
    }
    ~Device() {
        for (Read& r : reads_) jobs_.release(*r.job);
    }

    void step() {
        const std::uint64_t what = random_.below(20);
        if (what < 7) return write();
        if (what < 8) return merge();
        if (what < 11) return program();
        if (what < 14) return programmed();
        if (what < 17) return plan_read();
        return what == 17 && random_.percent(40) ? drop() : finish_read();
    }
    std::uint64_t merges = 0, leaning_reads = 0, programs = 0, compared = 0;

private:
    static constexpr std::uint32_t kUnits = 12;
    struct Read {
        HostRead* job;
        std::uint64_t begin, end;
        Content expected, metadata;
    };

    Content drawn(std::size_t n) {
        Content c(n);
        for (std::uint8_t& b : c) b = static_cast<std::uint8_t>(random_.next());
        return c;
    }
    std::uint32_t any_unit() { return static_cast<std::uint32_t>(random_.below(kUnits)); }

    void write() {
        if (!buffer_.reserve(1)) return;
        const std::uint32_t u = any_unit();
        const bool whole = random_.percent(25);
        const std::uint32_t first = whole ? 0 : static_cast<std::uint32_t>(random_.below(blocks_));
        const std::uint32_t n = whole ? blocks_ : 1 + static_cast<std::uint32_t>(random_.below(blocks_ - first));
        const Content data = drawn(std::size_t{n} * kLba), drawn_metadata = drawn(std::size_t{n} * of_block_);
        const bool brings_metadata = random_.percent(80);
        const Content metadata = brings_metadata ? drawn_metadata : Content(drawn_metadata.size(), 0);
        const Index before = buffer_.find(Lpa{u});
        const bool needs_rest = n != blocks_ && before == kNone && flash_.count(u) != 0;
        const auto has = needs_rest     ? WriteBuffer::Bytes::merging
                         : n != blocks_ ? WriteBuffer::Bytes::part
                                        : WriteBuffer::Bytes::whole;
        const std::uint32_t waiter =
            random_.percent(40) ? 1 : WriteBuffer::kNoWaiter;  // keeps the next write from replacing it
        const Index entry = buffer_.insert(Lpa{u}, 0, waiter, has);
        bytes_.insert(entry, before, first * kLba, n * kLba, data.data(), needs_rest,
                      brings_metadata && of_block_ != 0 ? metadata.data() : nullptr);
        std::copy(data.begin(), data.end(), truth_[u].begin() + first * kLba);
        std::copy(metadata.begin(), metadata.end(), truth_[u].begin() + unit_bytes_ + first * of_block_);
        written_[entry] = truth_[u];
        if (needs_rest) merging_.push_back({entry, flash_[u]});
    }
    void merge() {
        if (merging_.empty()) return;
        const auto [entry, rest] = merging_.back();
        merging_.pop_back();
        if (!buffer_.unit(entry).dropped) bytes_.join(entry, UnitBytes::copy_of(rest.data(), kept_bytes_));
        buffer_.merged(entry);
        ++merges;
    }
    void program() {
        const Index entry = buffer_.pop_dirty(0);
        if (entry == kNone) return;
        FlashJob& job = programs_.acquire();
        bytes_.place(job, 3, entry);
        const UnitBytes& page = job.bytes->page[3];
        ASSERT_EQ(Content(page.data(), page.data() + page.size()), written_[entry]);
        programs_.release(job);
        flushing_.push_back(entry);
        ++programs;
    }
    void programmed() {
        if (flushing_.empty()) return;
        const Index entry = flushing_.front();
        flushing_.erase(flushing_.begin());
        if (!buffer_.unit(entry).dropped) flash_[idx(buffer_.unit(entry).lpa)] = written_[entry];
        buffer_.programmed(entry);
    }
    void drop() {
        const std::uint32_t u = any_unit();
        std::vector<std::uint32_t> released;
        buffer_.drop(Lpa{u}, released);
        flash_.erase(u);
        truth_[u].assign(kept_bytes_, 0);
    }
    // Of part of two units that lie in one page.
    void plan_read() {
        const auto u = static_cast<std::uint32_t>(random_.below(kUnits - 1));
        std::optional<HostRead::Source> source = source_of(u);
        HostRead& job = jobs_.acquire(SimTime{});
        job.source = *source;
        job.first_unit = u;
        job.newer = 0;
        job.units = source_of(u + 1) == source ? 2 : 1;
        Content expected, metadata;
        for (std::uint32_t i = 0; i < job.units; ++i) {
            const Index entry = buffer_.find(Lpa{u + i});
            job.slot[i] = static_cast<std::uint8_t>(5 - i);
            if (*source == HostRead::Source::flash)
                job.bytes->page[job.slot[i]] = UnitBytes::copy_of(flash_[u + i].data(), kept_bytes_);
            if (entry != kNone && !buffer_.unit(entry).dropped) {
                job.newer = static_cast<std::uint16_t>(job.newer | 1u << i);
                bytes_.take(job, i, entry);
                leaning_reads += buffer_.unit(entry).merging && buffer_.entry(entry).state == WriteBuffer::State::dirty;
            }
            const auto behind_data = truth_[u + i].begin() + unit_bytes_;
            expected.insert(expected.end(), truth_[u + i].begin(), behind_data);
            metadata.insert(metadata.end(), behind_data, truth_[u + i].end());
        }
        const std::uint64_t first = random_.below(blocks_), last = (job.units - 1) * blocks_ + random_.below(blocks_);
        const std::uint64_t begin = std::min(first, last) * kLba, end = (std::max(first, last) + 1) * kLba;
        reads_.push_back({&job, std::uint64_t{u} * unit_bytes_ + begin, std::uint64_t{u} * unit_bytes_ + end,
                          Content(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                                  expected.begin() + static_cast<std::ptrdiff_t>(end)),
                          Content(metadata.begin() + static_cast<std::ptrdiff_t>(begin / kLba * of_block_),
                                  metadata.begin() + static_cast<std::ptrdiff_t>(end / kLba * of_block_))});
    }
    HostRead::Source source_of(std::uint32_t u) const {
        const Index entry = buffer_.find(Lpa{u});
        const bool buffered = entry != kNone && !buffer_.unit(entry).dropped;
        if (buffered && !buffer_.unit(entry).merging) return HostRead::Source::buffer;
        return flash_.count(u) != 0 ? HostRead::Source::flash : HostRead::Source::zeros;
    }
    // Later, as it was when it was planned.
    void finish_read() {
        if (reads_.empty()) return;
        const auto i = static_cast<std::ptrdiff_t>(random_.below(reads_.size()));
        const Read r = reads_[static_cast<std::size_t>(i)];
        reads_.erase(reads_.begin() + i);
        Content found(r.end - r.begin, 0xA5), metadata(r.metadata.size(), 0xA5);
        bytes_.put_together(*r.job, r.begin, r.end, found.data(), of_block_ != 0 ? metadata.data() : nullptr);
        jobs_.release(*r.job);
        ASSERT_EQ(found, r.expected);
        ASSERT_EQ(metadata, r.metadata);
        ++compared;
    }

    const std::uint32_t unit_bytes_, blocks_, of_block_, kept_bytes_;
    Random random_;
    WriteBuffer buffer_;
    UnitData bytes_;
    FlashJobs all_;
    HostReadPool jobs_;
    JobPool<FlashJob> programs_;
    std::map<std::uint32_t, Content> truth_, flash_;  // by unit
    std::map<Index, Content> written_;                // by entry, what the unit is with it
    std::vector<std::pair<Index, Content>> merging_;
    std::vector<Index> flushing_;
    std::vector<Read> reads_;
};

TEST(UnitData, EqualsAPlainCopyOfTheBytes) {
    for (const std::uint32_t unit : {512u, 4096u, 131072u}) {
        std::uint64_t merges = 0, leaning = 0, programs = 0, compared = 0;
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            SCOPED_TRACE("unit of " + std::to_string(unit) + " B, seed " + std::to_string(seed));
            Device d(unit, seed, seed % 2 == 0 ? 8 : 0);
            for (std::uint32_t i = 0; i < (unit > 4096 ? 1500u : 8000u); ++i) {
                d.step();
                if (HasFatalFailure()) return;
            }
            merges += d.merges;
            leaning += d.leaning_reads;
            programs += d.programs;
            compared += d.compared;
        }
        EXPECT_GT(programs, 500u);
        EXPECT_GT(compared, 500u);
        if (unit == 512) continue;  // no unit is written in part
        EXPECT_GT(merges, 100u);
        EXPECT_GT(leaning, 20u);
    }
}

}  // namespace
}  // namespace ssdtlm
