// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/tpcc/tpcc_workload.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

namespace {

constexpr std::uint32_t kReserve = 1024;  // free pages to come: MySQL 8.0 innodb_lru_scan_depth
constexpr std::uint64_t kMostRows = 200;  // changed by a transaction: a delivery changes 130

constexpr std::uint32_t kFramesOfOne =
    8;  // of the pool, at least, for each connection: what it has read must stay until it is used

/// Age in the log at which a page is written, and at which transactions wait for that (assumed).
std::uint64_t written_at_age(const TpccConfig& c) {
    return c.log_bytes / 4 * 3;
}
std::uint64_t waiting_at_age(const TpccConfig& c) {
    return c.log_bytes / 16 * 15;
}

std::uint32_t pool_frames(const TpccConfig& c, const tpcc::Tables& tables) {
    return static_cast<std::uint32_t>(c.buffer_pool * static_cast<double>(tables.initial_pages()));
}

std::uint64_t bytes_before_tables(const TpccConfig& c) {
    return c.log_bytes + std::uint64_t{PageCleaner::kBatch} * c.page_bytes;
}

std::string mib(std::uint64_t bytes) {
    return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
}

/// Bytes of the drive that a database of this size needs.
std::uint64_t bytes_for(const TpccConfig& c, std::uint64_t warehouses) {
    return bytes_before_tables(c) + tpcc::Tables::pages(warehouses, c.page_bytes) * c.page_bytes;
}

TpccConfig checked(const TpccConfig& c, const GeneratorSetup& setup) {
    std::vector<Problem> problems;
    const auto problem = [&](const char* key, std::string found, std::string allowed, std::string repair) {
        problems.push_back(
            {std::string("workload.tpcc.") + key, std::move(found), std::move(allowed), std::move(repair)});
    };
    if (bytes_for(c, c.warehouses) > setup.capacity) {
        std::uint64_t fit = 0;
        while (bytes_for(c, fit + 1) <= setup.capacity) ++fit;
        const std::string device = "the device has " + mib(setup.capacity);
        problem("warehouses",
                std::to_string(c.warehouses) + " take " + mib(bytes_for(c, c.warehouses)) +
                    " with room to grow and the log",
                fit != 0 ? device : device + ", one takes " + mib(bytes_for(c, 1)),
                fit != 0 ? "set it to " + std::to_string(fit) + " or less"
                         : "use a larger device, or a smaller workload.tpcc.log_size");
    }
    const std::uint64_t slack = c.log_bytes - waiting_at_age(c);
    const std::uint64_t redo = c.connections * kMostRows * c.redo_per_row;
    if (redo > slack)
        problem("log_size",
                mib(c.log_bytes) + " may be full before " + std::to_string(c.connections) +
                    " connections end their transactions",
                "at least " + mib(redo * 16), "make it larger, or take fewer connections");
    const auto frames = static_cast<std::uint64_t>(
        c.buffer_pool * static_cast<double>(tpcc::Tables::initial_pages(c.warehouses, c.page_bytes)));
    if (frames < c.connections * kFramesOfOne)
        problem("buffer_pool", std::to_string(frames) + " pages for " + std::to_string(c.connections) + " connections",
                "at least " + std::to_string(kFramesOfOne) + " for each", "take a larger share, or fewer connections");
    if (!problems.empty()) throw UserError(std::move(problems));
    return c;
}

}  // namespace

TpccWorkload::TpccWorkload(const TpccConfig& config, const GeneratorSetup& setup)
    : config_(checked(config, setup)),
      tables_(config.warehouses, config.page_bytes),
      transactions_(tables_, setup.seed),
      tables_begin_(bytes_before_tables(config)),
      pool_(tables_.pages(), pool_frames(config, tables_), std::min(kReserve, pool_frames(config, tables_) / 8)),
      log_(0, config.log_bytes, std::max<std::uint32_t>(512, setup.lba_bytes)),
      cleaner_(pool_, log_,
               {config.page_bytes, config.log_bytes, tables_begin_, config.doublewrite, written_at_age(config)}),
      connections_(config.connections) {
    warm_up();
    for (std::uint32_t c = 0; c < config_.connections; ++c) ready_.push_back(c);
}

/// Runs transactions without I/O until the pool is in its steady state. Each frame has then changed its page about
/// twice, and the log has gone round once. If the pool is larger than the used pages, it stops earlier.
void TpccWorkload::warm_up() {
    const std::uint64_t enough_misses = 2 * std::uint64_t{pool_.frames()};
    const std::uint64_t most_transactions = 4 * std::uint64_t{pool_.frames()};
    std::vector<tpcc::Access> accesses;
    std::vector<std::uint64_t> writes;
    const auto write = [&] {
        for (const std::uint64_t page : writes) pool_.written(page);
        writes.clear();
    };
    std::uint64_t misses = 0;
    for (std::uint64_t t = 0; log_.lsn() < config_.log_bytes || (misses < enough_misses && t < most_transactions);
         ++t) {
        transactions_.next(accesses);
        for (const tpcc::Access& a : accesses) {
            if (!pool_.lookup(a.page)) {
                ++misses;
                while (!pool_.take(a.page)) {
                    pool_.make_room(writes, pool_.frames());
                    write();
                }
            }
            apply(a);
        }
        if (log_.lsn() > written_at_age(config_))
            pool_.write_older(log_.lsn() - written_at_age(config_), writes, pool_.frames());
        write();
    }
    log_.settle();
}

