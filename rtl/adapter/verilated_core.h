// SPDX-License-Identifier: Apache-2.0
// A Verilated scheduler with the ports of rtl/scheduler/transaction_scheduler.sv, one channel of it, as the core of a
// ClockedScheduler. The clock runs only within calls. Inputs change in the low half of the cycle before the edge that
// samples them, outputs are sampled before the edge. $time is simulated time in ps. A block that does not answer,
// breaks a handshake, fails an assertion of its own or calls $fatal, $error, $stop or $finish is a SchedulerFault; what
// it grants is for CheckedCore to judge.
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "adapter/block_examination.h"
#include "adapter/scheduler_registers.h"
#include "adapter/verilated_messages.h"
#include "adapter/verilated_ports.h"
#include "common/report/error.h"
#include "common/units/units.h"
#include "controller/scheduler/clocked/scheduler_core.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm::rtl {

/// kDies, kPlanes, kDepth: the module's parameters. TAG_BITS is 32. kProven: as SchedulerPort::proven(), by tb/rtl;
/// another block is examined (BlockExamination) before it is used.
template <class Top, unsigned kDies, unsigned kPlanes, unsigned kDepth, bool kProven>
class VerilatedCore final : public SchedulerCore {
public:
    /// `seed`: of the random bits that registers start with.
    VerilatedCore(const SchedulerConfig& config, const SchedulerShape& shape, int seed = 1)
        : clock_(Clock::hertz(config.clock_hz)),
          depth_(config.queue_depth),
          dies_(shape.dies_per_channel),
          planes_(shape.planes_per_die),
          independent_plane_read_(shape.independent_plane_read) {
        context_.traceEverOn(true);
        context_.fatalOnError(false);  // eval() looks instead
        // Registers start with random bits, as they do in hardware: what is used before it was set shows.
        context_.randReset(2);
        context_.randSeed(seed);
        top_ = std::make_unique<Top>(&context_, "scheduler");
        reset();
        has_csr_ = read_csr(csr::kId) == csr::kIdValue;
        set_registers(config, shape);
    }
    ~VerilatedCore() override {
        if (trace_) trace_->close();
        Verilated::threadContextp(&context_);  // the scopes of the block take themselves out of it
        top_->final();
        top_.reset();
    }
    static std::unique_ptr<SchedulerCore> make(const SchedulerConfig& config, const SchedulerShape& shape) {
        if constexpr (!kProven) BlockExamination<VerilatedCore>{config, shape, kDepth}.run();
        return std::make_unique<VerilatedCore>(config, shape);
    }

    bool full() const override { return held_ >= depth_; }
    bool proven() const override { return kProven; }

    std::uint64_t push(const SchedulerRequest& request, std::uint64_t edge) override {
        if (!offer(request, edge, kPatience))
            throw SchedulerFault("push_ready is low for " + std::to_string(kPatience) + " clock cycles with " +
                                     std::to_string(held_) + " of " + std::to_string(depth_) + " requests held",
                                 edge + kPatience);
        return edge_;
    }
    /// Like the other offer(), but gives up after `patience` edges. Returns false if the request was not taken.
    /// last_edge() returns the edge at which it ended.
    bool offer(const SchedulerRequest& request, std::uint64_t edge, std::uint64_t patience) {
        begin(edge);
        put(top_->push_valid, 1);
        put(top_->push_tag, request.tag);
        put(top_->push_die, request.die);
        put(top_->push_class, static_cast<unsigned>(request.cls));
        put(top_->push_plane, request.plane);
        put(top_->push_page, request.page);
        if constexpr (HasTenant<Top>::value) put(top_->push_tenant, request.whose.tenant);
        if constexpr (HasPriority<Top>::value) put(top_->push_priority, request.whose.priority);
        if constexpr (HasStream<Top>::value) put(top_->push_stream, request.whose.stream);
        if constexpr (HasDeadline<Top>::value)
            put(top_->push_deadline,
                periods_left(request.whose.deadline, SimTime{clock_.cycles(edge)}, clock_.period()));
        if constexpr (HasAge<Top>::value)
            put(top_->push_age, periods_since(request.whose.submitted, SimTime{clock_.cycles(edge)}, clock_.period()));
        if constexpr (HasBytes<Top>::value) put(top_->push_bytes, request.bytes);
        if constexpr (HasBlock<Top>::value) put(top_->push_block, request.block);
        const std::uint64_t limit = edge + patience;
        bool taken = false;
        for (; !taken && edge <= limit; ++edge) {
            low(edge);
            taken = top_->push_ready != 0;
            if (top_->grant_valid != 0) throw SchedulerFault("grant_valid is high, but no question is pending", edge);
            high(edge);
        }
        put(top_->push_valid, 0);
        held_ += taken;
        return taken;
    }
    std::uint64_t last_edge() const { return edge_; }

