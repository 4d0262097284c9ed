// SPDX-License-Identifier: Apache-2.0
// Device Self-test log 06h (NVMe 1.4 §5.14.1.6): the running test and the last twenty results, newest first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "common/units/units.h"
#include "protocol/nvme.h"

namespace ssdtlm {

/// Codes of the command and of the log.
enum class SelfTest : std::uint8_t { none = 0, short_test = 1, extended = 2, abort = 0xF };

struct SelfTestResult {
    enum Outcome : std::uint8_t {
        passed = 0,
        aborted_by_command = 1,
        aborted_by_reset = 2,
        aborted_by_format = 4,
        failed_segment = 7,
        aborted_by_sanitize = 9
    };
    SelfTest test = SelfTest::none;
    Outcome outcome = passed;
    std::uint8_t segment = 0;  ///< the segment that failed, from 1 on
    std::uint64_t hours = 0;   ///< power-on hours
    std::uint32_t nsid = 0;    ///< namespace of the block that failed; 0: none
    std::uint64_t lba = 0;

    void state(Snapshot& s) {
        s(test, outcome, segment, hours, nsid, lba);
        s.require(test == SelfTest::short_test || test == SelfTest::extended, "the result of a self-test that is none");
    }
};

class SelfTestLog {
public:
    static constexpr std::size_t kResults = 20, kResultBytes = 28, kBytes = 4 + kResults * kResultBytes;

    void begin(SelfTest test) {
        running_ = test;
        percent_ = 0;
    }
    void progress(std::uint8_t percent) { percent_ = percent; }
    void end(const SelfTestResult& result) {
        running_ = SelfTest::none;
        results_.push_front(result);
        if (results_.size() > kResults) results_.pop_back();
    }
    SelfTest running() const { return running_; }
    void state(Snapshot& s) {
        s(running_, percent_, results_);
        s.require(running_ <= SelfTest::extended && percent_ <= 100 && results_.size() <= kResults,
                  "a self-test that is none");
    }

    void write(std::vector<std::uint8_t>& page) const {
        page.assign(kBytes, 0);
        page[0] = static_cast<std::uint8_t>(running_);
        page[1] = running_ == SelfTest::none ? 0 : percent_;
        for (std::size_t i = 0; i < kResults; ++i) {
            std::uint8_t* const d = page.data() + 4 + i * kResultBytes;
            if (i >= results_.size()) {
                d[0] = 0xF;  // not used
                continue;
            }
            const SelfTestResult& r = results_[i];
            const bool place = r.nsid != 0;
            d[0] = static_cast<std::uint8_t>(static_cast<unsigned>(r.test) << 4 | r.outcome);
            d[1] = r.segment;
            d[2] = place ? 0xF : 0;  // NSID, LBA, SCT and SC are valid
            nvme::store(d + 4, r.hours);
            nvme::store(d + 12, r.nsid);
            nvme::store(d + 16, r.lba);
            if (!place) continue;
            d[24] = nvme::kStUnrecoveredRead >> 8;
            d[25] = nvme::kStUnrecoveredRead & 0xFF;
        }
    }

private:
    SelfTest running_ = SelfTest::none;
    std::uint8_t percent_ = 0;
    std::deque<SelfTestResult> results_;
};

}  // namespace ssdtlm
