// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/streams.h"

#include <algorithm>

namespace ssdtlm {

using namespace nvme;

std::uint16_t Streams::send(const Sqe& sqe) {
    const Directive d = directive(sqe);
    if (d.type == kDirectiveIdentify && d.operation == kDirectiveEnable) {
        const auto target = static_cast<std::uint8_t>(sqe.cdw12 >> 8);
        if (target != kDirectiveStreams) return kStInvalidField;  // the directive Identify cannot be disabled
        enabled_ = (sqe.cdw12 & 1u) != 0;
        if (!enabled_) {
            open_.clear();
            allocated_ = 0;
        }
        return kStSuccess;
    }
    if (d.type != kDirectiveStreams || !enabled_) return kStInvalidField;
    switch (d.operation) {
        case kStreamsReleaseIdentifier:
            close(d.specific);
            return kStSuccess;
        case kStreamsReleaseResources:
            open_.clear();
            allocated_ = 0;
            return kStSuccess;
        default:
            return kStInvalidField;
    }
}

std::uint16_t Streams::receive(const Sqe& sqe, std::uint32_t& dw0, std::vector<std::uint8_t>& data) {
    const Directive d = directive(sqe);
    const std::size_t bytes = (std::size_t{sqe.cdw10} + 1) * 4;
    constexpr std::size_t kLongest = 1u << 20;  // limits the memory that a bad NUMD can ask for
    if (bytes > kLongest) return kStInvalidField;
    std::vector<std::uint8_t> page;
    if (d.type == kDirectiveIdentify && d.operation == kDirectiveParameters) {
        page.resize(kIdentifyBytes);
        page[0] = 1u << kDirectiveIdentify | 1u << kDirectiveStreams;  // supported
        page[32] = static_cast<std::uint8_t>(1u << kDirectiveIdentify | (enabled_ ? 1u << kDirectiveStreams : 0u));
    } else if (d.type != kDirectiveStreams || !enabled_) {
        return kStInvalidField;
    } else if (d.operation == kDirectiveParameters) {
        page.resize(StreamsParameters::kBytes);
        store(page.data() + StreamsParameters::kMsl, static_cast<std::uint16_t>(most_));
        store(page.data() + StreamsParameters::kNssa, static_cast<std::uint16_t>(most_ - allocated_));
        store(page.data() + StreamsParameters::kNsso, static_cast<std::uint16_t>(allocated_ == 0 ? open() : 0u));
        store(page.data() + StreamsParameters::kNsa, static_cast<std::uint16_t>(allocated_));
        store(page.data() + StreamsParameters::kNso, static_cast<std::uint16_t>(allocated_ != 0 ? open() : 0u));
    } else if (d.operation == kStreamsStatus) {
        page.resize(2 + 2 * open_.size());
        store(page.data(), static_cast<std::uint16_t>(open()));
        for (std::size_t i = 0; i < open_.size(); ++i) store(page.data() + 2 + 2 * i, open_[i].id);
    } else if (d.operation == kStreamsAllocate) {
        const std::uint32_t wanted = std::min(sqe.cdw12 & 0xFFFFu, most_);
        if (wanted == 0) return kStInvalidField;
        if (allocated_ != 0) return kStStreamResource;
        allocated_ = dw0 = wanted;
        open_.clear();
        return kStSuccess;
    } else {
        return kStInvalidField;
    }
    data.assign(bytes, 0);
    std::copy_n(page.begin(), std::min(bytes, page.size()), data.begin());
    return kStSuccess;
}

std::uint8_t Streams::find_or_open(std::uint16_t id) {
    const auto found = std::find_if(open_.begin(), open_.end(), [id](const Open& o) { return o.id == id; });
    if (found != open_.end()) {
        std::rotate(found, found + 1, open_.end());
        return open_.back().number;
    }
    if (open_.size() == limit()) open_.erase(open_.begin());
    open_.push_back({id, free_number()});
    return open_.back().number;
}

std::uint8_t Streams::free_number() const {
    std::uint8_t number = 1;
    while (std::any_of(open_.begin(), open_.end(), [number](const Open& o) { return o.number == number; })) ++number;
    return number;
}

void Streams::close(std::uint16_t id) {
    open_.erase(std::remove_if(open_.begin(), open_.end(), [id](const Open& o) { return o.id == id; }), open_.end());
}

void Streams::reset() {
    enabled_ = false;
    allocated_ = 0;
    open_.clear();
}

}  // namespace ssdtlm
