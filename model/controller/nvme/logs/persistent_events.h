// SPDX-License-Identifier: Apache-2.0
// Persistent Event log 0Dh (NVMe 1.4 §5.14.1.13): the events of the drive, newest first. It survives losses of power.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class PersistentEvents {
public:
    enum Type : std::uint8_t {
        timestamp_change = 0x03,
        power_on_or_reset = 0x04,
        change_namespace = 0x06,
        format_start = 0x07,
        format_completion = 0x08,
        sanitize_start = 0x09,
        sanitize_completion = 0x0A
    };
    static constexpr std::size_t kHeaderBytes = 512, kEventHeaderBytes = 24;
    static constexpr std::size_t kMost = 1000;  ///< events that are kept; assumed
    /// Identify PELS: size of the log in units of 64 KiB.
    static constexpr std::uint32_t kUnits = 2;

    /// `data` is in the format of the event's type (NVMe 1.4 §5.14.1.13). `clock` is the timestamp of the event.
    void add(Type type, std::vector<std::uint8_t> data, std::uint64_t clock) {
        events_.push_front({type, clock, std::move(data)});
        if (events_.size() > kMost) events_.pop_back();
    }
    std::size_t count() const { return events_.size(); }

    /// Writes the log for a reporting context: the header without the facts of the drive, and all events.
    void write(std::vector<std::uint8_t>& page) const {
        page.assign(kHeaderBytes, 0);
        for (const Event& e : events_) {
            const std::size_t at = page.size();
            page.resize(at + kEventHeaderBytes + e.data.size(), 0);
            std::uint8_t* const d = page.data() + at;
            d[0] = e.type;
            d[1] = 1;                      // revision of the event's format
            d[2] = kEventHeaderBytes - 3;  // EHL: bytes behind this field
            nvme::store(d + 6, e.clock);
            nvme::store(d + 22, static_cast<std::uint16_t>(e.data.size()));
            std::copy(e.data.begin(), e.data.end(), d + kEventHeaderBytes);
        }
        std::uint8_t* const d = page.data();
        d[0] = nvme::kLogPersistentEvents;
        nvme::store(d + 4, static_cast<std::uint32_t>(events_.size()));
        nvme::store(d + 8, static_cast<std::uint64_t>(page.size()));
        d[16] = 1;                                                           // log revision
        nvme::store(d + 18, static_cast<std::uint16_t>(kHeaderBytes - 20));  // LHL: bytes behind this field
        for (const unsigned type : {timestamp_change, power_on_or_reset, change_namespace, format_start,
                                    format_completion, sanitize_start, sanitize_completion})
            d[480 + type / 8] = static_cast<std::uint8_t>(d[480 + type / 8] | 1u << type % 8);
    }

    void state(Snapshot& s) {
        s(events_);
        s.require(events_.size() <= kMost, "more persistent events than are kept");
    }

private:
    static constexpr std::size_t kMostBytes = 64;  // of the data of an event; none of the types above has more
    struct Event {
        Type type = power_on_or_reset;
        std::uint64_t clock = 0;
        std::vector<std::uint8_t> data;
        void state(Snapshot& s) {
            s(type, clock, data);
            s.require(type >= timestamp_change && type <= sanitize_completion && data.size() <= kMostBytes,
                      "a persistent event of no type");
        }
    };
    std::deque<Event> events_;
};

}  // namespace ssdtlm
