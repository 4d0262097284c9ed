// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/link/credits.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

CreditAccount::CreditAccount(std::uint32_t headers, std::uint32_t data, Ps loop, Rate rate)
    : header_limit_(headers == 0 ? kInfinite : headers),
      data_limit_(data == 0 ? kInfinite : data),
      infinite_(headers == 0 && data == 0),
      loop_(std::max(loop, Ps{1})),
      rate_(rate),
      ring_(16) {}

void CreditAccount::lift_unreachable(std::uint32_t min_overhead, std::uint32_t min_payload, std::uint32_t max_payload) {
    // When a TLP starts, the credits of three kinds of TLPs are out: those that ended within the last loop (at most
    // `window` bytes; 2 ps cover the rounding of both ends), the one across the begin of this window, and the new one.
    const auto ps = static_cast<std::uint64_t>(loop_.count()) + 2;
    const std::uint64_t window = div_ceil(ps * rate_.bytes_part(), rate_.ps_part());
    if (window / (min_overhead + min_payload) + 2 <= header_limit_) header_limit_ = kInfinite;
    std::uint64_t worst = 0;
    for (std::uint32_t p = 4; p <= max_payload; p += 4)
        worst = std::max(worst, div_ceil(window * div_ceil(p, kCreditBytes), min_overhead + p));
    if (worst + 2 * div_ceil(max_payload, kCreditBytes) <= data_limit_) data_limit_ = kInfinite;
    infinite_ = header_limit_ == kInfinite && data_limit_ == kInfinite;
}

CreditWait CreditAccount::earliest(const TlpTrain& train, std::uint32_t i, SimTime t) {
    const std::uint32_t need = train.credits_of(i);
    retire_spans(t);
    retire_tlps(t);
    CreditWait wait{t, t, t};
    while (!room(1, need)) {
        const SimTime back = std::max(t, next_return());
        if (!room(1, 0)) wait.headers = back;
        if (!room(0, need)) wait.data = back;
        retire_one();
    }
    return wait;
}

CreditWait CreditAccount::would_start(const TlpTrain& train, std::uint32_t i, SimTime t) const {
    const std::uint32_t need = train.credits_of(i);
    std::uint64_t headers = headers_out_ + 1, data = data_out_ + need;
    CreditWait wait{t, t, t};
    for (std::size_t k = 0; k < size_; ++k) {
        const Span& s = ring_[(head_ + k) & (ring_.size() - 1)];
        for (std::uint32_t out = s.next; out < s.limit; ++out) {
            const SimTime back = return_of(s, out);
            if (back > wait.until()) {
                if (headers <= header_limit_ && data <= data_limit_) return wait;
                if (headers > header_limit_) wait.headers = back;
                if (data > data_limit_) wait.data = back;
            }
            --headers;
            data -= s.train.credits_of(out);
        }
    }
    return wait;
}

std::uint32_t CreditAccount::runnable(const TlpTrain& train, SimTime t) {
    std::uint32_t n = 0;
    std::uint32_t back = 0;  // first TLP of the train whose credit is still out
    for (; n < train.count(); ++n) {
        const SimTime start = t + rate_.time_for(train.wire_prefix(n));
        retire_spans(start);
        retire_tlps(start);
        while (t + rate_.time_for(train.wire_prefix(back + 1)) + loop_ <= start) ++back;
        if (!room(n + 1 - back, 0)) break;
    }
    return n;
}

SimTime CreditAccount::next_return() const {
    SSDTLM_CHECK(size_ != 0, "a TLP needs more credits than the receiver advertises");
    return return_of(front(), front().next);
}

void CreditAccount::take_next() {
    Span& s = back();
    const std::uint32_t credits = s.train.credits_of(s.limit);
    s.last_return = last_return_ = return_of(s, s.limit);
    ++s.limit;
    s.data += credits;
    ++headers_out_;
    data_out_ += credits;
}

void CreditAccount::grow() {
    std::vector<Span> larger(2 * ring_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_.swap(larger);
    head_ = 0;
}

void CreditAccount::retire_old_spans(SimTime t) {
    while (size_ != 0 && front().last_return <= t) {
        headers_out_ -= front().limit - front().next;
        data_out_ -= front().data;
        pop_front();
    }
}

void CreditAccount::retire_tlps(SimTime t) {
    while (size_ != 0 && next_return() <= t) retire_one();
}

void CreditAccount::retire_one() {
    Span& s = front();
    const std::uint32_t credits = s.train.credits_of(s.next);
    s.data -= credits;
    --headers_out_;
    data_out_ -= credits;
    if (++s.next == s.limit) pop_front();
}

}  // namespace ssdtlm
