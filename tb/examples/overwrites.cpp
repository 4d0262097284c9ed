// SPDX-License-Identifier: Apache-2.0
// A workload that `run -w overwrites` starts: requests of 4 KiB at random places of the whole drive, a part of them
// writes, with some of them outstanding at all times.
#include "common/random/random.h"
#include "host_pcie/workload/generated_workload.h"

namespace ssdtlm::examples {
namespace {

class Overwrites final : public GeneratedWorkload {
public:
    Overwrites(const GeneratorSetup& setup, const PolicySettings& own)
        : random_(setup.seed, 1),
          places_(setup.capacity / kBytes),
          commands_(static_cast<std::uint64_t>(own.number("commands"))),
          depth_(static_cast<std::uint32_t>(own.number("depth"))),
          write_millionths_(static_cast<std::uint64_t>(own.number("writes"))) {}

    Next next(SimTime) override {
        if (issued_ == commands_) return {State::done, {}, {}};
        if (issued_ - completed_ == depth_) return {State::blocked, {}, {}};
        ++issued_;
        Next n{State::ready, {}, {}};
        n.request.op = random_.below(1'000'000) < write_millionths_ ? HostOp::write : HostOp::read;
        n.request.offset = random_.below(places_) * kBytes;
        n.request.bytes = kBytes;
        return n;
    }
    void completed(const HostRequest& request, SimTime, SimTime, SimTime, bool) override {
        ++completed_;
        written_ += request.op == HostOp::write;
    }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return depth_; }
    double progress(SimTime) const override { return static_cast<double>(completed_) / static_cast<double>(commands_); }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

    std::vector<FioReportJob> report_jobs() const override {
        FioReportJob job;
        job.name = "overwrites";
        job.rw = "randrw";
        job.iodepth = depth_;
        return {job};
    }
    std::vector<std::string> outcomes() const override {
        return {"overwrites: " + std::to_string(written_) + " of " + std::to_string(completed_) +
                " commands were writes"};
    }

private:
    static constexpr std::uint32_t kBytes = 4096;
    Random random_;
    const std::uint64_t places_;
    const std::uint64_t commands_;
    const std::uint32_t depth_;
    const std::uint64_t write_millionths_;
    std::uint64_t issued_ = 0, completed_ = 0, written_ = 0;
};

const WorkloadGenerators::Registered kOverwrites{
    {"overwrites",
     "4 KiB at random places of the whole drive",
     {policy_integer("commands", 60'000).range("1", "1000000000000").says("Commands of the run").from("assumed"),
      policy_integer("depth", 16).range("1", "1024").says("Commands outstanding at a time").from("assumed"),
      policy_quantity("writes", Dimension::percent, 1'000'000)
          .range("0%", "100%")
          .says("Commands that write")
          .from("assumed")},
     [](const GeneratorSetup& setup, const PolicySettings& own) { return std::make_unique<Overwrites>(setup, own); }}};

}  // namespace
}  // namespace ssdtlm::examples
