// SPDX-License-Identifier: Apache-2.0
#include "controller/sata/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/report/error.h"

namespace ssdtlm {

using namespace sata;

// ---------------------------------------------------------------------------------------------------------------
// What is to be sent.

void SataTransport::send_register(const RegisterD2h& fis, Purpose purpose) {
    Control& c = control_.emplace_back();
    c.fis = fis.bytes();
    c.bytes = kRegisterBytes;
    c.what = What::reg;
    c.purpose = purpose;
    pump();
}

void SataTransport::push_bits(const SetDeviceBits& fis, std::uint32_t tags) {
    Control& c = control_.emplace_back();
    const auto bytes = fis.bytes();
    std::copy(bytes.begin(), bytes.end(), c.fis.begin());
    c.bytes = kSetDeviceBitsBytes;
    c.what = What::bits;
    c.tags = tags;
}

void SataTransport::flush_ended() {
    if (ended_ == 0) return;
    SetDeviceBits fis;
    fis.status = ata::kStatusGood;
    fis.active = ended_;
    push_bits(fis, ended_);
    ended_ = 0;
}

void SataTransport::end_tag(std::uint8_t tag) {
    ended_ |= 1u << tag;
    pump();
}

void SataTransport::send_error_bits(AtaEnd end) {
    flush_ended();
    SetDeviceBits fis;
    fis.status = end.status;
    fis.error = end.error;
    push_bits(fis, 0);
    pump();
}

void SataTransport::send_clean_bits() {
    SetDeviceBits fis;
    fis.status = ata::kStatusGood;
    fis.active = ~0u;
    push_bits(fis, 0);
    pump();
}

void SataTransport::start_phase(SataCommand& c) {
    waiting_.push_back(&c);
    pump();
}

// ---------------------------------------------------------------------------------------------------------------

void SataTransport::pump() {
    if (!up_ || at_link_) return;
    if (phase_ == Step::waits) return;
    if (phase_ != Step::none && command_ != nullptr) return send_of_phase();
    phase_ = Step::none;
    if (control_.empty()) flush_ended();
    if (!control_.empty()) {
        control_sent_ = control_.front();
        control_.pop_front();
        if (control_sent_.what == What::bits) ++counts_.bits;
        if (control_sent_.tags != 0) sink_.bits_leave(control_sent_.tags);
        return put(control_sent_.fis.data(), control_sent_.bytes, control_sent_.what);
    }
    if (!waiting_.empty()) begin_phase();
}

void SataTransport::put(const std::uint8_t* fis, std::uint32_t bytes, What what) {
    if (fis != out_.data()) std::memcpy(out_.data(), fis, bytes);
    out_bytes_ = bytes;
    what_ = what;
    at_link_ = true;
    forgotten_ = false;
    ++counts_.frames_sent;
    port_.send(out_.data(), bytes);
}

void SataTransport::begin_phase() {
    command_ = waiting_.front();
    waiting_.pop_front();
    done_ = 0;
    const SataProtocolKind p = command_->protocol;
    phase_ = command_->is_queued() || p == SataProtocolKind::pio_in ? Step::setup
             : p == SataProtocolKind::dma_in                        ? Step::data
                                                                    : Step::activate;
    send_of_phase();
}

/// PIO moves one page (DRQ data block) at a time. All other protocols move as much as a Data FIS holds.
std::uint32_t SataTransport::next_bytes() const {
    const std::uint32_t most = command_->protocol == SataProtocolKind::pio_in ? ata::kPageBytes : kMostDataBytes;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(command_->wanted - done_, most));
}

void SataTransport::send_of_phase() {
    const SataCommand& c = *command_;
    switch (phase_) {
        case Step::setup:
            if (c.is_queued()) {
                DmaSetup s;
                s.tag = static_cast<std::uint8_t>(c.tag);
                s.to_host = c.protocol == SataProtocolKind::queued_in;
                s.auto_activate = !s.to_host && auto_activate_;
                s.transfer_bytes = static_cast<std::uint32_t>(c.wanted);
                put(s.bytes().data(), kDmaSetupBytes, What::phase);
            } else {
                PioSetup s;
                s.status = ata::kStatusGood | ata::kStatusDrq;
                s.device = c.registers.device;
                const bool last = c.wanted - done_ == next_bytes();
                s.end_status = last ? ata::kStatusGood : std::uint8_t{ata::kStatusBsy | ata::kStatusGood};
                s.transfer_bytes = static_cast<std::uint16_t>(next_bytes());
                put(s.bytes().data(), kPioSetupBytes, What::phase);
            }
            return;
        case Step::data: {
            const std::uint32_t n = next_bytes();
            const auto header = data_header();
            std::memcpy(out_.data(), header.data(), header.size());
            std::memcpy(out_.data() + kDataHeaderBytes, c.buffer.data() + done_, n);
            return put(out_.data(), kDataHeaderBytes + n, What::phase);
        }
        case Step::activate:
            return put(dma_activate().data(), kDmaActivateBytes, What::phase);
        case Step::none:
        case Step::waits:
            return;
    }
}

