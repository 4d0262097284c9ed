// SPDX-License-Identifier: Apache-2.0
// fio jobs on ext4 on a drive that answers every command after a fixed time, as many at a time as it is given.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "host_files/ext4/ext4.h"
#include "host_files/files_workload.h"
#include "host_pcie/workload/fio/fio_workload.h"

namespace ssdtlm {

struct OnDrive {
    SimTime at;
    HostRequest request;
    SimTime done{};
};

struct FilesBench {
    std::uint64_t bytes = 256_MiB;
    Ext4Config ext4;
    FilesConfig files;
    Ps latency = 200us;
    Ps spread{};  ///< of the latency: uniform within this to either side
    std::mt19937 random{17};

    FilesBench() { files.call_time = 1us; }

    std::unique_ptr<FioWorkload> jobs;
    std::unique_ptr<FilesWorkload> workload;

    /// Whether an I/O is of the journal.
    bool in_log(const OnDrive& d) const {
        const std::uint64_t block = d.request.offset / system().layout().block_bytes();
        return block >= system().layout().journal().first && block < system().layout().journal().end();
    }
    const Ext4& system() const { return static_cast<const Ext4&>(workload->system(0)); }

    void mount(const std::string& text) {
        const FioJobFile file = parse_fio_job_text(text, "test.fio", FioDevice{bytes, 512, 0});
        jobs = std::make_unique<FioWorkload>(file);
        FilesWorkload::Mount mount;
        for (const FioFilePlace& f : file.files) mount.of.files.push_back({f.begin, f.bytes, f.allocated});
        for (const FioJob& job : file.jobs) {
            JobOnFiles& on = mount.of.jobs.emplace_back();
            on.data_only = job.data_only;
            for (const FioFile& f : job.files) on.files.push_back(f.number.value());
        }
        ext4.layout.bytes = bytes;
        mount.system = std::make_unique<Ext4>(ext4);
        std::vector<FilesWorkload::Mount> mounts;
        mounts.push_back(std::move(mount));
        workload = std::make_unique<FilesWorkload>(*jobs, std::move(mounts), files);
    }
    /// All that came to the drive, in order.
    std::vector<OnDrive> run(const std::string& text) {
        mount(text);
        return drain();
    }
    std::vector<OnDrive> drain() {
        using Event = std::pair<SimTime, std::size_t>;
        std::priority_queue<Event, std::vector<Event>, std::greater<>> pending;
        std::vector<OnDrive> all;
        SimTime now{};
        for (;;) {
            const Workload::Next n = workload->next(now);
            if (n.state == Workload::State::ready) {
                all.push_back({now, n.request, {}});
                // A drive without a volatile cache gets no flush.
                const Ps takes =
                    latency +
                    (spread == Ps{}
                         ? Ps{}
                         : Ps{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * spread.count())) -
                              spread.count()});
                pending.push({n.request.op == HostOp::flush ? now : now + takes, all.size() - 1});
                continue;
            }
            if (pending.empty() && n.state != Workload::State::wait) {
                if (n.state == Workload::State::blocked) all.push_back({});  // blocked for nothing: counts fail
                return all;
            }
            if (n.state == Workload::State::wait && (pending.empty() || n.when < pending.top().first)) {
                now = n.when;
                continue;
            }
            now = pending.top().first;
            OnDrive& done = all[pending.top().second];
            pending.pop();
            done.done = now;
            workload->completed(done.request, done.at, done.at, now, true);
        }
    }
};

/// Of the jobs, behind the layout.
inline std::vector<OnDrive> run_part(const std::vector<OnDrive>& all, HostOp op) {
    std::vector<OnDrive> out;
    for (const OnDrive& d : all)
        if (!d.request.preparation && d.request.op == op) out.push_back(d);
    return out;
}
inline std::uint64_t bytes_of(const std::vector<OnDrive>& all) {
    std::uint64_t sum = 0;
    for (const OnDrive& d : all) sum += d.request.bytes;
    return sum;
}

}  // namespace ssdtlm
