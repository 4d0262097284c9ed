// SPDX-License-Identifier: Apache-2.0
// A snapshot in a file, which is one zstd frame with a checksum. It begins with a line that names the format. Then come
// a text from the caller and the state of the organs. `zstd -dc FILE | head` shows the text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "common/snapshot/snapshot_digest.h"

namespace ssdtlm {

/// Thrown when the caller no longer wants the file that is being written.
class SnapshotGivenUp : public std::runtime_error {
public:
    SnapshotGivenUp() : std::runtime_error("the snapshot was given up") {}
};

class SnapshotWriter final : public Snapshot {
public:
    /// Writes a file beside `path`; finish() renames it to `path`. Throws OutputError when the file cannot be written.
    /// `given_up`: is called now and then; if it returns true, SnapshotGivenUp is thrown. It may be null.
    SnapshotWriter(const std::string& path, const std::string& text, bool (*given_up)() = nullptr);
    ~SnapshotWriter() override;
    SnapshotWriter(const SnapshotWriter&) = delete;
    SnapshotWriter& operator=(const SnapshotWriter&) = delete;

    void section(const char* organ) override;
    [[noreturn]] void refuse(const char* what) override;
    void bytes(void* data, std::size_t size) override;
    /// Ends the file: the state is complete.
    void finish();

private:
    void compress(const void* data, std::size_t size, bool last);
    [[noreturn]] void cannot_write() const;

    const std::string path_, temporary_;
    std::FILE* file_;
    struct Stream;
    std::unique_ptr<Stream> stream_;
    std::vector<char> in_, out_;
    bool (*const given_up_)();
    SnapshotDigest digest_;
};

class SnapshotReader final : public Snapshot {
public:
    /// Throws UserError when there is no such file, when it is no snapshot, or when it has another format.
    explicit SnapshotReader(const std::string& path);
    ~SnapshotReader() override;
    SnapshotReader(const SnapshotReader&) = delete;
    SnapshotReader& operator=(const SnapshotReader&) = delete;

    const std::string& text() const { return text_; }
    void section(const char* organ) override;
    [[noreturn]] void refuse(const char* what) override;
    void bytes(void* data, std::size_t size) override;
    /// Call it when all of the state has been read. Throws UserError when the file has more, or was changed since it
    /// was written.
    void finish();
    /// Reads the rest of the file without using it. Throws UserError when the file was changed since it was written.
    void check_rest();

private:
    bool fill();
    void check_digest();
    [[noreturn]] void damaged(const std::string& what) const;
    [[noreturn]] void cannot_read() const;

    const std::string path_;
    std::FILE* file_;
    struct Stream;
    std::unique_ptr<Stream> stream_;
    std::vector<char> in_, out_;
    std::size_t taken_ = 0, there_ = 0;  // bytes of out_
    bool frame_over_ = false;
    SnapshotDigest digest_;
    std::string text_;
    std::string organ_ = "its head";
};

}  // namespace ssdtlm
