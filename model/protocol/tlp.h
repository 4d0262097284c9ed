// SPDX-License-Identifier: Apache-2.0
// Transaction layer packets as sizes: kinds, wire bytes per generation, flow-control credits, and the splitting of
// one request into TLPs. Models no header contents (requester ids, byte enables, tags are not encoded).
// Sources: PCI Express Base Specification 5.0 §2.2 (headers), §2.6.1 (credits), §4.2 (framing); 6.0 §4.2.3 (FLIT).
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

enum class TlpKind : std::uint8_t { mem_write, mem_read, completion_data, completion };
inline constexpr std::uint32_t kTlpKinds = 4;

/// The three flow-control and ordering classes of a virtual channel.
enum class TlpClass : std::uint8_t { posted, non_posted, completion };
inline constexpr std::uint32_t kTlpClasses = 3;

constexpr TlpClass tlp_class(TlpKind kind) {
    return kind == TlpKind::mem_write  ? TlpClass::posted
           : kind == TlpKind::mem_read ? TlpClass::non_posted
                                       : TlpClass::completion;
}

inline constexpr std::uint32_t kCreditBytes = 16;     ///< one data credit
inline constexpr std::uint32_t kPageBoundary = 4096;  ///< no request crosses it

/// Bytes around header and payload: start framing, sequence number, LCRC, end framing, ECRC.
/// Gen1/2: STP 1, sequence 2, LCRC 4, END 1. Gen3-5: STP token 4, LCRC 4. Gen6: the FLIT carries them.
constexpr std::uint32_t tlp_framing_bytes(std::uint32_t generation, bool ecrc) {
    return (generation <= 5 ? 8u : 0u) + (ecrc ? 4u : 0u);
}
/// 3DW or 4DW header: a memory request below 4 GiB must use the short form, one above the long form.
constexpr std::uint32_t tlp_header_bytes(TlpKind kind, std::uint64_t address) {
    const bool request = kind == TlpKind::mem_write || kind == TlpKind::mem_read;
    return request && address >= 4_GiB ? 16 : 12;
}
/// All bytes of a TLP except its payload.
constexpr std::uint32_t tlp_overhead_bytes(std::uint32_t generation, bool ecrc, TlpKind kind, std::uint64_t address) {
    return tlp_framing_bytes(generation, ecrc) + tlp_header_bytes(kind, address);
}

/// Bytes from `address` to the end of its first piece when [address, address + bytes) is cut at every multiple of
/// `unit`. unit is a power of two <= 4096, so no piece crosses a 4 KiB boundary.
constexpr std::uint32_t first_piece(std::uint64_t address, std::uint64_t bytes, std::uint32_t unit) {
    const std::uint64_t room = unit - (address & (unit - 1));
    return static_cast<std::uint32_t>(bytes < room ? bytes : room);
}
/// Number of pieces of that cut; bytes > 0.
constexpr std::uint32_t piece_count(std::uint64_t address, std::uint64_t bytes, std::uint32_t unit) {
    return static_cast<std::uint32_t>(((address & (unit - 1)) + bytes - 1) >> __builtin_ctz(unit)) + 1;
}
/// Bytes in the first n of these pieces.
constexpr std::uint64_t piece_prefix(std::uint64_t address, std::uint64_t bytes, std::uint32_t unit, std::uint64_t n) {
    if (n == 0) return 0;
    const std::uint64_t end = n * unit - (address & (unit - 1));
    return end < bytes ? end : bytes;
}

/// The TLPs of one request, in address order, without a list: pieces of [address, address + bytes) cut at multiples
/// of `unit` (MPS, or the completer's completion size), payloads rounded out to whole DWs.
class TlpTrain {
public:
    constexpr TlpTrain() = default;
    /// TLPs with payload: MWr, CplD.
    static constexpr TlpTrain data(std::uint64_t address, std::uint64_t bytes, std::uint32_t unit,
                                   std::uint32_t overhead) {
        const std::uint64_t start = address & ~std::uint64_t{3};
        const std::uint64_t end = (address + bytes + 3) & ~std::uint64_t{3};
        return TlpTrain{static_cast<std::uint32_t>(start & (unit - 1)), end - start, unit, overhead,
                        piece_count(start, end - start, unit)};
    }
    /// n TLPs without payload: MRd, Cpl.
    static constexpr TlpTrain headers(std::uint32_t n, std::uint32_t overhead) {
        return TlpTrain{0, 0, 1, overhead, n};
    }

    constexpr std::uint32_t count() const { return count_; }
    constexpr std::uint32_t overhead() const { return overhead_; }
    constexpr std::uint64_t payload_bytes() const { return payload_; }
    constexpr std::uint64_t overhead_bytes() const { return std::uint64_t{count_} * overhead_; }
    constexpr std::uint64_t wire_bytes() const { return overhead_bytes() + payload_; }
    /// Wire bytes of the first n TLPs.
    constexpr std::uint64_t wire_prefix(std::uint32_t n) const { return std::uint64_t{n} * overhead_ + prefix(n); }
    /// Payload bytes of TLP i.
    constexpr std::uint32_t payload_of(std::uint32_t i) const {
        return static_cast<std::uint32_t>(prefix(i + 1) - prefix(i));
    }
    /// Data credits of TLP i.
    constexpr std::uint32_t credits_of(std::uint32_t i) const {
        return static_cast<std::uint32_t>(div_ceil(payload_of(i), kCreditBytes));
    }
    /// Data credits of all TLPs.
    constexpr std::uint64_t data_credits() const {
        if (count_ == 1) return div_ceil(payload_, kCreditBytes);
        if (payload_ == 0) return 0;
        return credits_of(0) + std::uint64_t{count_ - 2} * div_ceil(unit_, kCreditBytes) + credits_of(count_ - 1);
    }
    /// Data credits of TLPs first..limit-1; first < limit.
    constexpr std::uint64_t data_credits(std::uint32_t first, std::uint32_t limit) const {
        if (limit - first == 1 || payload_ == 0) return credits_of(first);
        return credits_of(first) + std::uint64_t{limit - first - 2} * div_ceil(unit_, kCreditBytes) +
               credits_of(limit - 1);
    }
    /// How many TLPs are whole within the first `bytes` on the wire; for trains with payload.
    constexpr std::uint32_t tlps_within(std::uint64_t bytes) const {
        if (bytes >= wire_bytes()) return count_;
        const std::uint64_t n = (bytes + skew_) / (unit_ + overhead_);
        return n < count_ ? static_cast<std::uint32_t>(n) : count_ - 1;
    }
    /// This train without its first n TLPs; for trains without payload only.
    constexpr TlpTrain without_first(std::uint32_t n) const { return TlpTrain{0, 0, 1, overhead_, count_ - n}; }

private:
    constexpr TlpTrain(std::uint32_t skew, std::uint64_t payload, std::uint32_t unit, std::uint32_t overhead,
                       std::uint32_t count)
        : payload_(payload), skew_(skew), unit_(unit), overhead_(overhead), count_(count) {}
    constexpr std::uint64_t prefix(std::uint32_t n) const {
        if (n == 0 || payload_ == 0) return 0;
        const std::uint64_t end = std::uint64_t{n} * unit_ - skew_;
        return end < payload_ ? end : payload_;
    }

    std::uint64_t payload_ = 0;  // DW multiple
    std::uint32_t skew_ = 0;     // offset of the first payload byte in its unit
    std::uint32_t unit_ = 1;
    std::uint32_t overhead_ = 0;
    std::uint32_t count_ = 0;
};

}  // namespace ssdtlm
