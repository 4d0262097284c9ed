// SPDX-License-Identifier: Apache-2.0
// Records whose operations kept the dies and the bus of a channel busy. So it is known for which flow a transaction has
// waited. It exists only when there are several flows. Each meter here is the counterpart of a BusyMeter: a log of the
// time spans in which something ran, by kind of work and flow. A wait is compared with the sums of the BusyMeter, kind
// by kind, so both must agree for every transaction. A span is kept as long as a transaction waits that began before
// the span's end. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/channel_ctrl/busy_meter.h"
#include "controller/ports/flash.h"

namespace ssdtlm {

/// Sums of all channels over the whole run, by flow. Flow 0 stands for work without a flow.
struct FlowWaitTotals {
    std::vector<std::int64_t> waited_ps;  ///< transactions in the chip queues, from submission to their first cycle
    std::vector<std::uint64_t> transactions;
};

class FlowWaits {
public:
    /// `meters`: number of BusyMeters that have a counterpart here.
    FlowWaits(std::uint32_t meters, FlowWaitTotals& totals) : meters_(meters), totals_(totals) {}

    static std::uint8_t flow_of(const FlashTransaction& txn) { return static_cast<std::uint8_t>(txn.whose.tenant); }

    void start(std::uint32_t meter, BusyKind kind, std::uint8_t flow, SimTime now);
    /// An operation of this kind and flow that was started has ended.
    void stop(std::uint32_t meter, BusyKind kind, std::uint8_t flow, SimTime now);
    /// The bus is held for this flow. Each span begins when the one before has ended, or later.
    void hold_bus(std::uint8_t flow, SimTime from, SimTime to);

    /// The transaction begins to wait for what the meter measures.
    void begin(std::uint32_t meter, FlashTransaction& txn, SimTime now);
    /// The transaction has the bus. Charges its wait for the die, where `before` and `totals` are the BusyMeter's sums;
    /// then its wait for the bus until `asked`.
    void end(std::uint32_t meter, FlashTransaction& txn, const BusyMeter::Totals& before,
             const BusyMeter::Totals& totals, SimTime asked, SimTime now);
    /// The transaction starts now. If end() is not called for it, it starts in the instant in which it came.
    void started(std::uint32_t meter, FlashTransaction& txn, SimTime now);
    /// Data in a die's register begin to wait for the bus, and have it at the end.
    void begin_data_wait(SimTime now) { count_bus_waiter(now); }
    void end_data_wait(FlashTransaction& txn, SimTime now);

private:
    struct Span {
        SimTime from, to;
        BusyKind kind;
        std::uint8_t flow;
    };
    struct Running {
        BusyKind kind;
        std::uint8_t flow;
    };
    /// Number of those who wait, in two generations: those that began before `newer_from`, and the others. When the
    /// older generation is gone, spans that ended before `newer_from` are of no use.
    struct Waiting {
        std::uint32_t older = 0, newer = 0;
        SimTime newer_from{};
        /// True: the older generation is gone, and the newer one takes its place.
        bool end(SimTime began, SimTime now);
    };
    struct Meter {
        std::vector<Running> running;  // in the order of their starts
        std::vector<Span> spans;       // by time, disjoint
        SimTime since{};
        Waiting waiting;
    };
    struct Part {
        Stage stage;
        std::uint8_t flow;
        std::int64_t ps;
    };
    void settle(Meter& meter, SimTime now);
    void count_bus_waiter(SimTime now) { ++(now < bus_waiting_.newer_from ? bus_waiting_.older : bus_waiting_.newer); }
    void bus_waiter_gone(SimTime began, SimTime now);
    void leave(Meter& meter, FlashTransaction& txn, SimTime now);
    static void drop_before(std::vector<Span>& spans, SimTime time);
    void add(Stage stage, std::uint8_t flow, Ps time);
    /// Adds the flows that held the bus in this span. The rest of the span belongs to none.
    void add_bus(SimTime from, SimTime to);
    void charge(FlashTransaction& txn);

    std::vector<Meter> meters_;
    std::vector<Span> bus_;
    Waiting bus_waiting_;
    std::vector<Part> parts_;  // scratch
    FlowWaitTotals& totals_;
};

}  // namespace ssdtlm
