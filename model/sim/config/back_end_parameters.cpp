// SPDX-License-Identifier: Apache-2.0
#include "controller/dram/dram_models.h"
#include "controller/scheduler/bus_orders.h"
#include "controller/scheduler/scheduler_registry.h"
#include "controller/scheduler/suspend_policies.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_back_end_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(P::name(
                        "scheduler.policy", SchedulerPolicies::instance().names(),
                        [](auto& c) -> auto& { return c.scheduler.policy; })
                        .says("Which waiting flash transaction a free channel and die start next. " +
                              SchedulerPolicies::instance().sentences())
                        .from("MQSim out-of-order scheduler: host reads before writes before collection"));
    table.push_back(P::name(
                        "scheduler.implementation", scheduler_implementations(),
                        [](auto& c) -> auto& { return c.scheduler.implementation; })
                        .says("Who decides. tlm: the C++ policy, at once; tlm_clocked: the C++ policy, after the RTL's "
                              "number of cycles; rtl: the Verilated "
                              "block; compare: both, and the run ends at the first difference")
                        .from("-"));
    table.push_back(P::text(
                        "scheduler.rtl_module", [](auto& c) -> auto& { return c.scheduler.rtl_module; })
                        .says("The Verilated module. Another one is built from SSDTLM_RTL_SCHEDULERS")
                        .from("rtl/scheduler")
                        .only_with("scheduler.implementation = rtl|compare"));
    table.push_back(P::quantity(
                        "scheduler.clock", Dimension::frequency, [](auto& c) -> auto& { return c.scheduler.clock_hz; })
                        .range("200MHz", "500MHz")
                        .says("Clock of the scheduler")
                        .from("assumed")
                        .only_with("scheduler.implementation != tlm"));
    table.push_back(P::integer(
                        "scheduler.queue_depth", [](auto& c) -> auto& { return c.scheduler.queue_depth; })
                        .range("16", "4096")
                        .says("Requests that the scheduler of a channel holds. More wait in order of arrival")
                        .from("assumed; the Verilated transaction_scheduler has 256 entries")
                        .only_with("scheduler.implementation != tlm"));
    table.push_back(P::boolean(
                        "scheduler.compare_cycles", [](auto& c) -> auto& { return c.scheduler.compare_cycles; })
                        .says("The number of cycles to each answer must be equal too")
                        .from("-")
                        .only_with("scheduler.implementation = compare"));
    table.push_back(P::integer(
                        "scheduler.starvation_limit", [](auto& c) -> auto& { return c.scheduler.starvation_limit; })
                        .range("0", "1000000")
                        .says("Grants on a die that may overtake a waiting class before it goes first. 0: no limit")
                        .from("assumed"));
    table.push_back(P::integer(
                        "scheduler.look_ahead", [](auto& c) -> auto& { return c.scheduler.look_ahead; })
                        .range("1", "4095")
                        .says("Requests of a queue (a class of a die) that a grant looks at, for a read whose plane is "
                              "idle (nand.independent_plane_read) or for multi-plane partners")
                        .from("assumed: the reads that 8 planes need to be busy at a depth of 1023"));
    table.push_back(P::integer(
                        "scheduler.overtake_bound", [](auto& c) -> auto& { return c.scheduler.overtake_bound; })
                        .range("0", "1000000000000")
                        .says("Grants that a scheduler of your own (C++ or RTL) may give past a class of a die which "
                              "could start. With more of them the run ends, "
                              "because the class starves. 0: any number. The result has the most that came "
                              "(scheduler_most_overtakes)")
                        .from("assumed"));
    table.push_back(P::name(
                        "scheduler.bus_order", BusOrders::instance().names(),
                        [](auto& c) -> auto& { return c.scheduler.bus_order; })
                        .says("What a free channel bus carries next. " + BusOrders::instance().sentences())
                        .from("assumed: short commands first let the array time of dies overlap what follows"));
    table.push_back(
        P::integer(
            "scheduler.bus_program_turns", [](auto& c) -> auto& { return c.scheduler.bus_program_turns; })
            .range("0", "1000000")
            .says("Turns on the bus that may pass a waiting program before it goes first. 0: programs always go first")
            .from("assumed: keeps a die's wait for its data below some tens of page transfers"));
    table.push_back(
        P::name(
            "scheduler.suspend", SuspendPolicies::instance().names(),
            [](auto& c) -> auto& { return c.scheduler.suspend; })
            .says("Whether programs and erases are suspended for reads. " + SuspendPolicies::instance().sentences())
            .from("MQSim (Tavakkol et al., FAST '18) Table 3 has none"));
    table.push_back(P::boolean(
                        "scheduler.multi_plane", [](auto& c) -> auto& { return c.scheduler.multi_plane; })
                        .says("Join waiting transactions of one die, class and page number into multi-plane operations")
                        .from("ONFI 5.0 multi-plane operations")
                        .only_with("nand.geometry.planes_per_die != 1"));
    table.push_back(
        P::boolean(
            "scheduler.merge_reads", [](auto& c) -> auto& { return c.scheduler.merge_reads; })
            .says("Reads of one page share a read of the array, with data out for each: those that wait, those that "
                  "come while the array reads it, and those that find it in the register. Only reads of one "
                  "flow, and for the same purpose")
            .from("ONFI 5.0 Change Read Column; MQSim (Tavakkol et al., FAST '18) has the array read for each"));
    add_policy_parameters(
        table, "scheduler", "scheduler.policy", SchedulerPolicies::instance(),
        [](auto& c) -> auto& { return c.scheduler.policies; });
    add_policy_parameters(
        table, "scheduler", "scheduler.bus_order", BusOrders::instance(),
        [](auto& c) -> auto& { return c.scheduler.policies; });
    add_policy_parameters(
        table, "scheduler", "scheduler.suspend", SuspendPolicies::instance(),
        [](auto& c) -> auto& { return c.scheduler.policies; });
    table.push_back(
        P::integers(
            "channel.rtl_sequencer", [](auto& c) -> auto& { return c.channel.rtl_sequencer; })
            .range("0", "63")
            .says("Channels whose ONFI sequences a block in RTL plays (rtl/onfi), pin by pin and clock by clock")
            .from("none: the timing model on every channel"));
    table.push_back(
        P::quantity(
            "channel.sequencer_clock", Dimension::frequency, [](auto& c) -> auto& { return c.channel.sequencer_hertz; })
            .range("100MHz", "1GHz")
            .says("Clock of that block; the timing of nand.onfi is rounded up to its clocks")
            .from("the usual times of a command are multiples of 2.5 ns")
            .only_with("channel.rtl_sequencer != none"));
    table.push_back(P::quantity(
                        "ecc.decode_time", Dimension::time, [](auto& c) -> auto& { return c.ecc.decode_time; })
                        .range("0s", "1ms")
                        .says("Latency of decoding after the data left the bus; pipelined, keeps up with the bus")
                        .from("0: hidden in the transfer"));
    table.push_back(
        P::integer(
            "ecc.read_retries", [](auto& c) -> auto& { return c.ecc.read_retries; })
            .range("0", "255")
            .says(
                "How often a page is read again, with other read voltages, before it counts as lost (see nand.faults)")
            .from("assumed")
            .only_with("nand.faults.read_retry != 0% or nand.faults.page_lost != 0% or nand.faults.model != rates"));
    table.push_back(P::name(
                        "dram.model", DramModels::instance().names(), [](auto& c) -> auto& { return c.dram.model; })
                        .says("Model of the DRAM. " + DramModels::instance().sentences())
                        .from("assumed"));
    table.push_back(
        P::quantity(
            "dram.bandwidth", Dimension::bandwidth, [](auto& c) -> auto& { return c.dram.bytes_per_second; })
            .range("1MB/s", "1TB/s")
            .says("Rate of the data bus, which all transfers share in order of arrival")
            .from("assumed: 64-bit DDR3-1600 (JESD79-3)"));
    table.push_back(
        P::quantity(
            "dram.access_latency", Dimension::time, [](auto& c) -> auto& { return c.dram.access_latency; })
            .range("0s", "100us")
            .says("Latency added to each access; pipelined. With the model `banks`: of the controller alone")
            .from("assumed: about tRCD + tCL + tRP and the controller"));
    table.push_back(P::quantity(
                        "dram.size", Dimension::bytes, [](auto& c) -> auto& { return c.dram.bytes; })
                        .range("0B", "1TiB")
                        .says("Room for write buffer, read cache and map (with ftl.mapping = page the whole map, "
                              "map.entry_size for each unit; with "
                              "dftl its cache). If they do not fit, it is an error. 0B: as much as they need")
                        .from("assumed: not said"));
    table.push_back(
        P::choice(
            "dram.rest", {"none", "buffer", "read_cache", "map"}, [](auto& c) -> auto& { return c.dram.rest; })
            .says("Which of buffer.size, read_cache.size and map.cache takes the rest of dram.size, in whole mapping "
                  "units, whatever a "
                  "preset or another file says of it")
            .from("none: each has the size that is said")
            .only_with("dram.size != 0B"));
    add_policy_parameters(
        table, "dram", "dram.model", DramModels::instance(), [](auto& c) -> auto& { return c.dram.policies; });
}

}  // namespace ssdtlm
