// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/trace_format.h"

namespace ssdtlm {

const std::vector<TraceFormatInfo>& trace_formats() {
    static const std::vector<TraceFormatInfo> formats = {
        {"msr", "MSR Cambridge CSV: FILETIME (100 ns), host, disk, Read|Write, offset B, size B, response (100 ns)",
         make_msr_formats},
        {"systor", "SYSTOR '17 CSV: time s, response s, R|W, LUN, offset B, size B", make_systor_formats},
        {"tencent", "Tencent CBS CSV: time s, offset sectors, size sectors, 0 = read | 1 = write, volume",
         make_tencent_formats},
        {"alibaba", "Alibaba 2020 CSV: device, R|W, offset B, length B, time us", make_alibaba_formats},
        {"spc", "SPC (UMass) CSV: ASU, LBA of 512 B, size B, R|W, time s, more columns", make_spc_formats},
        {"fiu",
         "FIU text: time ns, pid, process, LBA of 512 B, size sectors, W|R, major, minor, MD5, separated by blanks",
         make_fiu_formats},
        {"mqsim", "MQSim ASCII: time ns, device, first sector, sectors, 0 = write | 1 = read, separated by blanks",
         make_mqsim_formats},
        {"blkparse", "blkparse text: maj,min cpu seq s.ns pid action rwbs sector + sectors [process]",
         make_blkparse_formats},
        {"iolog", "fio's own log, version 2 or 3: [time us] file action [offset B, length B], separated by blanks",
         make_iolog_formats},
        {"etw", "Microsoft ETW text: DiskRead|DiskWrite|DiskFlush, TimeStamp us, ... as the file's header says",
         make_etw_formats},
        {kColumnsFormat, "the columns that --trace-columns describes", make_columns_formats},
    };
    return formats;
}

const TraceFormatInfo* find_trace_format(const std::string& name) {
    for (const auto& f : trace_formats())
        if (name == f.name) return &f;
    return nullptr;
}

}  // namespace ssdtlm
