// SPDX-License-Identifier: Apache-2.0
// Messages as bytes: what a header may say, the structures in a payload, and replies.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "host_vfio/fd.h"
#include "host_vfio/protocol.h"

namespace ssdtlm::vfio {

using Bytes = std::vector<std::uint8_t>;

/// One that has come.
struct Message {
    Header header;
    Bytes payload;
    std::vector<Fd> fds;

    bool is_reply() const { return (header.flags & kTypeMask) == kReply; }
    bool wants_reply() const { return (header.flags & kNoReply) == 0; }
};

/// A header that the stream can go on with: a command or a reply, of a size that a message may have. None: nothing that
/// follows can be trusted.
std::optional<Header> read_header(const std::uint8_t* bytes);

/// The structure at the begin of a payload; none: it is shorter.
template <class T>
std::optional<T> begin_of(const Bytes& payload) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (payload.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, payload.data(), sizeof value);
    return value;
}
/// The same of one that is nothing else.
template <class T>
std::optional<T> whole(const Bytes& payload) {
    return payload.size() == sizeof(T) ? begin_of<T>(payload) : std::nullopt;
}

template <class T>
void append(Bytes& bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
}

/// Answer to that command; `payload` follows the header.
Bytes reply(const Header& to, const Bytes& payload = {});
Bytes error_reply(const Header& to, int error);
/// A command of the server's own.
Bytes command(std::uint16_t id, Command what, const Bytes& payload);

/// What a client says of itself, or its silence means.
struct Capabilities {
    std::uint32_t most_data = kMostData;
    std::uint32_t most_fds = 1;
};
/// Of the JSON behind a Version; none: it is no JSON, or has another shape.
std::optional<Capabilities> read_capabilities(const Bytes& payload);
/// Version and capabilities of the server, none of which the client did not propose.
Bytes version_payload(std::uint16_t minor, const Capabilities& client);

}  // namespace ssdtlm::vfio
