// SPDX-License-Identifier: Apache-2.0
// The read of a unit's old copy for a write of part of it. The unit waits in the buffer and may be programmed when the
// rest is there. If the rest cannot be read, the unit is lost, and with it the writes that need its bytes. Commands
// that wait for it end with an unrecovered read.
//
// With RestReads::at_write_back the read does not begin with the write: a later write may bring the rest, and then
// nothing is read. It begins when the unit has to go to the flash: a flush or a command waits for it, somebody waits
// for room in the buffer, or such units are more than half of it; then the oldest go. Until then the old copy is not
// held: garbage collection may move it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/containers/key_table.h"
#include "controller/commands/command_services.h"
#include "controller/ports/job_bytes.h"

namespace ssdtlm {

class MergeReader final {
public:
    explicit MergeReader(const CommandServices& services) : services_(services), jobs_(services.jobs) {}

    /// Starts to read. The map holds `place`; it is let go when it has been read.
    void start(Ppa place, WriteBuffer::Index entry, const WorkTag& whose);

    /// As start(), but the read may come later. The write has `bytes` bytes of the unit, from byte `from` on. No
    /// command waits for the unit.
    void wait(Ppa place, WriteBuffer::Index entry, std::uint64_t from, std::uint64_t bytes);
    bool anything_waits() const { return waiting_.size() != 0; }
    bool waits(WriteBuffer::Index entry) const { return waiting_.find(entry) != nullptr; }
    /// A later write has brought these bytes. If the unit is whole with them, it may be programmed.
    void brought(WriteBuffer::Index entry, std::uint64_t from, std::uint64_t bytes);
    /// Begins to read the rest of this entry now.
    void begin(WriteBuffer::Index entry);
    void begin_all() {
        while (anything_waits()) begin_oldest();
    }
    /// Begins reads where needed: somebody may wait for room, or too many units wait here.
    void look() {
        if (services_.wait_queues.anybody_for_room()) begin_all();
        while (waiting_.size() > services_.buffer.capacity() / 2) begin_oldest();
    }

    std::uint32_t under_way() const { return under_way_ + asking_; }
    std::uint64_t reads() const { return reads_; }
    void check_waiters() const;
    std::string dump() const;

private:
    struct Read : FlashJob {
        WriteBuffer::Index entry = WriteBuffer::kNone;
    };
    struct Waiting {
        std::uint32_t key = 0;  // entry of the buffer
        std::uint64_t number = 0;
        UnitBlocks has;
    };
    struct Order {
        WriteBuffer::Index entry;
        std::uint64_t number;
    };
    void begin_oldest();
    void add(Waiting& unit, std::uint64_t from, std::uint64_t bytes) const;
    void map_answered(WriteBuffer::Index entry, const Ppa* place);
    void located(WriteBuffer::Index entry, Ppa place);
    void complete(WriteBuffer::Index entry);
    void flash_done(Read& job);
    void dram_done(Read& job) { end(job, true); }
    void end(Read& job, bool readable);
    void lose(WriteBuffer::Index entry);

    const CommandServices services_;
    JobPool<Read> jobs_;
    std::uint32_t under_way_ = 0;
    std::uint32_t asking_ = 0;  // the map for their place
    std::uint64_t reads_ = 0;
    KeyTable<Waiting, 16> waiting_;
    std::deque<Order> order_;  // of all that waited; those with another number, or none, wait no longer
    std::uint64_t last_number_ = 0;
    std::vector<std::uint32_t> waiters_;  // of the lose() at hand
};

}  // namespace ssdtlm
