// SPDX-License-Identifier: Apache-2.0
#include "host_sata/ahci/data_mover.h"

#include <algorithm>
#include <cstring>

#include "common/report/error.h"

namespace ssdtlm {

DataMover::DataMover(AdapterMemory& memory, std::uint32_t frames, Listener& listener)
    : memory_(memory), listener_(listener) {
    SSDTLM_CHECK(frames != 0, "an adapter without room for a frame");
    incoming_.frames.resize(frames);
    outgoing_.frames.resize(frames);
    for (Frame& frame : outgoing_.frames) frame.fis[0] = static_cast<std::uint8_t>(sata::FisType::data);
}

void DataMover::begin(std::uint64_t prdt, std::uint32_t entries, std::uint64_t offset, std::uint64_t most,
                      bool to_host) {
    SSDTLM_CHECK(may_begin(), "a transfer begins before the last one has ended");
    walk_.begin(prdt, entries, offset);
    to_host_ = to_host;
    abandoned_ = overflowed_ = false;
    asked_ = 0;
    left_ = most;
    moved_ = 0;
    outgoing_.used = 0;
    if (to_host)
        has_entries();
    else
        read_ahead();
}

void DataMover::abandon() {
    abandoned_ = true;
    asked_ = 0;
    left_ = 0;
    // A frame with accesses under way keeps its place until they end.
    for (std::uint32_t i = 0; i < incoming_.used; ++i) incoming_.at(i).begun = incoming_.at(i).bytes;
    release_delivered();
    if (reads_ == 0) outgoing_.used = 0;
}

/// True if walk_ has a piece, or has come to its end. Otherwise it requests the next entries.
bool DataMover::has_entries() {
    if (!walk_.needs_entries()) return true;
    if (entries_asked_) return false;
    entries_asked_ = true;
    ++reads_;
    ++under_way_;
    const PrdWalk::Piece group = walk_.next_group();
    memory_.read(group.address, walk_.buffer(), group.bytes, *this, kOfPrdt);
    return false;
}

// ---------------------------------------------------------------------------------------------------------------
// To the host.

void DataMover::receive(const std::uint8_t* data, std::uint32_t bytes) {
    SSDTLM_CHECK(has_room() && bytes <= sata::kMostDataBytes, "a frame without room for it");
    Frame& frame = incoming_.at(incoming_.used++);
    std::memcpy(frame.data(), data, bytes);
    frame.bytes = bytes;
    frame.begun = 0;
    deliver();
}

void DataMover::deliver() {
    for (std::uint32_t i = 0; i < incoming_.used; ++i) {
        Frame& frame = incoming_.at(i);
        while (frame.begun < frame.bytes) {
            if (!has_entries()) return;
            if (walk_.at_end()) {
                overflowed_ = true;
                frame.begun = frame.bytes;  // bytes without room are dropped (AHCI 1.3.1, 6.1.5)
                break;
            }
            const PrdWalk::Piece piece = walk_.take(std::min(kMostPiece, frame.bytes - frame.begun));
            const std::uint8_t* const from = frame.data() + frame.begun;
            frame.begun += piece.bytes;
            moved_ += piece.bytes;
            ++frame.under_way;
            ++under_way_;
            memory_.write(piece.address, from, piece.bytes, *this,
                          static_cast<std::uint32_t>(&frame - incoming_.frames.data()));
        }
    }
    release_delivered();
}

void DataMover::release_delivered() {
    while (incoming_.used != 0 && incoming_.at(0).begun == incoming_.at(0).bytes && incoming_.at(0).under_way == 0)
        incoming_.pop();
}

void DataMover::memory_written(std::uint32_t cookie) {
    --under_way_;
    --incoming_.frames[cookie].under_way;
    release_delivered();
    listener_.data_moved();
}

// ---------------------------------------------------------------------------------------------------------------
// To the device.

void DataMover::activate() {
    ++asked_;
    read_ahead();
}

bool DataMover::frame_ready() const {
    return outgoing_.used != 0 && outgoing_.at(0).closed && outgoing_.at(0).under_way == 0;
}

void DataMover::frame_left() {
    --asked_;
    moved_ += outgoing_.at(0).bytes;
    outgoing_.pop();
    read_ahead();
}

/// Fills frames as long as there are room, data and entries of the PRDT.
void DataMover::read_ahead() {
    while (!abandoned_ && !to_host_) {
        if (outgoing_.used == 0 || outgoing_.at(outgoing_.used - 1).closed) {
            if (left_ == 0 || outgoing_.used == outgoing_.frames.size()) return;
            if (!has_entries()) return;
            if (walk_.at_end()) return;
            Frame& fresh = outgoing_.at(outgoing_.used++);
            fresh.bytes = fresh.under_way = 0;
            fresh.closed = false;
        }
        Frame& frame = outgoing_.at(outgoing_.used - 1);
        while (frame.bytes < sata::kMostDataBytes && left_ != 0) {
            if (!has_entries()) return;
            if (walk_.at_end()) break;
            const auto most = static_cast<std::uint32_t>(
                std::min<std::uint64_t>({kMostPiece, sata::kMostDataBytes - frame.bytes, left_}));
            const PrdWalk::Piece piece = walk_.take(most);
            std::uint8_t* const to = frame.data() + frame.bytes;
            frame.bytes += piece.bytes;
            left_ -= piece.bytes;
            ++frame.under_way;
            ++reads_;
            ++under_way_;
            memory_.read(piece.address, to, piece.bytes, *this,
                         static_cast<std::uint32_t>(&frame - outgoing_.frames.data()));
        }
        frame.closed = true;
    }
}

void DataMover::memory_read(std::uint32_t cookie, bool ok) {
    --reads_;
    --under_way_;
    if (cookie == kOfPrdt)
        entries_asked_ = false;
    else
        --outgoing_.frames[cookie].under_way;
    if (!ok && !abandoned_) {
        abandon();
        return listener_.memory_failed();
    }
    if (abandoned_) {
        if (reads_ == 0) outgoing_.used = 0;
    } else if (cookie == kOfPrdt) {
        walk_.filled();
        if (to_host_)
            deliver();
        else
            read_ahead();
    }
    listener_.data_moved();
}

}  // namespace ssdtlm
