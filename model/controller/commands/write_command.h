// SPDX-License-Identifier: Apache-2.0
// Write: takes room in the buffer, moves the host's data into it, and reads the rest of mapped units that are written
// in part. It ends when its units are in the buffer, or in flash if it is forced (FUA, write-through). Part of a unit
// that is lost cannot be written: the command ends with an unrecovered read, and its other units are written. A
// read-only drive refuses all writes (1/82h).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "controller/commands/command_services.h"
#include "controller/commands/merge_reader.h"
#include "controller/ports/rest_reads.h"

namespace ssdtlm {

class WriteCommand final {
public:
    struct Options {
        bool write_through = false;    ///< every write ends in flash
        bool power_protected = false;  ///< what is in the buffer is as safe as there
        RestReads rest_reads = RestReads::at_write;
    };
    WriteCommand(const CommandServices& services, const Options& options);

    void start(Command& c);
    /// See CommandSink. If a command takes its room in pieces, the pieces that have room stay.
    void abort_waits(bool aborts) { aborts_ = aborts; }
    void let_go();
    std::uint64_t units_written() const { return units_written_; }
    /// Adds units that are in the buffer without a command.
    void count(std::uint64_t units) { units_written_ += units; }
    const CommandServices& services() const { return services_; }
    /// Units reserved in the buffer whose data is on its way, or waits for the map.
    std::uint32_t fetching() const { return fetching_; }
    const MergeReader& merges() const { return merges_; }
    /// True: a write under way ends only in flash. It looks at every command.
    bool anybody_forced() const;
    /// A flush has begun.
    void begin_merges() { merges_.begin_all(); }
    void check_waiters() const;
    std::string dump() const;

private:
    struct State {
        Command* command = nullptr;
        std::uint32_t remaining = 0;  ///< units not inserted, or not durable
        MapExtent asked;              ///< of the piece at hand: from its first to its last unit that is written in part
        std::vector<std::uint8_t>* staging = nullptr;
        std::uint64_t offset = 0;     ///< of the piece at hand: its first byte in the command's data,
        std::uint64_t begin = 0;      ///< in the device,
        std::uint64_t piece = 0;      ///< its bytes,
        std::uint32_t units = 0;      ///< and the mapping units that it touches,
        std::uint32_t dram_unit = 0;  ///< the first of them here in the DRAM, in units
    };
    State& state(const Command& c) {
        if (c.index >= states_.size()) states_.resize(c.index + 1u);
        return states_[c.index];
    }
    bool waits_for_flash(const Command& c) const {
        return (c.fua || options_.write_through) && !options_.power_protected;
    }
    void choose_piece(State& s);
    void wants_room(std::uint64_t command);
    bool take_room(State& s);
    void refuse_rest(State& s, CommandStatus status);
    bool try_again(std::uint64_t command);
    void fetch_data(State& s);
    void insert_units(std::uint32_t command, const Ppa* places);
    bool insert_unit(const Command& c, std::uint64_t at, std::uint64_t bytes, const std::uint8_t* data, Ppa place,
                     std::uint32_t dram_unit);
    bool bring_rest(const Command& c, std::uint64_t at, std::uint64_t bytes, const std::uint8_t* data,
                    std::uint32_t version, Ppa place, std::uint32_t dram_unit);
    std::uint8_t stream_of(const Command& c, Lpa lpa) {
        return __builtin_expect(services_.streams != nullptr, 0) ? services_.streams->written(lpa) : c.whose.stream;
    }
    /// The metadata that the command brings for its blocks from byte `at` of the device on. Null: none.
    const std::uint8_t* metadata_of(const Command& c, std::uint64_t at) const {
        return c.metadata == nullptr ? nullptr
                                     : c.metadata + services_.extents.block_of(at - services_.extents.first_byte(c)) *
                                                        services_.bytes->metadata_of_block();
    }
    void free_staging(State& s) {
        staging_free_.push_back(s.staging);
        s.staging = nullptr;
    }
    void unit_durable(std::uint32_t command);
    void unit_failed(std::uint32_t command, CommandStatus status) { states_[command].command->status = status; }
    void complete(State& s) {
        Command& c = *s.command;
        s.command = nullptr;
        services_.ends.complete(c);
    }
    void dma_done(std::uint64_t command, DmaEnd end);
    void data_failed(State& s);
    void dram_done(std::uint64_t command);

    const CommandServices services_;
    const Options options_;
    const std::uint32_t most_asked_;  ///< units of a question to the map
    MergeReader merges_;
    bool aborts_ = false;
    std::vector<State> states_;  // by command
    std::vector<Ppa> places_;    // of the question at hand
    std::vector<std::vector<std::uint8_t>*> staging_free_;
    std::deque<std::vector<std::uint8_t>> staging_;
    std::uint32_t fetching_ = 0;
    std::uint64_t units_written_ = 0;
};

}  // namespace ssdtlm
