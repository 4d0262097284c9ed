// SPDX-License-Identifier: Apache-2.0
// The drive's end of the link. It chooses the frame that is sent next, and takes the Data that it has asked for. It
// handles FISes and their order, but not the meaning of commands. It needs no SystemC kernel.
// - One frame at a time is at the link. A frame other than Data is sent again after R_ERR (Serial ATA 3.0, 9.6.4).
//   R_ERR of Data ends the data phase of its command.
// - One whole data phase runs at a time. The next one, in order of start_phase(), begins when it has ended. Between two
//   phases Register and PIO frames go first, then one Set Device Bits for all tags that have ended. So a host is soon
//   released to send its next command, and a full queue stays full. Drives with short queues behave like that. assumed.
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
    /// The bytes must stay unchanged until SataTransport::sent(), which send() may call itself.
    virtual void send(const std::uint8_t* fis, std::uint32_t bytes) = 0;

protected:
    ~SataFramePort() = default;
};

/// Receives the events of the link.
class SataTransportSink {
public:
    /// A Register FIS with this purpose was sent.
    enum class Purpose : std::uint8_t { signature, release, end };
    virtual void register_sent(Purpose purpose) = 0;
    /// Set Device Bits of these tags is about to be sent, or has been sent.
    virtual void bits_leave(std::uint32_t tags) = 0;
    virtual void bits_sent(std::uint32_t tags) = 0;
    /// More data have come from the host to c.buffer. c.received holds their length.
    virtual void data_came(SataCommand& c) = 0;
    virtual void phase_done(SataCommand& c) = 0;
    /// Data had a CRC error, or were longer than expected.
    virtual void phase_failed(SataCommand& c) = 0;

protected:
    ~SataTransportSink() = default;
};

class SataTransport {
public:
    using Purpose = SataTransportSink::Purpose;
    struct Counts {
        std::uint64_t frames_sent = 0;
        std::uint64_t data_received = 0;  ///< Data frames from the host
        std::uint64_t repeated = 0;       ///< frames sent again after R_ERR
        std::uint64_t bits = 0;           ///< Set Device Bits frames
        std::uint64_t ignored = 0;        ///< frames that nobody asked for
        std::uint64_t data_errors = 0;    ///< Data frames with R_ERR, of either end
    };

    SataTransport(SataFramePort& port, SataTransportSink& sink, bool auto_activate)
        : port_(port), sink_(sink), auto_activate_(auto_activate) {}

    void send_register(const sata::RegisterD2h& fis, Purpose purpose);
    /// Reports that a tag has ended well.
    void end_tag(std::uint8_t tag);
    /// Sends the tags that have ended well before anything else.
    void send_ended_bits() { flush_ended(); }
    /// Reports that a queued command has failed. Set Device Bits with ERR follows that of the tags which have ended
    /// well.
    void send_error_bits(AtaEnd end);
    /// Clears all tags, when READ LOG EXT has come (13.6.3.3).
    void send_clean_bits();
    /// Starts the transfer of c.wanted bytes from or to c.buffer, by the protocol c.protocol.
    void start_phase(SataCommand& c);
    /// Gives up the data phase of one command, or all of them.
    void give_up_phases();
    /// True while data of a command are being transferred. Nothing else may be reported to the host until then.
    bool in_phase() const { return command_ != nullptr; }
    void give_up(const SataCommand& c);
    /// Carries out a software reset: no waiting frame is sent any more.
    void forget();
    /// The phy is up or down. Down acts like forget(), and nothing is sent.
    void phy(bool up);
    bool is_up() const { return up_; }

    /// Takes the answer to the frame at the link.
    enum class Answer : std::uint8_t { ok, error, cut };
    void sent(Answer answer);
    /// Takes data from the host. Returns false to answer with R_ERR.
    bool data(const std::uint8_t* fis, std::uint32_t bytes, bool crc_error);
    /// After a loss of power nobody answers the frame at the link.
    void lose_power();

    bool idle() const {
        return !at_link_ && control_.empty() && phase_ == Step::none && waiting_.empty() && ended_ == 0;
    }
    /// Number of commands that are in a data phase or wait for one.
    std::size_t phases() const { return waiting_.size() + (phase_ != Step::none ? 1 : 0); }
    const Counts& counts() const { return counts_; }
    std::string dump() const;
    void check_waiters() const;

private:
    enum class What : std::uint8_t { reg, bits, phase };
    /// Next step of the data phase. In `waits` the host must send Data.
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
    bool forgotten_ = false;  // the answer to the frame at the link is ignored
    What what_ = What::reg;
    Control control_sent_;
    std::uint32_t out_bytes_ = 0;
    std::array<std::uint8_t, sata::kDataHeaderBytes + sata::kMostDataBytes> out_{};
    std::deque<Control> control_;
    std::uint32_t ended_ = 0;  // tags whose Set Device Bits waits
    std::deque<SataCommand*> waiting_;
    SataCommand* command_ = nullptr;  // command of the phase; null: it was given up
    Step phase_ = Step::none;
    std::uint64_t done_ = 0;  // bytes transferred in the phase
    Counts counts_;
};

}  // namespace ssdtlm
