// SPDX-License-Identifier: Apache-2.0
// The table of fio options. The reader, the note on ignored options, the suggestion for a mistyped option, and the
// compatibility table of the documentation all use it. Names and meanings are those of fio 3.33.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/error.h"
#include "host_pcie/workload/fio/fio_job.h"
#include "host_pcie/workload/fio/fio_layout.h"
#include "host_pcie/workload/fio/fio_units.h"

namespace ssdtlm {

/// Limits of numbers that may have any value.
inline constexpr std::uint64_t kAny64 = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint32_t kAny32 = std::numeric_limits<std::uint32_t>::max();

/// The settings of a section, before the device is known. A section starts with a copy of [global].
struct FioSettings {
    FioJob job;  ///< fields that need no device; bs_min, bs_max and align 0: not set
    PerDirection<std::uint64_t> bs{4096, 4096, 4096};
    unsigned kb_base = 1024;
    std::string engine = "psync";  ///< fio's default on Linux
    std::uint32_t iodepth = 1;
    std::uint32_t numjobs = 1;
    FioAmount size;  ///< 0: not given
    FioAmount io_size;
    FioAmount offset;
    FioAmount offset_increment;
    std::uint64_t randseed = 0x89;  ///< fio's default
    bool randseed_given = false;
    bool norandommap = false;
    std::optional<bool> strided;  ///< zonemode; not given: by zonesize
    bool new_group = false;
    Ps start_delay_high{0};                                ///< startdelay=a-b; 0: no range
    std::optional<std::string> bw_log, iops_log, lat_log;  ///< empty: named after the job
    std::string size_where;                                ///< place for messages of the checks against the device
    bool bs_given_here = false;                            ///< bs= in this very section
    std::string directory;
    std::string filename;
    std::string filename_format;  ///< empty: fio's $jobname.$jobnum.$filenum
    std::uint32_t nrfiles = 1;
    std::uint32_t openfiles = 0;     ///< 0: all
    std::uint64_t filesize_low = 0;  ///< 0: not given
    std::uint64_t filesize_high = 0;
    bool overwrite = false;
    FioLayout::Extend fallocate = FioLayout::Extend::allocate;  ///< of a file to be written
    bool create_on_open = false;
    bool do_verify = true;
    std::uint32_t iodepth_low = 0;  ///< 0: iodepth
    std::uint32_t batch_complete = 1;
    std::string wait_for_where;
    std::vector<Problem> of_engine;     ///< options of engines that do no I/O of a drive
    std::set<std::string> given;        ///< options by their first names, those of [global] as well
    std::vector<std::string> kib_1000;  ///< "bs=4KiB": values that are a power of 1000
};

/// One "name=value" that is being applied.
struct FioOptionCall {
    FioSettings& settings;
    std::string where;                 ///< "file:line:col" of the option
    std::string name;                  ///< as written
    std::optional<std::string> value;  ///< nullopt: no "="
    std::vector<Problem>& problems;

    void problem(const std::string& allowed, const std::string& repair = "") {
        problems.push_back({where, "'" + name + (value ? "=" + *value : "") + "'", allowed, repair});
    }
};

struct FioOption {
    enum class Treatment : std::uint8_t {
        handled,      ///< acts as in fio
        verified,     ///< data verification: the simulator's own integrity check replaces it
        ignored,      ///< has no counterpart in the model; accepted and listed in one note
        unsupported,  ///< would change the workload and is not implemented: an error unless the value is neutral
        of_engine     ///< belongs to an engine that does no I/O of a drive: an error unless that is said already
    };
    const char* name;
    const char* alias;  ///< or nullptr
    Treatment treatment;
    /// handled: what it does here; unsupported: the neutral values, separated by |; of_engine: the engines
    const char* text = "";
    void (*apply)(FioOptionCall&) = nullptr;  ///< handled only
    const char* reason = "";                  ///< unsupported only: why, as a clause
};

/// True: the option needs no value (fio's FIO_OPT_STR_SET), so that --thread on a command line does not take the next
/// word.
bool is_fio_flag(std::string_view canonical_name);

class FioOptionTable {
public:
    static const FioOptionTable& instance();
    /// Finds an option by name or alias; nullptr when it is unknown.
    const FioOption* find(std::string_view name) const;
    /// The nearest option for an unknown name, for "did you mean"; empty when nothing is near.
    std::string suggestion(const std::string& name) const;
    const std::vector<FioOption>& options() const { return options_; }
    /// Returns text about the treatment of an option: "handled", "ignored, noted", ...
    static const char* treatment(const FioOption& option);
    static std::string remark(const FioOption& option);
    /// Markdown table of all options, for the documentation.
    std::string markdown() const;

private:
    FioOptionTable();
    std::vector<FioOption> options_;
};

/// Rows of the table; each function is in the file of its name.
std::vector<FioOption> handled_fio_options();
std::vector<FioOption> file_fio_options();
/// These two are in fio_options_limits.cpp and fio_options_priority.cpp.
std::vector<FioOption> control_fio_options();
std::vector<FioOption> priority_fio_options();
std::vector<FioOption> other_fio_options();
std::vector<FioOption> engine_fio_options();

/// Applies one option: finds it, runs it, or files a problem. Ignored names are collected in `ignored`.
void apply_fio_option(FioOptionCall& call, std::set<std::string>& ignored, std::set<std::string>& verified);

// --- readers of values (fio_option_values.cpp); each files a problem and returns false on bad input ---
bool read_fio_bool(FioOptionCall& call, bool& out);  ///< 0 or 1
bool read_fio_flag(FioOptionCall& call, bool& out);  ///< no value (= 1), 0 or 1
bool read_fio_count(FioOptionCall& call, std::uint64_t low, std::uint64_t high, std::uint64_t& out);
bool read_fio_count(FioOptionCall& call, std::uint64_t low, std::uint64_t high, std::uint32_t& out);
bool read_fio_amount(FioOptionCall& call, bool percent_allowed, FioAmount& out);
bool read_fio_duration(FioOptionCall& call, FioBareTime bare, Ps& out);
/// Comma triple read,write,trim: an empty place keeps its old value, missing ones repeat the last.
bool read_fio_triple(FioOptionCall& call, std::uint64_t low, std::uint64_t high, PerDirection<std::uint64_t>& out);
/// Reads one of `words`; out is its index.
bool read_fio_word(FioOptionCall& call, const std::vector<std::string>& words, std::size_t& out);
bool read_fio_text(FioOptionCall& call, std::string& out);
bool read_fio_steadystate(FioOptionCall& call);
/// Reads one to three durations in microseconds: read,write,trim.
bool read_fio_durations(FioOptionCall& call, PerDirection<Ps>& out);
/// Reads a size range, "a" or "a-b".
bool read_fio_size_range(FioOptionCall& call, std::uint64_t& low, std::uint64_t& high);
bool read_fio_bsrange(FioOptionCall& call);
bool read_fio_bssplit(FioOptionCall& call);
bool read_fio_distribution(FioOptionCall& call);
std::vector<std::string> split_fio_list(std::string_view text, char separator);

}  // namespace ssdtlm
