// SPDX-License-Identifier: Apache-2.0
// Lines of a text file, plain or gzip-compressed, in bounded memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/content_hash.h"

struct gzFile_s;

namespace ssdtlm {

class LineSource {
public:
    /// The longest line of a trace. Only these bytes of a longer line are kept.
    static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 16;

    /// Throws UserError when the file cannot be opened.
    /// `shown` is the name in messages.
    LineSource(const std::string& path, std::string shown);
    ~LineSource();
    LineSource(const LineSource&) = delete;
    LineSource& operator=(const LineSource&) = delete;

    /// The next line without its end (LF or CRLF) and without a UTF-8 byte order mark, valid until the next call; false
    /// at the end of the file. Throws UserError when the compressed data are damaged or end early, and for a file that
    /// is UTF-16 text or a tar archive.
    bool next(std::string_view& line);
    std::uint64_t line_number() const { return number_; }  ///< of the last line, 1-based
    /// True if the last line has more than kMaxLineBytes and continues. The next call of next() looks for its end.
    bool too_long() const { return too_long_; }
    /// Hash of all (uncompressed) bytes read so far. Reading is ahead of next().
    const ContentHash& content() const { return content_; }

private:
    bool refill();
    void look_at_beginning();
    void skip_rest_of_line();
    std::string shown_;
    gzFile_s* file_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // unread part of the buffer
    std::size_t end_ = 0;
    bool eof_ = false;
    bool too_long_ = false;
    std::uint64_t number_ = 0;
    ContentHash content_;
};

}  // namespace ssdtlm
