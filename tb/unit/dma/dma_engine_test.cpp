// SPDX-License-Identifier: Apache-2.0
// The DMA engine against a link that answers when the test says: what it puts on the link, what it keeps back, and what
// it reports.
#include "controller/dma/dma_engine.h"

#include <gmock/gmock.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kWindow = 8192;
constexpr std::uint32_t kInline = kDmaInlineBytes, kControl = DmaEngine::kControlReadBytes,
                        kMost = DmaEngine::kMaxPayloadBytes;

/// Keeps what arrives until end() is called, or answers at once.
struct ScriptedLink : sc_core::sc_module {
    explicit ScriptedLink(sc_core::sc_module_name name) : sc_module(name) {
        socket.register_nb_transport_fw(this, &ScriptedLink::forward);
    }
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
        EXPECT_EQ(phase, tlm::BEGIN_REQ);
        arrived.push_back({p.is_write(), p.get_address(), p.get_data_length(), p.get_byte_enable_ptr() != nullptr});
        if (at_once) {
            p.set_response_status(tlm::TLM_OK_RESPONSE);
            return tlm::TLM_COMPLETED;
        }
        open.push_back(&p);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    /// Answers the i-th of those that are open.
    void end(std::size_t i, tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE, SimTime visible = {}) {
        tlm::tlm_generic_payload& p = *open.at(i);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        p.set_response_status(status);
        if (p.is_write()) p.get_extension<LinkExtension>()->visible_at = visible;
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        EXPECT_EQ(socket->nb_transport_bw(p, phase, delay), tlm::TLM_COMPLETED);
    }
    std::vector<std::uint32_t> sizes() const {
        std::vector<std::uint32_t> all;
        for (const auto* p : open) all.push_back(p->get_data_length());
        return all;
    }
    struct Arrival {
        bool write;
        std::uint64_t address;
        std::uint32_t bytes;
        bool enables;
        bool operator==(const Arrival& o) const {
            return write == o.write && address == o.address && bytes == o.bytes && enables == o.enables;
        }
    };
    tlm_utils::simple_target_socket<ScriptedLink> socket{"socket"};
    bool at_once = false;
    std::vector<Arrival> arrived;
    std::vector<tlm::tlm_generic_payload*> open;
};

struct Bench {
    explicit Bench(const std::string& name)
        : link((name + "_link").c_str()), dma((name + "_dma").c_str(), agenda, kWindow) {
        dma.pcie_initiator.bind(link.socket);
    }
    DmaThen then(std::uint64_t number) { return DmaThen::to<&Bench::ended>(this, number); }
    void ended(std::uint64_t number, DmaEnd end) {
        end.failed ? failed.push_back(number) : static_cast<void>(done.emplace_back(number, end.at));
    }
    void read(std::uint32_t bytes, std::uint64_t cookie = 0) {
        const HostSegment s{0x1'0000'0000, bytes};
        dma.read_host(&s, 1, data.data(), then(cookie));
    }
    void write(std::uint32_t bytes, std::uint64_t cookie = 0) {
        const HostSegment s{0x1'0000'0000, bytes};
        dma.write_host(&s, 1, data.data(), then(cookie));
    }
    std::vector<std::uint64_t> cookies() const {
        std::vector<std::uint64_t> all;
        for (const auto& d : done) all.push_back(d.first);
        return all;
    }
    Agenda agenda;
    ScriptedLink link;
    DmaEngine dma;
    std::vector<std::uint8_t> data = std::vector<std::uint8_t>(1 << 20);
    std::vector<std::pair<std::uint64_t, SimTime>> done;
    std::vector<std::uint64_t> failed;
};

/// One netlist for each test: all must exist before elaboration ends.
class Dma : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        for (std::size_t i = 0; i < all().size(); ++i) all()[i] = std::make_unique<Bench>("bench" + std::to_string(i));
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    void TearDown() override {
        while (!b.link.open.empty()) b.link.end(0);
        b.dma.check_waiters();
        EXPECT_EQ(b.dma.outstanding(), 0u);
    }
    static std::array<std::unique_ptr<Bench>, 10>& all() {
        static std::array<std::unique_ptr<Bench>, 10> benches;
        return benches;
    }
    static Bench& next() {
        static std::size_t used = 0;
        return *all().at(used++);
    }
    Bench& b = next();
};

TEST_F(Dma, DataReadsStayWithinTheWindow) {
    for (std::uint64_t i = 0; i < 4; ++i) b.read(4096, i);  // two fill the window
    EXPECT_THAT(b.link.sizes(), ElementsAre(4096, 4096));
    b.link.end(1);
    EXPECT_THAT(b.link.sizes(), ElementsAre(4096, 4096));
    EXPECT_THAT(b.cookies(), ElementsAre(1));
    b.link.end(0);
    b.link.end(0);
    b.link.end(0);
    EXPECT_THAT(b.cookies(), ElementsAre(1, 0, 2, 3));
}

