// SPDX-License-Identifier: Apache-2.0
// A host of the front end "raw" that is none of the model's: random commands, losses of power, and what each block may
// hold, kept by itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "common/tlm/agenda_process.h"
#include "controller/raw/raw_front_end.h"
#include "sim/device/device.h"

namespace ssdtlm {

class RawHost final : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
public:
    static constexpr std::uint32_t kBlock = 4096, kMostBlocks = 8;
    tlm::tlm_initiator_socket<> socket{"socket"};

    struct Plan {
        std::uint64_t commands = 0;
        std::uint32_t depth = 32;
        std::uint64_t seed = 1;
        Ps between_cuts{};  ///< on average; 0: none
    };
    struct Counts {
        std::uint64_t ended = 0, reads = 0, writes = 0, trims = 0, flushes = 0, blocks_compared = 0, cuts = 0,
                      given_up = 0, most_waiting = 0;
    };

    RawHost(const sc_core::sc_module_name& name, Agenda& agenda, AgendaProcess& process, Device& device,
            const Plan& plan)
        : sc_module(name),
          agenda_(agenda),
          process_(process),
          device_(device),
          drive_(device.controller.front_end_as<RawFrontEnd>()),
          plan_(plan),
          random_(plan.seed, 77),
          blocks_(drive_.bytes() / kBlock) {
        socket.bind(*this);
        socket.bind(drive_.target);
        for (std::uint32_t i = 0; i < plan.depth; ++i) {
            slots_.push_back(std::make_unique<Slot>());
            free_.push_back(slots_.back().get());
        }
    }
    void start() {
        agenda_.post(agenda_.now(), Then::to<&RawHost::go>(this));
        plan_cut();
    }
    const Counts& counts() const { return counts_; }
    bool finished() const { return phase_ == Phase::off; }

private:
    enum class Phase : std::uint8_t { mixed, draining, reading, shutting_down, off };
    struct Slot {
        tlm::tlm_generic_payload payload;
        RawExtension& more = *new RawExtension;  // the payload's
        Timeline timeline;
        std::vector<std::uint8_t> data;
        std::uint64_t first = 0;
        std::uint32_t blocks = 0;
        std::uint32_t version = 0;
        std::uint64_t flush_began = 0;
        SimTime begun{};
        bool busy = false;

        Slot() { payload.set_extension(&more); }
    };
    /// A version that a loss of power may leave. The first of a block is on the flash.
    struct Candidate {
        std::uint32_t version = 0;
        std::uint64_t ended = 0;  // by clock_; 0: not yet, or nobody knows whether
    };
    struct Block {
        std::vector<Candidate> possible{Candidate{0, 1}};
        bool busy = false;
        bool known = true;  // it holds the last of them
    };

    static void require(bool ok, const std::string& what) {
        if (!ok) throw std::runtime_error(what);
    }
    /// Version 0: nothing was written, or it was trimmed.
    static void fill(std::uint8_t* to, std::uint64_t block, std::uint32_t version) {
        std::uint64_t word = (block << 32 | version) * 0x9E3779B97F4A7C15u;
        for (std::uint32_t i = 0; i < kBlock; i += 8) {
            const std::uint64_t value = version == 0 ? 0 : (word ^= word >> 29) *= 0xBF58476D1CE4E5B9u;
            std::memcpy(to + i, &value, 8);
        }
    }

