// SPDX-License-Identifier: Apache-2.0
// How the agenda keeps step with the kernel: slices end where sc_start says, other processes see the right time, and
// the entries and their times are the same however the simulation is driven.
#include "common/tlm/agenda_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

using sc_core::sc_time_stamp;

/// Entries at random times that post others, until `end`; writes down each one's time and argument.
struct Churn {
    Agenda& agenda;
    SimTime end;
    Random random{5};
    std::uint64_t posted = 0;
    std::string log;

    Churn(Agenda& a, SimTime until) : agenda(a), end(until) {
        for (int i = 0; i < 20; ++i) add();
    }
    void add() {
        static constexpr std::uint64_t kScale[] = {1, 1'000, 100'000, 3'000'000};  // ps
        const SimTime at = agenda.now() + Ps{static_cast<std::int64_t>(random.below(kScale[random.below(4)]))};
        if (at < end) agenda.post(at, Then::to<&Churn::run>(this, posted++));
    }
    void run(std::uint64_t n) {
        log += std::to_string(agenda.now().time_since_epoch().count()) + " " + std::to_string(n) + "\n";
        add();
    }
};

constexpr SimTime kEnd{300us};
using Drive = std::function<void(AgendaProcess&)>;

std::string churn(bool lockstep, const Drive& drive) {
    return in_child([&] {
        Agenda agenda;
        AgendaProcess process("process", agenda, lockstep);
        Churn c(agenda, kEnd);
        drive(process);
        process.rethrow_error();
        return c.log;
    });
}

