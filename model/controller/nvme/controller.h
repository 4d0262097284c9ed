// SPDX-License-Identifier: Apache-2.0
// The NVMe controller without its bus. Register and doorbell accesses come in; DMA requests and commands go out. It
// holds the parts that do the work and connects them: state (CC, CSTS), submission fetch, I/O commands, admin queue and
// completion posting. Decoding and admin commands take no time of their own; only the DMA does. It needs no SystemC
// kernel. There is one controller, and Abort reaches only what has not begun.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "controller/nvme/admin_queue.h"
#include "controller/nvme/completion_posting.h"
#include "controller/nvme/controller_state.h"
#include "controller/nvme/io_commands.h"
#include "controller/nvme/list_reader.h"
#include "controller/nvme/media/media_work.h"
#include "controller/nvme/memory.h"
#include "controller/nvme/nvme_config.h"
#include "controller/nvme/queues.h"
#include "controller/nvme/shadow_doorbells.h"
#include "controller/nvme/submission_fetch.h"
#include "controller/ports/drive_facts.h"

namespace ssdtlm {

class NvmeController : private ControllerWork, private AdminEffects, private PostedSink, private DoorbellSink {
public:
    /// State that a controller takes over from its predecessor after a loss of power.
    struct Before {
        NvmeCounters counters;
        NvmeMemory memory;
    };
    /// With `signed_data`, signatures stand for the host's data (run.data).
    NvmeController(Agenda& agenda, DmaPort& dma, CommandTracker& tracker, const NvmeConfig& config,
                   const DriveFacts& device, bool signed_data = true);
    /// Builds the controller after a loss of power.
    NvmeController(Agenda& agenda, DmaPort& dma, CommandTracker& tracker, const NvmeConfig& config,
                   const DriveFacts& device, bool signed_data, const Before& before);
    NvmeController(const NvmeController&) = delete;
    NvmeController& operator=(const NvmeController&) = delete;

    /// Sets the sink that executes I/O commands. Call it once before the first doorbell.
    void bind(CommandSink& sink) {
        io_.bind(sink);
        go_on();
    }
    /// The sink of bind() completes the commands there.
    CompletionSink& completions() { return io_; }
    /// Stops submitting commands, as FrontEnd::host_is_gone() says.
    void host_is_gone() { io_.host_is_gone(); }
    /// Sets the function that gives the SMART log spare, wear and temperature. Optional.
    void bind_health(std::function<DeviceHealth()> health) { admin_.set_health(std::move(health)); }
    /// The health has changed, and the host may wait for an event about it.
    void health_changed() { admin_.check_health(); }
    /// Critical warning byte of the SMART log.
    std::uint8_t critical_warning() const { return admin_.critical_warning(); }

    /// Accesses to BAR0 at `offset` from its start. An unaligned access, or one of a size other than 4 or 8, reads 0 or
    /// is ignored.
    std::uint64_t mmio_read(std::uint32_t offset, std::uint32_t bytes) const;
    void mmio_write(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value) {
        if (__builtin_expect(offset >= nvme::kRegDoorbells && offset < nvme::kMsixTable, 1))
            write_doorbell(offset, bytes, value);
        else
            write_other(offset, bytes, value);
    }

    /// Carries out a function-level reset: a controller reset that also clears the admin queue registers and the table
    /// of MSI-X. `stopped`: see ControllerState. It is not a loss of power, so it counts as no unsafe shutdown.
    void reset_function(std::function<void()> stopped);

    /// See ControllerState.
    void drive_is_starting() { state_.drive_is_starting(); }
    void drive_is_up() { state_.drive_is_up(); }

    /// Reads or writes what the drive keeps without power. Reading it is a power-on. Precondition: the agenda holds no
    /// entry of the controller, and for reading no command was accepted.
    void state(Snapshot& s);
    /// True if the namespaces are those of the configuration, and no sanitize operation keeps the host from them.
    bool is_as_configured() const;

    const NvmeCounters& counters() const { return counters_; }
    const NvmeMemory& memory() const { return memory_; }
    const NvmeRegisters& registers() const { return state_.registers(); }
    const QueueSet& queues() const { return queues_; }
    /// Number of I/O commands that the firmware has not completed.
    std::uint32_t in_firmware() const { return io_.in_firmware(); }
    const SubmissionFetch& fetch() const { return fetch_; }
    /// Returns the state for the watchdog, one fact per line.
    std::string dump() const;
    /// Throws CheckFailed if a command behind its doorbell, a held CQE or a waiting reset will never continue. Call it
    /// between two entries of the agenda.
    void check_waiters() const;
    /// Throws CheckFailed unless every fetched command was completed, was dropped or is a held event request. Call it
    /// at the end.
    void check_books() const;

private:
    void write_doorbell(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value);
    void write_other(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value);

    void go_on();
    void create_admin_queues(const NvmeRegisters& registers) override;
    bool idle() const override;
    void abort_waits(bool aborts) override { io_.abort_waits(aborts); }
    void drop_queues() override;
    void flush() override { io_.flush_for_shutdown(); }
    void resume() override {
        fetch_.resume();
        media_.pump();
    }
    void features_changed() override;
    void queue_deleting(std::uint16_t sqid) override {
        fetch_.refresh(sqid);
        io_.queue_deleting(sqid);
    }
    bool abort_io(std::uint16_t sqid, std::uint16_t cid) override { return io_.abort(sqid, cid); }
    void work_started() override { media_.pump(); }
    void posted(std::uint16_t sqid, SubmissionQueue& queue) override;
    void full(std::uint16_t cqid) override { shadows_.look_at_head(cqid); }
    void shadow_rung(std::uint16_t qid, bool head, std::uint32_t value) override;
    void shadow_read() override { state_.settle(); }
    void rung(std::uint16_t qid, bool head);

    const NvmeConfig config_;
    const DriveFacts device_;
    Agenda& agenda_;

    NvmeCounters counters_;
    NvmeMemory memory_;
    QueueSet queues_;
    NvmeFeatures features_;
    ControllerState state_;
    CompletionPosting posting_;
    ListReader lists_;
    MediaWork media_;
    AdminQueue admin_;
    IoCommands io_;
    SubmissionFetch fetch_;
    ShadowDoorbells shadows_;
};

}  // namespace ssdtlm
