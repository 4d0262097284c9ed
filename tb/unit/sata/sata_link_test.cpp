// SPDX-License-Identifier: Apache-2.0
// The link between two ends that only count: times by formula, order, R_ERR, resets, loss of power.
#include "host_sata/link/sata_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "common/tlm/pooled_payload.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

using Kind = SataExtension::Kind;

/// One end: keeps what comes, with its time; answers at once, or after `holds`.
struct End : sc_core::sc_module, tlm::tlm_bw_transport_if<SataProtocol>, tlm::tlm_fw_transport_if<SataProtocol> {
    End(const sc_core::sc_module_name& name, Agenda& a) : sc_module(name), agenda(a), in(a, *this), out(a, *this) {
        target.bind(in);
        initiator.bind(out);
    }
    void send(std::vector<std::uint8_t> fis, Kind kind = Kind::frame) {
        SataExtension* more = nullptr;
        tlm::tlm_generic_payload& p = payloads.acquire(more);
        sent.push_back(std::move(fis));
        auto& bytes = sent.back();
        set_up(p, kind == Kind::frame ? tlm::TLM_WRITE_COMMAND : tlm::TLM_IGNORE_COMMAND, 0, bytes.data(),
               static_cast<std::uint32_t>(bytes.size()));
        more->kind = kind;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time none;
        if (link->nb_transport_fw(p, phase, none) == tlm::TLM_COMPLETED) answered(p);
    }
    void answered(tlm::tlm_generic_payload& p) {
        answers.push_back({p.get_response_status(), agenda.now()});
        p.release();
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) override {
        EXPECT_EQ(phase, tlm::BEGIN_RESP);
        answered(p);
        if (!next.empty()) {
            auto fis = next.back();
            next.pop_back();
            send(fis);
        }
        return tlm::TLM_COMPLETED;
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) override {
        EXPECT_EQ(phase, tlm::BEGIN_REQ);
        const auto& more = *p.get_extension<SataExtension>();
        if (more.kind != Kind::frame) {
            signals.push_back({more.kind, agenda.now(), more.generation});
            return tlm::TLM_COMPLETED;
        }
        frames.push_back({{p.get_data_ptr(), p.get_data_ptr() + p.get_data_length()}, agenda.now(), more.crc_error});
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        if (holds == Ps{}) return tlm::TLM_COMPLETED;
        held = &p;
        agenda.post(agenda.now() + holds, Then::to<&End::respond>(this));
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void respond() {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time none;
        back->nb_transport_bw(*held, phase, none);
    }
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override { FAIL(); }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void end_of_elaboration() override {
        link = out.towards(initiator.operator->());
        back = in.towards(target.operator->());
    }

    struct Answer {
        tlm::tlm_response_status status;
        SimTime at;
    };
    struct Frame {
        std::vector<std::uint8_t> bytes;
        SimTime at;
        bool crc_error;
    };
    struct Signal {
        Kind kind;
        SimTime at;
        std::uint8_t generation;
    };
    Agenda& agenda;
    SataInitiatorSocket initiator{"initiator"};
    SataTargetSocket target{"target"};
    TargetGuard<SataProtocol> in;
    InitiatorGuard<SataProtocol> out;
    tlm::tlm_fw_transport_if<SataProtocol>* link = nullptr;
    tlm::tlm_bw_transport_if<SataProtocol>* back = nullptr;
    PayloadPool<SataExtension> payloads;
    std::deque<std::vector<std::uint8_t>> sent;
    std::vector<std::vector<std::uint8_t>> next;  ///< sent from inside an answer, the last one first
    std::vector<Answer> answers;
    std::vector<Frame> frames;
    std::vector<Signal> signals;
    Ps holds{};
    tlm::tlm_generic_payload* held = nullptr;
};

/// SystemC elaborates once in a context; each bench has its own. SystemC never deletes one, so they stay reachable.
void begin_context() {
    static auto& all = *new std::vector<sc_core::sc_simcontext*>;
    all.push_back(new sc_core::sc_simcontext);
    sc_core::sc_curr_simcontext = all.back();
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
}

struct Bench {
    explicit Bench(const SataLinkConfig& config = {}, bool straight = true) {
        begin_context();
        agenda.call_straight(straight);
        link = std::make_unique<SataLink>("link", agenda, config);
        host = std::make_unique<End>("host", agenda);
        drive = std::make_unique<End>("drive", agenda);
        host->initiator.bind(link->host_target);
        link->host_initiator.bind(host->target);
        drive->initiator.bind(link->device_target);
        link->device_initiator.bind(drive->target);
        link->check_order(false);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        agenda.run();
        up = agenda.now();
    }
    Ps since(SimTime t) const { return t - up; }

