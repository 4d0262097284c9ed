// SPDX-License-Identifier: Apache-2.0
// Computes where the I/O of a job clone goes: regions, files and amounts (fio 3.33: setup_files, get_start_offset).
#include <algorithm>

#include "common/random/random.h"
#include "host_pcie/workload/fio/fio_resolution.h"

namespace ssdtlm {
namespace {

std::uint64_t part(std::uint64_t whole, std::uint64_t percent) {
    return whole / 100 * percent + whole % 100 * percent / 100;
}

std::string replace_all(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

/// Splits a list of names: "a:b\:c" gives a and b:c.
std::vector<std::string> names_in(const std::string& text) {
    std::vector<std::string> names(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size())
            names.back() += text[++i];
        else if (text[i] == ':')
            names.emplace_back();
        else
            names.back() += text[i];
    }
    return names;
}

bool is_device(const std::string& name) {
    return name.compare(0, 5, "/dev/") == 0 || name.compare(0, 4, "\\\\.\\") == 0;
}
bool is_no_drive(const std::string& name) {
    return name == "/dev/null" || name == "/dev/zero" || name == "/dev/full" || name == "-";
}

class Placer {
public:
    Placer(FioJob& job, const FioSection& section, FioResolution& where)
        : job_(job), section_(section), settings_(section.settings), where_(where) {}

    bool place() {
        if (settings_.size.percent && settings_.size.value == 0) return problem("size=0%", "1% to 100%", "raise it");
        if (!settings_.filename.empty()) names_ = names_in(settings_.filename);
        if (!names_are_right()) return false;
        const bool sized = (!settings_.size.percent && settings_.size.value != 0) || settings_.filesize_low != 0;
        const bool drive = !names_.empty() && is_device(names_.front());
        const bool named = !names_.empty() && sized;
        const bool asked = !settings_.directory.empty() || settings_.nrfiles > 1 ||
                           (settings_.filesize_low != 0 && names_.empty()) || !settings_.filename_format.empty();
        if (drive || !(named || asked)) return on_drive();
        if (!sized)
            return problem("files without a size", "the length of a file that fio has yet to make",
                           "write size= or filesize= in bytes, or filename=/dev/nvme0n1 for the whole drive");
        return in_files();
    }

private:
    bool problem(const std::string& found, const std::string& allowed, const std::string& repair,
                 const std::string& at = "") {
        where_.problems.push_back(
            {(at.empty() ? section_.where : at) + ": job '" + section_.name + "'", found, allowed, repair});
        return false;
    }
    std::string clone() const { return settings_.numjobs > 1 ? "clone " + std::to_string(job_.clone) + ": " : ""; }

    bool names_are_right() {
        const auto devices = static_cast<std::size_t>(std::count_if(names_.begin(), names_.end(), is_device));
        for (const std::string& n : names_)
            if (is_no_drive(n)) return problem("filename=" + n, "a drive or a file", "write filename=/dev/nvme0n1");
        if (devices > 1 || (devices != 0 && devices != names_.size()))
            return problem("filename=" + settings_.filename, "one drive, or files on it: the model has one drive",
                           "name one of them");
        return true;
    }

    std::uint64_t offset_in(std::uint64_t whole) const {
        const FioAmount& first = settings_.offset;
        const FioAmount& step = settings_.offset_increment;
        // fio 3.33 numbers the clones behind the first one downwards (add_job() in init.c).
        const std::uint64_t subjob = job_.clone == 0 ? 0 : settings_.numjobs - job_.clone;
        std::uint64_t offset = (first.percent ? part(whole, first.value) : first.value) +
                               subjob * (step.percent ? part(whole, step.value) : step.value);
        const std::uint64_t block = job_.smallest_block();
        if (first.percent || step.percent) offset = div_ceil(offset, block) * block;
        return offset;
    }
    bool offset_is_aligned(std::uint64_t offset) {
        if (offset % where_.device.lba_bytes == 0) return true;
        return problem("an offset of " + std::to_string(offset) + " bytes",
                       "allowed: multiples of the LBA size, " + std::to_string(where_.device.lba_bytes) + " bytes",
                       "change offset or offset_increment");
    }

