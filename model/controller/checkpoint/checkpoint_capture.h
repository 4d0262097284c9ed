// SPDX-License-Identifier: Apache-2.0
// Records what the FTL's tables say at one moment, for a checkpoint. Programs under way count as ended.
#pragma once

#include <vector>

#include "controller/checkpoint/checkpoints.h"
#include "controller/ftl/image.h"
#include "controller/journal/notes.h"

namespace ssdtlm {

class Ftl;

class CheckpointCapture {
public:
    enum class Result : std::uint8_t {
        begun,
        not_now,  ///< data of a failed program have no new place yet; try again later
        no_room
    };
    /// Begins Checkpoints' next attempt. `clean`: nothing is under way, and nothing will be written after it.
    static Result begin(Ftl& ftl, bool clean);

private:
    explicit CheckpointCapture(Ftl& ftl);
    CheckpointBooks books(bool clean) const;
    bool map_page(std::uint32_t page, std::vector<std::uint32_t>& entries) const;
    PageContent content(std::uint32_t page, const std::vector<std::uint32_t>& entries) const;
    bool has_changed(std::uint32_t page, const PageContent& now) const;

    const Ftl& ftl_;
    const FtlImage image_;
    const Notes::Image notes_;
    const Checkpoints& checkpoints_;
    std::vector<PageAddress> journal_;
    std::vector<std::uint32_t> number_of_;    // of a page of the journal, in journal_, from 1
    std::vector<std::pair<Lpa, Ppa>> moved_;  // units that garbage collection has under way, in order
};

}  // namespace ssdtlm
