// SPDX-License-Identifier: Apache-2.0
// The NVMe controller without its bus: register and doorbell accesses in, DMA requests and commands out. Fetches SQEs
// on doorbells, resolves PRPs, hands I/O to the firmware, executes admin commands, posts CQEs and MSI-X messages.
// Decoding and admin commands take no time of their own; what costs time here is the DMA. Kernel-free.
// One controller, one namespace, PRPs only. Aborting reaches held event requests only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/latency/command_tracker.h"
#include "common/tlm/agenda.h"
#include "controller/nvme/admin_commands.h"
#include "controller/nvme/arbiter.h"
#include "controller/nvme/counters.h"
#include "controller/nvme/interrupts.h"
#include "controller/nvme/io_decode.h"
#include "controller/nvme/nvme_config.h"
#include "controller/nvme/prp.h"
#include "controller/nvme/queues.h"
#include "controller/nvme/registers.h"
#include "controller/ports/command.h"
#include "controller/ports/dma_port.h"

namespace ssdtlm {

class NvmeController : public DmaClient, public CompletionSink {
public:
    NvmeController(Agenda& agenda, DmaPort& dma, CommandTracker& tracker, const NvmeConfig& config,
                   const NvmeDevice& device);
    NvmeController(const NvmeController&) = delete;
    NvmeController& operator=(const NvmeController&) = delete;

    /// Who executes I/O commands. Call once before the first doorbell.
    void bind(CommandSink& sink) { sink_ = &sink; }
    /// Where the SMART log takes spare, wear and temperature from. Optional.
    void bind_health(std::function<DeviceHealth()> health) { admin_.set_health(std::move(health)); }

    /// Accesses to BAR0, `offset` from its start. Other sizes than 4 and 8, or unaligned: read 0, write ignored.
    std::uint64_t mmio_read(std::uint32_t offset, std::uint32_t bytes) const;
    void mmio_write(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value) {
        if (__builtin_expect(offset >= nvme::kRegDoorbells && offset < nvme::kMsixTable, 1))
            write_doorbell(offset, bytes, value);
        else
            write_other(offset, bytes, value);
    }

    void complete(Command& command) override;
    void dma_done(std::uint64_t cookie, SimTime at) override;
    void dma_failed(std::uint64_t cookie) override;

    const NvmeCounters& counters() const { return counters_; }
    const NvmeRegisters& registers() const { return registers_; }
    const QueueSet& queues() const { return queues_; }
    /// I/O commands that the firmware has not completed.
    std::uint32_t in_firmware() const { return in_firmware_; }
    /// State for the watchdog, one fact per line.
    std::string dump() const;
    /// Between two entries of the agenda: a command behind its doorbell, a held CQE, a waiting reset has somebody who goes
    /// on with it. Throws CheckFailed.
    void check_waiters() const;
    /// Every command fetched was completed, dropped or is a held event request. Throws CheckFailed. Call at the end.
    void check_books() const;

private:
    enum class Dma : std::uint8_t { fetch, list, ranges, admin_data };
    static std::uint64_t cookie(Dma kind, std::uint32_t index) {
        return std::uint64_t{static_cast<std::uint8_t>(kind)} << 32 | index;
    }

    /// One DMA read of SQEs. Fetches of a queue are accepted in issue order.
    struct Fetch {
        SimTime issued{};
        std::uint16_t qid = 0;
        bool arrived = false;
        std::uint32_t first = 0;
        std::int32_t next = -1;  ///< the next one of its queue, or of the free ones
        std::uint32_t count = 0;
        std::unique_ptr<nvme::Sqe[]> sqes;
    };
    /// An admin command whose data goes to the host.
    struct AdminOp {
        std::uint32_t index = 0;
        std::uint16_t cid = 0;
        std::uint32_t dw0 = 0;
        std::vector<std::uint8_t> data;
        std::vector<std::uint64_t> pages;
    };
    /// A command that waits for its PRP list or its DSM ranges; exactly one of command and admin is set.
    struct ListOp {
        PrpWalk walk;
        Command* command = nullptr;
        AdminOp* admin = nullptr;
        std::vector<std::uint64_t> buffer;  // one page
    };

    // controller.cpp: registers, doorbells, life cycle
    void write_doorbell(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value);
    void bad_doorbell(DoorbellResult result);
    void write_other(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value);
    void write_msix_table(std::uint32_t offset, std::uint32_t value);
    void act(NvmeRegisters::Action action);
    void become_ready(std::uint64_t epoch);
    bool idle() const;
    std::size_t free_fetches() const;
    void settle() {
        if (__builtin_expect(settling_, 0)) settle_slow();
    }
    void settle_slow();
    void apply_features();
    void raise_event(std::uint32_t type, std::uint32_t info);
    void check_temperature();
    bool serving() const { return registers_.is_serving(); }

