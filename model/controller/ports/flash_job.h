// SPDX-License-Identifier: Apache-2.0
// A flash transaction of the firmware, and the pools that its jobs come from. An organ that asks the flash for
// something derives a job of its own, with what it must remember until the flash answers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "controller/ports/flash.h"
#include "controller/ports/job_bytes.h"

namespace ssdtlm {

struct FlashJob {
    FlashTransaction txn;                               ///< comes first: see job_of()
    FlashJob* next = nullptr;                           ///< until issued: next of those that go together; see next_of()
    std::unique_ptr<JobBytes> bytes;                    ///< null: the Spare stands for the data
    std::array<std::uint8_t, kMaxUnitsPerPage> slot{};  ///< page slot of unit i
    std::uint8_t units = 0;
};

/// The job whose transaction this is. The firmware must have made the transaction.
inline const FlashJob& job_of(const FlashTransaction& txn) {
    static_assert(std::is_standard_layout_v<FlashJob>, "a job's address is that of its transaction");
    return reinterpret_cast<const FlashJob&>(txn);
}

/// The next job in the list of this one. Jobs of one list have one type.
template <class Job>
Job* next_of(const Job& job) {
    return static_cast<Job*>(job.next);
}

/// Fills in what the job asks of the flash. The caller still sets the amount of data and its contents.
inline void set_up(FlashJob& job, FlashOp op, FlashClass cls, const PageAddress& address, const NandGeometry& geometry,
                   const Then& then) {
    job.txn.op = op;
    job.txn.cls = cls;
    job.txn.address = address;
    job.txn.die = geometry.die_of(address.plane);
    job.txn.then = then;
}

/// A list of jobs that go to the flash one after the other.
template <class Job>
class JobChain {
public:
    void add(Job& job) {
        job.next = nullptr;
        if (first_ == nullptr)
            first_ = &job;
        else
            last_->next = &job;
        last_ = &job;
    }
    Job* first() const { return first_; }

private:
    Job* first_ = nullptr;
    Job* last_ = nullptr;
};

/// Hands this job, and all that are linked to it, to the flash.
template <class Job>
void submit_all(FlashPort& flash, Job& first) {
    for (FlashJob* job = &first; job != nullptr;) {
        FlashJob* const next = job->next;  // a job handed over may be used again at once
        flash.submit(job->txn);
        job = next;
    }
}

/// What the pools of one firmware have in common.
class FlashJobs {
public:
    /// `with_bytes`: jobs carry the bytes of their units.
    explicit FlashJobs(std::uint32_t page_bytes, bool with_bytes = false)
        : page_bytes_(page_bytes), with_bytes_(with_bytes) {}

    std::uint32_t page_bytes() const { return page_bytes_; }
    bool with_bytes() const { return with_bytes_; }
    /// A flow's data have just got a page. Work that begins from now on and serves no command counts as caused by this
    /// flow.
    void caused_by(const WorkTag& whose) { cause_ = whose; }
    const WorkTag& cause() const { return cause_; }
    /// Jobs that were acquired and not released.
    std::size_t used() const { return used_; }
    void acquired() { ++used_; }
    void released() { --used_; }

private:
    std::size_t used_ = 0;
    WorkTag cause_;
    std::uint32_t page_bytes_;
    const bool with_bytes_;
};

/// Jobs of one type. acquire() resets only what begin() names. Everything else in a job is as its last user has left
/// it.
template <class Job>
class JobPool {
public:
    /// It must outlive the pool.
    explicit JobPool(FlashJobs& all) : all_(all) {}

    Job& acquire() {
        Job& job = take();
        begin(job);
        return job;
    }
    void release(Job& job) {
        end(job);
        make_free(job);
    }

protected:
    Job& take() {
        if (__builtin_expect(free_ == nullptr, 0)) grow();
        Job& job = *free_;
        free_ = next_of(job);
        return job;
    }
    void begin(Job& job) {
        job.txn.path = nullptr;
        job.txn.owner = 0;
        job.txn.cause = FlashCause::of_class;
        job.txn.slc = false;
        job.txn.first_byte = 0;
        job.txn.whose = all_.cause();
        all_.acquired();
    }
    void end(Job& job) {
        all_.released();
        if (__builtin_expect(all_.with_bytes(), 0)) job.bytes->clear();
    }
    void make_free(Job& job) {
        job.next = free_;
        free_ = &job;
    }
    const FlashJobs& all() const { return all_; }

private:
    __attribute__((noinline, cold)) void grow() {
        jobs_.push_back(std::make_unique<Job>());
        if (all_.with_bytes()) {
            jobs_.back()->bytes = std::make_unique<JobBytes>();
            jobs_.back()->txn.bytes = jobs_.back()->bytes->page.data();
        }
        make_free(*jobs_.back());
    }

    FlashJobs& all_;
    Job* free_ = nullptr;  // used last first
    std::vector<std::unique_ptr<Job>> jobs_;
};

}  // namespace ssdtlm
