// SPDX-License-Identifier: Apache-2.0
#include "host_files/file_systems.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_files_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    constexpr const char* kWithSystem = "files.system != none";
    std::vector<std::string> names{"none"};
    for (const std::string& name : FileSystems::instance().names()) names.push_back(name);
    table.push_back(P::name(
                        "files.system", names, [](auto& c) -> auto& { return c.files.system; })
                        .says("What lies between the files of fio jobs (directory=, nrfiles=, ...) and the drive. "
                              "none: nothing, files lie side by side, and a sync is a flush of the drive; " +
                              FileSystems::instance().sentences())
                        .from("none: the host adds nothing, so that the drive is the limit"));
    table.push_back(P::boolean(
                        "files.format", [](auto& c) -> auto& { return c.files.format; })
                        .says("What makes the file system is written before the files: tables, journal. false: it is "
                              "there already, without files")
                        .from("a new file system, as benchmarks have it")
                        .only_with(kWithSystem));
    table.push_back(P::quantity(
                        "files.layout_write", Dimension::bytes, [](auto& c) -> auto& { return c.files.layout_write; })
                        .range("4KiB", "1MiB")
                        .multiple_of("4KiB")
                        .says("Largest write that lays out a file before the jobs start; sysbench fileio prepare "
                              "writes 16 KiB at a time")
                        .from("assumed: as a file system's write-back of what fio lays out")
                        .only_with(kWithSystem));
    table.push_back(P::integer(
                        "files.layout_depth", [](auto& c) -> auto& { return c.files.layout_depth; })
                        .range("1", "32")
                        .says("Such writes under way. 1: each waits for the one before, as with sysbench fileio "
                              "prepare under direct I/O")
                        .from("assumed: the same")
                        .only_with(kWithSystem));
    table.push_back(P::quantity(
                        "files.call_time", Dimension::time, [](auto& c) -> auto& { return c.files.call_time; })
                        .range("1ns", "1ms")
                        .says("Time of a call on a file (read, write, sync) before its first I/O. A call without I/O "
                              "takes this long: a read of what was never written, a sync with nothing to commit")
                        .from("assumed: a system call through the file system")
                        .only_with(kWithSystem));
    add_policy_parameters(
        table, "files", "files.system", FileSystems::instance(), [](auto& c) -> auto& { return c.files.systems; });
}

}  // namespace ssdtlm
