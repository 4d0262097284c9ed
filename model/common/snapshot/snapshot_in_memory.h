// SPDX-License-Identifier: Apache-2.0
// A snapshot in memory. The organs write it, are built anew, and then read it.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/report/error.h"
#include "common/snapshot/snapshot.h"

namespace ssdtlm {

class SnapshotInMemory final : public Snapshot {
public:
    /// Creates a snapshot to which the organs write.
    SnapshotInMemory() : Snapshot(false) {}
    /// Creates a snapshot from which the organs read what was written to `told`.
    explicit SnapshotInMemory(SnapshotInMemory&& told) : Snapshot(true), data_(std::move(told.data_)) {}

    void section(const char*) override {}
    [[noreturn]] void refuse(const char* what) override { panic("SnapshotInMemory", what); }
    void bytes(void* at, std::size_t size) override {
        auto* const c = static_cast<char*>(at);
        if (!reads()) {
            data_.insert(data_.end(), c, c + size);
            return;
        }
        if (data_.size() - taken_ < size) refuse("it ends too early");
        if (size != 0) std::memcpy(c, data_.data() + taken_, size);
        taken_ += size;
    }
    std::size_t size() const { return data_.size(); }
    /// True: everything that was written has been read.
    bool at_end() const { return taken_ == data_.size(); }

private:
    std::vector<char> data_;
    std::size_t taken_ = 0;
};

}  // namespace ssdtlm
