// SPDX-License-Identifier: Apache-2.0
#include "sim/app/mounted_files.h"

namespace ssdtlm {

namespace {

void check(const FioJobFile& file, const FioJob& job, std::vector<Problem>& problems) {
    const std::string where = file.path + ": job '" + job.report.name + "'";
    if (job.files.empty() || !job.files.front().number)
        problems.push_back({where, "the drive itself, beside files on a file system of it",
                            "all jobs on files, or all on the drive",
                            "give it a directory, or set files.system = \"none\""});
    else if (job.trims)
        problems.push_back({where, "trims of a file on a file system",
                            "reads and writes: punching holes is not modelled",
                            "run it on the drive, filename=/dev/nvme0n1"});
}

}  // namespace

std::vector<FilesWorkload::Mount> mounts_for(const SsdConfig& config, const FioJobFile& file, const FioDevice& device) {
    std::vector<FilesWorkload::Mount> mounts;
    if (!config.files.on() || file.files.empty()) return mounts;
    FilesWorkload::Mount mount;
    std::uint64_t bytes = 0;
    for (const FioFilePlace& f : file.files) {
        mount.of.files.push_back({f.begin, f.bytes, f.allocated});
        bytes += f.bytes;
    }
    std::vector<Problem> problems;
    for (const FioJob& job : file.jobs) {
        check(file, job, problems);
        JobOnFiles& on = mount.of.jobs.emplace_back();
        on.data_only = job.data_only;
        for (const FioFile& f : job.files)
            if (f.number) on.files.push_back(*f.number);
    }
    if (!problems.empty()) throw UserError(std::move(problems));
    mount.system = FileSystems::instance().make("files.system", config.files.system,
                                                {device.capacity, device.lba_bytes}, config.files.systems);
    // The share of the file system that is kept for directories, extent trees and the reserves of files; assumed.
    constexpr std::uint64_t kRest = 64;
    if (const std::uint64_t room = mount.system->room(); bytes + bytes / kRest > room)
        throw UserError(Problem{file.path, "the files of the jobs have " + std::to_string(bytes) + " bytes",
                                "the file system has room for " + std::to_string(room / (kRest + 1) * kRest),
                                "lower size, filesize, nrfiles or numjobs"});
    mounts.push_back(std::move(mount));
    return mounts;
}

std::string note_on_file_system(std::string note, const std::string& system) {
    static const std::string kSide = " from address 0 on";
    const std::size_t at = note.find(kSide);
    if (note.rfind("files of the jobs: ", 0) == 0 && at != std::string::npos)
        note.replace(at, kSide.size(), " on " + system);
    return note;
}

}  // namespace ssdtlm
