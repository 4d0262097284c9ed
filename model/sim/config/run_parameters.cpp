// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/generated_workload.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_run_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(P::integer(
                        "run.seed", [](auto& c) -> auto& { return c.run.seed; })
                        .range("0", "9223372036854775807")
                        .says("All random streams (workload, preconditioning, policies) derive from it")
                        .from("-"));
    table.push_back(P::choice(
                        "run.agenda", {"run_ahead", "lockstep"}, [](auto& c) -> auto& { return c.run.agenda; })
                        .says("How the model keeps step with the SystemC kernel. Results are the same. run_ahead: only "
                              "where another process could see the "
                              "kernel's time; lockstep: always, which is slower")
                        .from("-"));
    table.push_back(P::choice(
                        "run.data", {"signatures", "bytes"}, [](auto& c) -> auto& { return c.run.data; })
                        .says("What the drive keeps of each logical block. signatures: 16 bytes that say whose data it "
                              "is and which version; bytes: all bytes, "
                              "which costs memory for what was written and host time. Simulated times are the same")
                        .from("-"));
    table.push_back(P::boolean(
                        "run.integrity", [](auto& c) -> auto& { return c.run.integrity; })
                        .says("Check every read against what the host last wrote there")
                        .from("-"));
    table.push_back(P::boolean(
                        "run.check_waiters", [](auto& c) -> auto& { return c.run.check_waiters; })
                        .says("Proves after every event that each waiter in any block has something under way that "
                              "will wake it. Slow; for tests and "
                              "for work on the model")
                        .from("-"));
    table.push_back(P::boolean(
                        "run.through_guards", [](auto& c) -> auto& { return c.run.through_guards; })
                        .says("The model's modules call each other with all phases of TLM's base protocol, as they "
                              "call modules of another make. "
                              "Results are the same; a read costs about a fifth more host time")
                        .from("-"));
    table.push_back(P::integer(
                        "run.slowest", [](auto& c) -> auto& { return c.run.slowest; })
                        .range("0", "1000")
                        .says("Number of slowest measured commands of each operation that slowest.json explains step "
                              "by step. 0: none, and no logs of "
                              "dies, buses and cores are kept")
                        .from("-"));
    table.push_back(P::integers(
                        "run.explain", [](auto& c) -> auto& { return c.run.explain; })
                        .range("1", "9223372036854775807")
                        .says("Numbers of commands that slowest.json explains too, however long they took")
                        .from("none"));
    table.push_back(
        P::quantity(
            "run.timeseries_interval", Dimension::time, [](auto& c) -> auto& { return c.run.timeseries_interval; })
            .range("1us", "1000s")
            .says("Simulated time per row of timeseries.csv; idle intervals share a row")
            .from("-"));
    table.push_back(P::boolean(
                        "run.gc_log", [](auto& c) -> auto& { return c.run.gc_log; })
                        .says("gc.csv gets a line when a victim is chosen, and one when it has been erased: time, "
                              "superblock, reason, valid and "
                              "invalid units, erases, free and full superblocks of its planes")
                        .from("off: millions of lines in a long run"));
    table.push_back(P::quantity(
                        "run.watchdog", Dimension::time, [](auto& c) -> auto& { return c.run.watchdog; })
                        .range("1ms", "1000000s")
                        .says("Simulated time without any progress (no completion, no transfer, no die at work) after "
                              "which a run with pending commands is given "
                              "up")
                        .from("-"));
    add_policy_parameters(
        table, "workload", "", WorkloadGenerators::instance(), [](auto& c) -> auto& { return c.workload.generators; });
}

}  // namespace ssdtlm