TEST(AgendaProcess, SlicesEqualOneCall) {
    const std::string whole = churn(false, [](AgendaProcess& p) { p.run(); });
    const auto lines = std::count(whole.begin(), whole.end(), '\n');
    EXPECT_GT(lines, 1000);
    EXPECT_EQ(churn(true, [](AgendaProcess& p) { p.run(); }), whole);
    EXPECT_EQ(churn(false, [](AgendaProcess&) { sc_core::sc_start(); }), whole);
    for (const std::int64_t ns : {1'000, 7'001, 100'000, 1'000'000})
        for (const bool lockstep : {false, true}) {
            const Ps slice{ns * 1000};
            EXPECT_EQ(churn(lockstep,
                            [&](AgendaProcess&) {
                                while (sc_time_stamp() <= to_sc_time(kEnd)) sc_core::sc_start(to_sc_time(slice));
                            }),
                      whole);
            EXPECT_EQ(churn(lockstep,
                            [&](AgendaProcess& p) {
                                while (sc_time_stamp() <= to_sc_time(kEnd)) p.run_for(slice);
                            }),
                      whole);
        }
    // All ways of driving, mixed.
    EXPECT_EQ(churn(false,
                    [](AgendaProcess& p) {
                        Random r(9);
                        for (int i = 0; i < 40; ++i) {
                            const Ps slice{static_cast<std::int64_t>(1 + r.below(10'000'000))};
                            if (r.below(2) == 0)
                                p.run_for(slice);
                            else
                                sc_core::sc_start(to_sc_time(slice));
                        }
                        p.run();
                    }),
              whole);
    std::printf("[   FIGURE ] %ld entries in 300 us, the same in one call and in slices of 1 us to 1 ms\n",
                static_cast<long>(lines));
}

/// An entry every 100 ns.
struct Ticks {
    Agenda& agenda;
    std::uint64_t ran = 0;
    std::uint64_t left;
    sc_core::sc_event* notify = nullptr;
    explicit Ticks(Agenda& a, std::uint64_t n) : agenda(a), left(n) {
        agenda.post(SimTime{}, Then::to<&Ticks::tick>(this));
    }
    void tick() {
        ++ran;
        if (notify != nullptr && ran % 10 == 0) notify->notify();
        if (--left != 0) agenda.post(agenda.now() + 100ns, Then::to<&Ticks::tick>(this));
    }
};

TEST(AgendaProcess, ASliceStopsAtItsEnd) {
    for (const bool own_start : {false, true}) {
        EXPECT_EQ(in_child([own_start] {
                      Agenda agenda;
                      AgendaProcess process("process", agenda, false);
                      Ticks ticks(agenda, 1'000'000);
                      std::string text;
                      for (int i = 0; i < 3; ++i) {
                          if (own_start)
                              process.run_for(10us);
                          else
                              sc_core::sc_start(10, sc_core::SC_US);
                          text += std::to_string(ticks.ran) + " entries, agenda " +
                                  std::to_string(agenda.now().time_since_epoch() / 1ns) + " ns, kernel " +
                                  sc_time_stamp().to_string() + "\n";
                      }
                      return text;
                  }),
                  "100 entries, agenda 9900 ns, kernel 10 us\n200 entries, agenda 19900 ns, kernel 20 us\n300 entries, "
                  "agenda 29900 ns, kernel 30 us\n");
    }
}

TEST(AgendaProcess, RunsAheadWhereNobodyLooksAndTimeFollows) {
    EXPECT_EQ(in_child([] {
                  Agenda agenda;
                  AgendaProcess process("process", agenda, false);
                  Ticks ticks(agenda, 100'001);
                  process.run();
                  return std::to_string(ticks.ran) + " entries, kernel " + sc_time_stamp().to_string() +
                         (sc_core::sc_delta_count() < 10 ? "" : ", not ahead");
              }),
              "100001 entries, kernel 10 ms");
}

/// Somebody else's process: counts a clock's edges and looks at both times.
struct Beside : sc_core::sc_module {
    sc_core::sc_in<bool> clock{"clock"};
    const Agenda& agenda;
    std::uint64_t edges = 0, behind = 0;
    Beside(sc_core::sc_module_name name, const Agenda& a) : sc_module(name), agenda(a) {
        SC_HAS_PROCESS(Beside);
        SC_METHOD(edge);
        sensitive << clock;
        dont_initialize();
    }
    void edge() {
        ++edges;
        if (agenda.now() > to_sim_time(sc_time_stamp()) || (agenda.next_time() < to_sim_time(sc_time_stamp())))
            ++behind;
    }
};

TEST(AgendaProcess, AClockBesideTheModelSeesEveryEdge) {
    const auto run = [](const Drive& drive) {
        return in_child([&] {
            Agenda agenda;
            AgendaProcess process("process", agenda, false);
            sc_core::sc_clock clock("clock", 100, sc_core::SC_NS);
            Beside beside("beside", agenda);
            beside.clock(clock);
            Ticks ticks(agenda, 100'000'000);
            drive(process);
            return std::to_string(beside.edges) + " edges, " + std::to_string(beside.behind) + " out of step, " +
                   std::to_string(ticks.ran) + " entries";
        });
    };
    EXPECT_EQ(run([](AgendaProcess&) { sc_core::sc_start(10, sc_core::SC_US); }),
              "200 edges, 0 out of step, 100 entries");
    EXPECT_EQ(run([](AgendaProcess& p) { p.run_for(10us); }), "200 edges, 0 out of step, 100 entries");
}

TEST(AgendaProcess, AnEndlessClockDoesNotKeepARunGoing) {
    EXPECT_EQ(in_child([] {
                  Agenda agenda;
                  AgendaProcess process("process", agenda, false);
                  sc_core::sc_clock clock("clock", 100, sc_core::SC_NS);
                  Ticks ticks(agenda, 101);
                  process.run();
                  return std::to_string(ticks.ran) + " entries, kernel " + sc_time_stamp().to_string();
              }),
              "101 entries, kernel 10 us");
}

// No timed activity of the kernel's tells of this thread: it waits for an event that an entry notifies.
TEST(AgendaProcess, AThreadWokenByAnEntrySeesItsTime) {
    struct Waiter : sc_core::sc_module {
        sc_core::sc_event event;
        std::string seen;
        explicit Waiter(sc_core::sc_module_name name) : sc_module(name) {
            SC_HAS_PROCESS(Waiter);
            SC_THREAD(run);
        }
        void run() {
            for (;;) {
                wait(event);
                seen += sc_time_stamp().to_string() + ", ";
            }
        }
    };
    EXPECT_EQ(in_child([] {
                  Agenda agenda;
                  AgendaProcess process("process", agenda, false);
                  Waiter waiter("waiter");
                  Ticks ticks(agenda, 31);
                  ticks.notify = &waiter.event;
                  process.run_for(1ms);
                  return waiter.seen;
              }),
              "900 ns, 1900 ns, 2900 ns, ");
}

TEST(AgendaProcess, WorkGivenBetweenSlicesIsDone) {
    EXPECT_EQ(in_child([] {
                  Agenda agenda;
                  AgendaProcess process("process", agenda, false);
                  Ticks first(agenda, 5);
                  sc_core::sc_start(10, sc_core::SC_US);  // the agenda stands at 400 ns
                  std::uint64_t ran = 0;
                  struct Note {
                      std::uint64_t* ran;
                      void run() { ++*ran; }
                  } note{&ran};
                  agenda.in_step();
                  agenda.post(agenda.now(), Then::to<&Note::run>(&note));
                  agenda.post(agenda.now() + 5us, Then::to<&Note::run>(&note));
                  sc_core::sc_start(10, sc_core::SC_US);
                  return std::to_string(first.ran) + " + " + std::to_string(ran) + ", kernel " +
                         sc_time_stamp().to_string();
              }),
              "5 + 2, kernel 20 us");
}

/// What a caller who is not in step finds: the time of the last entry, 400 ns, for 10 us.
std::string post_out_of_step(Ps ahead) {
    return in_child([&] {
        Agenda agenda;
        AgendaProcess process("process", agenda, false);
        Ticks first(agenda, 5);
        struct Note {
            void run() {}
        } note;
        sc_core::sc_start(10, sc_core::SC_US);
        try {
            agenda.post(agenda.now() + ahead, Then::to<&Note::run>(&note));
        } catch (const UserError& e) {
            return std::string(e.what());
        }
        sc_core::sc_start(10, sc_core::SC_US);
        return std::to_string(agenda.now().time_since_epoch() / 1ns) + " ns";
    });
}

TEST(AgendaProcess, WhoIsNotInStepMayNotPostInThePast) {
    for (const Ps ahead : {Ps{}, Ps{1}, Ps{9'599'999}})
        EXPECT_NE(post_out_of_step(ahead).find(
                      "times from 10000000 ps, the kernel's, on; call in_step() before now() is read"),
                  std::string::npos)
            << post_out_of_step(ahead);
    EXPECT_EQ(post_out_of_step(9'600ns), "10000 ns");
    EXPECT_EQ(post_out_of_step(11us), "11400 ns");
}

/// Another process: at its times it comes in step, writes down where that is, and posts an entry for then and one for
/// later.
struct Visitor : sc_core::sc_module {
    Agenda& agenda;
    std::string log;
    const std::uint64_t step;
    Visitor(sc_core::sc_module_name name, Agenda& a, std::uint64_t every) : sc_module(name), agenda(a), step(every) {
        SC_HAS_PROCESS(Visitor);
        SC_THREAD(run);
    }
    void run() {
        for (std::uint64_t i = 0; i < 200; ++i) {
            wait(sc_core::sc_time::from_value(step));
            agenda.in_step();
            note('v', i);
            agenda.post(agenda.now(), Then::to<&Visitor::at_once>(this, i));
            agenda.post(agenda.now() + Ps{static_cast<std::int64_t>(step / 2)}, Then::to<&Visitor::later>(this, i));
        }
    }
    void at_once(std::uint64_t i) { note('p', i); }
    void later(std::uint64_t i) { note('l', i); }
    void note(char who, std::uint64_t i) {
        if (agenda.now() != to_sim_time(sc_time_stamp())) log += "out of step\n";
        log += who + std::to_string(i) + " " + std::to_string(agenda.now().time_since_epoch().count()) + " " +
               std::to_string(agenda.executed()) + "\n";
    }
};

// Ticks are due every 100 ns: steps of 50 and 100 ns meet them. Whatever the kernel is asked for, the order is the
// same.
TEST(AgendaProcess, AVisitorIsInStepAndItsOrderAmongEntriesOfItsTimeIsFixed) {
    for (const std::uint64_t step : {50'000u, 100'000u, 33'331u, 700'001u}) {
        const auto visits = [step](const Drive& drive, bool lockstep = false) {
            return in_child([&] {
                Agenda agenda;
                AgendaProcess process("process", agenda, lockstep);
                Visitor visitor("visitor", agenda, step);
                Ticks ticks(agenda, 2'000);
                drive(process);
                process.rethrow_error();
                return visitor.log;
            });
        };
        const std::string whole = visits([](AgendaProcess&) { sc_core::sc_start(); });
        EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 600);
        std::uint64_t at = 0;
        for (std::uint64_t i = 0; i < 200; ++i) {
            at += step;
            EXPECT_NE(whole.find("v" + std::to_string(i) + " " + std::to_string(at) + " "), std::string::npos);
            EXPECT_NE(whole.find("l" + std::to_string(i) + " " + std::to_string(at + step / 2) + " "),
                      std::string::npos);
        }
        EXPECT_EQ(visits([](AgendaProcess&) { sc_core::sc_start(); }, true), whole);
        EXPECT_EQ(visits([](AgendaProcess& p) { p.run_for(1ms); }), whole);
        for (const std::uint64_t slice : {50'000u, 77'777u, 100'000u, 10'000'000u})
            EXPECT_EQ(visits([&](AgendaProcess&) {
                          while (sc_time_stamp() < to_sc_time(Ps{1'000'000'000}))
                              sc_core::sc_start(sc_core::sc_time::from_value(slice));
                      }),
                      whole)
                << slice;
    }
}

}  // namespace
}  // namespace ssdtlm
