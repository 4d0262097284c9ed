// SPDX-License-Identifier: Apache-2.0
// Carries out what AdminCommands decides. It fetches data from the host before a command and sends data to the host
// before its CQE. It holds deletions that wait for commands in flight, commands that wait for work on the flash, and
// event requests with the events that complete them. It also runs the keep-alive timer.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/containers/pool.h"
#include "common/tlm/agenda.h"
#include "controller/nvme/admin_commands.h"
#include "controller/nvme/completion_posting.h"
#include "controller/nvme/controller_state.h"
#include "controller/nvme/list_reader.h"
#include "controller/nvme/submission_fetch.h"

namespace ssdtlm {

/// Effects of admin commands on other parts of the controller.
class AdminEffects {
public:
    /// Set Features has succeeded, or a reset has restored all defaults.
    virtual void features_changed() = 0;
    /// Nothing more may be fetched from this queue.
    virtual void queue_deleting(std::uint16_t sqid) = 0;
    /// Aborts an I/O command with status 07h. Returns false if the command has begun.
    virtual bool abort_io(std::uint16_t sqid, std::uint16_t cid) = 0;
    /// An admin command may have begun work on the flash.
    virtual void work_started() = 0;

protected:
    ~AdminEffects() = default;
};

class AdminQueue final : public EntrySink, public AdminEnds, private ListClient {
public:
    struct Peers {
        Agenda& agenda;
        DmaPort& dma;
        ControllerState& state;
        QueueSet& queues;
        NvmeFeatures& features;
        CompletionPosting& posting;
        ListReader& lists;
        NvmeMemory& memory;
        NvmeCounters& counters;
        AdminEffects& effects;
    };
    AdminQueue(const NvmeConfig& config, const DriveFacts& device, const Peers& peers);

    void set_health(std::function<DeviceHealth()> health) { commands_.set_health(std::move(health)); }
    std::uint8_t critical_warning() const { return ssdtlm::critical_warning(commands_.health(), features_); }
    Streams& streams() { return commands_.streams(); }
    AdminContext& context() { return commands_.context(); }
    void bind(MediaWork& media) { commands_.bind(media); }
    void bind(ShadowDoorbells& shadows) { commands_.bind(shadows); }
    /// Raises the event of a critical warning if the host has asked for it.
    void check_health();

    void accept(const FetchedEntries& fetched, SubmissionQueue& queue) override;
    /// Reports a doorbell write that names no queue or holds a bad value.
    void report_doorbell(DoorbellResult result);
    /// Called when the last command of a queue that is being deleted has its CQE.
    void queue_drained(std::uint16_t sqid, SubmissionQueue& queue);
    /// Drops the held event requests and restores the default features. Precondition: no data transfer is under way.
    void reset();

    void admin_ended(std::uint64_t token, std::uint16_t status) override;
    void tell(std::uint32_t type, std::uint32_t info, std::uint8_t log) override;

    std::size_t under_way() const { return ops_.in_use(); }
    std::uint32_t held_events() const { return events_.held(); }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    /// A command with data to the host or from it.
    struct Op {
        nvme::Sqe sqe;
        std::uint32_t dw0 = 0;
        std::vector<std::uint8_t> data;
        HostData place;
        bool from_host = false;
    };
    /// A command that waits for work on the flash.
    struct Later {
        std::uint64_t token;
        std::uint16_t cid;
        std::uint32_t nsid;
    };
    void accept_one(const nvme::Sqe& sqe, SubmissionQueue& queue);
    void execute(const nvme::Sqe& sqe, bool conflict, SubmissionQueue& queue);
    void begin_data(const nvme::Sqe& sqe, std::uint32_t dw0, bool from_host, SubmissionQueue& queue);
    void move_data(Op& op);
    void restart_keep_alive();
    void keep_alive_expired();
    void post_event(std::uint16_t cid, std::uint32_t dw0);
    void raise_waiting();
    void delete_queue(std::uint16_t sqid, std::uint16_t cid, SubmissionQueue& queue);
    void refuse(std::uint16_t cid, std::uint16_t status, std::uint32_t dw0, std::uint32_t nsid);
    void data_fetched(std::uint64_t op, DmaEnd end);
    void data_sent(std::uint64_t op, DmaEnd end);
    void data_visible(std::uint64_t op);
    void drop(Op& op);
    void raise_event(std::uint32_t type, std::uint32_t info);

    void list_known(std::uint64_t token) override;
    void bytes_known(std::uint64_t, const std::uint8_t*) override {
        panic("nvme", "an admin command asked for ranges");
    }
    void list_failed(std::uint64_t token, std::uint16_t status) override;

    Agenda& agenda_;
    DmaPort& dma_;
    ControllerState& state_;
    QueueSet& queues_;
    NvmeFeatures& features_;
    CompletionPosting& posting_;
    ListReader& lists_;
    ErrorLog& errors_;
    NvmeCounters& counters_;
    AdminEffects& effects_;
    AsyncEvents events_;
    AdminCommands commands_;
    Pool<Op> ops_;
    std::vector<Later> later_;
    std::uint64_t tokens_ = 0;
    Agenda::Entry keep_alive_;
    std::vector<HostSegment> segments_;  // scratch
    std::vector<std::uint8_t> data_;     // scratch
};

}  // namespace ssdtlm