void TpccWorkload::apply(const tpcc::Access& access) {
    if (access.changed == 0) return;
    pool_.change(access.page, log_.lsn());
    log_.append(std::uint64_t{access.changed} * config_.redo_per_row);
}

/// True: the log is full, because it must not overwrite changes whose pages are not on the drive.
bool TpccWorkload::log_is_full() const {
    const std::uint64_t oldest = pool_.checkpoint();
    return oldest != BufferPool::kNone && oldest + waiting_at_age(config_) < log_.lsn();
}

void TpccWorkload::wake(std::vector<std::uint32_t>& waiting) {
    ready_.insert(ready_.end(), waiting.begin(), waiting.end());
    waiting.clear();
}

Workload::Next TpccWorkload::issue(Next& n, std::uint32_t job) {
    n.state = State::ready;
    n.request.job = job;
    ++outstanding_;
    return n;
}

Workload::Next TpccWorkload::next(SimTime now) {
    if (begin_ == kNever) begin_ = now;
    now_ = now;
    Next n;
    for (;;) {
        if (log_.next(n.request)) return issue(n, log_job());
        // Pages that are changed at the end stay in the pool.
        const bool busy = ended_ < config_.transactions;
        const bool was_idle = cleaner_.idle();
        if (cleaner_.next(busy, n.request)) return issue(n, cleaner_job());
        if (!wait_room_.empty() && pool_.free() != 0) wake(wait_room_);
        if (was_idle && !cleaner_.idle()) continue;  // it may want the log
        if (ready_.empty()) break;
        const std::uint32_t c = ready_.front();
        ready_.pop_front();
        if (run(c, n.request)) return issue(n, c);
    }
    SSDTLM_CHECK(outstanding_ != 0 || ended_ == config_.transactions, "connections wait for nothing");
    n.state = outstanding_ != 0 ? State::blocked : State::done;
    return n;
}

/// Runs a connection until it has a page to read, or has to wait. Returns true if `request` is that read.
bool TpccWorkload::run(std::uint32_t connection, HostRequest& request) {
    Connection& c = connections_[connection];
    if (c.committing) end(c);
    for (;;) {
        if (!c.in_transaction) {
            if (begun_ == config_.transactions) return false;
            if (log_is_full()) {
                wait_checkpoint_.push_back(connection);
                return false;
            }
            begin(c);
        }
        for (; c.next < c.accesses.size(); ++c.next) {
            const tpcc::Access& a = c.accesses[c.next];
            if (!pool_.lookup(a.page)) {
                if (!pool_.take(a.page)) {
                    wait_room_.push_back(connection);
                    return false;
                }
                if (!a.fresh) {
                    ++counters_.read[static_cast<std::size_t>(tables_.table_of(a.page))];
                    request.op = HostOp::read;
                    request.offset = tables_begin_ + a.page * config_.page_bytes;
                    request.bytes = config_.page_bytes;
                    return true;
                }
            }
            ++counters_.accesses;
            apply(a);
            c.changes = c.changes || a.changed != 0;
        }
        if (c.changes) {
            c.committing = true;
            c.commit = log_.lsn();
            log_.want(c.commit);
            wait_log_.push_back(connection);
            return false;
        }
        end(c);
    }
}

void TpccWorkload::begin(Connection& c) {
    ++begun_;
    c.kind = transactions_.next(c.accesses);
    c.next = 0;
    c.in_transaction = true;
    c.changes = false;
}

void TpccWorkload::end(Connection& c) {
    ++counters_.transactions[static_cast<std::size_t>(c.kind)];
    ++ended_;
    end_ = now_;
    c.in_transaction = false;
    c.committing = false;
}

void TpccWorkload::completed(const HostRequest& request, SimTime, SimTime, SimTime, bool) {
    --outstanding_;
    if (request.job == log_job()) {
        log_.completed();
        for (; !wait_log_.empty() && connections_[wait_log_.front()].commit <= log_.flushed(); wait_log_.pop_front())
            ready_.push_back(wait_log_.front());
    } else if (request.job == cleaner_job()) {
        if (!cleaner_.completed()) return;
        for (const std::uint64_t page : cleaner_.batch())
            ++counters_.written[static_cast<std::size_t>(tables_.table_of(page))];
        wake(wait_room_);
        wake(wait_checkpoint_);
    } else {
        ready_.push_back(request.job);
    }
}

double TpccWorkload::progress(SimTime) const {
    return static_cast<double>(ended_) / static_cast<double>(config_.transactions);
}

}  // namespace ssdtlm
