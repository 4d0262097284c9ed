// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameters.h"

#include <algorithm>
#include <map>

#include "controller/dram/dram_models.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/ftl/victims/victim_policy.h"
#include "controller/gc/paces.h"
#include "controller/scheduler/bus_orders.h"
#include "controller/scheduler/scheduler_registry.h"
#include "controller/scheduler/suspend_policies.h"
#include "controller/streams/stream_choices.h"
#include "host_block/io_schedulers.h"
#include "host_files/file_systems.h"
#include "host_pcie/workload/generated_workload.h"
#include "nand/array/array_faults.h"
#include "sim/device/front_ends.h"
#include "sim/host/host_sides.h"

namespace ssdtlm {
namespace {

/// Adds a sentence for the table of each policy that has parameters, behind that of its kind.
template <class Registry>
void add_policy_tables(std::vector<TableSentence>& tables, const std::string& name, const Registry& registry,
                       const std::string& what = "Policy") {
    auto at = std::find_if(tables.begin(), tables.end(), [&](const TableSentence& t) { return t.table == name; }) + 1;
    for (const auto& [policy, entry] : registry.policies())
        if (!entry.parameters.empty())
            at = tables.insert(at, {name + "." + policy, what + " " + policy + ": " + entry.sentence + "."}) + 1;
}

}  // namespace

const std::vector<SsdParameter>& ssd_parameters() {
    static const std::vector<SsdParameter> table = [] {
        std::vector<SsdParameter> t;
        add_general_parameters(t);
        add_host_parameters(t);
        add_files_parameters(t);
        add_block_parameters(t);
        add_link_parameters(t);
        add_front_end_parameters(t);
        add_nvme_parameters(t);
        add_firmware_parameters(t);
        add_ftl_parameters(t);
        add_back_end_parameters(t);
        add_nand_parameters(t);
        add_power_parameters(t);
        add_run_parameters(t);
        const SsdConfig standard;
        for (auto& p : t) {
            const Value value = p.get(standard);
            const auto* const list = std::get_if<std::vector<std::int64_t>>(&value);
            if (p.example.empty() && (list == nullptr || !list->empty())) p.example = to_toml(p, value);
        }
        return t;
    }();
    return table;
}

int parameter_index(const std::string& key) {
    static const std::map<std::string, int> index = [] {
        std::map<std::string, int> m;
        const auto& table = ssd_parameters();
        for (std::size_t i = 0; i < table.size(); ++i) {
            SSDTLM_CHECK(m.emplace(table[i].key, static_cast<int>(i)).second,
                         "parameter twice in the table: " + table[i].key);
        }
        return m;
    }();
    const auto found = index.find(key);
    return found == index.end() ? -1 : found->second;
}

const std::vector<TableSentence>& parameter_tables() {
    static const std::vector<TableSentence> tables = [] {
        std::vector<TableSentence> t{
            {"", "What the file describes."},
            {"host", "The host: queue pairs, memory pages, CPU time per I/O."},
            {"files", "A file system between the files of fio jobs and the drive."},
            {"block", "The host's block layer: an I/O scheduler above the driver."},
            {"block.nass", "Limits on the commands that each context may have in the drive (NASS)."},
            {"link", "The PCIe link and the root complex."},
            {"frontend", "Which protocol the drive speaks."},
            {"nvme", "The NVMe front end."},
            {"firmware",
             "The firmware cores and what each step costs on them, in core cycles. 0: done by hardware, no time."},
            {"ftl", "The flash translation layer."},
            {"gc", "Garbage collection."},
            {"buffer", "The write buffer in DRAM."},
            {"read_cache", "Clean units in DRAM for reads."},
            {"read_ahead", "What is read ahead of sequential streams, into the read cache."},
            {"slc", "A write cache in the flash: blocks in SLC mode."},
            {"fast", "Log blocks of a hybrid map (ftl.mapping = fast)."},
            {"map", "The part of the map that is in memory, when it is on the flash."},
            {"wear", "Which blocks are used, so that all wear alike."},
            {"refresh", "What is moved because it has been read often, or is old."},
            {"precondition", "The state of the drive when the run starts; reached without simulating time."},
            {"scheduler", "The flash transaction scheduler."},
            {"channel", "The channel controllers."},
            {"ecc", "Error correction."},
            {"dram", "The DRAM of the controller: data pass it, in and out, on every way between host and flash."},
            {"nand", "The NAND dies."},
            {"nand.faults", "What goes wrong in the dies, drawn from run.seed: the same for the same run."},
            {"nand.slc",
             "Blocks whose cells hold one bit each (SLC mode), with the first of their pages: one for each "
             "nand.bits_per_cell."},
            {"nand.geometry", "How the flash is divided."},
            {"nand.onfi", "The ONFI bus of each channel, 8 bits wide."},
            {"workload", "Workloads that the program makes itself, by name: `ssdtlm run DEVICE -w NAME`."},
            {"power", "What the drive draws while capacitors supply it."},
            {"run", "The simulation itself."},
        };
        add_policy_tables(t, "host", HostSides::instance(), "Host");
        add_policy_tables(t, "files", FileSystems::instance(), "File system");
        add_policy_tables(t, "block", IoSchedulers::instance(), "I/O scheduler");
        add_policy_tables(t, "frontend", FrontEnds::instance(), "Front end");
        add_policy_tables(t, "ftl", StreamChoices::instance(), "Choice of streams");
        add_policy_tables(t, "ftl", FtlFeatureKinds::instance(), "Feature");
        add_policy_tables(t, "ftl", Mappings::instance(), "Mapping");
        add_policy_tables(t, "gc", VictimPolicies::instance());
        add_policy_tables(t, "gc", GcPaces::instance(), "Pace of collection");
        add_policy_tables(t, "scheduler", SchedulerPolicies::instance());
        add_policy_tables(t, "scheduler", BusOrders::instance());
        add_policy_tables(t, "scheduler", SuspendPolicies::instance());
        add_policy_tables(t, "dram", DramModels::instance());
        add_policy_tables(t, "nand.faults", FaultModels::instance(), "Model of failures");
        add_policy_tables(t, "workload", WorkloadGenerators::instance(), "Workload");
        return t;
    }();
    return tables;
}

}  // namespace ssdtlm