TEST_F(Dma, TheWindowIsBytesAndWhatDoesNotFitKeepsItsPlace) {
    b.read(4096, 0);
    b.read(4092, 1);
    b.read(1000, 2);  // 4 bytes are left
    b.read(513, 3);   // shorter, but later
    EXPECT_THAT(b.link.sizes(), ElementsAre(4096, 4092));
    b.link.end(1);
    EXPECT_THAT(b.link.sizes(), ElementsAre(4096, 1000, 513));
}

TEST_F(Dma, ControlTrafficPassesDataThatWaits) {
    for (int i = 0; i < 3; ++i) b.read(4096);
    for (int i = 0; i < 2; ++i) b.write(4096);
    EXPECT_THAT(b.link.sizes(), ElementsAre(4096, 4096, 4096))
        << "two reads fill the window, one write is ahead of the wire";
    b.read(kControl);
    b.write(kInline);
    EXPECT_THAT(b.link.sizes(), ElementsAre(4096, 4096, 4096, kControl, kInline));
    b.read(kControl + 1);  // data
    b.write(kInline + 1);
    EXPECT_EQ(b.link.open.size(), 5u);
    b.link.end(4);  // control gives nothing back
    b.link.end(3);
    EXPECT_EQ(b.link.open.size(), 3u);
}

TEST_F(Dma, ControlIsWhatIsShortInAllItsSegments) {
    for (int i = 0; i < 3; ++i) b.read(4096);
    for (int i = 0; i < 2; ++i) b.write(4096);
    ASSERT_EQ(b.link.open.size(), 3u);
    const auto two = [this](bool write, std::uint32_t bytes) {
        const HostSegment s[] = {{0x1000, bytes - 8}, {0x9000, 8}};
        write ? b.dma.write_host(s, 2, b.data.data(), b.then(9)) : b.dma.read_host(s, 2, b.data.data(), b.then(9));
    };
    two(false, kControl);
    two(true, kInline);
    EXPECT_THAT(b.link.sizes(), ElementsAre(4096, 4096, 4096, kControl - 8, 8, kInline - 8, 8));
    two(false, kControl + 1);  // data
    two(true, kInline + 1);
    EXPECT_EQ(b.link.open.size(), 7u);
}

TEST_F(Dma, OneDataWriteAheadOfTheWire) {
    for (std::uint64_t i = 0; i < 3; ++i) b.write(1000, i);
    for (std::uint64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(b.link.open.size(), 1u);
        b.link.end(0, tlm::TLM_OK_RESPONSE, SimTime{Ps{100 + static_cast<std::int64_t>(i)}});
    }
    EXPECT_THAT(b.done, ElementsAre(std::pair(0ull, SimTime{Ps{100}}), std::pair(1ull, SimTime{Ps{101}}),
                                    std::pair(2ull, SimTime{Ps{102}})));
    // A link that takes them at once keeps nobody waiting.
    b.link.at_once = true;
    for (std::uint64_t i = 3; i < 6; ++i) b.write(1000, i);
    EXPECT_THAT(b.cookies(), ElementsAre(0, 1, 2, 3, 4, 5));
    b.link.at_once = false;
}

// Contiguous segments are one piece; where they are not, a new piece begins. Reads are cut at kMaxPayloadBytes, and a
// longer write is bulk.
TEST_F(Dma, SegmentsJoinAndAreCut) {
    b.link.at_once = true;
    const HostSegment segments[] = {{0x1000, 4096}, {0x2000, 4096}, {0x3000, 1}, {0x9000, kMost}, {0xA001, 7}};
    b.dma.write_host(segments, 5, b.data.data(), b.then(1));
    EXPECT_EQ(b.link.arrived, (std::vector<ScriptedLink::Arrival>{
                                  {true, 0x1000, 8193, false}, {true, 0x9000, 4096, false}, {true, 0xA001, 7, false}}));
    EXPECT_THAT(b.cookies(), ElementsAre(1)) << "one report for all";
    b.link.arrived.clear();
    b.read(kMost, 2);
    b.read(kMost + 1, 3);
    EXPECT_EQ(b.link.arrived, (std::vector<ScriptedLink::Arrival>{{false, 0x1'0000'0000, 4096, false},
                                                                  {false, 0x1'0000'0000, 4096, false},
                                                                  {false, 0x1'0000'1000, 1, false}}));
    EXPECT_THAT(b.cookies(), ElementsAre(1, 2, 3));
    b.link.at_once = false;
}

