// SPDX-License-Identifier: Apache-2.0
// Writes a pattern over the whole drive, pass by pass, through the write path. A flush ends each pass: it programs as
// many bytes of flash as the drive has, and a loss of power does not take the last one away.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "controller/nvme/media/media_work.h"

namespace ssdtlm {

class OverwriteJob final : public MediaJob {
public:
    static constexpr std::uint32_t kPieceBytes = 1u << 17;  ///< size of one write, if the drive takes it; assumed
    static constexpr std::uint32_t kDepth = 8;              ///< writes under way at once; assumed

    struct Plan {
        std::uint64_t blocks = 0;  ///< blocks of the drive
        std::uint32_t lba_bytes = 4096;
        std::uint32_t piece_bytes = kPieceBytes;
        std::uint32_t passes = 1;
        std::uint32_t pattern = 0;
        bool inverts = false;  ///< each pass inverts the pattern
    };
    using Progress = std::function<void(std::uint32_t passes, double part)>;  ///< part: share of all passes
    using Done = std::function<void(bool well)>;

    OverwriteJob(const Plan& plan, Progress progress, Done done)
        : plan_(plan), progress_(std::move(progress)), done_(std::move(done)) {}

    const char* name() const override { return "overwrite"; }
    bool next(NvmeCommand& c) override {
        if (at_ == plan_.blocks) {
            if (!flushed_) {
                flushed_ = true;
                c.op = IoOp::flush;
                return true;
            }
            if (pass_ + 1 >= plan_.passes) return false;
            ++pass_;
            at_ = 0;
            flushed_ = false;
        }
        c.op = IoOp::write;
        c.slba = at_;
        c.blocks = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(plan_.piece_bytes / plan_.lba_bytes, plan_.blocks - at_));
        c.bytes = std::uint64_t{c.blocks} * plan_.lba_bytes;
        c.special.data = SpecialCommand::Data::kept;
        c.special.kept.resize(c.bytes);
        // With OIPBP the last pass writes the pattern itself. Each earlier pass writes the inverse of the next.
        const bool inverse = plan_.inverts && ((plan_.passes - 1 - pass_) & 1u) != 0;
        const std::uint32_t word = inverse ? ~plan_.pattern : plan_.pattern;
        for (std::size_t i = 0; i < c.bytes; i += 4) nvme::store(c.special.kept.data() + i, word);
        at_ += c.blocks;
        return true;
    }
    void ended(const NvmeCommand& c) override {
        well_ = well_ && c.status == CommandStatus::success;
        written_ += c.blocks;
        const double all = static_cast<double>(plan_.blocks) * plan_.passes;
        progress_(static_cast<std::uint32_t>(written_ / plan_.blocks), static_cast<double>(written_) / all);
    }
    void done() override { done_(well_); }
    /// The flush has to come behind all writes of its pass.
    std::uint32_t depth() const override { return at_ == plan_.blocks ? 1 : kDepth; }
    bool waits_for_host() const override { return true; }

private:
    const Plan plan_;
    Progress progress_;
    Done done_;
    std::uint32_t pass_ = 0;
    std::uint64_t at_ = 0, written_ = 0;
    bool well_ = true, flushed_ = false;
};

}  // namespace ssdtlm
