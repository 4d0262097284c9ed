// SPDX-License-Identifier: Apache-2.0
// The files of a run appear together. Each is written under a temporary name (".part"), and all get their names when
// the last one is complete. So a folder never has results of two runs, and a file with its own name is complete.
#pragma once

#include <filesystem>
#include <fstream>
#include <list>
#include <ostream>
#include <string>
#include <vector>

#include "common/report/part_file.h"

namespace ssdtlm {

/// Writes a text. Throws OutputError when not all of it can be written.
void write_text_file(const std::filesystem::path& path, const std::string& text);
/// Writes a text as write_text_file() does. The file gets its name when it is complete.
void write_whole_file(const std::filesystem::path& path, const std::string& text);

class ResultFiles {
public:
    /// It does not access the folder yet.
    explicit ResultFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}
    /// Removes files that were not committed.
    ~ResultFiles();
    ResultFiles(const ResultFiles&) = delete;
    ResultFiles& operator=(const ResultFiles&) = delete;

    /// Removes temporary files that a killed run left.
    void remove_parts() const;
    /// Removes the files of an earlier run, and no others: those in names() and recordings(), and the logs of fio that
    /// its wall_clock.json lists.
    void remove_earlier() const;
    /// Adds a file with this text. Throws OutputError when not all of it can be written.
    void add(const std::string& name, const std::string& text);
    /// Adds a file that is written during the run, and must be complete at commit(). Throws OutputError when it cannot
    /// be made.
    std::ostream& stream(const std::string& name);
    /// Gives all files their names, in the order of add() and stream(). Throws OutputError when that fails, or when a
    /// stream could not be written completely.
    void commit();

    /// The names of the results of a run. A run that ended in order has result.json, and a run that failed has
    /// failed.json.
    static const std::vector<std::string>& names();
    /// The names of the recordings that a run makes on request. A name that ends in '/' is a folder. Blocks in RTL also
    /// have rtl_*.fst.
    static const std::vector<std::string>& recordings();
    /// True for the name of a file or folder that a run may write in its folder, also a temporary one.
    static bool may_write(std::string name);
    /// The temporary names of all files that this run may have in the folder.
    std::vector<std::string> parts() const;

private:
    std::filesystem::path part(const std::string& name) const { return part_of(directory_ / name); }

    const std::filesystem::path directory_;
    std::vector<std::string> added_;
    struct Stream {
        std::string name;
        std::ofstream out;
    };
    std::list<Stream> streams_;  // a list keeps the addresses of its elements
};

}  // namespace ssdtlm