void SataTransport::phase_frame_sent() {
    const SataCommand& c = *command_;
    switch (phase_) {
        case Step::setup:
            phase_ = !c.writes() ? Step::data : auto_activate_ ? Step::waits : Step::activate;
            break;
        case Step::data:
            done_ += out_bytes_ - kDataHeaderBytes;
            if (done_ == c.wanted) return end_phase(true);
            if (c.protocol == SataProtocolKind::pio_in) phase_ = Step::setup;
            break;
        case Step::activate:
            phase_ = Step::waits;
            break;
        case Step::none:
        case Step::waits:
            break;
    }
}

void SataTransport::end_phase(bool well) {
    SataCommand& c = *command_;
    command_ = nullptr;
    phase_ = Step::none;
    well ? sink_.phase_done(c) : sink_.phase_failed(c);
}

// ---------------------------------------------------------------------------------------------------------------
// From the link.

void SataTransport::sent(Answer answer) {
    if (!at_link_) return;
    at_link_ = false;
    if (answer == Answer::cut) return phy(false);
    if (forgotten_) {
        forgotten_ = false;
        return pump();
    }
    const bool of_phase = what_ == What::phase;
    if (answer == Answer::error) {
        const bool data = of_phase && out_[0] == static_cast<std::uint8_t>(FisType::data);
        if (!data) {
            ++counts_.repeated;
            return put(out_.data(), out_bytes_, what_);
        }
        ++counts_.data_errors;
        if (command_ != nullptr) end_phase(false);
        return pump();
    }
    if (of_phase && command_ != nullptr) {
        phase_frame_sent();
    } else if (of_phase) {
        // The phase was given up while this frame was sent. The host answers the frame anyway.
        const bool asks =
            out_[0] == static_cast<std::uint8_t>(FisType::dma_activate) ||
            (out_[0] == static_cast<std::uint8_t>(FisType::dma_setup) && DmaSetup::from(out_.data()).auto_activate);
        phase_ = asks ? Step::waits : Step::none;
    } else if (what_ == What::reg) {
        sink_.register_sent(control_sent_.purpose);
    } else if (control_sent_.tags != 0) {
        sink_.bits_sent(control_sent_.tags);
    }
    pump();
}

bool SataTransport::data(const std::uint8_t* fis, std::uint32_t bytes, bool crc_error) {
    ++counts_.data_received;
    if (phase_ != Step::waits) {
        ++counts_.ignored;
        return !crc_error;
    }
    const std::uint32_t n = bytes - kDataHeaderBytes;
    if (command_ == nullptr) {
        ++counts_.ignored;
        phase_ = Step::none;
    } else if (crc_error || n > command_->wanted - done_) {
        ++counts_.data_errors;
        end_phase(false);
    } else {
        SataCommand& c = *command_;
        std::memcpy(c.buffer.data() + done_, fis + kDataHeaderBytes, n);
        done_ += n;
        c.received = done_;
        phase_ = Step::activate;
        const bool last = done_ == c.wanted;
        if (last) {
            command_ = nullptr;
            phase_ = Step::none;
        }
        sink_.data_came(c);
        if (last) sink_.phase_done(c);
    }
    pump();
    return !crc_error;
}

// ---------------------------------------------------------------------------------------------------------------

void SataTransport::give_up_phases() {
    waiting_.clear();
    if (command_ == nullptr) return;
    command_ = nullptr;
    if (phase_ != Step::waits && !(at_link_ && what_ == What::phase)) phase_ = Step::none;
}

void SataTransport::give_up(const SataCommand& c) {
    waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), &c), waiting_.end());
    if (command_ != &c) return;
    command_ = nullptr;
    if (phase_ != Step::waits && !(at_link_ && what_ == What::phase)) phase_ = Step::none;
}

void SataTransport::forget() {
    control_.clear();
    ended_ = 0;
    waiting_.clear();
    command_ = nullptr;
    phase_ = Step::none;
    forgotten_ = at_link_;
}

void SataTransport::phy(bool up) {
    if (!up) {
        forget();
        at_link_ = forgotten_ = false;
    }
    up_ = up;
    if (up) pump();
}

void SataTransport::lose_power() {
    phy(false);
}

std::string SataTransport::dump() const {
    return fmt::format(
        "sata: phy {}{}, {} Register or Set Device Bits frames wait, ended tags {:08x}, {} data phases{}\n",
        up_ ? "up" : "down", at_link_ ? ", a frame is at the link" : "", control_.size(), ended_, phases(),
        phase_ == Step::waits ? ", one waits for Data of the host" : "");
}

void SataTransport::check_waiters() const {
    const bool wants =
        !control_.empty() || ended_ != 0 || !waiting_.empty() || (phase_ != Step::none && phase_ != Step::waits);
    if (up_ && !at_link_ && phase_ != Step::waits && wants)
        throw CheckFailed("sata: frames wait, and nothing is at the link\n" + dump());
}

}  // namespace ssdtlm
