// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_verify_history.h"

#include <iterator>

namespace ssdtlm {

std::uint64_t FioVerifyHistory::add(std::uint64_t offset, std::uint32_t bytes) {
    const Piece piece{offset, ++last_number_, bytes, false};
    if (in_order_) {
        list_.push_back(piece);
        return last_number_;
    }
    auto at = tree_.lower_bound(offset);
    if (at != tree_.begin()) {
        const auto before = std::prev(at);
        if (before->first + before->second.bytes > offset) tree_.erase(before);
    }
    while (at != tree_.end() && at->first < offset + bytes) at = tree_.erase(at);
    tree_.emplace(offset, piece);
    return last_number_;
}

void FioVerifyHistory::completed(std::uint64_t number, std::uint64_t offset) {
    if (in_order_) {
        if (!list_.empty() && number >= list_.front().number) list_[number - list_.front().number].written = true;
        return;
    }
    const auto at = tree_.find(offset);
    if (at != tree_.end() && at->second.number == number) at->second.written = true;
}

bool FioVerifyHistory::take(std::uint64_t& offset, std::uint32_t& bytes) {
    if (size() == 0) return false;
    const Piece piece = in_order_ ? list_.front() : tree_.begin()->second;
    if (!piece.written) return false;
    if (in_order_)
        list_.pop_front();
    else
        tree_.erase(tree_.begin());
    offset = piece.offset;
    bytes = piece.bytes;
    return true;
}

void FioVerifyHistory::clear() {
    list_.clear();
    tree_.clear();
}

}  // namespace ssdtlm
