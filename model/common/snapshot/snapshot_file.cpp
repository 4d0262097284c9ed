// SPDX-License-Identifier: Apache-2.0
#include "common/snapshot/snapshot_file.h"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
constexpr char kFirstLine[] = "ssdtlm snapshot, format 7\n";
constexpr int kLevel = 1;  // the state of a drive is mostly random, so higher levels gain little
constexpr std::size_t kBlock = std::size_t{1} << 20;
}  // namespace

struct SnapshotWriter::Stream {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ~Stream() { ZSTD_freeCCtx(context); }
};

SnapshotWriter::SnapshotWriter(const std::string& path, const std::string& text, bool (*given_up)())
    : Snapshot(false),
      path_(path),
      temporary_(path + ".part"),
      file_(std::fopen(temporary_.c_str(), "wb")),
      stream_(std::make_unique<Stream>()),
      out_(ZSTD_CStreamOutSize()),
      given_up_(given_up) {
    if (file_ == nullptr) cannot_write();
    ZSTD_CCtx_setParameter(stream_->context, ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(stream_->context, ZSTD_c_checksumFlag, 1);
    in_.reserve(kBlock);
    in_.assign(kFirstLine, kFirstLine + sizeof kFirstLine - 1);
    in_.insert(in_.end(), text.begin(), text.end());
    in_.push_back('\0');
    digest_.add(in_.data(), in_.size());
}

SnapshotWriter::~SnapshotWriter() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    ::unlink(temporary_.c_str());
}

void SnapshotWriter::section(const char* organ) {
    bytes(const_cast<char*>(organ), std::strlen(organ) + 1);
}

void SnapshotWriter::refuse(const char* what) {
    throw UserError(Problem{path_, std::string("the drive cannot be saved: ") + what, "", ""});
}

void SnapshotWriter::bytes(void* data, std::size_t size) {
    digest_.add(data, size);
    if (in_.size() + size > kBlock) {
        compress(in_.data(), in_.size(), false);
        in_.clear();
    }
    if (size > kBlock) return compress(data, size, false);
    const auto* const from = static_cast<const char*>(data);
    in_.insert(in_.end(), from, from + size);
}