// Byte enables go with the pieces that begin where the pattern does.
TEST_F(Dma, EnablesBeginWithThePattern) {
    b.link.at_once = true;
    std::array<std::uint8_t, 512> pattern{};
    const ByteEnables enables{pattern.data(), 512};
    const HostSegment segments[] = {{0x1000, 512}, {0x8000, 100}, {0xC000, 412}, {0xF000, 512}};
    b.dma.read_host(segments, 4, b.data.data(), b.then(1), enables);
    b.dma.read_host(segments, 1, b.data.data(), b.then(2), enables);
    b.dma.read_host(segments, 1, b.data.data(), b.then(3));
    EXPECT_EQ(b.link.arrived, (std::vector<ScriptedLink::Arrival>{{false, 0x1000, 512, true},
                                                                  {false, 0x8000, 100, true},
                                                                  {false, 0xC000, 412, false},
                                                                  {false, 0xF000, 512, true},
                                                                  {false, 0x1000, 512, true},
                                                                  {false, 0x1000, 512, false}}));
    b.link.at_once = false;
}

TEST_F(Dma, ALongRequestEndsWithItsLastPieceAndFailsWithAny) {
    const HostSegment segments[] = {{0x1000, 1000}, {0x3000, 1000}, {0x5000, 1000}};
    for (std::size_t bad = 0; bad < 4; ++bad) {  // 3: none
        b.done.clear();
        b.failed.clear();
        b.dma.read_host(segments, 3, b.data.data(), b.then(7));
        ASSERT_EQ(b.link.open.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_THAT(b.done, IsEmpty());
            EXPECT_THAT(b.failed, IsEmpty());
            b.link.end(0, i == bad ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
        }
        EXPECT_EQ(b.done.size(), bad == 3 ? 1u : 0u);
        EXPECT_EQ(b.failed.size(), bad == 3 ? 0u : 1u);
    }
    EXPECT_EQ(b.dma.counters().failed_reads, 3u);
    b.read(1000, 8);
    b.link.end(0, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_THAT(b.failed, ElementsAre(8));
    EXPECT_EQ(b.dma.counters().failed_reads, 4u);
    // A write is visible with its last piece; the link counts what the far end refused.
    b.done.clear();
    b.dma.write_host(segments, 3, b.data.data(), b.then(9));
    for (const std::int64_t ps : {500, 900, 700}) b.link.end(0, tlm::TLM_OK_RESPONSE, SimTime{Ps{ps}});
    EXPECT_THAT(b.done, ElementsAre(std::pair(9ull, SimTime{Ps{900}})));
}

TEST_F(Dma, CountsRequestsAndBytes) {
    const HostSegment segments[] = {{0x1000, 5000}, {0x9000, 10}};
    b.link.at_once = true;
    b.dma.write_host(segments, 2, b.data.data(), b.then(0));
    b.write(16);
    b.dma.post_host(0x2000, b.data.data(), kInline);
    b.dma.read_host(segments, 2, b.data.data(), {});  // nobody asks when
    b.read(64);
    b.link.at_once = false;
    b.dma.post_host(0x2000, b.data.data(), 4);  // behind a busy wire
    EXPECT_EQ(b.dma.outstanding(), 1u);
    EXPECT_EQ(b.dma.counters().bytes_written, 5010u + 16 + kInline);
    b.link.end(0);
    EXPECT_EQ(b.dma.counters().bytes_written, 5010u + 16 + kInline + 4);
    EXPECT_EQ(b.dma.counters().bytes_read, 5010u + 64);
    EXPECT_EQ(b.dma.counters().writes, 4u);
    EXPECT_EQ(b.dma.counters().reads, 2u);
    EXPECT_EQ(b.done.size(), 3u);
}

TEST_F(Dma, RefusesWhatHasNoDataOrIsTooLongToPost) {
    const std::uint64_t arrived = b.link.arrived.size();
    EXPECT_THROW(b.dma.post_host(0x1000, b.data.data(), 0), Panic);
    EXPECT_THROW(b.dma.post_host(0x1000, b.data.data(), kInline + 1), Panic);
    tlm::tlm_generic_payload p;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    EXPECT_THROW(b.link.socket->nb_transport_bw(p, phase, delay), Panic);
    phase = tlm::END_REQ;
    EXPECT_EQ(b.link.socket->nb_transport_bw(p, phase, delay), tlm::TLM_ACCEPTED);
    EXPECT_EQ(b.link.arrived.size(), arrived);
}

}  // namespace
}  // namespace ssdtlm