    Agenda agenda;
    std::unique_ptr<SataLink> link;
    std::unique_ptr<End> host, drive;
    SimTime up{};
};

std::vector<std::uint8_t> fis(std::uint32_t bytes, std::uint8_t first = 0x46) {
    std::vector<std::uint8_t> v(bytes, 0);
    v[0] = first;
    return v;
}

/// Ten bits a byte, rounded up once: the formula of the specification's rate, in integers of its own.
Ps time_of(std::uint64_t wire_bytes, std::uint64_t gigabits_x2) {
    const std::uint64_t ps_x3 = wire_bytes * 10 * 1000 * 2 * 3 / gigabits_x2;  // thirds of a picosecond
    const bool exact = wire_bytes * 60000 % gigabits_x2 == 0;
    return Ps{static_cast<std::int64_t>(ps_x3 / 3 + (ps_x3 % 3 != 0 || !exact ? 1 : 0))};
}

TEST(SataLink, PhyComesUpAtTheLowerGeneration) {
    for (std::uint8_t h = 1; h <= 3; ++h)
        for (std::uint8_t d = 1; d <= 3; ++d) {
            SataLinkConfig c;
            c.host_generation = h;
            c.device_generation = d;
            c.reset_time = 70us;
            Bench b(c);
            ASSERT_EQ(b.host->signals.size(), 1u);
            ASSERT_EQ(b.drive->signals.size(), 1u);
            EXPECT_EQ(b.host->signals[0].kind, Kind::phy_up);
            EXPECT_EQ(b.host->signals[0].generation, std::min(h, d));
            EXPECT_EQ(b.drive->signals[0].at, SimTime{} + 70us);
        }
}

TEST(SataLink, TimesByFormula) {
    // 4 KiB and 128 KiB of a queued read: its frames have 4,436 and 132,252 bytes.
    std::uint64_t sum = 0;
    for (const std::uint32_t n : {20u, 20u, 28u, 4u + 4096, 8u}) sum += sata::wire_bytes(n);
    EXPECT_EQ(sum, 4436u);
    sum = 0;
    for (const std::uint32_t n : {20u, 20u, 28u, 8u}) sum += sata::wire_bytes(n);
    EXPECT_EQ(sum + 16 * sata::wire_bytes(4 + 8192), 132252u);
    for (std::uint8_t generation = 1; generation <= 3; ++generation) {
        SataLinkConfig c;
        c.device_generation = generation;
        Bench b(c);
        const std::uint64_t rate_x2 = 3ull << (generation - 1);
        SimTime from = b.up;
        for (const std::uint32_t n : {20u, 4u, 28u, 4100u, 8196u, 8u}) {
            End& sender = n == 20 ? *b.host : *b.drive;
            const std::size_t before = sender.answers.size();
            sender.send(fis(n));
            b.agenda.run();
            ASSERT_EQ(sender.answers.size(), before + 1);
            EXPECT_EQ(sender.answers.back().status, tlm::TLM_OK_RESPONSE);
            EXPECT_EQ(sender.answers.back().at - from, time_of(sata::wire_bytes(n), rate_x2)) << n;
            // Four dwords of primitives and SOF, the FIS, CRC.
            EXPECT_EQ((n == 20 ? *b.drive : *b.host).frames.back().at - from, time_of(20 + n + 4, rate_x2)) << n;
            from = b.agenda.now();
        }
        EXPECT_EQ(b.link->counts().bytes[1], 4u + 28 + 4100 + 8196 + 8);
        EXPECT_EQ(b.link->busy(), from - b.up);
        b.link->check_waiters();
    }
}

TEST(SataLink, OneWireAndTheDriveGoesFirst) {
    for (const bool straight : {true, false}) {
        Bench b({}, straight);
        b.host->send(fis(8196));
        b.agenda.run_until(b.up + 1us);
        b.host->send(fis(20, 0x27));
        b.drive->send(fis(4, 0x39));
        b.drive->send(fis(8, 0xA1));
        b.agenda.run();
        const Ps first = time_of(8248, 12), activate = time_of(56, 12), bits = time_of(60, 12), reg = time_of(72, 12);
        ASSERT_EQ(b.drive->answers.size(), 2u);
        ASSERT_EQ(b.host->answers.size(), 2u);
        EXPECT_EQ(b.since(b.drive->answers[0].at), first + activate);
        EXPECT_EQ(b.since(b.drive->answers[1].at), first + activate + bits);
        EXPECT_EQ(b.since(b.host->answers[1].at), first + activate + bits + reg);
        // Both at the same instant, the host first.
        const SimTime now = b.agenda.now();
        b.host->send(fis(20, 0x27));
        b.drive->send(fis(4, 0x39));
        b.agenda.run();
        EXPECT_EQ(b.drive->answers[2].at - now, activate);
        EXPECT_EQ(b.host->answers[2].at - now, activate + reg);
        EXPECT_EQ(b.link->counts().collisions, 1u);
        EXPECT_EQ(b.drive->frames.size(), 3u);
    }
}

TEST(SataLink, AHostThatHasAskedBeforeGoesFirstUnlessDataContinue) {
    Bench b({}, true);
    const Ps first = time_of(8248, 12), bits = time_of(60, 12), data = time_of(4152, 12), reg = time_of(72, 12);
    b.drive->send(fis(8196));
    b.agenda.run_until(b.up + 1us);
    b.host->send(fis(20, 0x27));
    b.agenda.run_until(b.up + 2us);
    b.drive->send(fis(4100));
    b.drive->send(fis(8, 0xA1));
    b.agenda.run();
    ASSERT_EQ(b.drive->answers.size(), 3u);
    ASSERT_EQ(b.host->answers.size(), 1u);
    EXPECT_EQ(b.since(b.drive->answers[1].at), first + data);
    EXPECT_EQ(b.since(b.host->answers[0].at), first + data + reg);
    EXPECT_EQ(b.since(b.drive->answers[2].at), first + data + reg + bits);
    EXPECT_EQ(b.link->counts().collisions, 0u);
}

TEST(SataLink, AReceiverMayHoldTheWire) {
    Bench b;
    b.host->holds = 5us;
    b.drive->send(fis(4100));
    b.drive->send(fis(8, 0xA1));
    b.agenda.run();
    const Ps arrives = time_of(20 + 4100 + 4, 12), back = time_of(28, 12);
    EXPECT_EQ(b.since(b.drive->answers[0].at), arrives + 5us + back);
    EXPECT_EQ(b.host->frames[1].at - b.drive->answers[0].at, time_of(20 + 8 + 4, 12));
}

TEST(SataLink, AnInjectedErrorIsRErr) {
    Bench b;
    b.link->inject_crc_error(2);
    for (int i = 0; i < 3; ++i) b.drive->send(fis(8, 0xA1));
    b.agenda.run();
    ASSERT_EQ(b.drive->answers.size(), 3u);
    EXPECT_EQ(b.drive->answers[0].status, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(b.drive->answers[1].status, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(b.drive->answers[2].status, tlm::TLM_OK_RESPONSE);
    EXPECT_TRUE(b.host->frames[1].crc_error);
    EXPECT_FALSE(b.host->frames[2].crc_error);
    EXPECT_EQ(b.link->counts().errors[1], 1u);
    EXPECT_EQ(b.link->counts().frames[1], 2u);
}

TEST(SataLink, ComresetCutsWhatIsUnderWay) {
    for (const bool straight : {true, false}) {
        Bench b({}, straight);
        b.host->signals.clear();
        b.drive->signals.clear();
        b.drive->send(fis(8196));
        b.drive->send(fis(8, 0xA1));
        b.host->send(fis(20, 0x27));
        b.agenda.run_until(b.up + 3us);
        b.host->send({}, Kind::comreset);
        EXPECT_FALSE(b.link->is_up());
        b.host->send(fis(20, 0x27));
        ASSERT_EQ(b.drive->answers.size(), 2u);
        EXPECT_EQ(b.drive->answers[0].status, tlm::TLM_INCOMPLETE_RESPONSE);
        EXPECT_EQ(b.drive->answers[1].status, tlm::TLM_INCOMPLETE_RESPONSE);
        ASSERT_EQ(b.host->answers.size(), 3u);
        EXPECT_EQ(b.host->answers[0].status, tlm::TLM_INCOMPLETE_RESPONSE);
        EXPECT_EQ(b.host->answers[1].status, tlm::TLM_OK_RESPONSE);  // of the signal
        EXPECT_EQ(b.host->answers[2].status, tlm::TLM_INCOMPLETE_RESPONSE);
        b.agenda.run();
        EXPECT_TRUE(b.host->frames.empty());
        EXPECT_TRUE(b.drive->frames.empty());
        ASSERT_EQ(b.drive->signals.size(), 2u);
        EXPECT_EQ(b.drive->signals[0].kind, Kind::comreset);
        EXPECT_EQ(b.since(b.drive->signals[1].at), 3us + SataLinkConfig{}.reset_time);
        ASSERT_EQ(b.host->signals.size(), 2u);
        EXPECT_EQ(b.host->signals[0].kind, Kind::phy_down);
        b.host->send(fis(20, 0x27));
        b.agenda.run();
        EXPECT_EQ(b.drive->frames.size(), 1u);
        EXPECT_EQ(b.link->counts().cut, (std::array<std::uint64_t, 2>{1, 2}));
    }
}

TEST(SataLink, PowerOfTheDriveGoesAndComes) {
    Bench b;
    b.host->signals.clear();
    b.drive->send(fis(8196));
    b.agenda.run_until(b.up + 3us);
    b.agenda.drop_if([&b](const void* self) { return b.link->owns(self); });
    b.link->restart();
    EXPECT_TRUE(b.drive->answers.empty());
    b.host->send({}, Kind::comreset);  // nobody there
    b.agenda.run();
    EXPECT_FALSE(b.link->is_up());
    ASSERT_GE(b.host->signals.size(), 1u);
    for (const auto& s : b.host->signals) EXPECT_EQ(s.kind, Kind::phy_down);
    const SimTime back = b.agenda.now();
    b.drive->send({}, Kind::cominit);
    b.agenda.run();
    EXPECT_TRUE(b.link->is_up());
    EXPECT_EQ(b.host->signals.back().kind, Kind::phy_up);
    EXPECT_EQ(b.host->signals.back().at - back, SataLinkConfig{}.reset_time);
    b.link->check_waiters();
}

}  // namespace
}  // namespace ssdtlm
