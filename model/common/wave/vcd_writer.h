// SPDX-License-Identifier: Apache-2.0
// Writes a value change dump (IEEE 1364-2005 §18) while the simulation runs. Values are 0, 1 and z, the timescale is 1
// ps, and scopes are modules. Enumerations are vectors; their names are not in this file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "common/wave/wave_signal.h"

namespace ssdtlm {

class VcdWriter final : public WaveSink {
public:
    /// Opens the file under a temporary name; end() gives it its own name. All functions throw OutputError when the
    /// file cannot be written.
    explicit VcdWriter(std::filesystem::path file);
    ~VcdWriter() override;
    VcdWriter(const VcdWriter&) = delete;
    VcdWriter& operator=(const VcdWriter&) = delete;

    void begin(SimTime at, const std::vector<WaveSignal>& signals, const std::vector<std::uint64_t>& values) override;
    void change(SimTime at, WaveId signal, std::uint64_t value) override;
    void end(SimTime at) override;

    std::uint64_t bytes() const { return bytes_; }
    const std::filesystem::path& file() const { return file_; }

private:
    static constexpr std::size_t kCodeBytes = 4;
    struct Code {
        char text[kCodeBytes];
        std::uint8_t length;
        bool scalar;
        bool shared;
    };
    void put(const std::string& text);
    void put_value(WaveId signal, std::uint64_t value);
    void put_time(SimTime at);
    void room(std::size_t bytes) {
        if (buffer_.size() - used_ < bytes) flush();
    }
    void flush();
    [[noreturn]] void refuse(const char* what) const;

    const std::filesystem::path file_;
    std::FILE* out_;
    std::vector<char> buffer_;
    std::size_t used_ = 0;
    std::uint64_t bytes_ = 0;
    std::vector<Code> codes_;
    SimTime now_ = kNever;
};

}  // namespace ssdtlm
