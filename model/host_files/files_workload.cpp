// SPDX-License-Identifier: Apache-2.0
#include "host_files/files_workload.h"

#include <algorithm>

#include "common/report/error.h"
#include "host_pcie/workload/report/fio_job_stats.h"

namespace ssdtlm {

namespace {

// The number of an I/O's owner. A call has its number; the file system of mount m has kSystems + m, or kFormats + m
// while it is made.
constexpr std::uint64_t kSystems = std::uint64_t{1} << 32;
constexpr std::uint64_t kFormats = std::uint64_t{2} << 32;
constexpr std::uint32_t kFormatDepth = 32;                    // assumed, as for the kernel's write-back
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // most bytes of a request

}  // namespace

FilesWorkload::FilesWorkload(Workload& inner, std::vector<Mount> mounts, const FilesConfig& config)
    : inner_(inner), config_(config), mounts_(std::move(mounts)), mount_of_job_(inner.jobs(), kNone) {
    for (std::uint32_t m = 0; m < mounts_.size(); ++m) {
        const FilesOfJobs& of = mounts_[m].of;
        for (std::uint32_t job = 0; job < of.jobs.size(); ++job)
            if (!of.jobs[job].files.empty()) mount_of_job_[of.first_job + job] = m;
        formats_.push_back(config_.format ? mounts_[m].system->format() : std::vector<std::vector<FileIo>>{});
        asks_.push_back(of.first_job);
    }
}

std::uint32_t FilesWorkload::file_at(const Mount& mount, std::uint64_t address) const {
    const auto& files = mount.of.files;
    const auto behind = std::upper_bound(files.begin(), files.end(), address,
                                         [](std::uint64_t a, const FileOfJobs& f) { return a < f.begin; });
    SSDTLM_CHECK(behind != files.begin(), "a request in front of all files");
    return static_cast<std::uint32_t>(behind - files.begin() - 1);
}

Workload::Next FilesWorkload::next(SimTime now) {
    Next result;
    for (;;) {
        if (take_out(now, result.request)) {
            result.state = State::ready;
            return result;
        }
        if (!created_) {
            if (format_io()) continue;
            if (formatting_ != 0) {
                result.state = State::blocked;
                return result;
            }
            for (Mount& m : mounts_)
                for (const FileOfJobs& f : m.of.files) m.system->create(f.allocated, now);
            created_ = true;
        }
        if (own_io(now)) continue;
        if (!starting_.empty() && starting_.front().at <= now) {
            const std::uint32_t call = starting_.front().call;
            starting_.pop_front();
            start(call, now);
            continue;
        }
        if (deliver(now)) continue;
        result = inner_.next(now);
        if (result.state != State::ready) break;
        if (mount_of(result.request.job) == kNone) {
            ++under_way_;
            return result;
        }
        begin(result.request, now);
    }
    inner_done_ = result.state == State::done;
    // The run does not wait for the rest of a commit after the last call, as no process waits for it when it exits.
    if (inner_done_ && open_calls_ == 0 && under_way_ == 0) return result;
    SimTime when = result.state == State::wait ? result.when : kNever;
    if (!starting_.empty()) when = std::min(when, starting_.front().at);
    if (!inner_done_)
        for (const Mount& m : mounts_) when = std::min(when, m.system->wakes());
    result.when = when;
    result.state = when != kNever ? State::wait : State::blocked;
    return result;
}

/// Starts one I/O of making the file systems, which are made one after the other. Returns false if none may start now.
bool FilesWorkload::format_io() {
    for (; format_mount_ < formats_.size(); ++format_mount_, format_step_ = 0) {
        const auto& steps = formats_[format_mount_];
        if (format_step_ == steps.size()) continue;
        const auto& step = steps[format_step_];
        if (format_io_ == step.size()) {
            if (formatting_ != 0) return false;
            ++format_step_;
            format_io_ = 0;
            return true;
        }
        if (formatting_ == kFormatDepth) return false;
        ++formatting_;
        out_.push_back({step[format_io_++], kFormats + format_mount_, mounts_[format_mount_].of.first_job, true});
        return true;
    }
    return false;
}

/// Starts one I/O of a journal or of write-back. It counts as an I/O of the job that asked for a commit last.
bool FilesWorkload::own_io(SimTime now) {
    if (inner_done_ && open_calls_ == 0) return false;
    for (std::uint32_t m = 0; m < mounts_.size(); ++m) {
        FileIo io;
        if (!mounts_[m].system->next(now, io)) continue;
        out_.push_back({io, kSystems + m, asks_[m], laying_out_ != 0});
        return true;
    }
    return false;
}

bool FilesWorkload::take_out(SimTime now, HostRequest& request) {
    std::deque<Out>* from = &out_;
    if (out_.empty()) {
        if (layout_out_.empty() || layout_under_way_ == config_.layout_depth) return false;
        from = &layout_out_;
        ++layout_under_way_;
    }
    const Out out = from->front();
    from->pop_front();
    const std::uint32_t m = mount_of(out.job);
    request = HostRequest{};
    request.op = out.io.op;
    request.fua = out.io.fua;
    request.preparation = out.preparation;
    request.job = out.job;
    request.offset = out.io.op == HostOp::flush ? 0 : out.io.offset + mounts_[m].of.first_byte;
    SSDTLM_CHECK(out.io.bytes <= kMostBytes, "an I/O that is too large for a request");
    request.bytes = static_cast<std::uint32_t>(out.io.bytes);
    request.tag = out.owner;
    if (out.owner < kSystems) {
        Call& call = calls_[out.owner];
        request.stream = call.request.stream;
        if (!call.in_drive) call.submitted = now;
    }
    ++under_way_;
    return true;
}

void FilesWorkload::begin(const HostRequest& request, SimTime now) {
    std::uint32_t number = 0;
    if (free_calls_.empty()) {
        number = static_cast<std::uint32_t>(calls_.size());
        calls_.emplace_back();
    } else {
        number = free_calls_.back();
        free_calls_.pop_back();
    }
    Call& call = calls_[number];
    call = Call{};
    call.request = request;
    call.issued = call.submitted = now;
    call.mount = mount_of(request.job);
    ++open_calls_;
    laying_out_ += request.preparation;
    starting_.push_back({now + config_.call_time, number});
}

void FilesWorkload::start(std::uint32_t number, SimTime now) {
    Call& call = calls_[number];
    Mount& mount = mounts_[call.mount];
    const HostRequest& r = call.request;
    const std::uint64_t address = r.offset - mount.of.first_byte;
    call.file = file_at(mount, address);
    call.submitted = now;
    const std::uint64_t offset = address - mount.of.files[call.file].begin;
    call.step = Call::Step::data;
    io_.clear();
    if (r.op == HostOp::flush) return sync(number);
    if (r.op == HostOp::read) mount.system->read(call.file, offset, r.bytes, now, io_);
    if (r.op == HostOp::write) mount.system->write(call.file, offset, r.bytes, now, io_);
    SSDTLM_CHECK(r.op != HostOp::trim, "a job trims a file");
    if (io_.empty()) return end(number);  // a read of blocks that were never written needs no I/O
    send(number, io_);
}

void FilesWorkload::send(std::uint32_t number, const std::vector<FileIo>& io) {
    Call& call = calls_[number];
    const bool layout = call.request.preparation && call.step == Call::Step::data;
    for (const FileIo& whole : io) {
        const std::uint64_t most = layout ? config_.layout_write : kMostBytes;
        std::uint64_t done = 0;
        do {
            FileIo part = whole;
            part.offset += done;
            part.bytes = std::min(most, whole.bytes - done);
            done += part.bytes;
            ++call.parts;
            (layout ? layout_out_ : out_).push_back({part, number, call.request.job, call.request.preparation});
        } while (done != whole.bytes);
    }
}

/// Takes the next step of a call when one of its I/Os has ended.
void FilesWorkload::go_on(std::uint32_t number, SimTime now) {
    Call& call = calls_[number];
    if (--call.parts != 0) return;
    const HostRequest& r = call.request;
    if (call.step == Call::Step::data && r.op == HostOp::write) {
        const Mount& mount = mounts_[call.mount];
        const std::uint64_t offset = r.offset - mount.of.first_byte - mount.of.files[call.file].begin;
        mount.system->written(call.file, offset, r.bytes, now);
        if (r.fua) return sync(number);
    }
    end(number);
}

/// Syncs the file of the call. At the end of a job it syncs all files of the job.
void FilesWorkload::sync(std::uint32_t number) {
    Call& call = calls_[number];
    Mount& mount = mounts_[call.mount];
    const JobOnFiles& job = mount.of.jobs[call.request.job - mount.of.first_job];
    const bool flush = call.request.op == HostOp::flush;
    const bool data_only = flush ? call.request.tag == kFdatasync : job.data_only;
    FileSystem::Sync wanted;
    if (flush && call.request.preparation) mount.system->close(call.file);  // the file is laid out
    const auto add = [&](std::uint32_t file) {
        const FileSystem::Sync one = mount.system->sync(file, data_only);
        wanted.transaction = std::max(wanted.transaction, one.transaction);
        wanted.flush = wanted.flush || one.flush;
    };
    if (flush && call.request.tag == kEndFsync && !call.request.preparation)
        for (const std::uint32_t file : job.files) add(file);
    else
        add(call.file);
    if (!mount.system->durable(wanted.transaction)) {
        asks_[call.mount] = call.request.job;
        call.transaction = wanted.transaction;
        call.step = Call::Step::waiting;
        waiting_.push_back(number);
        return;
    }
    if (!wanted.flush) return end(number);
    call.step = Call::Step::flushing;
    io_.assign(1, FileIo{HostOp::flush, false, 0, 0});
    send(number, io_);
}

void FilesWorkload::end(std::uint32_t number) {
    ended_.push_back(number);
}

/// Reports the ended calls to the jobs. end() does not do it, because `inner_` may not be told of a completion while it
/// is asked for a request.
bool FilesWorkload::deliver(SimTime now) {
    if (ended_.empty()) return false;
    while (!ended_.empty()) {
        const std::uint32_t number = ended_.front();
        ended_.pop_front();
        const Call call = calls_[number];
        free_calls_.push_back(number);
        --open_calls_;
        laying_out_ -= call.request.preparation;
        inner_.completed(call.request, call.issued, call.submitted, now, call.ok);
    }
    return true;
}

void FilesWorkload::completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) {
    --under_way_;
    if (mount_of(request.job) == kNone) return inner_.completed(request, issued, submitted, now, ok);
    if (request.tag >= kFormats) {
        --formatting_;
        return;
    }
    if (request.tag >= kSystems) {
        const auto m = static_cast<std::uint32_t>(request.tag - kSystems);
        mounts_[m].system->completed(now);
        const auto durable = [&](std::uint32_t call) {
            return calls_[call].mount == m && mounts_[m].system->durable(calls_[call].transaction);
        };
        std::size_t kept = 0;
        for (const std::uint32_t call : waiting_)
            if (durable(call))
                end(call);
            else
                waiting_[kept++] = call;
        waiting_.resize(kept);
        deliver(now);
        return;
    }
    const auto number = static_cast<std::uint32_t>(request.tag);
    Call& call = calls_[number];
    if (call.request.preparation && call.step == Call::Step::data) --layout_under_way_;
    call.ok = call.ok && ok;
    if (!call.in_drive) call.submitted = submitted;
    call.in_drive = true;
    go_on(number, now);
    deliver(now);
}

std::vector<std::string> FilesWorkload::outcomes() const {
    std::vector<std::string> all;
    for (const Mount& m : mounts_)
        for (std::string& o : m.system->outcomes()) all.push_back(std::move(o));
    return all;
}

}  // namespace ssdtlm
