// SPDX-License-Identifier: Apache-2.0
// A snapshot in memory, for tests that need no file.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"

namespace ssdtlm {

class MemorySnapshot final : public Snapshot {
public:
    MemorySnapshot() : Snapshot(false) {}
    /// Makes a snapshot that is read from `what`.
    explicit MemorySnapshot(std::vector<char> what) : Snapshot(true), data(std::move(what)) {}

    void section(const char* organ) override {
        if (!reads()) sections.push_back({organ, data.size()});
        std::string name = organ;
        bytes(name.data(), name.size());
        if (name != organ) refuse(organ);
    }
    [[noreturn]] void refuse(const char* what) override { throw std::runtime_error(std::string("snapshot: ") + what); }
    void bytes(void* at, std::size_t size) override {
        auto* const c = static_cast<char*>(at);
        if (!reads()) {
            data.insert(data.end(), c, c + size);
            return;
        }
        if (data.size() - taken < size) refuse("it ends too early");
        std::memcpy(c, data.data() + taken, size);
        taken += size;
    }

    /// Text about the first difference of two written snapshots; empty: they are equal.
    static std::string difference(const MemorySnapshot& a, const MemorySnapshot& b) {
        std::size_t at = 0;
        while (at < a.data.size() && at < b.data.size() && a.data[at] == b.data[at]) ++at;
        if (at == a.data.size() && at == b.data.size()) return {};
        std::string where = "the begin";
        std::size_t from = 0;
        for (const Section& s : a.sections)
            if (s.at <= at) where = s.organ, from = s.at + s.organ.size();
        return "byte " + std::to_string(at - from) + " of " + where + " (" + std::to_string(a.data.size()) + " and " +
               std::to_string(b.data.size()) + " bytes in all)";
    }

    struct Section {
        std::string organ;
        std::size_t at = 0;
    };
    std::vector<Section> sections;  ///< sections that were written
    std::vector<char> data;
    std::size_t taken = 0;
};

}  // namespace ssdtlm
