// SPDX-License-Identifier: Apache-2.0
// Reads a block trace of any known format (plain or .gz) into memory and fits it to the device: volumes chosen, times
// counted from the earliest request, lines out of order sorted, ranges rounded out to whole LBAs, addresses beyond the
// device refused, folded or scaled. Everything that is not taken as it stands is counted by reason with its first line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/report/error.h"
#include "host_pcie/workload/trace/trace_gaps.h"
#include "host_pcie/workload/trace/trace_record.h"

namespace ssdtlm {

/// Treatment of requests that end beyond the device.
enum class BeyondDevice : std::uint8_t {
    error,  ///< a problem that names the line
    fold,   ///< offset modulo the device; a request that would cross the end is moved back to end there
    scale   ///< the trace's whole address range is shrunk linearly onto the device; request sizes stay
};

struct TraceOptions {
    std::string path;               ///< read through zlib: plain text or .gz
    std::string shown;              ///< what the user named; empty: the path
    std::string format = "auto";    ///< a name of trace_formats(), or auto
    std::string volume;             ///< only this one ("usr,0", "8,0", "17"); empty: all
    bool overlay_volumes = false;   ///< all volumes start at 0 instead of one after the other
    bool spread = false;            ///< requests of one stamp evenly up to the next tick of the stamps
    Age most_gap = Age::longest();  ///< longer pauses last so long
    bool skip_broken = false;       ///< count lines that cannot be read instead of refusing the trace
    char blkparse_action = 'D';     ///< D or Q
    std::string columns;            ///< as of --trace-columns; then `format` is auto or columns
    std::uint32_t lba_bytes = 512;
    std::uint64_t device_bytes = 0;  ///< multiple of lba_bytes; 0: unknown, nothing is beyond it
    BeyondDevice beyond = BeyondDevice::error;
    const std::string& name() const { return shown.empty() ? path : shown; }
};

/// Reasons for which a line is not replayed exactly as it stands.
enum class TraceNote : std::uint8_t {
    blank,         ///< empty or comment; ignored
    header,        ///< column names; ignored
    trailer,       ///< summary at the end; ignored
    other_action,  ///< not the chosen blktrace action, or no disk event of ETW; ignored
    passthrough,   ///< blktrace N rows: commands without a block range; ignored
    no_operation,  ///< neither a read nor a write was traced; ignored
    other_volume,  ///< removed by the volume filter
    zero_length,   ///< a read, write or trim of 0 bytes; ignored
    broken,        ///< cannot be read; skipped only when asked for
    reordered,     ///< earlier than a line before it; sorted into place
    spread,        ///< not the first with its stamp; moved to a time of its own
    rounded,       ///< not on LBA boundaries; rounded out
    split,         ///< longer than TraceRecord::kMaxBytes; several records
    folded,        ///< ended beyond the device; folded
    scaled,        ///< ended beyond the device; the whole trace was scaled
    clipped,       ///< longer than the device; shortened
    count
};
inline constexpr std::size_t kTraceNoteCount = static_cast<std::size_t>(TraceNote::count);
const char* trace_note_name(TraceNote n);
const char* trace_note_sentence(TraceNote n);

struct TraceCount {
    std::uint64_t lines = 0;
    std::uint64_t first_line = 0;  ///< 1-based; 0 when none or when it took shape only after reading
};

struct TraceVolume {
    std::string name;
    std::uint64_t records = 0;
    std::uint64_t end = 0;   ///< highest byte + 1, in the volume's own address space
    std::uint64_t base = 0;  ///< where it was laid out (before folding or scaling)
};

struct TraceStats {
    std::uint64_t lines = 0;
    std::uint64_t taken = 0;  ///< lines that became records
    std::array<TraceCount, kTraceNoteCount> notes{};
    std::array<std::uint64_t, 4> records{};  ///< by HostOp, after splitting
    std::array<std::uint64_t, 4> bytes{};    ///< by HostOp, after rounding
    Ps duration{0};                          ///< stamp of the last record
    TraceGaps gaps;
    std::string span;                ///< where the trace begins and ends, if it was too long
    std::uint64_t equal_stamps = 0;  ///< records with the stamp of the record before

    const TraceCount& operator[](TraceNote n) const { return notes[static_cast<std::size_t>(n)]; }
    void note(TraceNote n, std::uint64_t line) {
        auto& c = notes[static_cast<std::size_t>(n)];
        if (c.lines++ == 0) c.first_line = line;
    }
    /// One sentence per reason that occurred: "12 lines out of order, sorted (first: line 17)".
    std::vector<std::string> sentences() const;
};

struct Trace {
    std::string path;
    std::string format;
    std::vector<TraceRecord> records;  ///< ascending in t; equal stamps in file order
    std::vector<TraceVolume> volumes;  ///< in order of appearance; TraceRecord::stream indexes it
    TraceStats stats;
    std::string
        digest;  ///< of the uncompressed file and of the options that choose from it or change it; not of the device
};

/// Reads the trace. Throws UserError with up to ten lines named when it cannot be used.
Trace read_trace(const TraceOptions& options);

}  // namespace ssdtlm
