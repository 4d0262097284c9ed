// SPDX-License-Identifier: Apache-2.0
// A workload that ends another one early: after a number of requests, or at a time. Requests that were issued by then
// still complete. Preparation (files are laid out) counts for neither.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class LimitedWorkload final : public Workload {
public:
    struct Limits {
        std::uint64_t requests = ~std::uint64_t{0};  ///< at least 1
        SimTime until = kNever;  ///< no request is issued from here on; must be after 0, and counts behind preparation
        bool any() const { return requests != ~std::uint64_t{0} || until != kNever; }
    };
    enum class Reached : std::uint8_t { none, requests, time };

    /// `inner` must outlive this object.
    LimitedWorkload(Workload& inner, const Limits& limits) : inner_(inner), limits_(limits), until_(limits.until) {}

    Next next(SimTime now) override {
        if (__builtin_expect(!asked_, 0)) begin(now);  // later than at 0 if a file system was made before
        if (issued_ >= limits_.requests) return stop(Reached::requests, now);
        if (preparing_ == 0 && now >= until_) return stop(Reached::time, now);
        Next n = inner_.next(now);
        if (n.state == State::ready) ++(n.request.preparation ? preparing_ : issued_);
        // A workload that waits for a completion is asked again at that time. A workload that waits for a time is asked
        // again at the limit at the latest.
        if (n.state == State::wait && preparing_ == 0) n.when = std::min(n.when, until_);
        return n;
    }
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override {
        if (__builtin_expect(request.preparation, 0)) {
            --preparing_;
            begin(now);
        }
        inner_.completed(request, issued, submitted, now, ok);
    }
    std::uint32_t jobs() const override { return inner_.jobs(); }
    std::uint32_t tenant(std::uint32_t job) const override { return inner_.tenant(job); }
    IoPriority priority(std::uint32_t job) const override { return inner_.priority(job); }
    std::uint32_t depth(std::uint32_t job) const override { return inner_.depth(job); }
    double progress(SimTime now) const override {
        const double by_requests = static_cast<double>(issued_) / static_cast<double>(limits_.requests);
        const double by_time = to_seconds(now.time_since_epoch()) / to_seconds(until_.time_since_epoch());
        return std::min(1.0, std::max({inner_.progress(now), by_requests, by_time}));
    }
    bool measuring(const HostRequest& request, SimTime now) const override { return inner_.measuring(request, now); }
    std::optional<JobTime> job_time(std::uint32_t job) const override { return inner_.job_time(job); }

    /// Which limit ended the workload; none: it ended by itself, or goes on.
    Reached reached() const { return reached_; }

private:
    /// The time limit counts from now on.
    void begin(SimTime now) {
        asked_ = true;
        if (limits_.until < kNever - now.time_since_epoch()) until_ = now + limits_.until.time_since_epoch();
    }
    /// A workload that would have ended here anyway ends by itself. A workload that waits for a completion may be one
    /// of these.
    Next stop(Reached why, SimTime now) {
        if (reached_ != Reached::none) return {};
        Next n = inner_.next(now);
        if (n.state == State::ready || n.state == State::wait) reached_ = why;
        if (n.state != State::blocked) n.state = State::done;
        return n;
    }

    Workload& inner_;
    const Limits limits_;
    SimTime until_;
    bool asked_ = false;
    std::uint64_t issued_ = 0, preparing_ = 0;  // preparing_: under way
    Reached reached_ = Reached::none;
};

}  // namespace ssdtlm
