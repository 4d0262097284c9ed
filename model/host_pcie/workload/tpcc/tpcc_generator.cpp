// SPDX-License-Identifier: Apache-2.0
// TPC-C as a workload by name: its parameters, and the sentences after a run.
#include <cstdio>
#include <numeric>

#include "host_pcie/workload/tpcc/tpcc_workload.h"

namespace ssdtlm {

namespace {

std::string percent(std::uint64_t part, std::uint64_t whole) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%",
                  whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
    return text;
}

std::string decimals(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

template <class Array>
std::uint64_t sum(const Array& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// Shares of the tables as text: "stock 45.0 %, customer 20.0 %". A table with less than a hundredth is left out.
std::string by_table(const std::array<std::uint64_t, tpcc::kTables>& pages) {
    std::string text;
    const std::uint64_t all = sum(pages);
    for (std::size_t t = 0; t < tpcc::kTables; ++t)
        if (pages[t] * 100 >= all && pages[t] != 0)
            text += (text.empty() ? "" : ", ") + std::string(tpcc::name_of(static_cast<tpcc::Table>(t))) + " " +
                    percent(pages[t], all);
    return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::vector<std::string> TpccWorkload::outcomes() const {
    const std::uint64_t read = sum(counters_.read);
    const std::uint64_t written = sum(counters_.written);
    const std::uint64_t transactions = sum(counters_.transactions);
    const double seconds = transactions == 0 ? 0 : to_seconds(end_ - begin_);
    std::vector<std::string> all;
    all.push_back("tpcc: " + std::to_string(transactions) + " transactions in " + decimals("%.3f s", seconds) +
                  (seconds > 0 ? decimals(", %.1f per second", static_cast<double>(transactions) / seconds) : "") +
                  ", " + percent(counters_.transactions[0], transactions) + " of them new orders; " +
                  percent(counters_.accesses - std::min(counters_.accesses, read), counters_.accesses) + " of " +
                  std::to_string(counters_.accesses) + " page accesses without a read");
    all.push_back("tpcc: " + std::to_string(read) + " pages read" + by_table(counters_.read));
    const std::uint64_t begun = cleaner_.for_room() + cleaner_.for_age();
    all.push_back("tpcc: " + std::to_string(written) + " pages written" + by_table(counters_.written) + ", " +
                  percent(cleaner_.for_room(), begun) + " for room, " + percent(cleaner_.for_age(), begun) +
                  " because of the age of their changes");
    all.push_back("tpcc: redo log of " + std::to_string(log_.bytes() >> 10) + " KiB in " +
                  std::to_string(log_.writes()) + " writes and " + std::to_string(log_.flushes()) + " flushes");
    return all;
}

std::vector<FioReportJob> TpccWorkload::report_jobs() const {
    FioReportJob connection;
    connection.name = "connections";
    connection.group_reporting = true;
    connection.rw = "randread";
    connection.bs = std::to_string(config_.page_bytes >> 10) + "k";
    connection.numjobs = config_.connections;
    std::vector<FioReportJob> jobs(config_.connections, connection);
    FioReportJob log;
    log.name = "redo-log";
    log.group = 1;
    log.rw = "write";
    jobs.push_back(log);
    FioReportJob cleaner;
    cleaner.name = "page-cleaner";
    cleaner.group = 2;
    cleaner.rw = "randwrite";
    cleaner.bs = connection.bs;
    cleaner.iodepth = PageCleaner::kBatch;
    jobs.push_back(cleaner);
    return jobs;
}

namespace {

const WorkloadGenerators::Registered kTpcc{
    {"tpcc",
     "TPC-C on a database like InnoDB: page reads, redo log, doublewrite, page writes",
     {policy_integer("warehouses", 10)
          .range("1", "100000")
          .says("Size of the database: about 70 MiB each, and room to grow")
          .from("assumed"),
      policy_integer("connections", 10)
          .range("1", "1024")
          .says("Transactions under way at a time")
          .from("the Hexa-SSD study (IEICE Electronics Express vol. 19 no. 21, 2022, art. 20220416): 10 threads"),
      policy_integer("transactions", 10'000)
          .range("1", "1000000000000")
          .says("Transactions of the run, over all connections")
          .from("assumed"),
      policy_quantity("page_size", Dimension::bytes, 16384)
          .only({4096, 8192, 16384})
          .says("Pages of the tables")
          .from("MySQL 8.0 innodb_page_size"),
      policy_quantity("buffer_pool", Dimension::percent, 25 * 10'000)
          .range("1%", "100%")
          .says("Pages in memory, of those that the tables begin with")
          .from("assumed"),
      policy_quantity("log_size", Dimension::bytes, std::int64_t{100} << 20)
          .range("4MiB", "128GiB")
          .multiple_of("1MiB")
          .says("The redo log. A changed page is written when the log has gone on by three quarters of this; smaller "
                "logs write more")
          .from("MySQL 8.0.30 innodb_redo_log_capacity"),
      policy_quantity("redo_per_row", Dimension::bytes, 300)
          .range("16B", "16KiB")
          .says("Redo log of a row that is changed or added")
          .from("assumed"),
      policy_boolean("doublewrite", true)
          .says("Pages are written to the doublewrite area first, and flushed there, then to their places")
          .from("MySQL 8.0 innodb_doublewrite")},
     [](const GeneratorSetup& setup, const PolicySettings& own) {
         TpccConfig c;
         c.warehouses = static_cast<std::uint32_t>(own.number("warehouses"));
         c.connections = static_cast<std::uint32_t>(own.number("connections"));
         c.transactions = static_cast<std::uint64_t>(own.number("transactions"));
         c.page_bytes = static_cast<std::uint32_t>(own.number("page_size"));
         c.buffer_pool = static_cast<double>(own.number("buffer_pool")) / 1e6;
         c.log_bytes = static_cast<std::uint64_t>(own.number("log_size"));
         c.redo_per_row = static_cast<std::uint32_t>(own.number("redo_per_row"));
         c.doublewrite = own.flag("doublewrite");
         return std::make_unique<TpccWorkload>(c, setup);
     }}};

}  // namespace

}  // namespace ssdtlm
