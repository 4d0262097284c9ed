// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/line_source.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

LineSource::LineSource(const std::string& path, std::string shown)
    : shown_(std::move(shown)), file_(gzopen(path.c_str(), "rb")), buffer_(4 * kMaxLineBytes) {
    if (file_ == nullptr)
        throw UserError(
            Problem{shown_, std::string("cannot open: ") + std::strerror(errno), "a readable file", "check the path"});
    gzbuffer(file_, 1u << 17);
}

LineSource::~LineSource() {
    gzclose(file_);
}

bool LineSource::refill() {
    if (eof_) return false;
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    const int n = gzread(file_, buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
    int code = Z_OK;
    const char* message = gzerror(file_, &code);
    // A file that was cut off yields its data first and Z_BUF_ERROR only at the end.
    if (n < 0 || (n == 0 && code == Z_BUF_ERROR))
        throw UserError(Problem{
            shown_ + ":" + std::to_string(number_ + 1),
            code == Z_BUF_ERROR ? std::string("compressed file ends early") : std::string("cannot read: ") + message,
            "plain text or a whole gzip file", "fetch or compress the file again"});
    content_.add({buffer_.data() + end_, static_cast<std::size_t>(n)});
    end_ += static_cast<std::size_t>(n);
    eof_ = n == 0;
    return n > 0;
}

void LineSource::look_at_beginning() {
    while (end_ < 512 && refill()) continue;
    const std::string_view text(buffer_.data(), end_);
    if (text.substr(0, 3) == "\xEF\xBB\xBF") begin_ = 3;
    if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF")
        throw UserError(
            Problem{shown_ + ":1:1", "UTF-16 text", "UTF-8 or ASCII", "convert it: iconv -f UTF-16 -t UTF-8"});
    // POSIX ustar: "ustar" behind the first 257 bytes.
    if (text.size() >= 512 && text.substr(257, 5) == "ustar")
        throw UserError(Problem{shown_, "a tar archive", "one trace, plain or .gz", "unpack it: tar -xf"});
}

void LineSource::skip_rest_of_line() {
    too_long_ = false;
    do {
        const void* hit = end_ > begin_ ? std::memchr(buffer_.data() + begin_, '\n', end_ - begin_) : nullptr;
        if (hit != nullptr) {
            begin_ = static_cast<std::size_t>(static_cast<const char*>(hit) - buffer_.data()) + 1;
            return;
        }
        begin_ = end_ = 0;
    } while (refill());
}

bool LineSource::next(std::string_view& line) {
    if (number_ == 0) look_at_beginning();
    if (too_long_) skip_rest_of_line();
    std::size_t searched = begin_;
    while (true) {
        const void* hit = end_ > searched ? std::memchr(buffer_.data() + searched, '\n', end_ - searched) : nullptr;
        const std::size_t pending =
            (hit != nullptr ? static_cast<std::size_t>(static_cast<const char*>(hit) - buffer_.data()) : end_) - begin_;
        too_long_ = pending > kMaxLineBytes;
        if (hit != nullptr || too_long_) {
            line = std::string_view(buffer_.data() + begin_, too_long_ ? kMaxLineBytes : pending);
            // The end of a long line may be in the buffer already; skip_rest_of_line() starts where the view ends.
            begin_ += too_long_ ? kMaxLineBytes : pending + 1;
            break;
        }
        if (!refill()) {
            if (pending == 0) return false;
            line = std::string_view(buffer_.data() + begin_, pending);
            begin_ = end_;
            break;
        }
        searched = begin_ + pending;
    }
    ++number_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return true;
}

}  // namespace ssdtlm
