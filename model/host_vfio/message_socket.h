// SPDX-License-Identifier: Apache-2.0
// A UNIX socket of the server: one client at a time, whole messages with their file descriptors in and out. Nothing
// waits here but wait(); a client that sends what is no message, or does not read, is dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "host_vfio/message.h"

namespace ssdtlm::vfio {

class MessageSocket {
public:
    /// What a client of the socket at that path sees as the address of its peer.
    static std::string address_at(const std::string& path) { return path + ".part"; }
    /// Listens at that path. UserError where it cannot. A socket that nobody listens at is replaced.
    explicit MessageSocket(const std::string& path);
    ~MessageSocket();
    MessageSocket(const MessageSocket&) = delete;
    MessageSocket& operator=(const MessageSocket&) = delete;

    bool connected() const { return static_cast<bool>(client_); }
    /// Waits until there is something to take or accept, room to send what waits, the client has gone, or `wake` (a
    /// file descriptor; -1: none) can be read; at most `nanoseconds`, below 0: without end.
    void wait(std::int64_t nanoseconds, int wake);
    /// Takes a client that waits, where there is none. True: there is a new one.
    bool accept();
    /// Reads what has come. False: the client has gone, or has to go.
    bool receive();
    /// Bytes that this client has sent, as far as they have been read.
    std::uint64_t received() const { return received_; }
    bool any() const { return !whole_.empty(); }
    Message take();
    /// The first reply to this command of ours among those that have come; false: there is none.
    bool take_reply(std::uint16_t id, Command command, Message& out);
    /// Sends now, or when there is room. False: the client has gone, or lets too much wait.
    bool send(const Bytes& bytes);
    void drop();

private:
    static constexpr std::size_t kMostWaiting = 64u << 20;  ///< bytes to send. assumed
    static constexpr std::size_t kMostMessages = 4096;      ///< not taken yet: the rest waits in the socket. assumed

    bool flush();
    bool cut();

    std::string path_;
    std::uint64_t received_ = 0;
    Fd listener_, client_;
    Bytes in_;  // of messages that are not whole yet
    std::size_t in_begin_ = 0;
    struct Came {
        Fd fd;
        std::size_t end;  // in in_, of the bytes it came with
    };
    std::deque<Came> fds_;
    std::deque<Message> whole_;
    Bytes out_;
    std::size_t out_begin_ = 0;
};

}  // namespace ssdtlm::vfio