void SnapshotWriter::compress(const void* data, std::size_t size, bool last) {
    ZSTD_inBuffer in{data, size, 0};
    for (bool more = true; more;) {
        if (given_up_ != nullptr && given_up_()) throw SnapshotGivenUp();
        ZSTD_outBuffer out{out_.data(), out_.size(), 0};
        const std::size_t left = ZSTD_compressStream2(stream_->context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        SSDTLM_CHECK(ZSTD_isError(left) == 0, "zstd does not compress");
        if (std::fwrite(out_.data(), 1, out.pos, file_) != out.pos) cannot_write();
        more = last ? left != 0 : in.pos != in.size;
    }
}

void SnapshotWriter::finish() {
    std::uint64_t digest = digest_.value();
    bytes(&digest, sizeof digest);
    compress(in_.data(), in_.size(), true);
    const bool ok = std::fflush(file_) == 0 && ::fsync(::fileno(file_)) == 0;
    if (std::fclose(std::exchange(file_, nullptr)) != 0 || !ok || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
        const int why = errno;
        ::unlink(temporary_.c_str());
        errno = why;
        cannot_write();
    }
}

void SnapshotWriter::cannot_write() const {
    throw OutputError(Problem{path_, std::string("the drive cannot be saved there: ") + std::strerror(errno),
                              "a file in a folder with room for it", "give another path"});
}

struct SnapshotReader::Stream {
    ZSTD_DCtx* context = ZSTD_createDCtx();
    ZSTD_inBuffer in{nullptr, 0, 0};
    ~Stream() { ZSTD_freeDCtx(context); }
};

SnapshotReader::SnapshotReader(const std::string& path)
    : Snapshot(true),
      path_(path),
      file_(std::fopen(path.c_str(), "rb")),
      stream_(std::make_unique<Stream>()),
      in_(ZSTD_DStreamInSize()),
      out_(kBlock) {
    if (file_ == nullptr) cannot_read();
    try {
        std::string line(sizeof kFirstLine - 1, '\0');
        bytes(line.data(), line.size());
        const std::string name(kFirstLine, std::strchr(kFirstLine, ',') + 1);
        if (line.compare(0, name.size(), name) != 0) damaged("this is no saved drive");
        if (line != kFirstLine)
            throw UserError(Problem{path_, "it says \"" + line.substr(0, line.find('\n')) + "\"",
                                    std::string(kFirstLine, sizeof kFirstLine - 2),
                                    "save the drive again with this version of ssdtlm"});
        for (char c = 0; bytes(&c, 1), c != '\0';) text_ += c;
    } catch (...) {
        std::fclose(file_);
        throw;
    }
}

SnapshotReader::~SnapshotReader() {
    std::fclose(file_);
}

void SnapshotReader::section(const char* organ) {
    std::string found(std::strlen(organ) + 1, '\0');
    bytes(found.data(), found.size());
    if (std::strcmp(found.c_str(), organ) != 0) damaged(std::string("what follows is not of the ") + organ);
    organ_ = organ;
}

void SnapshotReader::refuse(const char* what) {
    damaged(what);
}

/// Decompresses more of the file into out_. Returns false at the end of the file.
bool SnapshotReader::fill() {
    taken_ = there_ = 0;
    while (there_ == 0 && !frame_over_) {
        if (stream_->in.pos == stream_->in.size) {
            stream_->in = {in_.data(), std::fread(in_.data(), 1, in_.size(), file_), 0};
            if (stream_->in.size == 0 && std::ferror(file_) != 0) cannot_read();  // a folder, for instance
            if (stream_->in.size == 0) damaged("it ends too early");
        }
        ZSTD_outBuffer out{out_.data(), out_.size(), 0};
        const std::size_t left = ZSTD_decompressStream(stream_->context, &out, &stream_->in);
        if (ZSTD_isError(left) != 0) damaged(ZSTD_getErrorName(left));
        frame_over_ = left == 0;
        there_ = out.pos;
    }
    return there_ != 0;
}

void SnapshotReader::bytes(void* data, std::size_t size) {
    auto* to = static_cast<char*>(data);
    while (size != 0) {
        if (taken_ == there_ && !fill()) damaged("it ends too early");
        const std::size_t n = std::min(size, there_ - taken_);
        std::memcpy(to, out_.data() + taken_, n);
        digest_.add(out_.data() + taken_, n);
        taken_ += n;
        to += n;
        size -= n;
    }
}

void SnapshotReader::check_digest() {
    const std::uint64_t right = digest_.value();
    std::uint64_t found = 0;
    bytes(&found, sizeof found);
    if (found != right) damaged("its content was changed after it had been saved");
}

void SnapshotReader::check_rest() {
    constexpr std::size_t kDigest = sizeof(std::uint64_t);
    std::vector<char> rest;  // the newest bytes, behind the last kDigest bytes of those before
    while (taken_ != there_ || fill()) {
        rest.insert(rest.end(), out_.begin() + static_cast<std::ptrdiff_t>(taken_),
                    out_.begin() + static_cast<std::ptrdiff_t>(there_));
        taken_ = there_;
        if (rest.size() <= kDigest) continue;
        digest_.add(rest.data(), rest.size() - kDigest);
        rest.erase(rest.begin(), rest.end() - kDigest);
    }
    std::uint64_t found = 0;
    if (rest.size() == kDigest) std::memcpy(&found, rest.data(), kDigest);
    if (rest.size() != kDigest || found != digest_.value()) damaged("its content was changed after it had been saved");
}

void SnapshotReader::finish() {
    check_digest();
    if (taken_ != there_ || fill()) damaged("it holds more data than this version of ssdtlm reads");
}

void SnapshotReader::cannot_read() const {
    throw UserError(Problem{path_, std::strerror(errno), "a drive that was saved", "check the path"});
}

void SnapshotReader::damaged(const std::string& what) const {
    throw UserError(Problem{path_, what + " (in " + organ_ + ")", "a drive that this version of ssdtlm has saved",
                            "save it again"});
}

}  // namespace ssdtlm
