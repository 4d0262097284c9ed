// SPDX-License-Identifier: Apache-2.0
// A flash transaction with what the firmware must remember about it, and the pool it comes from.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "controller/ports/command.h"
#include "controller/ports/flash.h"
#include "controller/ports/job_bytes.h"

namespace ssdtlm {

struct FlashJob {
    enum class Kind : std::uint8_t {
        host_read,
        merge_read,
        host_program,
        gc_read,
        gc_program,
        erase,
        journal_program,
        map_read,
        map_program,
        checkpoint_program,
        parity_program,
        padding_program
    };
    enum class Source : std::uint8_t { flash, buffer, zeros, lost, ahead };  ///< host_read: where the data comes from

    FlashTransaction txn;  ///< comes first: see job_of()

    // What a host read needs: one cache line.
    Command* command = nullptr;
    FlashJob* next = nullptr;  ///< until issued: next part of the same read command, or of the same row of pages; in
                               ///< the pool: next in its list
    std::unique_ptr<std::uint8_t[]> data;  ///< one page of host data on its way out
    SimTime free_at{};                     ///< in the pool: the link reads the data until then
    std::uint32_t byte_offset = 0;         ///< host_read: first byte in the command's data; txn.data_bytes of them
    std::uint32_t first_unit = 0;          ///< host_read: first Lpa
    std::uint16_t newer = 0;  ///< host_read: bit per unit: the buffer holds newer bytes, of version item[i]
    Kind kind = Kind::host_read;
    Source source = Source::flash;
    std::uint8_t units = 0;
    std::uint8_t copies = 0;  ///< host program: units behind those of the host, which were read from the flash (block
                              ///< mapping); item: source Ppa
    std::array<std::uint8_t, kMaxUnitsPerPage> slot{};  ///< page slot of unit i

    std::array<std::uint32_t, kMaxUnitsPerPage> item{};  ///< read: version; program: buffer entry; gc: source Ppa
    std::array<Ppa, kMaxUnitsPerPage> old{};             ///< host program: copies that must stay until it has ended
    std::array<std::uint32_t, kMaxUnitsPerPage>
        dram_unit{};  ///< gc program, read of the buffer: where unit i is in the DRAM, in units
    // Reading ahead: a part of a host read waits for the job that brings its units; that one's `next` and `ahead` are
    // the first and the last who wait.
    FlashJob* ahead = nullptr;
    FlashJob* waits_behind = nullptr;
    // Host program: when it was formed and when a core worked on it, for those who wait for it.
    SimTime formed{};
    SimTime core_start{};
    SimTime core_end{};
    SimTime map_at{};                 ///< when the map had the entries of its units at hand
    SimTime done_start{};             ///< completion step
    bool again = false;               ///< an earlier program of these units has failed
    std::unique_ptr<JobBytes> bytes;  ///< null: the Spare stands for the data
    PageContent content;              ///< program: what its translation pages say, if the flash keeps that
};
static_assert(kMaxUnitsPerPage <= 16, "FlashJob::newer has a bit per unit");

/// The job whose transaction this is. The firmware must have made the transaction.
inline FlashJob& job_of(FlashTransaction& txn) {
    static_assert(std::is_standard_layout_v<FlashJob>, "a job's address is that of its transaction");
    return reinterpret_cast<FlashJob&>(txn);
}
inline const FlashJob& job_of(const FlashTransaction& txn) {
    return reinterpret_cast<const FlashJob&>(txn);
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
/// Fills in the program of a whole page. All its units are padding until the caller sets them.
inline void set_up_program(FlashJob& job, FlashClass cls, const PageAddress& address, const NandGeometry& geometry,
                           const Then& then) {
    set_up(job, FlashOp::program, cls, address, geometry, then);
    job.txn.data_bytes = geometry.page_bytes;
    job.txn.spare.fill(kPadding);
}

/// A list of jobs that go to the flash one after the other.
class JobChain {
public:
    void add(FlashJob& job) {
        job.next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = &job;
        last_ = &job;
    }
    FlashJob* first() const { return first_; }

private:
    FlashJob* first_ = nullptr;
    FlashJob* last_ = nullptr;
};

class FlashJobPool {
public:
    /// `with_bytes`: jobs carry the bytes of their units.
    explicit FlashJobPool(std::uint32_t page_bytes, bool with_bytes = false)
        : page_bytes_(page_bytes), with_bytes_(with_bytes) {}

    FlashJob& acquire(FlashJob::Kind kind, SimTime now) {
        FlashJob& job = parked_ != nullptr && parked_->free_at < now ? unpark(now) : take();
        job.kind = kind;
        job.txn.path = nullptr;
        job.txn.owner = 0;
        job.txn.cause = FlashCause::of_class;
        job.txn.slc = false;
        job.txn.first_byte = 0;
        job.txn.whose = cause_;
        ++used_;
        return job;
    }
    void release(FlashJob& job) {
        --used_;
        if (__builtin_expect(with_bytes_, 0)) job.bytes->clear();
        make_free(job);
    }
    /// Releases the job when `until` has passed: its data is still being read by the link.
    void release_at(FlashJob& job, SimTime until) {
        --used_;
        if (__builtin_expect(with_bytes_, 0)) job.bytes->clear();
        job.free_at = until;
        job.next = nullptr;
        (parked_ == nullptr ? parked_ : last_parked_->next) = &job;
        last_parked_ = &job;
    }
    void provide_data(FlashJob& job) const {
        if (__builtin_expect(job.data == nullptr, 0)) job.data = std::make_unique<std::uint8_t[]>(page_bytes_);
    }
    /// A flow's data have just got a page. Work that begins from now on and serves no command counts as caused by this
    /// flow.
    void caused_by(const WorkTag& whose) { cause_ = whose; }
    const WorkTag& cause() const { return cause_; }
    std::size_t used() const { return used_; }

private:
    FlashJob& take() {
        if (__builtin_expect(free_ == nullptr, 0)) grow();
        FlashJob& job = *free_;
        free_ = job.next;
        return job;
    }
    /// Returns the newest parked job whose time has passed. Older ones become free.
    FlashJob& unpark(SimTime now) {
        FlashJob* job = parked_;
        while ((parked_ = job->next) != nullptr && parked_->free_at < now) {
            make_free(*job);
            job = parked_;
        }
        return *job;
    }
    void make_free(FlashJob& job) {
        job.next = free_;
        free_ = &job;
    }
    __attribute__((noinline, cold)) void grow() {
        all_.push_back(std::make_unique<FlashJob>());
        if (with_bytes_) {
            all_.back()->bytes = std::make_unique<JobBytes>();
            all_.back()->txn.bytes = all_.back()->bytes->page.data();
        }
        make_free(*all_.back());
    }

    FlashJob* free_ = nullptr;         // used last first
    FlashJob* parked_ = nullptr;       // in order of release_at()
    FlashJob* last_parked_ = nullptr;  // valid while something is parked
    std::size_t used_ = 0;
    WorkTag cause_;
    std::uint32_t page_bytes_;
    const bool with_bytes_;
    std::vector<std::unique_ptr<FlashJob>> all_;
};

}  // namespace ssdtlm
