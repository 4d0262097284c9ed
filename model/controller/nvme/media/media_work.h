// SPDX-License-Identifier: Apache-2.0
// Work on the flash that the controller does beside the host's commands: formats, self-tests, what sanitizes the drive.
// A job is a sequence of commands of the controller's own, which the firmware carries out as it does the host's, so it
// takes the time that reads, writes and deallocations take. A job goes on over resets, and rests while the controller
// is not ready.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/nvme/controller_state.h"
#include "controller/nvme/nvme_command.h"

namespace ssdtlm {

/// Who gives the firmware the commands of the jobs.
class OwnCommands {
public:
    /// A command with nothing in it, and with `client` as its owner.
    virtual NvmeCommand& begin_own(OwnClient& client) = 0;
    virtual void submit_own(NvmeCommand& command) = 0;
    virtual void give_back(NvmeCommand& command) = 0;
    /// Number of the host's command that came last.
    virtual std::uint64_t last_number() const = 0;
    /// All of the host's commands up to that number have ended. False: MediaWork::pump() is called at each end.
    virtual bool have_ended(std::uint64_t number) = 0;

protected:
    ~OwnCommands() = default;
};

class MediaJob {
public:
    virtual ~MediaJob() = default;
    virtual const char* name() const = 0;
    /// Fills the next command. False: there is none.
    virtual bool next(NvmeCommand& command) = 0;
    /// One has ended. Not called for one that a reset has aborted: that one is given to the firmware again.
    virtual void ended(const NvmeCommand& command) = 0;
    /// All have ended.
    virtual void done() = 0;
    /// At the same time.
    virtual std::uint32_t depth() const { return 1; }
    /// The job begins when the host's commands that are there now have ended.
    virtual bool waits_for_host() const { return false; }
};

/// Who is told of the end of an admin command that waited for a job.
class AdminEnds {
public:
    virtual void admin_ended(std::uint64_t token, std::uint16_t status) = 0;
    /// An event that the host may want to hear of: a notice or one of the command set.
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
    /// No more commands of this job; done() is called when those under way have ended.
    void cut_short(const MediaJob& job);
    /// Goes on with what may go on.
    void pump() {
        if (__builtin_expect(!jobs_.empty(), 0)) pump_jobs();
    }
    bool any() const { return !jobs_.empty(); }
    AdminEnds& ends() { return *ends_; }
    SimTime now() const { return agenda_.now(); }
    /// Between two entries of the agenda. Throws CheckFailed.
    void check_waiters() const;

private:
    struct Running {
        std::unique_ptr<MediaJob> job;
        std::uint64_t number = 0;        ///< of the job
        std::uint64_t begins_after = 0;  ///< command of the host
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
        std::vector<Again> again;  ///< aborted by a reset
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
