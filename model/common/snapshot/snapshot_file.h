// SPDX-License-Identifier: Apache-2.0
// A snapshot in a file: one zstd frame with its checksum. First a line that says what it is, then a text of whoever wrote it, then what
// the organs say. `zstd -dc FILE | head` shows the text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"

namespace ssdtlm {

class SnapshotWriter final : public Snapshot {
public:
    /// Into a file beside `path`, which finish() puts in its place. OutputError when it cannot be written.
    SnapshotWriter(const std::string& path, const std::string& text);
    ~SnapshotWriter() override;
    SnapshotWriter(const SnapshotWriter&) = delete;
    SnapshotWriter& operator=(const SnapshotWriter&) = delete;

    void section(const char* organ) override;
    [[noreturn]] void refuse(const char* what) override;
    void bytes(void* data, std::size_t size) override;
    /// All of it has been told.
    void finish();

private:
    void compress(const void* data, std::size_t size, bool last);
    [[noreturn]] void cannot_write() const;

    const std::string path_, temporary_;
    std::FILE* file_;
    struct Stream;
    std::unique_ptr<Stream> stream_;
    std::vector<char> in_, out_;
};

class SnapshotReader final : public Snapshot {
public:
    /// UserError when there is no such file, or it is no snapshot, or one of another format.
    explicit SnapshotReader(const std::string& path);
    ~SnapshotReader() override;
    SnapshotReader(const SnapshotReader&) = delete;
    SnapshotReader& operator=(const SnapshotReader&) = delete;

    const std::string& text() const { return text_; }
    void section(const char* organ) override;
    [[noreturn]] void refuse(const char* what) override;
    void bytes(void* data, std::size_t size) override;
    /// All of it has been taken over. UserError when there is more, or its checksum is wrong.
    void finish();

private:
    bool fill();
    [[noreturn]] void damaged(const std::string& what) const;

    const std::string path_;
    std::FILE* file_;
    struct Stream;
    std::unique_ptr<Stream> stream_;
    std::vector<char> in_, out_;
    std::size_t taken_ = 0, there_ = 0;  // of out_
    bool frame_over_ = false;
    std::string text_;
    std::string organ_ = "its head";
};

}  // namespace ssdtlm
