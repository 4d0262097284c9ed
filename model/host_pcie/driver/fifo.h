// SPDX-License-Identifier: Apache-2.0
// A first-in first-out ring. It keeps its memory, so it does not allocate once it has reached its largest size.
#pragma once

#include <cstddef>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {

template <class T>
class Fifo {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    T& front() { return ring_[head_]; }
    const T& front() const { return ring_[head_]; }
    /// The i-th oldest element.
    const T& at(std::size_t i) const { return ring_[(head_ + i) & (ring_.size() - 1)]; }
    void push(const T& v) {
        if (size_ == ring_.size()) grow();
        ring_[(head_ + size_++) & (ring_.size() - 1)] = v;
    }
    void pop() {
        SSDTLM_CHECK(size_ != 0, "pop from an empty queue");
        head_ = (head_ + 1) & (ring_.size() - 1);
        --size_;
    }
    void clear() { size_ = 0; }

private:
    void grow() {
        std::vector<T> bigger(ring_.empty() ? 16 : 2 * ring_.size());
        for (std::size_t i = 0; i < size_; ++i) bigger[i] = at(i);
        ring_.swap(bigger);
        head_ = 0;
    }

    std::vector<T> ring_;  // size is zero or a power of two
    std::size_t head_ = 0;
    std::size_t size_ = 0;
};

}  // namespace ssdtlm
