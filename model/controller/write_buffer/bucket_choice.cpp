// SPDX-License-Identifier: Apache-2.0
#include "controller/write_buffer/bucket_choice.h"

#include "common/report/error.h"

namespace ssdtlm {

BucketChoice::BucketChoice(std::uint32_t buckets, std::uint64_t patience)
    : buckets_(buckets), of_size_(1), patience_(patience) {}

/// Puts the bucket at the end of the list of its new size: of equal buckets the one that was there before goes first.
void BucketChoice::resize(std::uint32_t bucket, std::uint32_t size) {
    Bucket& b = buckets_[bucket];
    if (b.size != 0) {
        List& l = of_size_[b.size];
        (b.larger != kNone ? buckets_[b.larger].later : l.first) = b.later;
        (b.later != kNone ? buckets_[b.later].larger : l.last) = b.larger;
    }
    b.size = size;
    if (size == 0) return;
    if (size >= of_size_.size()) of_size_.resize(size + 1);
    List& l = of_size_[size];
    b.larger = l.last;
    b.later = kNone;
    (l.last != kNone ? buckets_[l.last].later : l.first) = bucket;
    l.last = bucket;
    if (size > most_) most_ = size;
}

void BucketChoice::age(std::uint32_t bucket, bool in) {
    Bucket& b = buckets_[bucket];
    if (!in) {
        (b.older != kNone ? buckets_[b.older].newer : by_age_.first) = b.newer;
        (b.newer != kNone ? buckets_[b.newer].older : by_age_.last) = b.older;
        return;
    }
    b.since = arrivals_;
    b.older = by_age_.last;
    b.newer = kNone;
    (by_age_.last != kNone ? buckets_[by_age_.last].newer : by_age_.first) = bucket;
    by_age_.last = bucket;
}

void BucketChoice::note_demand(std::uint32_t bucket) {
    Bucket& b = buckets_[bucket];
    if (b.listed) return;
    b.listed = true;
    with_demand_.push_back(bucket);
}

void BucketChoice::added(std::uint32_t bucket, bool demanded) {
    ++units_;
    if (buckets_[bucket].size == 0) age(bucket, true);
    resize(bucket, buckets_[bucket].size + 1);
    if (demanded) demand(bucket);
}

void BucketChoice::removed(std::uint32_t bucket, bool demanded) {
    Bucket& b = buckets_[bucket];
    SSDTLM_CHECK(b.size != 0 && b.demanded >= std::uint32_t{demanded}, "a unit leaves a bucket that does not have it");
    --units_;
    b.demanded -= demanded;
    demanded_units_ -= demanded;
    resize(bucket, b.size - 1);
    if (b.size == 0) age(bucket, false);
}

void BucketChoice::demand(std::uint32_t bucket) {
    ++buckets_[bucket].demanded;
    ++demanded_units_;
    note_demand(bucket);
}

void BucketChoice::demand_all() {
    for (std::uint32_t i = by_age_.first; i != kNone; i = buckets_[i].newer) {
        buckets_[i].demanded = buckets_[i].size;
        note_demand(i);
    }
    demanded_units_ = units_;
}

std::uint32_t BucketChoice::largest() {
    while (most_ != 0 && of_size_[most_].first == kNone) --most_;
    return most_ == 0 ? kNone : of_size_[most_].first;
}

std::uint32_t BucketChoice::largest_demanded() {
    std::uint32_t best = kNone;
    for (std::size_t i = 0; i < with_demand_.size();) {
        const std::uint32_t bucket = with_demand_[i];
        if (buckets_[bucket].demanded == 0) {
            buckets_[bucket].listed = false;
            with_demand_[i] = with_demand_.back();
            with_demand_.pop_back();
            continue;
        }
        if (best == kNone || buckets_[bucket].size > buckets_[best].size) best = bucket;
        ++i;
    }
    return best;
}

std::uint32_t BucketChoice::largest_dirty(std::uint32_t least) const {
    std::uint32_t best = kNone;
    for (std::uint32_t page = dirty_pages_->newest(); page != DirtyPages::kNoPage; page = dirty_pages_->before(page))
        if (buckets_[page].size >= least && (best == kNone || buckets_[page].size > buckets_[best].size)) best = page;
    return best;
}

std::uint32_t BucketChoice::choose() {
    if (demanded_units_ != 0 && demanded_units_ != units_) return largest_demanded();
    const std::uint32_t oldest = by_age_.first, most = largest();
    if (oldest != kNone && arrivals_ - buckets_[oldest].since > patience_) return oldest;
    if (dirty_pages_ == nullptr || most == kNone) return most;
    const std::uint32_t dirty = largest_dirty(buckets_[most].size / 4 + (buckets_[most].size % 4 != 0));
    return dirty != kNone ? dirty : most;
}

std::uint32_t BucketChoice::next() {
    if (left_ == 0 || buckets_[current_].size == 0) {
        left_ = 0;
        current_ = choose();
        if (current_ == kNone) return kNone;
        left_ = buckets_[current_].size;
        age(current_, false);
        age(current_, true);  // what comes from now on stays for the next time
    }
    --left_;
    return current_;
}

}  // namespace ssdtlm
