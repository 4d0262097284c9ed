// SPDX-License-Identifier: Apache-2.0
// Data caches of the cores, for the map's table in the DRAM: set-associative, LRU, written back. When a core changes a
// line, the other cores drop it. A step is told its wait when it is given to its core: the lines that it lacks are
// fetched together, one transfer after the other, from that instant on. Not modelled: other data of the firmware in the
// caches, prefetching beyond a step, several levels.
#pragma once

#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "common/tlm/agenda.h"
#include "controller/ports/dram_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/table_port.h"

namespace ssdtlm {

class TableCaches final : public TablePort {
public:
    struct Counters {
        std::uint64_t hits = 0;    ///< lines that a step wanted and its core's cache had
        std::uint64_t misses = 0;  ///< lines read from the DRAM
        std::uint64_t written_back = 0;
        Ps waited{};  ///< by the cores
        Counters& operator+=(const Counters& o) {
            hits += o.hits;
            misses += o.misses;
            written_back += o.written_back;
            waited += o.waited;
            return *this;
        }
    };
    /// `dram` and `agenda` must outlive it. Precondition: table_cache_sets(config) > 0.
    TableCaches(Agenda& agenda, const FirmwareConfig& config, std::uint32_t entry_bytes, DramPort& dram);

    void want(std::uint64_t number, TableSpan entries, bool changes) override;
    Ps wait() override;
    const Counters& counters() const { return counters_; }
    /// Reads or writes the contents of the caches, without the counts.
    void state(Snapshot& s);

private:
    static constexpr std::uint64_t kNone = 0, kDirty = std::uint64_t{1} << 63;
    struct Place {
        std::uint64_t* first;  // the ways of its set, used last first
        std::uint32_t way;     // ways(): not there
    };
    Place find(std::uint64_t core, std::uint64_t line);
    void take(std::uint64_t core, std::uint64_t line, bool changes);
    bool drop_elsewhere(std::uint64_t core, std::uint64_t line, bool changes);
    void write_back(std::uint64_t line);

    Agenda& agenda_;
    DramPort& dram_;
    const std::uint64_t cores_, sets_;
    const std::uint32_t ways_, line_bytes_, entry_bytes_;
    std::vector<std::uint64_t> tags_;           // by core, set, way: number of the line + 1, and whether it is dirty
    std::vector<DramPiece> missing_, leaving_;  // of the step under way
    Counters counters_;
};

}  // namespace ssdtlm
