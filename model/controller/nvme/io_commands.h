// SPDX-License-Identifier: Apache-2.0
// I/O commands on their way to the firmware and back: decoding, PRP lists and ranges, the command objects, and their
// completion. io_special.cpp has the commands that take several commands of the firmware (fused pairs, Copy, a long
// Verify), and the controller's own commands.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/containers/pool.h"
#include "common/latency/command_tracker.h"
#include "common/tlm/agenda.h"
#include "controller/nvme/completion_posting.h"
#include "controller/nvme/controller_state.h"
#include "controller/nvme/io_decode.h"
#include "controller/nvme/list_reader.h"
#include "controller/nvme/media/media_work.h"
#include "controller/nvme/memory.h"
#include "controller/nvme/nvme_command.h"
#include "controller/nvme/submission_fetch.h"

namespace ssdtlm {

class IoCommands final : public EntrySink,
                         public CompletionSink,
                         public OwnCommands,
                         private ListClient,
                         private OwnClient {
public:
    struct Peers {
        Agenda& agenda;
        CommandTracker& tracker;
        ControllerState& state;
        QueueSet& queues;
        CompletionPosting& posting;
        ListReader& lists;
        NvmeMemory& memory;
        NvmeCounters& counters;
        MediaWork& media;
        bool signed_data;  ///< signatures stand for the host's data (run.data)
    };
    /// `latency_targets` are indexed by priority of the submission queue, as in NvmeConfig.
    IoCommands(const Peers& peers, const std::vector<Ps>& latency_targets, const IoDecoder& decoder);

    void bind(CommandSink& firmware) { firmware_ = &firmware; }
    /// The power will go soon. From now on nothing is submitted, not even by jobs, copies and pairs under way.
    void host_is_gone() { firmware_ = &no_firmware_; }
    void abort_waits(bool aborts) { firmware_->abort_waits(aborts); }
    /// Sets Feature 06h: with `on`, every write is carried out as FUA.
    void set_write_through(bool on) { decoder_.set_write_through(on); }

    void accept(const FetchedEntries& fetched, SubmissionQueue& queue) override;
    void complete(Command& command) override;
    void let_go(Command& command) override;
    /// Gives the firmware a flush of everything. ControllerState::flushed() is called at its end.
    void flush_for_shutdown();
    /// Aborts a command with status 07h. Returns false if it has begun.
    bool abort(std::uint16_t qid, std::uint16_t cid);
    /// Ends the commands that wait for another command of this queue, which will not come any more.
    void queue_deleting(std::uint16_t qid);
    /// Drops all waiting commands, because all queues are gone.
    void reset();

    NvmeCommand& begin_own(OwnClient& client) override;
    void submit_own(NvmeCommand& command) override { to_firmware(command); }
    void give_back(NvmeCommand& command) override { release(command); }
    std::uint64_t last_number() const override { return arrived_; }
    bool have_ended(std::uint64_t number) override;

    std::uint32_t in_firmware() const { return in_firmware_; }

private:
    void accept_one(std::uint16_t qid, SubmissionQueue& queue, const nvme::Sqe& sqe, SimTime rung, SimTime asked);
    void accept_other(IoDecoder::Next next, NvmeCommand& command, const DataWalk& walk, const nvme::Sqe& sqe,
                      bool conflict);
    void hand_over(NvmeCommand& command) {
        if (__builtin_expect(command.is_special || !locks_.empty() || !memory_.uncorrectable.empty(), 0))
            return hand_over_special(command);
        command.timeline->set_number(++handed_over_);
        to_firmware(command);
    }
    // These functions serve fused pairs, Copy and the controller's own commands.
    void hand_over_special(NvmeCommand& command);
    bool fuses(NvmeCommand& command, std::uint32_t fuse, bool refused);
    void leave_pair(NvmeCommand& command);
    void give_up_list(NvmeCommand& command, std::uint16_t status);
    void lists_known(NvmeCommand& command);
    void read_metadata_pointer(const NvmeCommand& command, std::uint64_t token);
    void part_ended(NvmeCommand& command);
    void begin_pairs();
    void compare_ended(NvmeCommand& first);
    void unlock(const NvmeCommand& second);
    bool is_locked(const NvmeCommand& command) const;
    void copy_next(NvmeCommand& parent);
    void copy_ended(NvmeCommand& parent, std::uint16_t code);
    void own_ended(NvmeCommand& part) override;
    void verify_next(NvmeCommand& command);
    bool verify_goes_on(NvmeCommand& command);
    void settle_marks(NvmeCommand& command);
    void check_metadata(NvmeCommand& command);
    static std::uint16_t failure_of(const NvmeCommand& command);
    static std::uint64_t failed_lba(const NvmeCommand& command);
    void mark(NvmeCommand& command);
    void meet_marks(NvmeCommand& command) const;
    void an_end();
    void end_with(NvmeCommand& command, std::uint16_t status);
    void to_firmware(NvmeCommand& command) {
        SSDTLM_CHECK(firmware_ != nullptr, "NVMe controller has no command sink");
        if (in_firmware_++ == 0) busy_since_ = agenda_.now();
        firmware_->submit(command);
    }
    /// Removes a command from the count of its queue.
    void forget(NvmeCommand& command);
    void drop(NvmeCommand& command);
    void left_firmware() {
        SSDTLM_CHECK(in_firmware_ != 0, "firmware completed a command that it does not have");
        if (--in_firmware_ == 0) counters_.busy += agenda_.now() - busy_since_;
    }
    void complete_own(NvmeCommand& command);
    /// Ends a command that its queue still counts. It posts no CQE if the controller has been stopped meanwhile.
    void finish(NvmeCommand& command);
    void count(const NvmeCommand& command);
    void refuse(NvmeCommand& command);
    NvmeCommand& acquire();
    WorkTag tag_of(const SubmissionQueue& queue, SimTime rung) const {
        const Ps target = target_[queue.priority];
        return {queue.tenant, queue.priority, 0, target == kNoTarget ? kNever : rung + target, rung};
    }
    void release(NvmeCommand& command);
    static void clear(NvmeCommand& command);
    static void make_nobodys(NvmeCommand& command);
    /// First block of the command, in the host's numbers.
    static std::uint64_t host_lba(const NvmeCommand& c) { return (c.slba - c.first_block) >> c.shift; }
    /// Returns the tracker's timeline for (qid, cid), which is cached.
    Timeline& timeline(std::uint16_t qid, std::uint16_t cid) {
        const std::vector<Timeline*>& known = timelines_[qid];
        return __builtin_expect(cid < known.size(), 1) ? *known[cid] : find_timelines(qid, cid);
    }
    Timeline& find_timelines(std::uint16_t qid, std::uint16_t cid);

    void list_known(std::uint64_t token) override;
    void bytes_known(std::uint64_t token, const std::uint8_t* bytes) override;
    void list_failed(std::uint64_t token, std::uint16_t status) override;

    Agenda& agenda_;
    CommandTracker& tracker_;
    ControllerState& state_;
    QueueSet& queues_;
    CompletionPosting& posting_;
    ListReader& lists_;
    NvmeMemory& memory_;
    ErrorLog& errors_;
    NvmeCounters& counters_;
    MediaWork& media_;
    const bool signed_data_;
    /// Drops commands that would come behind the save of the write buffer, and would be lost.
    struct NoFirmware final : CommandSink {
        void submit(Command&) override {}
        void abort_waits(bool) override {}
    } no_firmware_;
    CommandSink* firmware_ = nullptr;
    /// What ends now may have come behind the save of the write buffer, and is lost then.
    bool saves() const { return firmware_ == &no_firmware_; }
    IoDecoder decoder_;
    static constexpr Ps kNoTarget = Ps::max();
    std::array<Ps, 4> target_;  // by priority, from the doorbell on
    Pool<NvmeCommand> commands_;
    std::vector<std::vector<Timeline*>> timelines_;  // by queue and identifier
    std::uint32_t in_firmware_ = 0;
    std::uint64_t handed_over_ = 0;  // commands of the host given to the firmware
    std::uint64_t arrived_ = 0;      // commands of the host that have come
    /// Blocks of the drive that a fused pair uses exclusively.
    struct Lock {
        std::uint64_t first;
        std::uint32_t blocks;
        std::uint64_t number;  ///< number of the pair; commands before it do not wait
        const NvmeCommand* second;
    };
    std::vector<Lock> locks_;
    std::vector<NvmeCommand*> locked_out_;  // in the order of arrival
    std::vector<NvmeCommand*> pairs_;       // the first of each that waits for commands before it
    std::vector<NvmeCommand*> firsts_;      // by queue: a first command without its second
    std::uint32_t firsts_waiting_ = 0;
    std::vector<bool> first_failed_;  // by queue: the second command of a pair will fail
    bool ends_matter_ = false;        // a pair or a job waits until commands have ended
    SimTime busy_since_{};
    Timeline flush_timeline_;
    std::deque<Timeline> nobodys_;  // of commands that let_go() has released, by their index
};

}  // namespace ssdtlm
