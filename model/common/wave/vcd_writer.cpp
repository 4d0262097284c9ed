// SPDX-License-Identifier: Apache-2.0
#include "common/wave/vcd_writer.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>

#include "common/report/error.h"
#include "common/report/part_file.h"

namespace ssdtlm {

namespace {

constexpr std::size_t kBuffer = 1 << 18;
constexpr std::size_t kLongestChange = 96;  // "b" + 64 digits + " " + code + newline, or a time

struct Scope {
    std::vector<WaveId> signals;
    std::vector<std::pair<std::string, std::unique_ptr<Scope>>> inner;

    Scope& child(const std::string& name) {
        for (auto& [n, scope] : inner)
            if (n == name) return *scope;
        inner.emplace_back(name, std::make_unique<Scope>());
        return *inner.back().second;
    }
};

}  // namespace

VcdWriter::VcdWriter(std::filesystem::path file)
    : file_(std::move(file)), out_(std::fopen(part_of(file_).c_str(), "wb")), buffer_(kBuffer) {
    if (out_ == nullptr) refuse("cannot be opened for writing");
    std::setvbuf(out_, nullptr, _IONBF, 0);
}

VcdWriter::~VcdWriter() {
    if (out_ == nullptr) return;
    std::fclose(out_);
    std::error_code ignored;
    std::filesystem::remove(part_of(file_), ignored);
}

void VcdWriter::refuse(const char* what) const {
    throw OutputError(
        Problem{file_.string(), std::string(what) + ": " + std::strerror(errno), "",
                "choose another folder with -o, or record less with --wave-from, --wave-to or fewer scopes"});
}

void VcdWriter::flush() {
    if (used_ != 0 && std::fwrite(buffer_.data(), 1, used_, out_) != used_) refuse("cannot be written");
    bytes_ += used_;
    used_ = 0;
}

void VcdWriter::put(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        room(1);
        const std::size_t n = std::min(text.size() - at, buffer_.size() - used_);
        std::memcpy(buffer_.data() + used_, text.data() + at, n);
        used_ += n;
        at += n;
    }
}

void VcdWriter::begin(SimTime at, const std::vector<WaveSignal>& signals, const std::vector<std::uint64_t>& values) {
    Scope top;
    for (WaveId id = 0; id < signals.size(); ++id) {
        Code code{};
        for (std::uint32_t n = id;; n = n / 94 - 1) {  // codes of one character from "!" to "~", then of two, and so on
            code.text[code.length++] = static_cast<char>('!' + n % 94);
            if (n < 94) break;
        }
        code.scalar = signals[id].width == 1;
        code.shared = signals[id].kind == WaveKind::shared;
        codes_.push_back(code);
        Scope* scope = &top;
        const std::string& path = signals[id].scope;
        for (std::size_t from = 0; from < path.size();) {
            const std::size_t dot = std::min(path.find('.', from), path.size());
            scope = &scope->child(path.substr(from, dot - from));
            from = dot + 1;
        }
        scope->signals.push_back(id);
    }
    put("$version ssdtlm $end\n$timescale 1 ps $end\n");
    const auto declare = [&](const auto& self, const Scope& scope) -> void {
        for (const WaveId id : scope.signals) {
            const WaveSignal& s = signals[id];
            const bool integer = s.kind == WaveKind::integer;
            put(std::string("$var ") + (integer ? "integer " : "wire ") + std::to_string(s.width) + " " +
                std::string(codes_[id].text, codes_[id].length) + " " + s.name +
                (integer || s.width == 1 ? "" : " [" + std::to_string(s.width - 1) + ":0]") + " $end\n");
        }
        for (const auto& [name, inner] : scope.inner) {
            put("$scope module " + name + " $end\n");
            self(self, *inner);
            put("$upscope $end\n");
        }
    };
    declare(declare, top);
    put("$enddefinitions $end\n");
    put_time(at);
    put("$dumpvars\n");
    for (WaveId id = 0; id < signals.size(); ++id) put_value(id, values[id]);
    put("$end\n");
}

void VcdWriter::put_time(SimTime at) {
    now_ = at;
    room(kLongestChange);
    char* p = buffer_.data() + used_;
    *p++ = '#';
    p = std::to_chars(p, p + 20, at.time_since_epoch().count()).ptr;
    *p++ = '\n';
    used_ = static_cast<std::size_t>(p - buffer_.data());
}

void VcdWriter::put_value(WaveId signal, std::uint64_t value) {
    room(kLongestChange);
    const Code& code = codes_[signal];
    char* p = buffer_.data() + used_;
    if (code.shared && value == kWaveReleased) {
        if (!code.scalar) *p++ = 'b';
        *p++ = 'z';
        if (!code.scalar) *p++ = ' ';
    } else if (code.scalar) {
        *p++ = static_cast<char>('0' + (value & 1));
    } else {
        *p++ = 'b';
        for (int i = value == 0 ? 0 : 63 - __builtin_clzll(value); i >= 0; --i)
            *p++ = static_cast<char>('0' + (value >> i & 1));
        *p++ = ' ';
    }
    std::memcpy(p, code.text, kCodeBytes);
    p += code.length;
    *p++ = '\n';
    used_ = static_cast<std::size_t>(p - buffer_.data());
}

void VcdWriter::change(SimTime at, WaveId signal, std::uint64_t value) {
    if (at != now_) put_time(at);
    put_value(signal, value);
}

void VcdWriter::end(SimTime at) {
    if (at != now_) put_time(at);
    flush();
    if (std::fclose(std::exchange(out_, nullptr)) != 0) refuse("cannot be written");
    publish(file_);
}

}  // namespace ssdtlm
