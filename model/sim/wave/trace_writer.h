// SPDX-License-Identifier: Apache-2.0
// Writes slices on tracks, and the flows that join them, as trace event JSON (an array, one event a line). Perfetto's
// UI and Chromium open it, and DuckDB's read_json reads it. Times in the file are microseconds with all digits down to
// 1 ps; Perfetto keeps whole nanoseconds. Kernel-free.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "common/units/units.h"

namespace ssdtlm {

/// A group of tracks ("process") and a track in it ("thread").
struct TrackId {
    std::uint32_t group = 0;
    std::uint32_t track = 0;
};

class TraceWriter {
public:
    /// Throws OutputError when the file cannot be written, here or later.
    explicit TraceWriter(std::filesystem::path file);
    ~TraceWriter();
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    void name_group(std::uint32_t group, const std::string& name);
    /// Names a track. Tracks of a group are shown in the order of their numbers.
    void name_track(TrackId track, const std::string& name);
    /// Writes a slice. Slices of one track do not overlap. `arguments`: the inside of a JSON object, which may be
    /// empty.
    void slice(TrackId track, SimTime begin, SimTime end, const char* name, const std::string& arguments);
    /// Adds the slice that begins at `at` on this track to a flow. `first`: the flow begins with it.
    void flow(TrackId track, SimTime at, std::uint64_t number, bool first);
    /// Completes the file and gives it its name.
    void close();

    std::uint64_t slices() const { return slices_; }
    const std::filesystem::path& file() const { return file_; }

private:
    void flush();
    void next();
    [[noreturn]] void refuse() const;

    const std::filesystem::path file_;
    std::FILE* out_;
    fmt::memory_buffer buffer_;
    std::uint64_t events_ = 0;
    std::uint64_t slices_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t next_word_ =
        1'000'000'000;  ///< size at which the user gets a notice, as the length of the run may be unknown
};

}  // namespace ssdtlm