    // controller_fetch.cpp: from doorbell to firmware
    void refresh(std::uint16_t qid) {
        const SubmissionQueue& q = queues_.sq(qid);
        arbiter_.set_ready(qid, q.valid && q.waiting() != 0 && may_fetch(q));
    }
    bool may_fetch(const SubmissionQueue& q) const { return !q.deleting && q.in_flight < config_.fetch_window; }
    void pump() {
        if (arbiter_.any()) fetch();
    }
    void fetch();
    void fetch_arrived(std::uint32_t index);
    void accept_io(std::uint16_t qid, SubmissionQueue& q, const nvme::Sqe& sqe, SimTime rung, SimTime issued);
    void accept_other(IoDecoder::Next next, Command& command, const PrpWalk& walk, const nvme::Sqe& sqe, bool conflict);
    void hand_over(Command& command) {
        SSDTLM_CHECK(sink_ != nullptr, "NVMe controller has no command sink");
        if (in_firmware_++ == 0) busy_since_ = agenda_.now();
        sink_->submit(command);
    }
    void drop(Command& command);
    void read_list(std::uint32_t index);
    void list_arrived(std::uint32_t index);
    void ranges_arrived(std::uint32_t index);
    void list_failed(std::uint32_t index, std::uint16_t status);
    Command& acquire_command() {
        if (__builtin_expect(free_command_count_ == 0, 0)) add_command();
        return *free_commands_[--free_command_count_];
    }
    void release_command(Command& command) {
        command.ranges.clear();
        command.pages.clear();
        free_commands_[free_command_count_++] = &command;
    }
    void add_command();
    /// The tracker's answer for (qid, cid), remembered.
    Timeline& timeline(std::uint16_t qid, std::uint16_t cid) {
        const std::vector<Timeline*>& known = timelines_[qid];
        return __builtin_expect(cid < known.size(), 1) ? *known[cid] : find_timelines(qid, cid);
    }
    Timeline& find_timelines(std::uint16_t qid, std::uint16_t cid);
    std::uint32_t acquire_list(Command* command, AdminOp* admin);
    void release_list(std::uint32_t index);
    /// segments_ = the first `bytes` bytes of these pages.
    void make_segments(const std::vector<std::uint64_t>& pages, std::uint32_t bytes);

    // controller_admin.cpp
    void accept_admin(const nvme::Sqe& sqe);
    AdminOp& acquire_admin_op();
    void send_admin_data(AdminOp& op);
    void admin_data_visible(std::uint64_t index);
    void drop_admin(AdminOp& op);
    void release_admin_op(AdminOp& op);

    // controller_completion.cpp: from firmware to host
    void post(std::uint16_t sqid, std::uint16_t cid, std::uint16_t status, std::uint32_t dw0);
    /// Sends or holds a CQE that has all but the queue's head and the phase.
    void post_to(SubmissionQueue& sq, nvme::Cqe& cqe);
    void send_cqe(CompletionQueue& cq, SubmissionQueue& sq, nvme::Cqe& cqe);
    void after_cqe(std::uint16_t sqid, SubmissionQueue& sq);
    void send_held(std::uint16_t cqid);
    /// Ends a command that its queue still counts: CQE, or nothing when the controller has been stopped meanwhile.
    void finish_io(Command& command);
    void end_io(Command& command);  // the same, inline
    void signal_coalesced(std::uint16_t vector);
    void send_interrupt(std::uint16_t vector);
    /// The vector's mask was taken away while a message was pending.
    void unmasked(std::uint16_t vector);
    void coalescing_timer(std::uint64_t timer);
    void count_completion(const Command& command);

    const NvmeConfig config_;
    const NvmeDevice device_;
    Agenda& agenda_;
    DmaPort& dma_;
    CommandTracker& tracker_;
    CommandSink* sink_ = nullptr;

    NvmeCounters counters_;
    NvmeRegisters registers_;
    QueueSet queues_;
    NvmeFeatures features_;
    AsyncEvents events_;
    ErrorLog errors_;
    AdminCommands admin_;
    RoundRobinArbiter arbiter_;
    IoDecoder decoder_;
    MsixTable msix_;
    InterruptCoalescer coalescer_;
    bool coalescing_ = false;

    std::vector<Fetch> fetches_;
    std::int32_t free_fetch_ = -1;  // head of the list of free ones
    std::vector<std::unique_ptr<ListOp>> lists_;
    std::vector<std::uint32_t> free_lists_;
    std::vector<std::unique_ptr<AdminOp>> admin_ops_;
    std::vector<std::uint32_t> free_admin_ops_;
    std::deque<Command> commands_;  // deque: references stay valid while it grows
    std::vector<Command*> free_commands_;  // one place per command, [0, free_command_count_) used
    std::uint32_t free_command_count_ = 0;
    std::vector<std::vector<Timeline*>> timelines_;  // by queue and identifier
    std::vector<HostSegment> segments_;       // scratch
    std::vector<std::uint8_t> admin_scratch_;

    std::uint32_t in_firmware_ = 0;
    SimTime busy_since_{};
    bool settling_ = false;       // a reset or a shutdown waits for work to end
    bool flush_wanted_ = false;
    bool flush_running_ = false;
    std::uint64_t enable_epoch_ = 0;
    Timeline flush_timeline_;
};

}  // namespace ssdtlm
