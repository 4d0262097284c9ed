// SPDX-License-Identifier: Apache-2.0
// Read: after a core has looked the command up, it asks the map and the buffer once. Then it cuts the command into
// parts of one flash page, issues them, and sends each part through the DRAM to the host as soon as it is there. A part
// with a unit that cannot be read sends nothing; the command ends with an unrecovered read. A command of more units
// than the map answers for at a time is read in pieces, one after the other. The first that fails ends it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/address/ppa_decoder.h"
#include "controller/commands/ahead_reader.h"
#include "controller/commands/command_services.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class ReadCommand final {
public:
    /// `logical_units`: logical units of the drive.
    ReadCommand(const CommandServices& services, SpareCodec codec, const ReadAheadConfig& ahead,
                std::uint64_t logical_units);

    void start(Command& c);
    std::uint64_t units_read() const { return units_read_; }
    std::string dump() const;
    /// Null: nothing is read ahead.
    AheadReader* ahead() { return ahead_.get(); }
    const AheadReader* ahead() const { return ahead_.get(); }

private:
    struct State {
        Command* command = nullptr;
        HostRead* parts = nullptr;    ///< until issued
        std::uint32_t remaining = 0;  ///< parts not delivered
        std::uint32_t unsent = 0;     ///< parts not handed to the DMA engine; with the last of them, all are delivered
        SimTime sent_from{};          ///< the data of those handed over are there
        // These are for a command of several parts only.
        HostRead* last = nullptr;  ///< of those that arrived, the last: the command will be charged with its way
        SimTime latest{};          ///< its arrival
        std::uint64_t behind = 0;  ///< bytes of the command behind the piece that is being read
    };
    /// Where the bytes of a mapping unit are.
    struct Located {
        HostRead::Source source = HostRead::Source::zeros;
        bool newer = false;  ///< the buffer has newer bytes, of `version`
        Ppa ppa = kUnmapped;
        std::uint32_t version = 0;
        std::uint32_t dram_unit = 0;  ///< in the buffer
        AheadRead* ahead = nullptr;   ///< the read ahead that brings it
        WriteBuffer::Index entry =
            WriteBuffer::kNone;  ///< of the buffer, if it has newer bytes; else the read cache has them
    };
    struct Span {
        std::uint64_t begin, end;   ///< bytes
        std::uint64_t first, last;  ///< mapping units
    };

    State& state(const Command& c) {
        if (c.index >= states_.size()) states_.resize(c.index + 1u);
        return states_[c.index];
    }
    Span span_of(const Command& c) const {
        const std::uint64_t begin = services_.extents.first_byte(c), end = begin + c.bytes;
        return {begin, end, services_.extents.unit_of(begin), services_.extents.unit_of(end - 1)};
    }
    void look_up(std::uint64_t command);
    void look_up_more(Command& c, std::uint32_t units);
    Span next_piece(const Command& c, const State& s) const;
    void look_up_piece(std::uint64_t command);
    void piece_located(std::uint32_t command, const Ppa* places);
    void go_on(Command& c, State& s);
    bool buffer_has(const Span& span) const;
    void located(std::uint32_t command, const Ppa* places);
    void plan(Command& c, State& s, const Span& span, const Ppa* places);
    Located locate(Lpa lpa, Ppa place);
    std::uint32_t plan_parts(Command& c, State& s, const Span& span, const Ppa* places);
    HostRead& start_part(Command& c, const Located& unit, std::uint32_t page, Lpa lpa, std::uint32_t byte_offset);
    void add_unit(HostRead& part, const Located& unit, std::uint32_t page, std::uint32_t bytes);
    void look_into_cache(Lpa lpa, Located& found);
    void ahead_came(HostRead& part, const FlashTransaction& read, bool readable);
    void take_bytes(HostRead& part, std::uint32_t unit, WriteBuffer::Index entry) const;
    void begin_fill(HostRead& part, std::uint32_t unit, std::uint32_t bytes);
    void end_fills(const HostRead& part, std::uint64_t place);
    void issue(std::uint64_t command);
    void issue_parts(State& s);
    void read_buffer(HostRead& job);
    /// The part's command has other parts. The command is charged with the way of the last one, when all have arrived.
    static bool is_one_of_several(const HostRead& job) { return job.txn.path != job.command->timeline; }
    void through_dram(HostRead& job, const DramPiece* pieces, std::uint32_t count);
    void send_part(HostRead& job, SimTime from);
    void fail_part(HostRead& job);
    void part_delivered(HostRead& job, SimTime at);
    void gather(State& s, HostRead& job, SimTime at);
    void complete(Command& c, State& s) {
        if (__builtin_expect(s.behind != 0, 0)) return go_on(c, s);
        s.command = nullptr;
        services_.ends.complete(c);
    }
    void check_contents(const HostRead& job, std::uint32_t unit) const;
    void fill(HostRead& job);
    void fill_bytes(HostRead& job);
    [[noreturn]] void refuse_contents(const HostRead& job, std::uint32_t unit) const;

    void flash_done(HostRead& job);
    void dma_done(HostRead& job, DmaEnd end);
    void dram_done(HostRead& job);

    const CommandServices services_;
    HostReadPool jobs_;
    const SpareCodec codec_;
    const PpaDecoder decode_;
    std::unique_ptr<AheadReader> ahead_;  // null: nothing is read ahead
    const std::uint32_t units_per_page_;
    const std::uint32_t most_asked_;  ///< units of a question to the map
    std::vector<State> states_;       // by command
    std::vector<Ppa> places_;         // of the question at hand
    std::vector<DramPiece> pieces_;   // of the access at hand
    std::uint64_t units_read_ = 0;
};

}  // namespace ssdtlm
