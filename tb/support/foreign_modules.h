// SPDX-License-Identifier: Apache-2.0
// Modules that know TLM-2.0's base protocol, but nothing of this model. They have their own threads and times. They
// pass the time before a call in each of the ways that the protocol allows. The calls take effect at the same times in
// all of them.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm::foreign {

/// How a module passes the time before a call: it waits for it, annotates it, or annotates a random share of it.
enum class Pace { waits, annotates, mixes };

class Pacing {
public:
    Pacing(Pace pace, std::uint64_t seed) : pace_(pace), random_(seed, 7) {}
    /// Returns the part of `time` that the caller annotates.
    sc_core::sc_time annotated(const sc_core::sc_time& time) {
        if (pace_ == Pace::waits || time.value() == 0) return sc_core::SC_ZERO_TIME;
        if (pace_ == Pace::annotates || random_.below(4) == 0) return time;
        return random_.below(3) == 0 ? sc_core::SC_ZERO_TIME
                                     : sc_core::sc_time::from_value(random_.below(time.value() + 1));
    }
    /// Chooses one of n equivalent ways to answer. It is the first, which is the simplest, if no delays are annotated.
    std::uint64_t way(std::uint64_t n) { return pace_ == Pace::waits ? 0 : random_.below(n); }

private:
    const Pace pace_;
    Random random_;
};

/// A thread that calls functions at given times. Functions with equal times are called in the order of in().
class Later : public sc_core::sc_module {
public:
    explicit Later(const sc_core::sc_module_name& name) : sc_module(name) {
        SC_HAS_PROCESS(Later);
        SC_THREAD(run);
    }
    void in(const sc_core::sc_time& time, std::function<void()> what) {
        due_.emplace(sc_core::sc_time_stamp() + time, std::move(what));
        changed_.notify(sc_core::SC_ZERO_TIME);
    }

private:
    void run() {
        for (;;) {
            if (due_.empty())
                wait(changed_);
            else if (due_.begin()->first > sc_core::sc_time_stamp())
                wait(due_.begin()->first - sc_core::sc_time_stamp(), changed_);
            else
                due_.extract(due_.begin()).mapped()();
        }
    }
    std::multimap<sc_core::sc_time, std::function<void()>> due_;
    sc_core::sc_event changed_;
};

/// An initiator that makes one access at a time.
class Caller : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<Caller> socket;
    sc_core::sc_time called_at;  ///< when the last call took effect

    Caller(const sc_core::sc_module_name& name, Pace pace, std::uint64_t seed)
        : sc_module(name), socket("socket"), pacing_(pace, seed) {
        socket.register_nb_transport_bw(this, &Caller::backward);
    }
    /// Makes an access at `gap` from now, and returns its latency when it has been answered. Precondition: called from
    /// a thread.
    sc_core::sc_time access(tlm::tlm_generic_payload& p, const sc_core::sc_time& gap, bool blocking = false) {
        sc_core::sc_time delay = pacing_.annotated(gap);
        wait(gap - delay);
        called_at = sc_core::sc_time_stamp() + delay;
        answered_at_ = called_at;
        if (blocking) {
            socket->b_transport(p, delay);
            answered_at_ = sc_core::sc_time_stamp() + delay;
        } else {
            answered_ = false;
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            if (socket->nb_transport_fw(p, phase, delay) == tlm::TLM_COMPLETED)
                answered_at_ = sc_core::sc_time_stamp() + delay;
            else
                while (!answered_) wait(answered_event_);
        }
        if (answered_at_ > sc_core::sc_time_stamp()) wait(answered_at_ - sc_core::sc_time_stamp());
        if (owes_end_) end_response(p);
        return answered_at_ - called_at;
    }

private:
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
        answered_ = true;
        answered_at_ = sc_core::sc_time_stamp() + delay;
        answered_event_.notify(sc_core::SC_ZERO_TIME);
        switch (pacing_.way(4)) {
            case 0:
                return tlm::TLM_COMPLETED;
            case 1:
                phase = tlm::END_RESP;
                return tlm::TLM_UPDATED;
            case 2:
                delay += sc_core::sc_time(137, sc_core::SC_PS);
                return tlm::TLM_COMPLETED;
            default:
                owes_end_ = true;
                return tlm::TLM_ACCEPTED;
        }
    }
    void end_response(tlm::tlm_generic_payload& p) {
        owes_end_ = false;
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay = pacing_.annotated(sc_core::sc_time(211, sc_core::SC_PS));
        socket->nb_transport_fw(p, phase, delay);
    }
    Pacing pacing_;
    sc_core::sc_time answered_at_;
    sc_core::sc_event answered_event_;
    bool answered_ = false, owes_end_ = false;
};

/// A target. `serve` carries out an access and returns the time from the call to the answer.
template <class Types = tlm::tlm_base_protocol_types>
class Answerer : public sc_core::sc_module {
public:
    using Serve = std::function<sc_core::sc_time(tlm::tlm_generic_payload&)>;
    tlm_utils::simple_target_socket<Answerer, 32, Types> socket;

    /// `short_form`: BEGIN_REQ is always answered by END_REQ.
    Answerer(const sc_core::sc_module_name& name, Pace pace, std::uint64_t seed, bool short_form, Serve serve)
        : sc_module(name), socket("socket"), pacing_(pace, seed), short_form_(short_form), serve_(std::move(serve)) {
        socket.register_nb_transport_fw(this, &Answerer::forward);
    }

private:
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
        const sc_core::sc_time time = delay + serve_(p);
        const std::uint64_t way = short_form_ ? 0 : pacing_.way(4);
        delay = time;
        if (way == 1) return tlm::TLM_COMPLETED;
        if (way == 2) {
            phase = tlm::BEGIN_RESP;
            return tlm::TLM_UPDATED;
        }
        delay = pacing_.annotated(time);
        later_.in(time - delay, [this, &p, annotated = delay] { call(p, tlm::BEGIN_RESP, annotated); });
        delay = sc_core::SC_ZERO_TIME;
        if (way == 3) {  // the end of the request and the response may take effect at one time
            const sc_core::sc_time annotated = pacing_.annotated(time);
            call(p, tlm::END_REQ, annotated);
            return tlm::TLM_ACCEPTED;
        }
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void call(tlm::tlm_generic_payload& p, tlm::tlm_phase phase, sc_core::sc_time annotated) {
        socket->nb_transport_bw(p, phase, annotated);
    }

    Pacing pacing_;
    const bool short_form_;
    Serve serve_;
    Later later_{"later"};
};

}  // namespace ssdtlm::foreign
