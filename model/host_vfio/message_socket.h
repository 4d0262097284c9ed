// SPDX-License-Identifier: Apache-2.0
// A UNIX socket of the server. It serves one client at a time, and receives and sends whole messages with their file
// descriptors. Only wait() blocks. A client that sends invalid messages, or does not read, is dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "host_vfio/message.h"

namespace ssdtlm::vfio {

class MessageSocket {
public:
    /// Returns the address that a client of the socket at `path` sees for its peer.
    static std::string address_at(const std::string& path) { return path + ".part"; }
    /// Listens at that path. Throws UserError if it cannot. A socket file without a listener is replaced.
    explicit MessageSocket(const std::string& path);
    ~MessageSocket();
    MessageSocket(const MessageSocket&) = delete;
    MessageSocket& operator=(const MessageSocket&) = delete;

    bool connected() const { return static_cast<bool>(client_); }
    /// Waits until there is something to take or accept, until waiting bytes can be sent, until the client has gone, or
    /// until the file descriptor `wake` can be read (-1: none). It waits for at most `nanoseconds`; a negative value
    /// means no limit.
    void wait(std::int64_t nanoseconds, int wake);
    /// Accepts a waiting client if there is none yet. Returns true if there is a new one.
    bool accept();
    /// Reads what has come. Returns false if the client has gone, or must be dropped.
    bool receive();
    /// Number of bytes of this client that have been read.
    std::uint64_t received() const { return received_; }
    bool any() const { return !whole_.empty(); }
    Message take();
    /// Takes the first reply to this command of the server. Returns false if none has come.
    bool take_reply(std::uint16_t id, Command command, Message& out);
    /// Sends now, or when there is room. Returns false if the client has gone, or has too many bytes waiting.
    bool send(const Bytes& bytes);
    void drop();

private:
    static constexpr std::size_t kMostWaiting = 64u << 20;  ///< bytes waiting to be sent. assumed
    static constexpr std::size_t kMostMessages = 4096;      ///< messages not taken; others stay in the socket. assumed

    bool flush();
    bool cut();

    std::string path_;
    std::uint64_t received_ = 0;
    Fd listener_, client_;
    Bytes in_;  // bytes of an incomplete message
    std::size_t in_begin_ = 0;
    struct Came {
        Fd fd;
        std::size_t end;  // position in in_ behind the bytes it came with
    };
    std::deque<Came> fds_;
    std::deque<Message> whole_;
    Bytes out_;
    std::size_t out_begin_ = 0;
};

}  // namespace ssdtlm::vfio
