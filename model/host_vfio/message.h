// SPDX-License-Identifier: Apache-2.0
// Messages as bytes: checks of a header, the structures in a payload, and replies.
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

/// A message that has come.
struct Message {
    Header header;
    Bytes payload;
    std::vector<Fd> fds;

    bool is_reply() const { return (header.flags & kTypeMask) == kReply; }
    bool wants_reply() const { return (header.flags & kNoReply) == 0; }
};

/// Reads the header of a command or a reply with a valid size. Returns nothing if the header is invalid: the rest of
/// the stream can then not be trusted.
std::optional<Header> read_header(const std::uint8_t* bytes);

/// Reads the structure at the beginning of a payload. Returns nothing if the payload is shorter.
template <class T>
std::optional<T> begin_of(const Bytes& payload) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (payload.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, payload.data(), sizeof value);
    return value;
}
/// Reads a payload that is exactly this structure. Returns nothing if it has another length.
template <class T>
std::optional<T> whole(const Bytes& payload) {
    return payload.size() == sizeof(T) ? begin_of<T>(payload) : std::nullopt;
}

template <class T>
void append(Bytes& bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    // Not insert(): gcc 12 takes its copy into a vector with room for one that overflows, and warns.
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// Makes the reply to a command. `payload` follows the header.
Bytes reply(const Header& to, const Bytes& payload = {});
Bytes error_reply(const Header& to, int error);
/// Makes a command that the server sends.
Bytes command(std::uint16_t id, Command what, const Bytes& payload);

/// Capabilities of a client, with the defaults of the specification.
struct Capabilities {
    std::uint32_t most_data = kMostData;
    std::uint32_t most_fds = 1;
};
/// Reads the JSON behind a Version. Returns nothing if it is no JSON or has another structure.
std::optional<Capabilities> read_capabilities(const Bytes& payload);
/// Makes the version and capabilities of the server. It offers only capabilities that the client has proposed.
Bytes version_payload(std::uint16_t minor, const Capabilities& client);

}  // namespace ssdtlm::vfio
