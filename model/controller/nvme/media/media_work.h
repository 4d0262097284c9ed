// SPDX-License-Identifier: Apache-2.0
// Work on the flash that the controller does beside the host's commands: formats, self-tests and sanitize operations. A
// job is a sequence of commands of the controller's own. The firmware carries them out like the host's, so they take
// the time of reads, writes and deallocations. A job continues over resets, and pauses while the controller is not
// ready.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/nvme/controller_state.h"
#include "controller/nvme/nvme_command.h"

namespace ssdtlm {

/// Gives the commands of the jobs to the firmware.
class OwnCommands {
public:
    /// Returns an empty command whose owner is `client`.
    virtual NvmeCommand& begin_own(OwnClient& client) = 0;
    virtual void submit_own(NvmeCommand& command) = 0;
    virtual void give_back(NvmeCommand& command) = 0;
    /// Number of the last command of the host.
    virtual std::uint64_t last_number() const = 0;
    /// True when all commands of the host up to that number have ended. If it is false, MediaWork::pump() is called
    /// each time a command ends.
    virtual bool have_ended(std::uint64_t number) = 0;

protected:
    ~OwnCommands() = default;
};

class MediaJob {
public:
    virtual ~MediaJob() = default;
    virtual const char* name() const = 0;
    /// Fills the next command. Returns false if there is none.
    virtual bool next(NvmeCommand& command) = 0;
    /// One command has ended. Not called for a command that a reset has aborted: the firmware gets it again.
    virtual void ended(const NvmeCommand& command) = 0;
    /// All commands have ended.
    virtual void done() = 0;
    /// Number of commands under way at once.
    virtual std::uint32_t depth() const { return 1; }
    /// If true, the job begins after the host's present commands have ended.
    virtual bool waits_for_host() const { return false; }
};

/// Receives the end of an admin command that waited for a job.
class AdminEnds {
public:
    virtual void admin_ended(std::uint64_t token, std::uint16_t status) = 0;
    /// Reports an event for the host: a notice, or one of the command set.
    virtual void tell(std::uint32_t type, std::uint32_t info, std::uint8_t log) = 0;

protected:
    ~AdminEnds() = default;
};

class MediaWork final : private OwnClient {
public:
    MediaWork(Agenda& agenda, ControllerState& state) : agenda_(agenda), state_(state) {}
    void bind(OwnCommands& commands, AdminEnds& ends) {
        commands_ = &commands;
        ends_ = &ends;
    }

    void start(std::unique_ptr<MediaJob> job);
    /// Sends no more commands of this job. done() is called when those under way have ended.
    void cut_short(const MediaJob& job);
    /// Continues all jobs that may continue.
    void pump() {
        if (__builtin_expect(!jobs_.empty(), 0)) pump_jobs();
    }
    bool any() const { return !jobs_.empty(); }
    AdminEnds& ends() { return *ends_; }
    SimTime now() const { return agenda_.now(); }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    struct Running {
        std::unique_ptr<MediaJob> job;
        std::uint64_t number = 0;        ///< number of the job
        std::uint64_t begins_after = 0;  ///< number of a host command
        std::uint32_t under_way = 0;
        bool begun = false;
        bool exhausted = false;
        struct Again {
            IoOp op;
            std::uint64_t slba;
            std::uint32_t blocks;
            std::uint64_t bytes;
            std::vector<LbaRange> ranges;
            SpecialCommand special;
        };
        std::vector<Again> again;  ///< commands that a reset has aborted
    };
    void pump_jobs();
    bool give_next(Running& r);
    void own_ended(NvmeCommand& command) override;

    Agenda& agenda_;
    ControllerState& state_;
    OwnCommands* commands_ = nullptr;
    AdminEnds* ends_ = nullptr;
    std::vector<Running> jobs_;
    std::uint64_t started_ = 0;
    bool pumping_ = false;
};

}  // namespace ssdtlm
