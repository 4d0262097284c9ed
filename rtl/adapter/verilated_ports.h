// SPDX-License-Identifier: Apache-2.0
// Bits of Verilated ports, whatever their width: up to 64 bits they are integers, beyond that arrays of words.
#pragma once

#include <verilated.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include "common/units/units.h"

namespace ssdtlm::rtl {

template <class Port>
void put(Port& port, std::uint64_t value) {
    static_assert(std::is_integral_v<Port>);
    port = static_cast<Port>(value);
}

/// `width` bits from bit `at` on; bits beyond the value's 64 are 0.
template <class Port>
void put_bits(Port& port, unsigned at, unsigned width, std::uint64_t value) {
    const std::uint64_t mask = width < 64 ? (std::uint64_t{1} << width) - 1 : ~std::uint64_t{0};
    if constexpr (std::is_integral_v<Port>) {
        port = static_cast<Port>((port & ~(mask << at)) | (value & mask) << at);
    } else {
        for (unsigned done = 0; done < width;) {
            const unsigned word = (at + done) / 32, shift = (at + done) % 32;
            const unsigned n = width - done < 32 - shift ? width - done : 32 - shift;
            const std::uint32_t part = static_cast<std::uint32_t>(~std::uint64_t{0} >> (64 - n)) << shift;
            port[word] =
                (port[word] & ~part) | (static_cast<std::uint32_t>((done < 64 ? value >> done : 0) << shift) & part);
            done += n;
        }
    }
}

template <class Port>
std::uint32_t get_word(const Port& port, unsigned word) {
    if constexpr (std::is_integral_v<Port>)
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(port) >> 32 * word);
    else
        return port[word];
}

/// A block need not have the ports that say whose a request is: those that it has are driven.
template <class Top, class = void>
struct HasTenant : std::false_type {};
template <class Top>
struct HasTenant<Top, std::void_t<decltype(std::declval<Top&>().push_tenant)>> : std::true_type {};
template <class Top, class = void>
struct HasPriority : std::false_type {};
template <class Top>
struct HasPriority<Top, std::void_t<decltype(std::declval<Top&>().push_priority)>> : std::true_type {};
template <class Top, class = void>
struct HasStream : std::false_type {};
template <class Top>
struct HasStream<Top, std::void_t<decltype(std::declval<Top&>().push_stream)>> : std::true_type {};
template <class Top, class = void>
struct HasDeadline : std::false_type {};
template <class Top>
struct HasDeadline<Top, std::void_t<decltype(std::declval<Top&>().push_deadline)>> : std::true_type {};

template <class Top, class = void>
struct HasBytes : std::false_type {};
template <class Top>
struct HasBytes<Top, std::void_t<decltype(std::declval<Top&>().push_bytes)>> : std::true_type {};
template <class Top, class = void>
struct HasBlock : std::false_type {};
template <class Top>
struct HasBlock<Top, std::void_t<decltype(std::declval<Top&>().push_block)>> : std::true_type {};
template <class Top, class = void>
struct HasAge : std::false_type {};
template <class Top>
struct HasAge<Top, std::void_t<decltype(std::declval<Top&>().push_age)>> : std::true_type {};
template <class Top, class = void>
struct HasCycleNow : std::false_type {};
template <class Top>
struct HasCycleNow<Top, std::void_t<decltype(std::declval<Top&>().cycle_now)>> : std::true_type {};

inline constexpr std::uint32_t kNoDeadline = 0xFFFFFFFFu;
inline constexpr std::uint32_t kNobodys = 0xFFFFFFFFu;
/// The deadline as a block sees it: whole clock periods that are left, 0 when it has passed.
inline std::uint32_t periods_left(SimTime deadline, SimTime now, Ps period) {
    if (deadline == kNever) return kNoDeadline;
    if (deadline <= now) return 0;
    const std::int64_t left = (deadline - now) / period;
    return left < kNoDeadline ? static_cast<std::uint32_t>(left) : kNoDeadline - 1;
}

/// Whole clock periods since the host's command was submitted; kNobodys when there is none.
inline std::uint32_t periods_since(SimTime submitted, SimTime now, Ps period) {
    if (submitted == kNever) return kNobodys;
    if (submitted >= now) return 0;
    const std::int64_t age = (now - submitted) / period;
    return age < kNobodys ? static_cast<std::uint32_t>(age) : kNobodys - 1;
}

}  // namespace ssdtlm::rtl
