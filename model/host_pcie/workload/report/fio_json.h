// SPDX-License-Identifier: Apache-2.0
// Renders the jobs[] objects of fio 3.33's JSON output, and prints JSON as fio does. It counts nothing.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "host_pcie/workload/report/fio_job_stats.h"
#include "host_pcie/workload/report/fio_report_job.h"

namespace ssdtlm {

/// The bandwidth of a reporting group by direction; bw_agg is a job's share of it.
struct FioGroupRates {
    std::array<std::uint64_t, 3> bytes{};
    std::array<Ps, 3> runtime{};
    void add(const FioJobStats& stats);
    double bytes_per_second(std::size_t direction) const;
};

nlohmann::ordered_json fio_option_json(const FioOptionTexts& options);

/// One jobs[] entry. As in fio, a group shows the name of its first job and the options of its last.
nlohmann::ordered_json fio_job_json(const FioReportJob& first, const FioReportJob& last, const FioJobStats& stats,
                                    const FioGroupRates& group, std::uint64_t elapsed_s, bool json_plus);

/// The text of a JSON value as fio prints it: indented by two blanks, `"key" : value`, floats with six decimals, a line
/// end after the last brace.
std::string fio_text(const nlohmann::ordered_json& root);

}  // namespace ssdtlm
