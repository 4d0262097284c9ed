// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/trace_workload.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ssdtlm {

namespace {
constexpr double kMaxPs = 9.0e18;  // below 2^63

std::string short_text(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
}

void check(const Trace& trace, const TraceReplayOptions& o) {
    std::vector<Problem> problems;
    const auto require = [&](bool ok, const char* where, const std::string& found, const char* allowed) {
        if (!ok) problems.push_back(Problem{where, found, allowed, ""});
    };
    require(o.time_scale > 0.0 && std::isfinite(o.time_scale), "trace replay: time_scale", short_text(o.time_scale),
            "a positive factor");
    require(o.depth > 0, "trace replay: depth", "0", "at least 1");
    require(o.max_outstanding > 0, "trace replay: max_outstanding", "0", "at least 1");
    require(o.loops > 0, "trace replay: loops", "0", "at least 1");
    require(o.jobs > 0, "trace replay: jobs", "0", "at least 1");
    require(o.max_request_bytes > 0 && o.max_request_bytes % 512 == 0, "trace replay: max_request_bytes",
            std::to_string(o.max_request_bytes), "a positive multiple of the LBA size");
    require(static_cast<double>(trace.stats.duration.count()) * o.time_scale * o.loops < kMaxPs,
            "trace replay: time_scale", short_text(o.time_scale), "a factor that keeps the replay below 104 days");
    if (!problems.empty()) throw UserError(std::move(problems));
}
}  // namespace

TraceWorkload::TraceWorkload(std::shared_ptr<const Trace> trace, const TraceReplayOptions& options)
    : trace_(std::move(trace)),
      options_(options),
      bound_(options.mode == TraceReplayOptions::Mode::closed ? options.depth : options.max_outstanding) {
    check(*trace_, options_);
}

SimTime TraceWorkload::due(const TraceRecord& r) const {
    if (options_.mode == TraceReplayOptions::Mode::closed) return start_;
    if (options_.time_scale == 1.0) return start_ + r.t;
    return start_ + Ps{std::llround(static_cast<double>(r.t.count()) * options_.time_scale)};
}

/// Begins the next round over the trace. Its time 0 is the last stamp of this round. A closed loop has no such time.
bool TraceWorkload::next_loop() {
    if (loop_ + 1 == options_.loops || trace_->records.empty()) return false;
    start_ = due(trace_->records.back());
    ++loop_;
    position_ = 0;
    return true;
}

Workload::Next TraceWorkload::next(SimTime now) {
    if (!started_) {
        started_ = true;
        start_ = now;
    }
    Next n;
    if (position_ == trace_->records.size() && !next_loop()) return n;
    const TraceRecord& r = trace_->records[position_];
    const SimTime when = due(r);
    if (when > now) {
        n.state = State::wait;
        n.when = when;
        return n;
    }
    if (outstanding_ == bound_) {
        n.state = State::blocked;
        return n;
    }
    n.state = State::ready;
    n.request.op = r.op();
    n.request.fua = r.fua != 0;
    n.request.job = r.stream % options_.jobs;
    n.request.offset = r.offset + done_bytes_;
    n.request.bytes = std::min(r.bytes - done_bytes_, options_.max_request_bytes);
    // Ranges of a trim cost no transfer, so a trim stays whole.
    if (r.op() == HostOp::trim) n.request.bytes = r.bytes;
    n.request.tag = std::uint64_t{loop_} * trace_->records.size() + position_;
    if (options_.mode == TraceReplayOptions::Mode::timed && now > when && done_bytes_ == 0) {
        ++late_;
        latest_ = std::max(latest_, Ps{now - when});
    }
    done_bytes_ += n.request.bytes;
    if (done_bytes_ >= r.bytes) {
        ++position_;
        done_bytes_ = 0;
    }
    ++outstanding_;
    ++issued_;
    return n;
}

void TraceWorkload::completed(const HostRequest&, SimTime, SimTime, SimTime, bool ok) {
    SSDTLM_CHECK(outstanding_ > 0, "a completion without a request");
    --outstanding_;
    if (!ok) ++failed_;
}

double TraceWorkload::progress(SimTime) const {
    const auto records = static_cast<double>(trace_->records.size());
    return (static_cast<double>(loop_) * records + static_cast<double>(position_)) / (records * options_.loops);
}

}  // namespace ssdtlm
