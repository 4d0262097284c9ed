// SPDX-License-Identifier: Apache-2.0
// The options that tell the host's I/O scheduler about a job (block.scheduler).

#include "host_pcie/workload/fio/fio_options.h"

namespace ssdtlm {
namespace {

using Call = FioOptionCall;

/// A job with one of prio and prioclass passes both to ioprio_set(2). The other one is then 0, and class 0 counts as
/// best effort.
IoPriority& given(FioJob& job) {
    if (!job.has_priority) job.priority.level = 0;
    job.has_priority = true;
    return job.priority;
}

void prio(Call& c) {
    std::uint32_t level = 0;
    if (read_fio_count(c, 0, 7, level)) given(c.settings.job).level = static_cast<std::uint8_t>(level);
}
void prioclass(Call& c) {
    std::uint32_t number = 0;
    if (!read_fio_count(c, 0, 3, number)) return;
    static constexpr IoClass classes[] = {IoClass::best_effort, IoClass::realtime, IoClass::best_effort, IoClass::idle};
    given(c.settings.job).io_class = classes[number];
}
void cgroup_weight(Call& c) {
    read_fio_count(c, 100, 1000, c.settings.job.priority.weight);
}
void buffered(Call& c) {
    read_fio_bool(c, c.settings.job.priority.buffered);
}
void ioscheduler(Call& c) {
    read_fio_text(c, c.settings.job.io_scheduler);
}

}  // namespace

std::vector<FioOption> priority_fio_options() {
    constexpr auto H = FioOption::Treatment::handled;
    return {
        {"prio", nullptr, H, "level of the job's I/O priority, for a scheduler of the host that knows them", prio},
        {"prioclass", nullptr, H, "its class: 1 realtime, 2 best effort, 3 idle", prioclass},
        {"cgroup_weight", nullptr, H, "weight of the job, for a scheduler that shares by weights", cgroup_weight},
        {"buffered", nullptr, H,
         "a scheduler of the host takes the job's writes as those of write-back, for which nobody waits", buffered},
        {"ioscheduler", nullptr, H, "must be `block.scheduler`, where there is one", ioscheduler},
    };
}

}  // namespace ssdtlm
