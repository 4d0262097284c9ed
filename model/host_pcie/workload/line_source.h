// SPDX-License-Identifier: Apache-2.0
// Lines of a text file, plain or gzip-compressed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct gzFile_s;

namespace ssdtlm {

class LineSource {
public:
    /// Throws UserError when the file cannot be opened.
    explicit LineSource(const std::string& path);
    ~LineSource();
    LineSource(const LineSource&) = delete;
    LineSource& operator=(const LineSource&) = delete;

    /// The next line without its end (LF or CRLF), valid until the next call; false at the end of the file.
    /// Throws UserError when the compressed data are damaged or end early.
    bool next(std::string_view& line);
    std::uint64_t line_number() const { return number_; }  ///< of the last line, 1-based

private:
    bool refill();
    std::string path_;
    gzFile_s* file_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;   // unread part of the buffer
    std::size_t end_ = 0;
    bool eof_ = false;
    std::uint64_t number_ = 0;
};

}  // namespace ssdtlm
