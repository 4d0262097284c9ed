// SPDX-License-Identifier: Apache-2.0
// Replays a block trace: in an open loop by its time stamps (optionally faster or slower), or in a closed loop at a
// fixed queue depth. Requests of all streams leave in the order of the trace. It does not model dependencies between
// them: a read that waited for a write in the traced system does not wait here.
#pragma once

#include <cstdint>
#include <memory>

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/trace/trace_reader.h"

namespace ssdtlm {

struct TraceReplayOptions {
    enum class Mode : std::uint8_t {
        timed,  ///< each request at its stamp times time_scale
        closed  ///< as fast as possible with `depth` outstanding; stamps only give the order
    };
    Mode mode = Mode::timed;
    double time_scale = 1.0;                     ///< timed: 0.5 replays twice as fast; positive
    std::uint32_t depth = 32;                    ///< closed: outstanding requests, all jobs together
    std::uint32_t max_outstanding = 1023;        ///< timed: as one queue of 1,024 entries; later requests wait
    std::uint32_t loops = 1;                     ///< how many times the trace is played
    std::uint32_t jobs = 1;                      ///< stream s is submitted by job s % jobs
    std::uint32_t max_request_bytes = 1u << 20;  ///< longer ones are several requests; multiple of the LBA size
};

class TraceWorkload final : public Workload {
public:
    TraceWorkload(std::shared_ptr<const Trace> trace, const TraceReplayOptions& options);

    Next next(SimTime now) override;
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override;
    std::uint32_t jobs() const override { return options_.jobs; }
    std::uint32_t tenant(std::uint32_t job) const override { return job; }
    std::uint32_t depth(std::uint32_t) const override { return bound_; }
    double progress(SimTime) const override;
    bool measuring(const HostRequest&, SimTime) const override { return true; }

    const Trace& trace() const { return *trace_; }
    const TraceReplayOptions& options() const { return options_; }
    std::uint64_t issued() const { return issued_; }
    std::uint64_t failed() const { return failed_; }
    /// Timed replay: requests that could not leave at their stamp because max_outstanding were under way.
    std::uint64_t late() const { return late_; }
    Ps latest() const { return latest_; }  ///< largest delay of such a request

private:
    bool next_loop();
    SimTime due(const TraceRecord& r) const;

    std::shared_ptr<const Trace> trace_;
    TraceReplayOptions options_;
    std::uint32_t bound_;
    std::uint32_t loop_ = 0;
    std::size_t position_ = 0;      // next record
    std::uint32_t done_bytes_ = 0;  // of that record, when it is several requests
    std::uint32_t outstanding_ = 0;
    bool started_ = false;
    SimTime start_{};  // the first call of next(): the trace's time 0
    std::uint64_t issued_ = 0;
    std::uint64_t failed_ = 0;
    std::uint64_t late_ = 0;
    Ps latest_{0};
};

}  // namespace ssdtlm
