// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/checked_scheduler.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace ssdtlm {
namespace {

std::string class_of(const SchedulerPort& scheduler) {
    int status = 0;
    const char* const mangled = typeid(scheduler).name();
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 ? text.get() : mangled;
}

}  // namespace

CheckedScheduler::CheckedScheduler(SchedulerPort& scheduler, Agenda& agenda, std::uint32_t channels,
                                   const GrantRules::Limits& limits)
    : scheduler_(scheduler), agenda_(agenda) {
    for (std::uint32_t c = 0; c < channels; ++c) channels_.emplace_back(*this, static_cast<std::uint16_t>(c), limits);
}

void CheckedScheduler::listen(std::uint16_t channel, GrantListener& listener) {
    channels_[channel].listener = &listener;
    scheduler_.listen(channel, channels_[channel]);
}

void CheckedScheduler::push(const SchedulerRequest& request) {
    Channel& channel = channels_[request.channel];
    channel.rules.pushed(request, agenda_.now());
    try {
        scheduler_.push(request);
    } catch (const SchedulerFault& e) {
        channel.refuse(e.what(), e.cycle());
    }
}

GrantAnswer CheckedScheduler::grant(const GrantQuery& query, Grant& out) {
    Channel& channel = channels_[query.channel];
    channel.rules.asked(query);
    out = Grant{};
    try {
        const GrantAnswer answer = scheduler_.grant(query, out);
        channel.pending = answer == GrantAnswer::pending;
        if (!channel.pending) channel.check(answer, out);
        return answer;
    } catch (const SchedulerFault& e) {
        channel.refuse(e.what(), e.cycle());
    }
}

std::optional<SchedulerFairness> CheckedScheduler::fairness() const {
    SchedulerFairness all;
    for (const Channel& channel : channels_) all += channel.rules.fairness();
    return all;
}

void CheckedScheduler::Channel::check(GrantAnswer answer, const Grant& grant) {
    if (const std::string found = rules.take(answer, grant, owner_.agenda_.now()); !found.empty()) refuse(found);
}

void CheckedScheduler::Channel::grant_decided(GrantAnswer answer, const Grant& grant) {
    owner_.agenda_.in_step();  // it may decide in a process of its own
    if (!pending)
        refuse("gave an answer, but no question is pending; one answer to each question that grant() left pending");
    if (answer == GrantAnswer::pending) refuse("decided that the answer is pending; granted or nothing");
    pending = false;
    check(answer, grant);
    listener->grant_decided(answer, grant);
}

void CheckedScheduler::Channel::refuse(const std::string& found, std::optional<std::uint64_t> cycle) const {
    const std::string name = owner_.scheduler_.name();
    refuse_grant({name.empty() ? class_of(owner_.scheduler_) : name, channel_, owner_.agenda_.now(), cycle}, found);
}

}  // namespace ssdtlm