    void go() {
        while (!free_.empty() && submit_next()) {
        }
    }
    bool submit_next() {
        if (off_) return false;
        const bool idle = free_.size() == slots_.size();
        if (phase_ == Phase::mixed && counts_.ended + counts_.given_up >= plan_.commands) phase_ = Phase::draining;
        if (phase_ == Phase::draining && idle) phase_ = Phase::reading;
        if (phase_ == Phase::mixed) return submit_mixed();
        if (phase_ == Phase::reading) {
            if (next_read_ < blocks_.size()) {
                const auto n =
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(kMostBlocks, blocks_.size() - next_read_));
                begin(RawExtension::Op::transfer, tlm::TLM_READ_COMMAND, next_read_, n);
                next_read_ += n;
                return true;
            }
            if (!idle) return false;
            phase_ = Phase::shutting_down;
            begin(RawExtension::Op::shutdown, tlm::TLM_IGNORE_COMMAND, 0, 0);
        }
        return false;
    }
    bool submit_mixed() {
        const auto kind = random_.below(1000);
        if (kind < 5) {
            begin(RawExtension::Op::flush, tlm::TLM_IGNORE_COMMAND, 0, 0);
            return true;
        }
        for (int attempt = 0; attempt < 100; ++attempt) {
            const auto n = static_cast<std::uint32_t>(random_.percent(60) ? 1 : 1 + random_.below(kMostBlocks));
            const std::uint64_t first = random_.below(blocks_.size() - n + 1);
            if (std::any_of(blocks_.begin() + first, blocks_.begin() + first + n,
                            [](const Block& b) { return b.busy; }))
                continue;
            if (kind < 50)
                begin(RawExtension::Op::trim, tlm::TLM_IGNORE_COMMAND, first, n);
            else
                begin(RawExtension::Op::transfer, kind < 550 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, first,
                      n);
            return true;
        }
        return false;
    }
    void begin(RawExtension::Op op, tlm::tlm_command command, std::uint64_t first, std::uint32_t n) {
        Slot& s = *free_.back();
        free_.pop_back();
        s.busy = true;
        s.begun = agenda_.now();
        s.first = first;
        s.blocks = n;
        s.flush_began = ++clock_;
        s.data.assign(std::size_t{n} * kBlock, 0xEE);
        s.version = op == RawExtension::Op::trim ? 0 : ++versions_;
        const bool writes = command == tlm::TLM_WRITE_COMMAND, changes = writes || op == RawExtension::Op::trim;
        for (std::uint32_t i = 0; i < n; ++i) {
            Block& b = blocks_[first + i];
            b.busy = true;
            if (writes) fill(s.data.data() + std::size_t{i} * kBlock, first + i, s.version);
            if (changes) b.possible.push_back({s.version, 0});
        }
        s.more = RawExtension();
        s.more.op = op;
        s.more.fua = writes && random_.percent(5);
        s.more.tenant = static_cast<std::uint16_t>(random_.below(3));
        s.more.timeline = &s.timeline;
        tlm::tlm_generic_payload& p = s.payload;
        p.set_command(command);
        p.set_address(first * kBlock);
        p.set_data_ptr(op == RawExtension::Op::transfer ? s.data.data() : nullptr);
        p.set_data_length(n * kBlock);
        p.set_streaming_width(n * kBlock);
        p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time none;
        const tlm::tlm_sync_enum answer = socket->nb_transport_fw(p, phase, none);
        require(answer == tlm::TLM_UPDATED && phase == tlm::END_REQ, "the request was not taken");
        counts_.most_waiting = std::max<std::uint64_t>(counts_.most_waiting, drive_.pending());
    }

    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        require(phase == tlm::BEGIN_RESP && delay == sc_core::SC_ZERO_TIME, "phase");
        const auto found =
            std::find_if(slots_.begin(), slots_.end(), [&](const auto& s) { return &s->payload == &payload; });
        require(found != slots_.end() && (*found)->busy, "an answer to nothing");
        ended(**found);
        agenda_.post(agenda_.now(), Then::to<&RawHost::go>(this));
        return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    void ended(Slot& s) {
        require(s.payload.is_response_ok(), std::string("a request failed: ") + status_name(s.more.status));
        require(s.timeline.start() == s.begun && s.timeline.sum() == agenda_.now() - s.begun,
                "stages add up to " + std::to_string(s.timeline.sum().count()) + " ps of " +
                    std::to_string((agenda_.now() - s.begun).count()));
        ++clock_;
        const bool reads = s.payload.is_read(), writes = s.payload.is_write();
        for (std::uint32_t i = 0; i < s.blocks; ++i) {
            Block& b = blocks_[s.first + i];
            b.busy = false;
            if (reads) {
                compare(s.data.data() + std::size_t{i} * kBlock, s.first + i);
                continue;
            }
            b.known = true;
            b.possible.back().ended = clock_;
            if (s.more.fua) b.possible.erase(b.possible.begin(), b.possible.end() - 1);
        }
        if (s.more.op == RawExtension::Op::flush || s.more.op == RawExtension::Op::shutdown) flushed(s.flush_began);
        counts_.reads += reads;
        counts_.writes += writes;
        counts_.trims += s.more.op == RawExtension::Op::trim;
        counts_.flushes += s.more.op == RawExtension::Op::flush;
        counts_.ended += s.more.op != RawExtension::Op::shutdown;
        s.busy = false;
        free_.push_back(&s);
        if (s.more.op == RawExtension::Op::shutdown) {
            phase_ = Phase::off;
            process_.stop();
        }
    }
    void compare(const std::uint8_t* data, std::uint64_t block) {
        Block& b = blocks_[block];
        std::array<std::uint8_t, kBlock> expected;
        // The newest first: it is the only one that is right, unless a loss of power has left nobody knows which.
        for (std::size_t i = b.possible.size(); i-- > 0;) {
            fill(expected.data(), block, b.possible[i].version);
            if (std::memcmp(expected.data(), data, kBlock) == 0) {
                ++counts_.blocks_compared;
                if (!b.known) b.possible.assign(1, {b.possible[i].version, clock_});
                b.known = true;
                return;
            }
            if (b.known) break;
        }
        throw std::runtime_error("block " + std::to_string(block) + " holds none of its " +
                                 std::to_string(b.possible.size()) + " possible versions" +
                                 (b.known ? ", or not the newest one" : ""));
    }
    /// What had ended before the flush began is on the flash, and with it nothing older is left.
    void flushed(std::uint64_t began) {
        for (Block& b : blocks_) {
            if (b.possible.size() == 1) continue;
            std::size_t first = 0;
            for (std::size_t i = 0; i < b.possible.size(); ++i)
                if (b.possible[i].ended != 0 && b.possible[i].ended < began) first = i;
            b.possible.erase(b.possible.begin(), b.possible.begin() + static_cast<std::ptrdiff_t>(first));
        }
    }

    // --- Power ---

    void plan_cut() {
        if (plan_.between_cuts == Ps{}) return;
        const auto mean = static_cast<std::uint64_t>(plan_.between_cuts.count());
        agenda_.post(agenda_.now() + Ps{static_cast<std::int64_t>(mean / 2 + random_.below(mean))},
                     Then::to<&RawHost::cut>(this));
    }
    void cut() {
        if (phase_ != Phase::mixed) return;
        ++counts_.cuts;
        off_ = true;
        device_.supply_fails([this] { power_off(); });
    }
    void power_off() {
        const auto* const begin = reinterpret_cast<const char*>(this);
        agenda_.drop_if([begin](const void* self) { return self < begin || self >= begin + sizeof(RawHost); });
        device_.power_off(counts_.ended);
        for (const auto& s : slots_) {
            if (!s->busy) continue;
            ++counts_.given_up;
            s->busy = false;
            free_.push_back(s.get());
        }
        for (Block& b : blocks_) {
            b.busy = false;
            b.known = b.known && b.possible.size() == 1;
            // A flush to come says nothing of what had ended before: it may be gone.
            for (std::size_t i = 1; i < b.possible.size(); ++i) b.possible[i].ended = 0;
        }
        agenda_.post(agenda_.now() + std::chrono::milliseconds(1), Then::to<&RawHost::power_on>(this));
    }
    /// Requests wait at the drive until it has found its map.
    void power_on() {
        off_ = false;
        device_.power_on();
        plan_cut();
        go();
    }

    Agenda& agenda_;
    AgendaProcess& process_;
    Device& device_;
    RawFrontEnd& drive_;
    const Plan plan_;
    Random random_;
    std::vector<Block> blocks_;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<Slot*> free_;
    std::uint64_t clock_ = 1;
    std::uint32_t versions_ = 0;
    std::uint64_t next_read_ = 0;
    Phase phase_ = Phase::mixed;
    bool off_ = false;
    Counts counts_;
};

}  // namespace ssdtlm