    /// Finds the second namespace for /dev/nvme0n2, where the drive has several. All other names are the whole drive.
    bool find_namespace(std::uint64_t& first, std::uint64_t& bytes) {
        const std::vector<std::uint64_t>& ends = where_.device.namespace_ends;
        const std::string name = names_.empty() ? "" : names_.front();
        const std::size_t n = name.rfind('n');
        if (name.compare(0, 9, "/dev/nvme") != 0 || n < 10 || n + 1 == name.size()) return true;
        if (name.find_first_not_of("0123456789", n + 1) != std::string::npos) return true;
        const std::size_t number = name.size() - n > 9 ? 0 : std::stoul(name.substr(n + 1));
        if (ends.size() < 2) {
            if (number != 1 && job_.clone == 0)
                where_.file.notes.push_back("job '" + section_.name + "': filename=" + name +
                                            " acts as all that the job sees, which is not in namespaces");
            return true;
        }
        if (number == 0 || number > ends.size())
            return problem("filename=" + name, "the drive has " + std::to_string(ends.size()) + " namespaces",
                           "write filename=" + name.substr(0, n + 1) + std::to_string(ends.size()));
        first = number == 1 ? 0 : ends[number - 2];
        bytes = ends[number - 1] - first;
        return true;
    }

    bool on_drive() {
        std::uint64_t first = 0, capacity = where_.device.capacity;
        if (!find_namespace(first, capacity)) return false;
        const std::uint64_t offset = offset_in(capacity);
        if (!offset_is_aligned(offset)) return false;
        const std::string device =
            std::string(first == 0 && capacity == where_.device.capacity ? "the device" : "the namespace") + " has " +
            std::to_string(capacity) + " bytes";
        if (offset >= capacity)
            return problem(clone() + "offset " + std::to_string(offset), device, "lower offset or offset_increment");
        const FioAmount& size = settings_.size;
        const bool by_bytes = !size.percent && size.value != 0;
        std::uint64_t region = by_bytes ? size.value : capacity - offset;
        if (settings_.filesize_low != 0) region = file_length(0) - std::min(offset, file_length(0));
        if (size.percent && size.value != 0 && size.value != 100) {
            region = std::min(part(capacity, size.value), capacity - offset);
            region -= region % job_.smallest_block();
        }
        if (region > capacity - offset)
            return problem(clone() + "offset " + std::to_string(offset) + " + size " + std::to_string(region) +
                               " is beyond the end",
                           device, "lower size, e.g. size=100%", settings_.size_where);
        job_.files = {{first + offset, region, first + capacity, first}};
        return amounts(by_bytes);
    }

    bool in_files() {
        const std::vector<std::string> names = names_.empty() ? made_names() : directory_of(names_);
        const FioAmount& size = settings_.size;
        const bool by_bytes = !size.percent && size.value != 0;
        if (settings_.offset.percent || settings_.offset_increment.percent)
            return problem("an offset in percent of a file that fio has yet to make", "bytes", "write offset=1g");
        const std::uint64_t offset = offset_in(0);
        if (!offset_is_aligned(offset)) return false;
        const std::uint64_t lba = where_.device.lba_bytes;
        const std::uint64_t block = job_.smallest_block();
        // If a size does not divide evenly, the first files take a block more.
        std::uint64_t extra = size.value % names.size() / block;
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::uint64_t region = 0;
            if (settings_.filesize_low != 0) {
                const std::uint64_t length = file_length(i);
                if (offset >= length)
                    return problem(clone() + "offset " + std::to_string(offset),
                                   "the file has " + std::to_string(length) + " bytes", "lower offset");
                region = length - offset;
                if (size.percent) region = std::min(part(length, size.value), region) / block * block;
            } else {
                region = size.value / names.size();
                if (names.size() > 1 && extra != 0) {
                    --extra;
                    region += block;
                }
            }
            const std::uint64_t end = div_ceil(offset + region, lba) * lba;
            const bool read_first = job_.reads || (job_.writes && settings_.overwrite);
            const FioLayout::Extend extend = settings_.create_on_open ? FioLayout::Extend::nothing
                                             : read_first             ? FioLayout::Extend::write_out
                                                                      : settings_.fallocate;
            where_.uses.push_back(
                {job_.index, job_.files.size(), where_.layout.use(names[i], end, job_.index, extend)});
            job_.files.push_back({offset, region, 0, 0});
        }
        return amounts(by_bytes);
    }

