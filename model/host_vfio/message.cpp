// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/message.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace ssdtlm::vfio {

namespace {

/// The largest JSON with capabilities, which is an object of a dozen numbers: assumed.
constexpr std::size_t kMostJson = 4096;

Bytes with_header(Header header, const Bytes& payload) {
    header.size = static_cast<std::uint32_t>(sizeof header + payload.size());
    Bytes bytes;
    bytes.reserve(header.size);
    append(bytes, header);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
}

/// Reads a member, if it exists. Returns false if it is no positive integer. A value of more than 32 bits counts as the
/// largest.
bool number_of(const nlohmann::json& object, const char* name, std::uint32_t& out) {
    const auto found = object.find(name);
    if (found == object.end()) return true;
    if (!found->is_number_unsigned()) return false;
    const auto value = found->get<std::uint64_t>();
    out = static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~std::uint32_t{0}));
    return value != 0;
}

}  // namespace

std::optional<Header> read_header(const std::uint8_t* bytes) {
    Header h;
    std::memcpy(&h, bytes, sizeof h);
    if ((h.flags & kTypeMask) > kReply || h.size < sizeof h || h.size > kMostMessage) return std::nullopt;
    return h;
}

Bytes reply(const Header& to, const Bytes& payload) {
    return with_header({to.id, to.command, 0, kReply, 0}, payload);
}

Bytes error_reply(const Header& to, int error) {
    return with_header({to.id, to.command, 0, kReply | kError, static_cast<std::uint32_t>(error)}, {});
}

Bytes command(std::uint16_t id, Command what, const Bytes& payload) {
    return with_header({id, static_cast<std::uint16_t>(what), 0, 0, 0}, payload);
}

std::optional<Capabilities> read_capabilities(const Bytes& payload) {
    Capabilities c;
    if (payload.size() <= sizeof(Version)) return c;  // the client sent no capabilities
    const char* const begin = reinterpret_cast<const char*>(payload.data()) + sizeof(Version);
    const std::size_t length = payload.size() - sizeof(Version);
    if (length > kMostJson || begin[length - 1] != '\0') return std::nullopt;
    const nlohmann::json said = nlohmann::json::parse(begin, begin + length - 1, nullptr, false);
    if (said.is_discarded() || !said.is_object()) return std::nullopt;
    const auto found = said.find("capabilities");
    if (found == said.end()) return c;
    if (!found->is_object() || !number_of(*found, "max_data_xfer_size", c.most_data) ||
        !number_of(*found, "max_msg_fds", c.most_fds))
        return std::nullopt;
    return c;
}

Bytes version_payload(std::uint16_t minor, const Capabilities& client) {
    Bytes bytes;
    append(bytes, Version{0, minor});
    const std::string said = nlohmann::json{{"capabilities",
                                             {{"max_msg_fds", std::min(client.most_fds, kMostFds)},
                                              {"max_data_xfer_size", std::min(client.most_data, kMostData)}}}}
                                 .dump();
    bytes.insert(bytes.end(), said.begin(), said.end());
    bytes.push_back(0);
    return bytes;
}

}  // namespace ssdtlm::vfio
