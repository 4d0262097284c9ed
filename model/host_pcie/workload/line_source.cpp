// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/line_source.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "common/report/error.h"

namespace ssdtlm {

LineSource::LineSource(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")), buffer_(1u << 18) {
    if (file_ == nullptr)
        throw UserError(Problem{path, std::string("cannot open: ") + std::strerror(errno), "a readable file",
                                "check the path"});
    gzbuffer(file_, 1u << 17);
}

LineSource::~LineSource() { gzclose(file_); }

bool LineSource::refill() {
    if (eof_) return false;
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);  // one line longer than the buffer
    const int n = gzread(file_, buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
    int code = Z_OK;
    const char* message = gzerror(file_, &code);
    // A file that was cut off yields its data first and Z_BUF_ERROR only at the end.
    if (n < 0 || (n == 0 && code == Z_BUF_ERROR))
        throw UserError(Problem{path_ + ":" + std::to_string(number_ + 1),
                                code == Z_BUF_ERROR ? std::string("compressed file ends early")
                                                    : std::string("cannot read: ") + message,
                                "plain text or a whole gzip file", "fetch or compress the file again"});
    end_ += static_cast<std::size_t>(n);
    eof_ = n == 0;
    return n > 0;
}

bool LineSource::next(std::string_view& line) {
    std::size_t searched = begin_;
    while (true) {
        const void* hit = end_ > searched ? std::memchr(buffer_.data() + searched, '\n', end_ - searched) : nullptr;
        if (hit != nullptr) {
            const auto at = static_cast<std::size_t>(static_cast<const char*>(hit) - buffer_.data());
            line = std::string_view(buffer_.data() + begin_, at - begin_);
            begin_ = at + 1;
            break;
        }
        const std::size_t pending = end_ - begin_;
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
