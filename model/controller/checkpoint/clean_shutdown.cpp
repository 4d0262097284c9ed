// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/clean_shutdown.h"

#include <utility>

namespace ssdtlm {

CleanShutdown::CleanShutdown(Surroundings around) : around_(std::move(around)) {
    around_.writer.on_idle([this] { look_again(); });
    if (around_.map != nullptr && around_.writes) around_.map->on_idle([this] { look_again(); });
}

void CleanShutdown::look_again() {
    if (!stopping() || std::exchange(settles_, true)) return;
    around_.agenda.post(around_.agenda.now(), Then::to<&CleanShutdown::settle>(this));
}

bool CleanShutdown::hold(Command& c) {
    if (c.ends_work) return false;                 // another shutdown: what it flushes is in flash
    if (!stopping() && !around_.writer.clean()) {  // the last one has left no checkpoint
        release();
        return false;
    }
    held_.push_back(&c);
    if (!stopping()) works_again();
    return true;
}

void CleanShutdown::works_again() {
    if (std::exchange(reopening_, true)) return;
    around_.writer.write_working([this] {
        reopening_ = false;
        release();
    });
}

void CleanShutdown::release() {
    stopped_ = false;
    around_.writer.hold_off(false);
    around_.gc.go_on();
    while (!held_.empty()) {
        Command& c = *held_.front();
        held_.pop_front();
        around_.submit(c);
    }
}

void CleanShutdown::flushed(Command& c) {
    if (!around_.writes) return around_.complete(c);
    // Behind a clean checkpoint nothing is collected, be it of the last life: the drive has not worked since.
    stopped_ = true;
    around_.writer.hold_off(true);
    if (around_.writer.clean()) {
        around_.gc.stop();
        return around_.complete(c);
    }
    command_ = &c;
    map_written_ = around_.map == nullptr;
    // Dirty entries go to their pages while garbage collection gives these room; what it changes until it has ended
    // follows.
    if (map_written_)
        stop_collection();
    else
        around_.map->write_all([this] { stop_collection(); });
}

void CleanShutdown::stop_collection() {
    around_.gc.stop();
    around_.agenda.post(around_.agenda.now(), Then::to<&CleanShutdown::begin>(this));
}

void CleanShutdown::settle() {
    settles_ = false;
    around_.waiters.settle();
}

void CleanShutdown::begin() {
    around_.waiters.wait(Waiters::For::flush, Attempt::to<&CleanShutdown::try_write>(this));
    around_.waiters.settle();
}

bool CleanShutdown::try_write() {
    if (!around_.journal.is_durable(around_.journal.demand())) {
        // What collection has come across at its end may have to be noted, and find no page: it goes on until there is
        // one.
        if (around_.journal.under_way()) return false;
        map_written_ = around_.map == nullptr;
        around_.gc.go_on();
        return false;
    }
    around_.gc.stop();
    if (!around_.is_quiet() || !around_.writer.idle()) return false;
    around_.agenda.post(around_.agenda.now(), Then::to<&CleanShutdown::write>(this));
    return true;
}

void CleanShutdown::write() {
    // A checkpoint that waited for the journal may have begun its root record since.
    if (!around_.is_quiet() || !around_.writer.idle()) return begin();
    if (std::exchange(map_written_, true)) return around_.writer.write_clean([this] { written(); });
    around_.map->write_all(
        [this] { around_.agenda.post(around_.agenda.now(), Then::to<&CleanShutdown::begin>(this)); });
}

void CleanShutdown::written() {
    Command& c = *std::exchange(command_, nullptr);
    c.timeline->charge(Stage::buffer, around_.agenda.now());
    around_.complete(c);
    if (held_.empty()) return;
    if (around_.writer.clean())
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
