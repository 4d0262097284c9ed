// SPDX-License-Identifier: Apache-2.0
// One direction of a link by itself, with a log of what it granted.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "host_pcie/link/link_direction.h"
#include "host_pcie/link/link_rate.h"

namespace ssdtlm {

inline constexpr std::uint64_t kHigh = 0x1'0000'0000;

struct DirectionBench {
    struct Offer {
        SimTime at;
        TlpKind kind;
        TlpTrain train;
        bool bulk = false;  // of a write: its data are there from `ready` on
        bool prompt = false;
        SimTime ready{};
    };
    struct Tag : LinkDelivery {
        Tag(DirectionBench* b, std::uint64_t c) : bench(b), cookie(c) {}
        DirectionBench* bench;
        std::uint64_t cookie;
    };
    struct Grant : LinkGrant {
        std::uint64_t cookie;
    };
    explicit DirectionBench(const LinkDirectionConfig& c) : direction(agenda, c, &DirectionBench::on_grant) {}
    static void on_grant(const LinkGrant& g) {
        const Tag& tag = static_cast<const Tag&>(*g.burst);
        tag.bench->grants.push_back({g, tag.cookie});
        tag.bench->granted_at.push_back(tag.bench->agenda.now());
    }
    void offer(TlpKind kind, const TlpTrain& train, std::uint64_t cookie) {
        tags.emplace_back(this, cookie);
        if (at_once)
            direction.offer(kind, train, tags.back());
        else
            direction.queue(kind, train, tags.back());
    }
    void write(std::uint64_t bytes, std::uint64_t cookie = 0, std::uint32_t mps = 256) {
        offer(TlpKind::mem_write, TlpTrain::data(kHigh, bytes, mps, 24), cookie);
    }
    void read(std::uint32_t n, std::uint64_t cookie = 0) { offer(TlpKind::mem_read, TlpTrain::headers(n, 24), cookie); }
    void complete(std::uint64_t bytes, std::uint64_t cookie = 0) {
        offer(TlpKind::completion_data, TlpTrain::data(0, bytes, 256, 20), cookie);
    }
    void bulk(const TlpTrain& train, SimTime ready, bool prompt, std::uint64_t cookie) {
        tags.emplace_back(this, cookie);
        direction.offer_bulk(train, ready, prompt, tags.back(), &DirectionBench::bulk_arrives);
    }
    static void bulk_arrives(LinkDelivery& d) {
        const Tag& tag = static_cast<const Tag&>(d);
        tag.bench->arrivals.push_back({tag.cookie, tag.bench->agenda.now()});
    }
    void offer_scheduled(std::uint64_t i) {
        const Offer& o = schedule[i];
        if (o.bulk)
            bulk(o.train, o.ready, o.prompt, i);
        else
            offer(o.kind, o.train, i);
    }

    bool at_once = true;  // false: every burst is queued first
    Agenda agenda;
    LinkDirection direction;
    std::deque<Tag> tags;
    std::vector<Grant> grants;
    std::vector<SimTime> granted_at;
    std::vector<std::pair<std::uint64_t, SimTime>> arrivals;  // of bulk writes
    std::vector<Offer> schedule;
};

inline LinkDirectionConfig gen3x4() {
    LinkDirectionConfig c;
    c.rate = link_rate(3, 4, 1'000'000);
    c.latency = 250ns;
    c.credit_return_latency = 100ns;
    c.posted_headers = 64;
    c.posted_data = 512;
    c.nonposted_headers = 64;
    return c;
}

}  // namespace ssdtlm
