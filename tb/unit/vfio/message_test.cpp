// SPDX-License-Identifier: Apache-2.0
// Headers, capabilities and framing: what may be a message, and what a socket makes of pieces of it.
#include "host_vfio/message.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <string>

#include "common/report/error.h"
#include "host_vfio/message_socket.h"

namespace ssdtlm::vfio {
namespace {

Bytes bytes_of(const Header& h) {
    Bytes b;
    append(b, h);
    return b;
}

TEST(VfioMessage, HeadersOfOtherSizesOrTypesAreNone) {
    EXPECT_TRUE(read_header(bytes_of({1, 4, 16, 0, 0}).data()));
    EXPECT_TRUE(read_header(bytes_of({1, 4, kMostMessage, kReply, 0}).data()));
    EXPECT_FALSE(read_header(bytes_of({1, 4, 15, 0, 0}).data()));
    EXPECT_FALSE(read_header(bytes_of({1, 4, kMostMessage + 1, 0, 0}).data()));
    EXPECT_FALSE(read_header(bytes_of({1, 4, 16, 2, 0}).data()));
}

TEST(VfioMessage, RepliesEchoIdAndCommand) {
    const Header asked{77, 9, 32, 0, 0};
    const Bytes ok = reply(asked, {1, 2, 3});
    Header h;
    std::memcpy(&h, ok.data(), sizeof h);
    EXPECT_EQ(h.id, 77);
    EXPECT_EQ(h.command, 9);
    EXPECT_EQ(h.size, 19u);
    EXPECT_EQ(h.flags, 1u);
    const Bytes bad = error_reply(asked, 22);
    std::memcpy(&h, bad.data(), sizeof h);
    EXPECT_EQ(bad.size(), 16u) << "a reply of an error is its header";
    EXPECT_EQ(h.flags, 0x21u);
    EXPECT_EQ(h.error, 22u);
}

Bytes version_of(const std::string& json) {
    Bytes b;
    append(b, Version{0, 0});
    b.insert(b.end(), json.begin(), json.end());
    b.push_back(0);
    return b;
}

TEST(VfioMessage, CapabilitiesAreASubsetOfWhatIsProposed) {
    const auto qemu = read_capabilities(version_of(
        R"({"capabilities":{"max_msg_fds":16,"max_data_xfer_size":1048576,"pgsizes":4096,"write_multiple":true}})"));
    ASSERT_TRUE(qemu);
    EXPECT_EQ(qemu->most_fds, 16u);
    const Bytes said = version_payload(0, *qemu);
    const std::string json(said.begin() + sizeof(Version), said.end() - 1);
    EXPECT_NE(json.find("\"max_msg_fds\":8"), std::string::npos) << json;
    EXPECT_EQ(json.find("write_multiple"), std::string::npos) << json;
    const auto small = read_capabilities(version_of(R"({"capabilities":{"max_data_xfer_size":4096,"max_msg_fds":1}})"));
    ASSERT_TRUE(small);
    const Bytes less = version_payload(0, *small);
    EXPECT_NE(std::string(less.begin() + 4, less.end() - 1).find("\"max_data_xfer_size\":4096"), std::string::npos);
    EXPECT_TRUE(read_capabilities(Bytes(sizeof(Version)))) << "the JSON is optional";
    for (const char* bad : {"{", "[]", R"({"capabilities":7})", R"({"capabilities":{"max_msg_fds":-1}})",
                            R"({"capabilities":{"max_data_xfer_size":0}})", R"({"capabilities":{"max_msg_fds":"8"}})"})
        EXPECT_FALSE(read_capabilities(version_of(bad))) << bad;
    EXPECT_FALSE(read_capabilities(version_of(std::string(8192, ' '))));
    Bytes open = version_of("{}");
    open.back() = ' ';
    EXPECT_FALSE(read_capabilities(open)) << "without its NUL";
}

class Client {
public:
    explicit Client(const std::string& path) : fd(::socket(AF_UNIX, SOCK_STREAM, 0)) {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::strcpy(at.sun_path, path.c_str());
        EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    }
    void send(const Bytes& b, int with = -1) const {
        iovec from{const_cast<std::uint8_t*>(b.data()), b.size()};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        msghdr m{};
        m.msg_iov = &from;
        m.msg_iovlen = 1;
        if (with >= 0) {
            m.msg_control = control;
            m.msg_controllen = sizeof control;
            cmsghdr* const c = CMSG_FIRSTHDR(&m);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(sizeof(int));
            std::memcpy(CMSG_DATA(c), &with, sizeof with);
        }
        EXPECT_EQ(::sendmsg(fd.get(), &m, 0), static_cast<ssize_t>(b.size()));
    }
    Fd fd;
};

struct VfioSocket : testing::Test {
    std::string path = testing::TempDir() + "vfio_socket_test_" + std::to_string(::getpid());
    MessageSocket socket{path};
    bool meet() {
        socket.wait(1'000'000'000, -1);
        return socket.accept();
    }
};

TEST_F(VfioSocket, JoinsPiecesAndKeepsDescriptorsWithTheirMessage) {
    Client client(path);
    ASSERT_TRUE(meet());
    const Fd memory(::memfd_create("m", 0));
    Bytes first = command(1, Command::device_get_info, Bytes(16, 7));
    const Bytes second = command(2, Command::dma_map, Bytes(32, 9));
    const Bytes third = command(3, Command::device_reset, {});
    client.send(Bytes(first.begin(), first.begin() + 5));
    ASSERT_TRUE(socket.receive());
    EXPECT_FALSE(socket.any());
    client.send(Bytes(first.begin() + 5, first.end()));
    client.send(second, memory.get());
    client.send(third);
    ASSERT_TRUE(socket.receive());
    ASSERT_TRUE(socket.any());
    const Message a = socket.take(), b = socket.take(), c = socket.take();
    EXPECT_EQ(a.header.id, 1);
    EXPECT_EQ(a.payload, Bytes(16, 7));
    EXPECT_TRUE(a.fds.empty());
    EXPECT_EQ(b.header.id, 2);
    EXPECT_EQ(b.fds.size(), 1u);
    EXPECT_EQ(c.header.id, 3);
    EXPECT_TRUE(c.fds.empty());
    EXPECT_FALSE(socket.any());
}

TEST_F(VfioSocket, AClientThatSpeaksSomethingElseHasToGoAndTheNextOneMayCome) {
    {
        Client client(path);
        ASSERT_TRUE(meet());
        client.send(Bytes(64, 0xFF));
        EXPECT_FALSE(socket.receive());
        socket.drop();
    }
    Client next(path);
    ASSERT_TRUE(meet());
    next.send(command(5, Command::device_reset, {}));
    EXPECT_TRUE(socket.receive());
    EXPECT_TRUE(socket.any());
    next.fd.close();
    EXPECT_FALSE(socket.receive()) << "it has gone";
}

TEST_F(VfioSocket, AClientThatDoesNotReadIsNotWaitedFor) {
    Client client(path);
    ASSERT_TRUE(meet());
    bool goes_on = true;
    int sent = 0;
    for (; goes_on && sent < 200; ++sent) goes_on = socket.send(command(1, Command::dma_write, Bytes(1u << 20)));
    EXPECT_FALSE(goes_on);
    EXPECT_GT(sent, 10);
}

TEST_F(VfioSocket, APathThatSomebodyListensAtIsRefused) {
    EXPECT_THROW(MessageSocket other(path), UserError);
    EXPECT_THROW(MessageSocket other("/nowhere/at/all"), UserError);
    EXPECT_THROW(MessageSocket other(std::string(200, 'x')), UserError);
}

}  // namespace
}  // namespace ssdtlm::vfio
