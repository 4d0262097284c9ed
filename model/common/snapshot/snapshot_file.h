// SPDX-License-Identifier: Apache-2.0
// A snapshot in a file: one zstd frame with its checksum. First comes a line that says what it is, then a text of
// whoever wrote it, then the state of the organs. `zstd -dc FILE | head` shows the text.
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

/// Thrown when the file that is being written is no longer wanted.
class SnapshotGivenUp : public std::runtime_error {
public:
    SnapshotGivenUp() : std::runtime_error("the snapshot was given up") {}
};

class SnapshotWriter final : public Snapshot {
public:
    /// Writes into a file beside `path`; finish() gives it its name. Throws OutputError when it cannot be written.
    /// `given_up` is asked now and then whether to throw SnapshotGivenUp; it may be null.
    SnapshotWriter(const std::string& path, const std::string& text, bool (*given_up)() = nullptr);
    ~SnapshotWriter() override;
    SnapshotWriter(const SnapshotWriter&) = delete;
    SnapshotWriter& operator=(const SnapshotWriter&) = delete;

    void section(const char* organ) override;
    [[noreturn]] void refuse(const char* what) override;
    void bytes(void* data, std::size_t size) override;
    /// The state is complete.
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
    /// Throws UserError when there is no such file, or it is no snapshot, or it has another format.
    explicit SnapshotReader(const std::string& path);
    ~SnapshotReader() override;
    SnapshotReader(const SnapshotReader&) = delete;
    SnapshotReader& operator=(const SnapshotReader&) = delete;

    const std::string& text() const { return text_; }
    void section(const char* organ) override;
    [[noreturn]] void refuse(const char* what) override;
    void bytes(void* data, std::size_t size) override;
    /// All of the state has been read. Throws UserError when there is more, or the file is not as it was written.
    void finish();
    /// Reads the rest of the file without using it. Throws UserError when the file is not as it was written.
    void check_rest();

private:
    bool fill();
    void check_digest();
    [[noreturn]] void damaged(const std::string& what) const;

    const std::string path_;
    std::FILE* file_;
    struct Stream;
    std::unique_ptr<Stream> stream_;
    std::vector<char> in_, out_;
    std::size_t taken_ = 0, there_ = 0;  // of out_
    bool frame_over_ = false;
    SnapshotDigest digest_;
    std::string text_;
    std::string organ_ = "its head";
};

}  // namespace ssdtlm
