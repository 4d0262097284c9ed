// SPDX-License-Identifier: Apache-2.0
// The firmware: what the cores do with a command, in time. It runs the FTL, the write buffer and garbage
// collection, pays for each step in core cycles, and hands flash work to the scheduler and data to the DMA engine.
// Policy lives in Ftl and WriteBuffer; here are only the sequence of steps and who waits for whom.
// Not modelled: instruction fetch, cache misses, interrupts between cores, metadata (journal, mapping pages).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/cpu/core_pool.h"
#include "controller/cpu/flash_job.h"
#include "controller/cpu/gc_engine.h"
#include "controller/dram/dram_port.h"
#include "controller/ftl/ftl.h"
#include "controller/ftl/mapping/ppa_decoder.h"
#include "controller/ports/command.h"
#include "controller/ports/dma_port.h"
#include "controller/ports/flash.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

class Firmware final : public CommandSink, private DmaClient, private FlashClient {
public:
    /// Everything the firmware talks to. All must outlive it.
    struct Surroundings {
        Agenda& agenda;
        Ftl& ftl;
        FlashPort& flash;
        DmaPort& dma;
        DramPort& dram;
    };
    Firmware(const FirmwareConfig& config, const FtlConfig& ftl_config, const NandGeometry& geometry,
             std::uint32_t lba_bytes, const Surroundings& around, bool check_integrity = true);

    void bind(CompletionSink& completions) { completions_ = &completions; }
    void submit(Command& command) override;

    /// No new GC victims; what runs is finished. For the end of a run.
    void stop_gc() { gc_.stop(); }
    /// Nothing in flight and nothing dirty.
    bool idle() const;

    const WriteBuffer& buffer() const { return buffer_; }
    const CorePool& cores() const { return cores_; }
    void set_core_probe(CoreProbe* probe) { cores_.set_probe(probe); }
    /// The command that a host read's transaction serves; null for all other work.
    const Command* command_of(const FlashTransaction& txn) const {
        if (txn.client != static_cast<const FlashClient*>(this)) return nullptr;
        const FlashJob& job = job_of(txn.cookie);
        return job.kind == FlashJob::Kind::host_read ? job.command : nullptr;
    }
    const GcEngine& gc() const { return gc_; }
    std::uint64_t host_units_written() const { return host_units_written_; }
    std::uint64_t host_units_read() const { return host_units_read_; }
    std::uint64_t host_units_mapped() const { return host_units_mapped_; }
    /// Deallocated between leaving the dirty queue and taking a flash page.
    std::uint64_t host_units_discarded_before_map() const { return discarded_before_map_; }
    std::uint64_t merge_reads() const { return merge_reads_; }
    /// Nobody waits for nothing: each list of those who wait has something under way that will wake it. CheckFailed with a
    /// sentence. Between two events; looks at every group of planes.
    void check_waiters() const;
    /// State for the watchdog and for panics.
    std::string dump() const;

private:
    struct alignas(64) CommandState {
        Command* command = nullptr;
        FlashJob* parts = nullptr;    ///< read parts, until issued
        std::uint32_t remaining = 0;  ///< read: parts not delivered; write: units not inserted, or not durable
        std::uint32_t flush_generation = 0;
        std::vector<std::uint8_t>* staging = nullptr;
        std::uint64_t offset = 0;     ///< write: first byte of the piece at hand in the command's data
        std::uint64_t piece = 0;      ///< write: its bytes
        // Reads of several parts only.
        SimTime latest{};             ///< arrival of the last data so far
        Timeline critical;            ///< timeline of the part that arrived at `latest`
    };
    /// Where the bytes of a mapping unit are.
    struct Located {
        FlashJob::Source source = FlashJob::Source::zeros;
        bool newer = false;           ///< the buffer has newer bytes, of `version`
        Ppa ppa = kUnmapped;
        std::uint32_t version = 0;
    };
    struct Segments {
        const HostSegment* first;
        std::uint32_t count;
    };
    /// Cookie of a DMA request: this and a command for its data on the way in, or a read part on its way out.
    static constexpr std::uint64_t kWriteData = std::uint64_t{1} << 63;

    CommandState& state(const Command& c) {
        if (c.index >= states_.size()) states_.resize(c.index + 1u);
        return states_[c.index];
    }
    std::uint32_t core_of(std::uint64_t number) const {
        return cores_.size() == 1 ? 0 : static_cast<std::uint32_t>(number % cores_.size());
    }
    /// Charges a step on a core to the command and calls Next at its end.
    template <void (Firmware::*Next)(std::uint64_t)>
    __attribute__((always_inline)) void step(Command& c, std::uint64_t cycles, CoreStep what);
    std::uint64_t first_byte(const Command& c) const { return c.slba * lba_bytes_; }
    void complete(Command& c) { complete(c, states_[c.index]); }
    void complete(Command& c, CommandState& s) {
        --commands_;
        s.command = nullptr;
        completions_->complete(c);
    }
    /// The host's memory for a part of a command's data; valid until the next call.
    Segments segments(const Command& c, std::uint64_t offset, std::uint64_t bytes) {
        const std::uint64_t first = c.pages.front();
        if (((first & (c.host_page_bytes - 1)) + offset + bytes) > c.host_page_bytes) return cut(c, offset, bytes);
        one_segment_ = HostSegment{first + offset, static_cast<std::uint32_t>(bytes)};
        return {&one_segment_, 1};
    }
    Segments cut(const Command& c, std::uint64_t offset, std::uint64_t bytes);

