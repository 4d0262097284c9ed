// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/clean_shutdown.h"

#include <utility>

namespace ssdtlm {

CleanShutdown::CleanShutdown(Peers peers) : peers_(std::move(peers)) {
    peers_.writer.on_idle([this] { look_again(); });
    if (peers_.map != nullptr && peers_.writes) peers_.map->on_idle([this] { look_again(); });
}

void CleanShutdown::look_again() {
    if (!stopping() || std::exchange(settles_, true)) return;
    peers_.agenda.post(peers_.agenda.now(), Then::to<&CleanShutdown::settle>(this));
}

bool CleanShutdown::hold(Command& c) {
    if (c.ends_work) return false;                // another shutdown: what it flushes is in flash
    if (!stopping() && !peers_.writer.clean()) {  // the last one has left no checkpoint
        release();
        return false;
    }
    held_.push_back(&c);
    if (!stopping()) works_again();
    return true;
}

void CleanShutdown::works_again() {
    if (std::exchange(reopening_, true)) return;
    peers_.writer.write_working([this] {
        reopening_ = false;
        release();
    });
}

void CleanShutdown::release() {
    stopped_ = false;
    peers_.writer.hold_off(false);
    peers_.gc.go_on();
    while (!held_.empty()) {
        Command& c = *held_.front();
        held_.pop_front();
        peers_.submit(c);
    }
}

void CleanShutdown::flushed(Command& c) {
    if (!peers_.writes) return peers_.complete(c);
    // Behind a clean checkpoint nothing is collected, be it of the last life: the drive has not worked since.
    stopped_ = true;
    peers_.writer.hold_off(true);
    if (peers_.writer.clean()) {
        peers_.gc.stop();
        return peers_.complete(c);
    }
    command_ = &c;
    map_written_ = peers_.map == nullptr;
    // Dirty entries go to their pages while garbage collection gives these room; what it changes until it has ended
    // follows.
    if (map_written_)
        stop_collection();
    else
        peers_.map->write_all([this] { stop_collection(); });
}

void CleanShutdown::stop_collection() {
    peers_.gc.stop();
    peers_.agenda.post(peers_.agenda.now(), Then::to<&CleanShutdown::begin>(this));
}

void CleanShutdown::settle() {
    settles_ = false;
    peers_.wait_queues.settle();
}

void CleanShutdown::begin() {
    peers_.wait_queues.wait(WaitQueues::For::flush, Attempt::to<&CleanShutdown::try_write>(this));
    peers_.wait_queues.settle();
}

bool CleanShutdown::try_write() {
    if (!peers_.journal.is_durable(peers_.journal.demand())) {
        // What collection has come across at its end may have to be noted, and find no page: it goes on until there is
        // one.
        if (peers_.journal.under_way()) return false;
        map_written_ = peers_.map == nullptr;
        peers_.gc.go_on();
        return false;
    }
    peers_.gc.stop();
    if (!peers_.is_quiet()) return false;
    peers_.agenda.post(peers_.agenda.now(), Then::to<&CleanShutdown::write>(this));
    return true;
}

void CleanShutdown::write() {
    // A checkpoint that waited for the journal may have begun its root record since.
    if (!peers_.is_quiet()) return begin();
    if (std::exchange(map_written_, true)) return peers_.writer.write_clean([this] { written(); });
    peers_.map->write_all([this] { peers_.agenda.post(peers_.agenda.now(), Then::to<&CleanShutdown::begin>(this)); });
}

void CleanShutdown::written() {
    Command& c = *std::exchange(command_, nullptr);
    c.timeline->charge(Stage::buffer, peers_.agenda.now());
    peers_.complete(c);
    if (held_.empty()) return;
    if (peers_.writer.clean())
        works_again();
    else
        release();
}

std::string CleanShutdown::dump() const {
    return std::string(stopping() ? "shutdown: waits for the checkpoint\n" : "") +
           (held_.empty()
                ? ""
                : "shutdown: " + std::to_string(held_.size()) + " commands wait until the drive works again\n");
}

}  // namespace ssdtlm