    /// Length of a file with filesize=, in whole blocks.
    std::uint64_t file_length(std::size_t file) const {
        const std::uint64_t low = settings_.filesize_low;
        const std::uint64_t high = settings_.filesize_high;
        if (low == high) return low;
        Random random(job_.seed, 30 + file);
        const std::uint64_t block = job_.smallest_block();
        return std::max(low, (low + random.below(high - low + 1)) / block * block);
    }

    std::string directory() const {
        if (settings_.directory.empty()) return "";
        const std::vector<std::string> all = names_in(settings_.directory);  // clones take turns
        return all[job_.clone % all.size()] + "/";
    }
    std::vector<std::string> directory_of(std::vector<std::string> names) const {
        for (std::string& n : names) n = directory() + n;
        return names;
    }
    std::vector<std::string> made_names() const {
        std::vector<std::string> names;
        const std::string format =
            settings_.filename_format.empty() ? "$jobname.$jobnum.$filenum" : settings_.filename_format;
        for (std::uint32_t i = 0; i < settings_.nrfiles; ++i) {
            std::string name = replace_all(format, "$jobname", section_.name);
            name = replace_all(name, "$jobnum", std::to_string(job_.clone));
            name = replace_all(name, "$filenum", std::to_string(i));
            names.push_back(directory() + replace_all(name, "$clientuid", ""));
        }
        return names;
    }

    bool amounts(bool by_bytes) {
        const std::uint64_t block = job_.smallest_block();
        const FioAmount& io = settings_.io_size;
        std::uint64_t amount = 0;
        std::uint64_t smallest = ~std::uint64_t{0};
        for (const FioFile& f : job_.files) {
            amount += io.percent && io.value != 0 ? part(f.region, io.value) : f.region;
            smallest = std::min(smallest, f.region);
        }
        job_.size = by_bytes ? std::min(settings_.size.value, amount) : amount;
        job_.io_size = io.percent ? 0 : io.value;
        smallest = std::min(smallest, job_.size);
        if (smallest < block)
            return problem(clone() + "a size of " + std::to_string(smallest) + " bytes",
                           "at least the smallest block, " + std::to_string(block), "raise size or lower bs",
                           settings_.size_where);
        return zones_fit();
    }

    bool zones_fit() {
        if (job_.distribution != FioDistribution::zoned_abs) return true;
        const bool used[] = {job_.reads, job_.writes, job_.trims};
        for (std::size_t d = 0; d < kFioDirections; ++d) {
            std::uint64_t end = 0;
            for (const FioZone& z : job_.zones[d]) end += z.size;
            for (const FioFile& f : job_.files)
                if (used[d] && end > f.region)
                    return problem("the zones of zoned_abs end at " + std::to_string(end),
                                   "the region has " + std::to_string(f.region) + " bytes",
                                   "shrink the zones or raise size");
        }
        return true;
    }

    FioJob& job_;
    const FioSection& section_;
    const FioSettings& settings_;
    FioResolution& where_;
    std::vector<std::string> names_;
};

}  // namespace

bool place_fio_job(FioJob& job, const FioSection& section, FioResolution& where) {
    return Placer(job, section, where).place();
}

void place_fio_files(FioResolution& where) {
    if (where.layout.empty()) return;
    const std::uint64_t bytes = where.layout.place(where.device.lba_bytes);
    if (bytes > where.device.capacity) {
        where.problems.push_back({where.file.path, "the files of the jobs have " + std::to_string(bytes) + " bytes",
                                  "the device has " + std::to_string(where.device.capacity) + " bytes",
                                  "lower size, filesize, nrfiles or numjobs"});
        return;
    }
    for (const FioFileUse& use : where.uses) {
        FioFile& file = where.file.jobs[use.job].files[use.index];
        file.begin = where.layout.offset(use.file);
        file.number = static_cast<std::uint32_t>(use.file);
        file.offset += file.begin;
        file.end = file.begin + where.layout.bytes(use.file);
    }
    where.file.files = where.layout.places();
    where.file.fills = where.layout.fills();
    std::uint64_t filled = 0;
    for (const FioFill& f : where.file.fills) filled += f.bytes;
    where.file.notes.push_back("files of the jobs: " + std::to_string(bytes) + " bytes from address 0 on, of which " +
                               std::to_string(filled) + " are written before the jobs start, as fio does");
}

}  // namespace ssdtlm
