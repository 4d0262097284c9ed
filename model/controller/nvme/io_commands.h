// SPDX-License-Identifier: Apache-2.0
// I/O commands from their entry to the firmware and back: decoding, PRP lists and DSM ranges, the command objects, and
// what their completion says.
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
#include "controller/nvme/log_pages.h"
#include "controller/nvme/nvme_command.h"
#include "controller/nvme/submission_fetch.h"

namespace ssdtlm {

class IoCommands final : public EntrySink, public CompletionSink, private ListClient {
public:
    struct Surroundings {
        Agenda& agenda;
        CommandTracker& tracker;
        ControllerState& state;
        QueueSet& queues;
        CompletionPosting& posting;
        ListReader& lists;
        ErrorLog& errors;
        NvmeCounters& counters;
    };
    /// `latency_targets`: by priority of the submission queue, as NvmeConfig has them.
    IoCommands(const Surroundings& around, const std::vector<Ps>& latency_targets, const IoDecoder& decoder);

    void bind(CommandSink& firmware) { firmware_ = &firmware; }
    void abort_waits(bool aborts) { firmware_->abort_waits(aborts); }
    /// Feature 06h: whether every write is carried out as FUA.
    void set_write_through(bool on) { decoder_.set_write_through(on); }

    void accept(const FetchedEntries& fetched, SubmissionQueue& queue) override;
    void complete(Command& command) override;
    void let_go(Command& command) override;
    /// Hands the firmware a flush of everything; ControllerState::flushed() is called at its end.
    void flush_for_shutdown();

    std::uint32_t in_firmware() const { return in_firmware_; }

private:
    void accept_one(std::uint16_t qid, SubmissionQueue& queue, const nvme::Sqe& sqe, SimTime rung, SimTime asked);
    void accept_other(IoDecoder::Next next, NvmeCommand& command, const PrpWalk& walk, const nvme::Sqe& sqe,
                      bool conflict);
    void hand_over(NvmeCommand& command) {
        command.timeline->set_number(++handed_over_);
        to_firmware(command);
    }
    void to_firmware(NvmeCommand& command) {
        SSDTLM_CHECK(firmware_ != nullptr, "NVMe controller has no command sink");
        if (in_firmware_++ == 0) busy_since_ = agenda_.now();
        firmware_->submit(command);
    }
    /// Its queue counts it no more.
    void forget(NvmeCommand& command);
    void drop(NvmeCommand& command);
    void left_firmware() {
        SSDTLM_CHECK(in_firmware_ != 0, "firmware completed a command that it does not have");
        if (--in_firmware_ == 0) counters_.busy += agenda_.now() - busy_since_;
    }
    void complete_own(NvmeCommand& command);
    /// Ends a command that its queue still counts: CQE, or nothing when the controller has been stopped meanwhile.
    void finish(NvmeCommand& command);
    void count(const NvmeCommand& command);
    void refuse(NvmeCommand& command);
    NvmeCommand& acquire();
    WorkTag tag_of(const SubmissionQueue& queue, SimTime rung) const {
        const Ps target = target_[queue.priority];
        return {queue.tenant, queue.priority, 0, target == kNoTarget ? kNever : rung + target, rung};
    }
    void release(NvmeCommand& command);
    /// The tracker's answer for (qid, cid), remembered.
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
    ErrorLog& errors_;
    NvmeCounters& counters_;
    CommandSink* firmware_ = nullptr;
    IoDecoder decoder_;
    static constexpr Ps kNoTarget = Ps::max();
    std::array<Ps, 4> target_;  // by priority, from the doorbell on
    Pool<NvmeCommand> commands_;
    std::vector<std::vector<Timeline*>> timelines_;  // by queue and identifier
    std::uint32_t in_firmware_ = 0;
    std::uint64_t handed_over_ = 0;  // commands of the host
    SimTime busy_since_{};
    Timeline flush_timeline_;
    std::deque<Timeline> nobodys_;  // of commands that were let go, by their index
};

}  // namespace ssdtlm
