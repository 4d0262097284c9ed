// SPDX-License-Identifier: Apache-2.0
// The drive's end of the link: which frame it sends next, and what becomes of the Data that it asked for. Knows FISes
// and their order, and nothing of what commands mean. Without the kernel.
// - One frame at a time is at the link. What is not Data is sent again after R_ERR (Serial ATA 3.0, 9.6.4); R_ERR of
//   Data ends its command's data phase.
// - One data phase at a time, whole: the next one, in order of start_phase(), begins when it has ended. Between two of
//   them Register and PIO frames go first, then one Set Device Bits for all tags that have ended until then. So a host
//   is soon released to send its next command, and a queue that is kept full stays full; that is how drives with
//   short queues behave. assumed.
// - A data phase that is given up still waits for Data that the host was asked for, and drops them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "controller/sata/sata_command.h"
#include "controller/sata/task_file.h"

namespace ssdtlm {

class SataFramePort {
public:
    /// The bytes stay until SataTransport::sent(), which may be called from inside.
    virtual void send(const std::uint8_t* fis, std::uint32_t bytes) = 0;

protected:
    ~SataFramePort() = default;
};

/// Who is told that something has crossed the link.
class SataTransportSink {
public:
    /// Register FISes with this purpose.
    enum class Purpose : std::uint8_t { signature, release, end };
    virtual void register_sent(Purpose purpose) = 0;
    /// Set Device Bits of these tags is about to be sent, and has been sent.
    virtual void bits_leave(std::uint32_t tags) = 0;
    virtual void bits_sent(std::uint32_t tags) = 0;
    /// More of c.buffer has come from the host; c.received says how much.
    virtual void data_came(SataCommand& c) = 0;
    virtual void phase_done(SataCommand& c) = 0;
    /// Data had a CRC error, or there were too many of them.
    virtual void phase_failed(SataCommand& c) = 0;

protected:
    ~SataTransportSink() = default;
};

class SataTransport {
public:
    using Purpose = SataTransportSink::Purpose;
    struct Counts {
        std::uint64_t frames_sent = 0;
        std::uint64_t data_received = 0;  ///< Data frames of the host
        std::uint64_t repeated = 0;       ///< after R_ERR
        std::uint64_t bits = 0;           ///< Set Device Bits frames
        std::uint64_t ignored = 0;        ///< frames that nobody asked for
        std::uint64_t data_errors = 0;    ///< Data frames with R_ERR, of either end
    };

    SataTransport(SataFramePort& port, SataTransportSink& sink, bool auto_activate)
        : port_(port), sink_(sink), auto_activate_(auto_activate) {}

    void send_register(const sata::RegisterD2h& fis, Purpose purpose);
    /// The tag has ended well.
    void end_tag(std::uint8_t tag);
    /// Those that have ended well go before what is sent next.
    void send_ended_bits() { flush_ended(); }
    /// A queued command has failed: Set Device Bits with ERR, behind that of tags which have ended well.
    void send_error_bits(AtaEnd end);
    /// All tags are cleared (13.6.3.3, when READ LOG EXT has come).
    void send_clean_bits();
    /// Data of c.wanted bytes in or for c.buffer, in the way of c.protocol.
    void start_phase(SataCommand& c);
    /// Data phases of these commands are given up; `all`: of all.
    void give_up_phases();
    /// Data of a command are on their way: nothing else may be told before they have come.
    bool in_phase() const { return command_ != nullptr; }
    void give_up(const SataCommand& c);
    /// Software reset: nothing that waits is sent any more.
    void forget();
    /// The phy is up, or down. Down: as forget(), and nothing is sent.
    void phy(bool up);
    bool is_up() const { return up_; }

    /// The frame at the link has its answer.
    enum class Answer : std::uint8_t { ok, error, cut };
    void sent(Answer answer);
    /// Data from the host. False: R_ERR.
    bool data(const std::uint8_t* fis, std::uint32_t bytes, bool crc_error);
    /// The power went: nobody answers what is at the link.
    void lose_power();

    bool idle() const {
        return !at_link_ && control_.empty() && phase_ == Step::none && waiting_.empty() && ended_ == 0;
    }
    /// Commands that have, or wait for, a data phase.
    std::size_t phases() const { return waiting_.size() + (phase_ != Step::none ? 1 : 0); }
    const Counts& counts() const { return counts_; }
    std::string dump() const;
    void check_waiters() const;

private:
    enum class What : std::uint8_t { reg, bits, phase };
    /// Of the data phase: what is sent next, or `waits` for Data of the host.
    enum class Step : std::uint8_t { none, setup, data, activate, waits };
    struct Control {
        std::array<std::uint8_t, sata::kRegisterBytes> fis{};
        std::uint32_t bytes = 0;
        What what = What::reg;
        Purpose purpose = Purpose::end;
        std::uint32_t tags = 0;
    };

    void pump();
    void put(const std::uint8_t* fis, std::uint32_t bytes, What what);
    void push_bits(const sata::SetDeviceBits& fis, std::uint32_t tags);
    void flush_ended();
    void begin_phase();
    void send_of_phase();
    void phase_frame_sent();
    void end_phase(bool well);
    std::uint32_t next_bytes() const;

    SataFramePort& port_;
    SataTransportSink& sink_;
    const bool auto_activate_;
    bool up_ = false;
    bool at_link_ = false;
    bool forgotten_ = false;  // what is at the link is no longer of interest
    What what_ = What::reg;
    Control control_sent_;
    std::uint32_t out_bytes_ = 0;
    std::array<std::uint8_t, sata::kDataHeaderBytes + sata::kMostDataBytes> out_{};
    std::deque<Control> control_;
    std::uint32_t ended_ = 0;  // tags whose Set Device Bits waits
    std::deque<SataCommand*> waiting_;
    SataCommand* command_ = nullptr;  // of the phase; null: it was given up
    Step phase_ = Step::none;
    std::uint64_t done_ = 0;  // bytes of it
    Counts counts_;
};

}  // namespace ssdtlm