    void decide(const GrantQuery& query, std::uint64_t edge, CoreDecision& out) override {
        begin(edge);
        put(top_->query_valid, 1);
        put(top_->query_classes, query.classes);
        put(top_->query_idle_dies, query.idle_dies);
        if (independent_plane_read_)
            for (unsigned p = 0; p < planes_; ++p)
                put_bits(top_->query_idle_read_planes, p * kDies, kDies, query.idle_read_planes[p]);
        bool taken = false;
        for (out.cycles = 0;; ++out.cycles) {
            low(edge + out.cycles);
            taken = taken || top_->query_ready != 0;
            const bool answered = top_->grant_valid != 0;
            if (answered && !taken)
                throw SchedulerFault("grant_valid is high before query_ready: an answer before the question was taken",
                                     edge + out.cycles);
            if (answered && __builtin_expect(stall_ != 0, 0)) out.cycles += stall(edge + out.cycles);
            if (answered) take_answer(out);
            high(edge + out.cycles);
            if (taken) put(top_->query_valid, 0);
            if (answered) return;
            if (out.cycles == kPatience)
                throw SchedulerFault((taken ? "grant_valid is low for " : "query_ready is low for ") +
                                         std::to_string(kPatience) + " clock cycles after a question",
                                     edge + out.cycles);
        }
    }

    /// Answers to come are taken so many edges after grant_valid.
    void stall_answers(std::uint32_t edges) { stall_ = edges; }
    /// Resets the block while it works: it holds nothing, and no question is pending. Its registers are set again.
    void reset_in_work(const SchedulerConfig& config, const SchedulerShape& shape) {
        reset();
        held_ = 0;
        set_registers(config, shape);
    }
    /// Puts a question and does not wait for its answer: what a reset has to end.
    void begin_question(const GrantQuery& query, std::uint64_t edge) {
        begin(edge);
        put(top_->query_valid, 1);
        put(top_->query_classes, query.classes);
        put(top_->query_idle_dies, query.idle_dies);
        low(edge);
        high(edge);
    }

    std::string dump() const override {
        if (!has_csr_) return "  " + std::to_string(held_) + " requests (the module has no debug registers)\n";
        if (context_.gotFinish()) return "  the block has stopped\n";
        std::string text;
        for (std::uint32_t d = 0; d < dies_; ++d) {
            write_csr(csr::kDebugSelect, d);
            text += debug_line(d, read_csr(csr::kDebugStatus));
        }
        return text;
    }

    bool open_trace(const std::string& path) override {
        trace_ = std::make_unique<VerilatedFstC>();
        trace_->set_time_unit("1ps");
        trace_->set_time_resolution("1ps");
        top_->trace(trace_.get(), 99);
        trace_->open(path.c_str());
        if (!trace_->isOpen())
            throw UserError(
                Problem{path, "cannot be written", "a file in a folder that exists", "choose another place"});
        return true;
    }

    /// Runs clock edges outside of simulated time (they are not traced).
    std::uint32_t read_csr(std::uint16_t address) const {
        put(top_->araddr, address);
        put(top_->arvalid, 1);
        idle_edge();
        put(top_->arvalid, 0);
        const auto value = static_cast<std::uint32_t>(top_->rdata);
        idle_edge();
        return value;
    }
    void write_csr(std::uint16_t address, std::uint32_t value) const {
        put(top_->awaddr, address);
        put(top_->wdata, value);
        put(top_->wstrb, 0xF);
        put(top_->awvalid, 1);
        put(top_->wvalid, 1);
        idle_edge();
        put(top_->awvalid, 0);
        put(top_->wvalid, 0);
        idle_edge();
    }
    const Top& top() const { return *top_; }

private:
    static constexpr std::uint64_t kPatience = 100'000;  // edges; assumed: far beyond any decision

