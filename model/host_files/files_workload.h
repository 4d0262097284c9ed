// SPDX-License-Identifier: Apache-2.0
// Puts file systems between jobs and the drive, as a Workload over a Workload. Jobs see files at addresses of their own
// (FileOfJobs). Each request of a job is a call on a file: a read, a write, or a sync. Here a call becomes I/O of the
// drive, and ends when this I/O has ended. The file systems are made before the first call.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "host_files/file_systems.h"
#include "host_files/ports/file_system.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// A file, as jobs address it.
struct FileOfJobs {
    std::uint64_t begin = 0;      ///< address of its first byte
    std::uint64_t bytes = 0;      ///< length that the jobs use
    std::uint64_t allocated = 0;  ///< bytes that fallocate() gives it before the jobs start
};
struct JobOnFiles {
    std::vector<std::uint32_t> files;  ///< numbers in FilesOfJobs::files
    bool data_only = false;            ///< its writes with FUA stand for O_DSYNC, not for O_SYNC
};
/// All jobs of one workload, and their files by address.
struct FilesOfJobs {
    std::vector<FileOfJobs> files;
    std::vector<JobOnFiles> jobs;
    std::uint32_t first_job = 0;   ///< number in HostRequest::job of the first of `jobs`
    std::uint64_t first_byte = 0;  ///< where its part of the drive begins
};

class FilesWorkload final : public Workload {
public:
    struct Mount {
        FilesOfJobs of;
        std::unique_ptr<FileSystem> system;
    };
    /// `inner` must outlive this object. A job that belongs to no mount sends its requests to the drive unchanged.
    FilesWorkload(Workload& inner, std::vector<Mount> mounts, const FilesConfig& config);

    Next next(SimTime now) override;
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override;
    std::uint32_t jobs() const override { return inner_.jobs(); }
    std::uint32_t tenant(std::uint32_t job) const override { return inner_.tenant(job); }
    IoPriority priority(std::uint32_t job) const override { return inner_.priority(job); }
    std::uint32_t depth(std::uint32_t job) const override { return inner_.depth(job); }
    double progress(SimTime now) const override { return inner_.progress(now); }
    bool measuring(const HostRequest& request, SimTime now) const override {
        return !request.preparation && inner_.measuring(request, now);
    }
    std::optional<JobTime> job_time(std::uint32_t job) const override { return inner_.job_time(job); }

    std::vector<std::string> outcomes() const;
    const FileSystem& system(std::size_t mount) const { return *mounts_[mount].system; }

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    /// A call of a job, from its request until it is reported as completed.
    struct Call {
        HostRequest request;  // as the job made it
        SimTime issued{}, submitted{};
        std::uint32_t mount = 0, file = kNone;
        std::uint32_t parts = 0;        // I/Os that have not ended
        std::uint64_t transaction = 0;  // the transaction that it waits for
        enum class Step : std::uint8_t { starting, data, waiting, flushing } step = Step::starting;
        bool ok = true, in_drive = false;
    };
    /// An I/O on its way to the drive. Its HostRequest::tag is the number of its owner (see kSystems).
    struct Out {
        FileIo io;
        std::uint64_t owner;
        std::uint32_t job;
        bool preparation;
    };
    bool take_out(SimTime now, HostRequest& request);
    bool own_io(SimTime now);
    bool format_io();
    void begin(const HostRequest& request, SimTime now);
    void start(std::uint32_t call, SimTime now);
    void go_on(std::uint32_t call, SimTime now);
    void sync(std::uint32_t call);
    void end(std::uint32_t call);
    bool deliver(SimTime now);
    void send(std::uint32_t call, const std::vector<FileIo>& io);
    std::uint32_t mount_of(std::uint32_t job) const { return mount_of_job_[job]; }
    std::uint32_t file_at(const Mount& mount, std::uint64_t address) const;

    Workload& inner_;
    const FilesConfig config_;
    std::vector<Mount> mounts_;
    std::vector<std::uint32_t> mount_of_job_;  // by job; kNone: it works on the drive itself
    std::vector<std::vector<std::vector<FileIo>>> formats_;
    std::uint32_t format_mount_ = 0;
    std::size_t format_step_ = 0, format_io_ = 0;
    std::uint32_t formatting_ = 0;  // I/Os of formatting in the drive
    bool created_ = false;

    std::vector<Call> calls_;
    std::vector<std::uint32_t> free_calls_;
    struct Starting {
        SimTime at;
        std::uint32_t call;
    };
    std::deque<Starting> starting_;       // all calls take the same time, so they are in order
    std::vector<std::uint32_t> waiting_;  // calls that wait for a transaction
    std::deque<std::uint32_t> ended_;
    std::uint64_t open_calls_ = 0;
    std::deque<Out> out_, layout_out_;
    std::uint32_t layout_under_way_ = 0;
    std::uint64_t under_way_ = 0;
    std::vector<std::uint32_t> asks_;  // by mount, the job that asked for a commit last
    std::vector<FileIo> io_;           // kept for its memory
    bool inner_done_ = false;
    std::uint32_t laying_out_ = 0;  // calls that lay out files
};

}  // namespace ssdtlm
