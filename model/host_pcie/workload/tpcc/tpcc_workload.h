// SPDX-License-Identifier: Apache-2.0
// The requests of TPC-C to a drive, on a database like InnoDB. Connections run transactions one after the other and
// read the pages that the buffer pool lacks, one at a time. There are a redo log that each commit waits for, and a page
// cleaner. The drive holds the log, the doublewrite area and the tables, in this order. The file system is not
// modelled, and the host computes in no time: the drive is the limit. There is one job for each connection, one for the
// log and one for the cleaner.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "host_pcie/workload/generated_workload.h"
#include "host_pcie/workload/tpcc/buffer_pool.h"
#include "host_pcie/workload/tpcc/page_cleaner.h"
#include "host_pcie/workload/tpcc/redo_log.h"
#include "host_pcie/workload/tpcc/tpcc_tables.h"
#include "host_pcie/workload/tpcc/tpcc_transactions.h"

namespace ssdtlm {

struct TpccConfig {
    std::uint32_t warehouses = 10;
    std::uint32_t connections = 10;
    std::uint64_t transactions = 10'000;  ///< of the run, all connections together
    std::uint32_t page_bytes = 16384;
    double buffer_pool = 0.25;  ///< its pages, as a share of those that the tables begin with
    std::uint64_t log_bytes = 100_MiB;
    std::uint32_t redo_per_row = 300;  ///< bytes of log for each row that is changed
    bool doublewrite = true;
};

class TpccWorkload final : public GeneratedWorkload {
public:
    /// Throws UserError with all reasons why it cannot run on the device. Otherwise as many transactions as bring the
    /// pool to its steady state have been run without I/O.
    TpccWorkload(const TpccConfig& config, const GeneratorSetup& setup);

    Next next(SimTime now) override;
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override;
    std::uint32_t jobs() const override { return config_.connections + 2; }
    std::uint32_t depth(std::uint32_t job) const override { return job == cleaner_job() ? PageCleaner::kBatch : 1; }
    double progress(SimTime now) const override;
    bool measuring(const HostRequest&, SimTime) const override { return true; }
    std::vector<FioReportJob> report_jobs() const override;
    std::vector<std::string> outcomes() const override;

    std::uint32_t log_job() const { return config_.connections; }
    std::uint32_t cleaner_job() const { return config_.connections + 1; }

    struct Counters {
        std::array<std::uint64_t, tpcc::kKinds> transactions{};  ///< that have ended
        std::uint64_t accesses = 0;                              ///< of pages
        std::array<std::uint64_t, tpcc::kTables> read{};         ///< pages
        std::array<std::uint64_t, tpcc::kTables> written{};      ///< pages, at their places
    };
    const Counters& counters() const { return counters_; }
    const RedoLog& log() const { return log_; }
    const PageCleaner& cleaner() const { return cleaner_; }
    const tpcc::Tables& tables() const { return tables_; }
    const BufferPool& pool() const { return pool_; }
    /// Where the tables begin on the drive.
    std::uint64_t tables_begin() const { return tables_begin_; }

private:
    struct Connection {
        std::vector<tpcc::Access> accesses;
        std::size_t next = 0;  // of them
        tpcc::Kind kind{};
        bool in_transaction = false;
        bool changes = false;      // has changed a row
        bool committing = false;   // waits for the log
        std::uint64_t commit = 0;  // LSN
    };

    void warm_up();
    bool run(std::uint32_t connection, HostRequest& request);
    void begin(Connection& c);
    void end(Connection& c);
    void apply(const tpcc::Access& access);
    bool log_is_full() const;
    void wake(std::vector<std::uint32_t>& waiting);
    Next issue(Next& n, std::uint32_t job);

    const TpccConfig config_;
    tpcc::Tables tables_;
    tpcc::Transactions transactions_;
    std::uint64_t tables_begin_;
    BufferPool pool_;
    RedoLog log_;
    PageCleaner cleaner_;
    std::vector<Connection> connections_;
    std::deque<std::uint32_t> ready_;  // connections that may go on
    std::vector<std::uint32_t> wait_room_, wait_checkpoint_;
    std::deque<std::uint32_t> wait_log_;  // by LSN
    std::uint64_t begun_ = 0;             // transactions
    std::uint64_t ended_ = 0;
    std::uint32_t outstanding_ = 0;
    SimTime begin_ = kNever, end_{};  // of the run's transactions
    SimTime now_{};
    Counters counters_;
};

}  // namespace ssdtlm
