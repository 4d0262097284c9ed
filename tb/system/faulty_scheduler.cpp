// SPDX-License-Identifier: Apache-2.0
// The program with one more policy, `faulty`: a scheduler that fails as SSDTLM_FAULT asks for, as KIND:N. How a run
// ends that goes wrong is seen from outside with it.
//   stall:N  grants nothing after N grants        lose:N   forgets the Nth request
//   panic:N  breaks an invariant at the Nth       check:N  finds a wrong result at the Nth
#include <cstdlib>
#include <string>

#include "common/report/error.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

class FaultyScheduler final : public SchedulerPort {
public:
    FaultyScheduler(SchedulerConfig config, const SchedulerShape& shape) {
        config.policy = "read_first";
        inner_ = make_scheduler_policy(config, shape);
        const char* const text = std::getenv("SSDTLM_FAULT");
        const std::string fault = text == nullptr ? "" : text;
        kind_ = fault.substr(0, fault.find(':'));
        if (kind_.size() < fault.size()) at_ = std::strtoull(fault.c_str() + kind_.size() + 1, nullptr, 10);
    }

    void push(const SchedulerRequest& request) override {
        if (++pushed_ == at_ && kind_ == "lose") return;
        inner_->push(request);
    }
    GrantAnswer grant(const GrantQuery& query, Grant& out) override {
        if (kind_ == "stall" && granted_ >= at_) return GrantAnswer::nothing;
        const GrantAnswer answer = inner_->grant(query, out);
        if (answer == GrantAnswer::granted && ++granted_ == at_) {
            if (kind_ == "panic") panic("FaultyScheduler", "an invariant is broken, as asked for");
            if (kind_ == "check") throw CheckFailed("a result is wrong, as asked for");
        }
        return answer;
    }
    std::uint32_t queued(std::uint16_t channel) const override { return inner_->queued(channel); }
    /// Else the grant boundary finds the mistake before the run shows what becomes of it.
    bool proven() const override { return true; }

private:
    std::unique_ptr<SchedulerPort> inner_;
    std::string kind_;
    std::uint64_t at_ = 0;
    std::uint64_t pushed_ = 0;
    std::uint64_t granted_ = 0;
};

const SchedulerPolicies::Registered kFaulty{
    {"faulty", "fails as it is told", {}, [](const SchedulerSetup& s, const PolicySettings&) {
         return std::make_unique<FaultyScheduler>(s.config, s.shape);
     }}};

}  // namespace
}  // namespace ssdtlm
