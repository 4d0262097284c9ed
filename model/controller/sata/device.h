// SPDX-License-Identifier: Apache-2.0
// A drive as an ATA host sees it. It takes commands from Register FISes, gives them to the firmware, and ends them in
// registers. Plain C++: the link is behind SataFramePort, and time comes from the agenda.
// - BSY is set from a command's frame to the Register FIS that releases it (queued) or ends it. Commands that come
//   while BSY is set are dropped.
// - The data of a read wait in the command's buffer until the firmware has all of them. Then the data phase of the read
//   begins. The data phase of a write begins when the firmware first asks for data.
// - An error of a queued command aborts all queued commands. Those in the firmware end there, and their ends are
//   ignored. Until they have ended, and until READ LOG EXT of log 10h has come, all other commands are refused (ACS-3,
//   4.15.4). A command that is not queued has the same effect while tags are outstanding. COMRESET and SRST abort
//   without an error; the signature follows when the firmware has no more commands.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/containers/pool.h"
#include "common/latency/command_tracker.h"
#include "common/tlm/agenda.h"
#include "controller/ports/front_end.h"
#include "controller/sata/device_pages.h"
#include "controller/sata/transport.h"

namespace ssdtlm {

class SataDevice final : public CompletionSink, public HostPort, private SataTransportSink {
public:
    /// Queue of the commands' timelines in the tracker. Tags are 0 to 31; kOtherTag is for commands that are not
    /// queued.
    static constexpr std::uint16_t kQueue = 1;
    static constexpr std::uint16_t kOtherTag = 32;

    struct Counts {
        std::uint64_t commands = 0;  ///< command frames taken
        std::uint64_t ended = 0;     ///< answered, with success or an error
        std::uint64_t refused = 0;   ///< of those, never carried out
        std::uint64_t dropped = 0;   ///< by a reset, by the error of another command, or by a loss of power
        std::uint64_t busy = 0;      ///< frames that came while BSY was set, or before the signature
        std::uint64_t aborted_queues = 0;
        /// Reads, writes, flushes and trims that have ended and were carried out. A flush directly before STANDBY
        /// IMMEDIATE belongs to the shutdown, as Linux sends it.
        std::uint64_t drive_commands = 0;
        std::uint64_t unheard_at_most = 0;  ///< see FrontEndCounts
    };

    SataDevice(Agenda& agenda, SataFramePort& port, CommandTracker& tracker, const SataConfig& config,
               const DriveFacts& drive);
    SataDevice(const SataDevice&) = delete;
    SataDevice& operator=(const SataDevice&) = delete;

    void bind(CommandSink& firmware) { firmware_ = &firmware; }
    void bind_health(std::function<DeviceHealth()> health) { health_ = std::move(health); }

    // These calls come from the link.
    /// Returns false to answer with R_ERR.
    bool received(const std::uint8_t* fis, std::uint32_t bytes, bool crc_error);
    void sent(SataTransport::Answer answer) { transport_.sent(answer); }
    void comreset();
    void phy_up(std::uint8_t generation);

    // See FrontEnd.
    void host_is_gone();
    void lose_power(std::uint64_t host_commands);
    void drive_is_starting() { serves_ = false; }
    void drive_is_up();
    bool is_shut_down() const { return shut_down_; }

    const Counts& counts() const { return counts_; }
    const SmartCounts& smart_counts() const { return smart_counts_; }
    std::uint64_t resets() const { return resets_; }
    const SataTransport& transport() const { return transport_; }
    std::uint32_t in_firmware() const { return in_firmware_; }
    std::uint32_t active_tags() const { return active_; }
    std::string dump() const;
    void check_books() const;
    void check_waiters() const;

    void complete(Command& command) override;
    void let_go(Command& command) override;
    void to_host(Command& command, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                 const DmaThen& then, ByteEnables content, const DmaTerms& terms) override;
    void from_host(Command& command, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data, const DmaThen& then,
                   ByteEnables content) override;

private:
    // These functions take what comes in (device.cpp).
    void control(const sata::RegisterH2d& fis);
    void accept(const sata::RegisterH2d& fis);
    void decoded(std::uint64_t command);
    void execute(SataCommand& c, const DecodedCommand& what);
    void to_firmware(SataCommand& c);
    void page_for_host(SataCommand& c, const AtaBlock& page);
    AtaBlock identify() const;
    AtaBlock smart() const;
    bool log_page(std::uint8_t log, std::uint32_t page, AtaBlock& out) const;
    void set_features(SataCommand& c);
    void smart_enable(SataCommand& c);
    void read_log(SataCommand& c);

    // These functions end commands (device_ends.cpp).
    void firmware_ended(std::uint64_t command);
    void end_well(SataCommand& c);
    void end_other(SataCommand& c, AtaEnd end);
    void refuse(SataCommand& c, AtaEnd end);
    void fail_queue(SataCommand& c, AtaEnd end, bool received);
    void fail_those_that_wait();
    void abort_all();
    void drop(SataCommand& c);
    void drop_untold();
    void reset();
    void settle();
    void try_signature();
    void serve_pieces(SataCommand& c);
    void fail_later(SataCommand& c);
    void fail_pieces();

    void register_sent(Purpose purpose) override;
    void bits_leave(std::uint32_t tags) override;
    void bits_sent(std::uint32_t tags) override;
    void data_came(SataCommand& c) override { serve_pieces(c); }
    void data_are_there(SataCommand& c);
    void data_are_broken(SataCommand& c);
    void phase_done(SataCommand& c) override;
    void phase_failed(SataCommand& c) override;

    Agenda& agenda_;
    CommandTracker& tracker_;
    const SataConfig config_;
    const DriveFacts drive_;
    const TaskFileDecoder decoder_;
    SataTransport transport_;
    CommandSink* firmware_ = nullptr;
    std::function<DeviceHealth()> health_;
    Pool<SataCommand> commands_;
    std::array<SataCommand*, 32> queued_{};  // queued commands that have not ended
    SataCommand* other_ = nullptr;           // not queued, or being decoded
    SataCommand* log_waits_ = nullptr;       // READ LOG EXT, which waits until the firmware has ended aborted commands
    std::uint32_t active_ = 0;               // tags whose end the host has not been told
    std::uint32_t untold_ = 0;               // tags that have ended well and whose Set Device Bits has not been sent
    std::uint64_t quiet_ = 0;                // tags (also kOtherTag) that have ended and were not used again
    bool flushed_last_ = false;              // a flush was the last drive command
    std::uint32_t in_firmware_ = 0;          // without those that were let go
    bool busy_ = false;
    bool halted_ = false;
    bool draining_ = false;
    bool serves_ = true;
    bool host_gone_ = false;
    bool signature_due_ = true;
    bool signature_waits_ = false;  // it is being sent
    bool srst_ = false;
    bool shut_down_ = false;
    std::uint8_t generation_ = 0;
    /// An error that is reported to the host at the end of the data phase.
    struct Failing {
        std::uint64_t command;
        AtaEnd end;
        bool received;
    };
    std::vector<Failing> failing_;
    std::optional<NcqFailure> failure_;
    bool write_cache_;
    bool smart_ = true;
    std::vector<SataCommand::Piece> failed_pieces_;
    Counts counts_;
    SmartCounts smart_counts_;
    std::uint64_t resets_ = 0;
    std::uint64_t handed_over_ = 0;
};

}  // namespace ssdtlm
