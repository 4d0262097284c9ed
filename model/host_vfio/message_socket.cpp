// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/message_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "common/report/error.h"

namespace ssdtlm::vfio {

namespace {

constexpr std::size_t kPiece = 64u << 10;
/// Largest number of file descriptors that the kernel passes in one message (SCM_MAX_FD, net/scm.h).
constexpr std::size_t kScmMostFds = 253;

[[noreturn]] void refuse(const std::string& path, const std::string& why, const char* repair) {
    throw UserError(
        Problem{"--socket", path + ": " + why, "a path for a new socket, of at most 102 characters", repair});
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

bool is_socket(const std::string& path) {
    struct stat about {};
    return ::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode);
}

bool somebody_listens(const sockaddr_un& address) {
    const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

MessageSocket::MessageSocket(const std::string& path) : path_(path) {
    if (path.empty() || address_at(path).size() >= sizeof sockaddr_un{}.sun_path)
        refuse(path, "not usable as a path", "give another one");
    if (is_socket(path)) {
        if (somebody_listens(address_of(path)))
            refuse(path, "another program listens there", "end it, or give another path");
        ::unlink(path.c_str());
    }
    struct stat about {};
    if (::lstat(path.c_str(), &about) == 0) refuse(path, "is there, and is no socket", "give another path");
    // The socket gets its final name after listen(), because a client that waits for the name may connect at once.
    const std::string part = address_at(path);
    const sockaddr_un address = address_of(part);
    ::unlink(part.c_str());
    listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener_ || ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_.get(), 16) != 0 || ::rename(part.c_str(), path.c_str()) != 0) {
        const std::string why = std::strerror(errno);
        ::unlink(part.c_str());
        listener_.close();
        refuse(path, why, "give a path in a folder that can be written");
    }
}

MessageSocket::~MessageSocket() {
    if (listener_) ::unlink(path_.c_str());
}

void MessageSocket::wait(std::int64_t nanoseconds, int wake) {
    pollfd of[2] = {};
    of[0].fd = client_ ? client_.get() : listener_.get();
    if (whole_.size() < kMostMessages) of[0].events = POLLIN;
    if (out_begin_ != out_.size()) of[0].events = static_cast<short>(of[0].events | POLLOUT);
    of[1].fd = wake;
    of[1].events = POLLIN;
    timespec limit{static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
    ::ppoll(of, 2, nanoseconds < 0 ? nullptr : &limit, nullptr);
}

bool MessageSocket::accept() {
    if (client_) return false;
    client_ = Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    return connected();
}

bool MessageSocket::receive() {
    if (!client_) return true;
    if (!flush()) return false;
    while (whole_.size() < kMostMessages) {
        std::uint8_t piece[kPiece];
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kScmMostFds)];
        iovec to{piece, sizeof piece};
        msghdr message{};
        message.msg_iov = &to;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        const ssize_t n = ::recvmsg(client_.get(), &message, MSG_CMSG_CLOEXEC);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        for (cmsghdr* c = n < 0 ? nullptr : CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
            if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
            const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (std::size_t i = 0; i < count; ++i) {
                int fd = -1;
                std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
                fds_.push_back({Fd(fd), in_.size() + static_cast<std::size_t>(std::max<ssize_t>(n, 0))});
            }
        }
        if (n <= 0) return false;
        in_.insert(in_.end(), piece, piece + n);
        received_ += static_cast<std::uint64_t>(n);
        if (!cut()) return false;
    }
    return true;
}

/// Cuts the received bytes into whole messages. The kernel ends a read after the piece that came with file descriptors.
/// So they belong to the message that holds the last byte of that piece.
bool MessageSocket::cut() {
    while (in_.size() - in_begin_ >= sizeof(Header)) {
        const std::optional<Header> header = read_header(in_.data() + in_begin_);
        if (!header) return false;
        if (in_.size() - in_begin_ < header->size) break;
        const auto begin = in_.begin() + static_cast<std::ptrdiff_t>(in_begin_);
        Message m;
        m.header = *header;
        m.payload.assign(begin + sizeof(Header), begin + static_cast<std::ptrdiff_t>(header->size));
        in_begin_ += header->size;
        for (; !fds_.empty() && fds_.front().end <= in_begin_; fds_.pop_front())
            m.fds.push_back(std::move(fds_.front().fd));
        if (m.fds.size() > kMostFds) return false;
        whole_.push_back(std::move(m));
    }
    if (fds_.size() > kMostFds) return false;
    if (in_begin_ == in_.size() || in_begin_ > kPiece) {
        in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(in_begin_));
        for (Came& fd : fds_) fd.end -= in_begin_;
        in_begin_ = 0;
    }
    return true;
}

Message MessageSocket::take() {
    Message m = std::move(whole_.front());
    whole_.pop_front();
    return m;
}

bool MessageSocket::take_reply(std::uint16_t id, Command command, Message& out) {
    const auto found = std::find_if(whole_.begin(), whole_.end(), [&](const Message& m) {
        return m.is_reply() && m.header.id == id && m.header.command == static_cast<std::uint16_t>(command);
    });
    if (found == whole_.end()) return false;
    out = std::move(*found);
    whole_.erase(found);
    return true;
}

bool MessageSocket::send(const Bytes& bytes) {
    if (!client_ || out_.size() - out_begin_ + bytes.size() > kMostWaiting) return false;
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    return flush();
}

bool MessageSocket::flush() {
    while (out_begin_ != out_.size()) {
        const ssize_t n = ::send(client_.get(), out_.data() + out_begin_, out_.size() - out_begin_, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        if (n <= 0) return false;
        out_begin_ += static_cast<std::size_t>(n);
    }
    out_.clear();
    out_begin_ = 0;
    return true;
}

void MessageSocket::drop() {
    client_.close();
    in_.clear();
    out_.clear();
    in_begin_ = out_begin_ = 0;
    received_ = 0;
    fds_.clear();
    whole_.clear();
}

}  // namespace ssdtlm::vfio