    void reset() {
        put(top_->push_valid, 0);
        put(top_->query_valid, 0);
        put(top_->query_idle_dies, 0);
        put_bits(top_->query_idle_read_planes, 0, kPlanes * kDies, 0);
        put(top_->awvalid, 0);
        put(top_->wvalid, 0);
        put(top_->arvalid, 0);
        put(top_->bready, 1);
        put(top_->rready, 1);
        put(top_->grant_ready, 1);
        put(top_->rst_n, 0);
        idle_edge();  // the reset is synchronous: it shows from here on
        for (int edge = 0; edge < 2; ++edge) silent_edge("in reset");
        put(top_->rst_n, 1);
        for (int edge = 0; edge < 2; ++edge) silent_edge("after a reset, though nothing was asked");
        eval(0);
    }
    /// Checks an edge at which the block must not answer.
    void silent_edge(const char* when) const {
        Verilated::threadContextp(&context_);
        eval(0);
        const auto must_be_low = [when](bool level, const char* name) {
            if (level) throw SchedulerFault(std::string(name) + " is high " + when, 0);
        };
        must_be_low(top_->grant_valid != 0, "grant_valid");
        must_be_low(top_->bvalid != 0, "bvalid");
        must_be_low(top_->rvalid != 0, "rvalid");
        eval(1);
    }
    void set_registers(const SchedulerConfig& config, const SchedulerShape& shape) {
        if (!has_csr_) return;  // a block of the user's need not have these
        write_csr(csr::kControl, (config.multi_plane ? 1u : 0u) | (shape.independent_plane_read ? 2u : 0u));
        write_csr(csr::kStarvationLimit, config.starvation_limit);
        write_csr(csr::kLookAhead, config.look_ahead);
        write_csr(csr::kPriority, priority_register(config.policy));
        write_csr(csr::kPlanes, (1u << shape.planes_per_die) - 1);
    }
    /// Before the first edge of a call.
    void begin(std::uint64_t edge) {
        Verilated::threadContextp(&context_);  // whose block it is that stops
        begin_edge_ = edge;
        begin_ps_ = ps(edge);
    }
    void idle_edge() const {
        Verilated::threadContextp(&context_);
        eval(0);
        eval(1);
    }
    void eval(unsigned clk) const {
        top_->clk = static_cast<CData>(clk);
        top_->eval();
        if (__builtin_expect(context_.gotFinish(), 0)) throw SchedulerFault(verilated_errors(), edge_);
    }
    void low(std::uint64_t edge) {
        context_.time(begin_ps_ + (edge - begin_edge_) * static_cast<std::uint64_t>(clock_.period().count()));
        edge_ = edge;
        if constexpr (HasCycleNow<Top>::value) put(top_->cycle_now, edge);
        eval(0);
        if (trace_) trace_->dump(ps(edge) - static_cast<std::uint64_t>(clock_.period().count() / 2));
    }
    void high(std::uint64_t edge) {
        eval(1);
        if (trace_) trace_->dump(ps(edge));
    }
    std::uint64_t ps(std::uint64_t edge) const { return static_cast<std::uint64_t>(clock_.cycles(edge).count()); }

    /// The answer stands until it is taken. Returns the edges that went by.
    std::uint32_t stall(std::uint64_t edge) {
        const Answer first = answer();
        put(top_->grant_ready, 0);
        for (std::uint32_t i = 0; i < stall_; ++i, ++edge) {
            low(edge);
            if (top_->grant_valid == 0)
                throw SchedulerFault("grant_valid falls while grant_ready is low; an answer stands until it is taken",
                                     edge);
            if (answer() != first)
                throw SchedulerFault("the answer changes while grant_ready is low; it stands until it is taken", edge);
            high(edge);
        }
        put(top_->grant_ready, 1);
        low(edge);
        if (top_->grant_valid == 0)
            throw SchedulerFault(
                "grant_valid falls when grant_ready rises; an answer stands until the next edge takes it", edge);
        return stall_;
    }
    /// All fields of an answer. Tags beyond the count are undefined.
    struct Answer {
        bool hit = false;
        std::uint64_t die = 0, cls = 0, count = 0;
        std::array<std::uint32_t, kPlanes> tags{};
        bool operator!=(const Answer& o) const {
            return hit != o.hit || (hit && (die != o.die || cls != o.cls || count != o.count || tags != o.tags));
        }
    };
    Answer answer() const {
        Answer a{top_->grant_hit != 0, top_->grant_die, top_->grant_class, top_->grant_count, {}};
        for (unsigned i = 0; i < std::min<std::uint64_t>(a.count, kPlanes); ++i)
            a.tags[i] = get_word(top_->grant_tags, i);
        return a;
    }

    void take_answer(CoreDecision& out) {
        out.answer = top_->grant_hit != 0 ? GrantAnswer::granted : GrantAnswer::nothing;
        if (out.answer == GrantAnswer::nothing) return;
        out.grant.die = static_cast<std::uint16_t>(top_->grant_die);
        out.grant.cls = static_cast<FlashClass>(top_->grant_class);
        out.grant.count = static_cast<std::uint8_t>(top_->grant_count);
        // The count may be anything; the port has a tag for each plane.
        for (unsigned i = 0; i < std::min<unsigned>(out.grant.count, kPlanes); ++i)
            out.grant.tags[i] = get_word(top_->grant_tags, i);
        held_ -= std::min<std::uint32_t>(held_, out.grant.count);
    }

    static_assert(kPlanes <= kMaxPlanes);
    mutable VerilatedContext context_;
    std::unique_ptr<Top> top_;
    std::unique_ptr<VerilatedFstC> trace_;
    const Clock clock_;
    const std::uint32_t depth_;
    const std::uint32_t dies_;
    const std::uint32_t planes_;
    const bool independent_plane_read_;
    bool has_csr_ = false;
    std::uint32_t held_ = 0;
    std::uint32_t stall_ = 0;
    std::uint64_t edge_ = 0;        // the one that is being run
    std::uint64_t begin_edge_ = 0;  // of the call; $time within it goes on in whole picoseconds
    std::uint64_t begin_ps_ = 0;
};

}  // namespace ssdtlm::rtl