    // firmware_read.cpp
    void start_read(Command& c, CommandState& s);
    Located locate(Lpa lpa) const;
    std::uint32_t plan_parts(Command& c, CommandState& s, std::uint64_t first, std::uint64_t last);
    FlashJob& start_part(Command& c, const Located& unit, std::uint32_t page, Lpa lpa, std::uint32_t byte_offset);
    void add_unit(FlashJob& part, const Located& unit, std::uint32_t page, std::uint32_t bytes);
    void issue_read(std::uint64_t command);
    void issue_parts(CommandState& s);
    void send_unread_part(std::uint64_t job);
    void send_part(FlashJob& job);
    void read_part_done(FlashJob& job);
    void merge_read_done(FlashJob& job);
    void complete_program(FlashJob& job);
    void part_delivered(FlashJob& job, SimTime at);
    void gather(CommandState& s, FlashJob& job, SimTime at);
    void stamp(FlashJob& job);
    [[noreturn]] void refuse_contents(const FlashJob& job, std::uint32_t unit) const;

    // firmware_write.cpp
    void start_write(Command& c);
    std::uint32_t choose_piece(CommandState& s);
    std::uint32_t units_of_piece(const CommandState& s) const {
        const std::uint64_t begin = first_byte(*s.command) + s.offset;
        return static_cast<std::uint32_t>(div_ceil(begin + s.piece, geometry_.unit_bytes) - begin / geometry_.unit_bytes);
    }
    bool waits_for_flash(const Command& c) const { return c.fua || ftl_config_.buffer_mode == BufferMode::write_through; }
    void space_wanted(std::uint64_t command);
    void space_freed();
    void fetch_data(Command& c);
    void data_fetched(Command& c, SimTime at);
    void data_failed(Command& c);
    void insert_units(std::uint64_t command);
    void start_merge(Lpa lpa, WriteBuffer::Index entry);
    void start_other(Command& c);
    void run_flush(std::uint64_t command);
    void run_deallocate(std::uint64_t command);
    void deallocate(const LbaRange& range);
    void release_waiters(const FlashJob* last);

    // firmware_program.cpp
    void pump();
    bool form_programs();
    void issue_programs(std::uint64_t job);
    FlashJob* place(FlashJob* jobs);
    bool is_dead(const FlashJob& job) const;
    void submit_program(FlashJob& job, const PageAddress& page);
    void retry_stalled();
    void program_done(std::uint64_t job);
    void finish_units(FlashJob& job);
    void check_flushes(const FlashJob* last);
    void charge_path(Timeline& t, const FlashJob& job) const;

    void dma_done(std::uint64_t cookie, SimTime at) override;
    void dma_failed(std::uint64_t cookie) override;
    void flash_done(FlashTransaction& txn) override;

    const FirmwareConfig& config_;
    const FtlConfig& ftl_config_;
    const NandGeometry geometry_;
    const std::uint32_t lba_bytes_;
    const bool check_integrity_;  ///< the host signs what it writes
    const std::uint32_t units_per_page_;
    const PpaDecoder decode_;
    const LongDivide unit_of_;   ///< mapping unit of a byte
    const LongDivide block_of_;  ///< logical block of a byte
    const std::uint32_t blocks_per_unit_;
    Agenda& agenda_;
    Ftl& ftl_;
    FlashPort& flash_;
    DmaPort& dma_;
    DramPort& dram_;
    CompletionSink* completions_ = nullptr;
    const SpareCodec codec_;
    CorePool cores_;
    FlashJobPool jobs_;
    WriteBuffer buffer_;
    GcEngine gc_;
    std::vector<CommandState> states_;
    HostSegment one_segment_;
    std::vector<HostSegment> segments_;
    std::deque<std::uint32_t> space_waiters_;
    std::deque<std::uint32_t> flushes_;
    std::deque<FlashJob*> stalled_;  ///< chains of programs without a page: every group of planes waits for GC
    std::vector<std::vector<std::uint8_t>*> staging_free_;
    std::deque<std::vector<std::uint8_t>> staging_;
    std::vector<std::uint32_t> waiters_;  ///< commands released by the step at hand
    std::uint32_t programs_ = 0;         ///< formed and not finished
    std::uint32_t issuing_ = 0;          ///< of those, chains that a core is working on, not yet offered to the FTL
    std::uint32_t merging_ = 0;          ///< merge reads in flight
    std::uint32_t fetching_ = 0;         ///< units reserved whose data is on its way
    std::uint32_t program_limit_ = 0;
    std::uint32_t row_pages_ = 1;        ///< pages that are programmed together, if there is data for them
    std::vector<PageAddress> row_;       ///< of the place() at hand
    std::uint32_t flush_threshold_ = 0;
    std::uint64_t programs_formed_ = 0;
    std::uint32_t commands_ = 0;
    bool pumping_ = false;
    bool collecting_ = false;            ///< GC has looked at every group once
    std::uint64_t host_units_written_ = 0;
    std::uint64_t host_units_read_ = 0;
    std::uint64_t host_units_mapped_ = 0;
    std::uint64_t discarded_before_map_ = 0;
    std::uint64_t merge_reads_ = 0;
};

template <void (Firmware::*Next)(std::uint64_t)>
inline void Firmware::step(Command& c, std::uint64_t cycles, CoreStep what) {
    const SimTime now = agenda_.now();
    const auto slot = cores_.run(core_of(c.index), cycles, now, what, c.index);
    c.timeline->charge(Stage::firmware_wait, slot.start);
    c.timeline->charge(Stage::firmware, slot.end);
    if (slot.end == now)
        (this->*Next)(c.index);
    else
        agenda_.post<Next>(slot.end, this, c.index);
}

}  // namespace ssdtlm
