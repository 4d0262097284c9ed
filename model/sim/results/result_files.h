// SPDX-License-Identifier: Apache-2.0
// The files of a run appear together: each is written under a temporary name (".part"), and all get their names when
// the last one is whole. So a folder never holds results of two runs, and a file with its name is complete.
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
/// As write_text_file(). The file gets its name when it is whole.
void write_whole_file(const std::filesystem::path& path, const std::string& text);

class ResultFiles {
public:
    /// Touches nothing yet.
    explicit ResultFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}
    /// Removes what was not committed.
    ~ResultFiles();
    ResultFiles(const ResultFiles&) = delete;
    ResultFiles& operator=(const ResultFiles&) = delete;

    /// Removes temporary files that a killed run left.
    void remove_parts() const;
    /// Removes only what an earlier run left: the files whose names are in names() and recordings(), and the logs of
    /// fio that its wall_clock.json lists.
    void remove_earlier() const;
    /// Adds a file with this text. Throws OutputError when not all of it can be written.
    void add(const std::string& name, const std::string& text);
    /// Adds a file that is written while the run goes, and is whole at commit(). Throws OutputError when it cannot be
    /// made.
    std::ostream& stream(const std::string& name);
    /// Gives all files their names, in the order of add() and stream(). Throws OutputError, also when not all of a
    /// stream was written.
    void commit();

    /// The names of a run's results. result.json stands for a run that ended in order, failed.json for one that did
    /// not.
    static const std::vector<std::string>& names();
    /// The names of what a run records on request; a name that ends in '/' is a folder. Blocks in RTL have rtl_*.fst.
    static const std::vector<std::string>& recordings();
    /// Temporary names of all files that this run may have there.
    std::vector<std::string> parts() const;

private:
    std::filesystem::path part(const std::string& name) const { return part_of(directory_ / name); }

    const std::filesystem::path directory_;
    std::vector<std::string> added_;
    struct Stream {
        std::string name;
        std::ofstream out;
    };
    std::list<Stream> streams_;  // a list: they stay where they are
};

}  // namespace ssdtlm
