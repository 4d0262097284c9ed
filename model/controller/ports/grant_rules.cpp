// SPDX-License-Identifier: Apache-2.0
#include "controller/ports/grant_rules.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr bool is_read(std::size_t cls) {
    return (kReadClasses >> cls & 1u) != 0;
}

std::string number(std::uint64_t n) {
    return std::to_string(n);
}

std::string class_text(FlashClass cls) {
    const auto c = static_cast<unsigned>(cls);
    return c < kFlashClassCount ? class_names(1u << c) : "class " + number(c);
}

/// Text for a bit per die: "0, 3"; "none" for no die.
std::string die_list(std::uint64_t dies) {
    std::string text;
    for (std::uint32_t d = 0; dies != 0; ++d, dies >>= 1)
        if ((dies & 1u) != 0) text += (text.empty() ? "" : ", ") + number(d);
    return text.empty() ? "none" : text;
}

/// Microseconds to the picosecond.
std::string microseconds(SimTime t) {
    const auto ps = static_cast<std::uint64_t>(t.time_since_epoch().count());
    const std::string fraction = number(ps % 1'000'000);
    return number(ps / 1'000'000) + "." + std::string(6 - fraction.size(), '0') + fraction + " us";
}

}  // namespace

std::string grant_text(const Grant& grant) {
    std::string text = "die " + number(grant.die) + ", " + class_text(grant.cls) + ", tags";
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(grant.count, kMaxPlanes); ++i)
        text += " " + number(grant.tags[i]);
    return text;
}

void refuse_grant(const GrantPlace& place, const std::string& found) {
    throw CheckFailed("scheduler " + place.scheduler + ", channel " + number(place.channel) + ", at " +
                      microseconds(place.at) + (place.cycle ? ", clock cycle " + number(*place.cycle) : std::string{}) +
                      ": " + found + "; the contract is in controller/ports/scheduler_port.h, correct the scheduler");
}

void GrantRules::pushed(const SchedulerRequest& r, SimTime now) {
    Die& die = dies_[r.die];
    die.of[static_cast<std::size_t>(r.cls)].push_back(Waiting{r.tag, r.page, r.plane, r.whose, now});
    die.classes |= class_bit(r.cls);
    waiting_ |= std::uint64_t{1} << r.die;
    changed();
}

/// What goes next on a die may be another class now.
void GrantRules::changed() {
    for (; refusing_ != 0; refusing_ &= refusing_ - 1)
        dies_[static_cast<std::size_t>(__builtin_ctzll(refusing_))].refused = 0;
    changed_ = true;
}

void GrantRules::asked(const GrantQuery& query) {
    query_ = query;
    changed_ = false;
    must_start_ = 0;
    for (std::uint64_t dies = query_.idle_dies & waiting_; dies != 0; dies &= dies - 1) {
        const Die& die = dies_[static_cast<std::size_t>(__builtin_ctzll(dies))];
        if ((die.classes & ~(query_.classes | die.refused)) == 0) must_start_ |= dies & (~dies + 1);
    }
}

std::string GrantRules::nothing() {
    if (must_start_ != 0) {
        const auto d = static_cast<std::size_t>(__builtin_ctzll(must_start_));
        return "answered that nothing can start, but die " + number(d) + " is idle and all that waits there (" +
               class_names(dies_[d].classes) + ") was asked for" + (dies_[d].refused != 0 ? ", now or before" : "");
    }
    if (changed_) return {};
    for (std::uint64_t dies = query_.idle_dies & waiting_; dies != 0; dies &= dies - 1)
        dies_[static_cast<std::size_t>(__builtin_ctzll(dies))].refused |= query_.classes;
    refusing_ |= query_.idle_dies & waiting_;
    return {};
}

/// Every class of a die that this question let start and that was not granted has been overtaken once more.
std::string GrantRules::overtaken_by(const Grant& grant) {
    for (std::uint64_t dies = query_.idle_dies & waiting_; dies != 0; dies &= dies - 1) {
        const auto d = static_cast<std::uint32_t>(__builtin_ctzll(dies));
        for (std::uint32_t classes = dies_[d].classes & query_.classes; classes != 0; classes &= classes - 1) {
            const auto cls = static_cast<std::size_t>(__builtin_ctz(classes));
            if (d == grant.die && cls == static_cast<std::size_t>(grant.cls)) continue;
            const std::uint64_t times = ++dies_[d].overtaken[cls];
            fairness_.most_overtakes = std::max(fairness_.most_overtakes, times);
            if (limits_.overtake_bound != 0 && times > limits_.overtake_bound)
                return "starves die " + number(d) + ", " + class_text(static_cast<FlashClass>(cls)) + ": tag " +
                       number(dies_[d].of[cls].front().tag) + " could have started, and " + number(times) +
                       " grants passed it; at most scheduler.overtake_bound = " + number(limits_.overtake_bound) +
                       ", 0 allows any number";
        }
    }
    dies_[grant.die].overtaken[static_cast<std::size_t>(grant.cls)] = 0;
    return {};
}

std::string GrantRules::take(GrantAnswer answer, const Grant& grant, SimTime now) {
    if (answer == GrantAnswer::nothing) return nothing();
    const std::string broken = broken_by(grant);
    if (!broken.empty()) return "grant of " + grant_text(grant) + ": " + broken;
    Die& die = dies_[grant.die];
    Queue& queue = die.of[static_cast<std::size_t>(grant.cls)];
    if (std::string starved = overtaken_by(grant); !starved.empty())
        return "grant of " + grant_text(grant) + ": " + starved;
    for (std::uint32_t i = 0; i < grant.count; ++i) {
        const auto granted = find(queue, grant.tags[i]);
        fairness_.longest_wait = std::max(fairness_.longest_wait, now - granted->since);
        queue.erase(granted);
    }
    if (queue.empty()) die.classes &= ~class_bit(grant.cls);
    if (die.classes == 0) waiting_ &= ~(std::uint64_t{1} << grant.die);
    changed();
    return {};
}

std::string GrantRules::broken_by(const Grant& g) const {
    const auto cls = static_cast<std::size_t>(g.cls);
    if (g.die >= limits_.dies) return "there is no such die; the channel has 0 to " + number(limits_.dies - 1);
    if (cls >= kFlashClassCount) return "there is no such class; 0 to " + number(kFlashClassCount - 1);
    if (g.count < 1 || g.count > limits_.planes)
        return number(g.count) + " requests in one grant; 1 to " + number(limits_.planes) + ", the planes of a die";
    if ((query_.classes >> cls & 1u) == 0)
        return "the class was not asked for; asked for were " + class_names(query_.classes);
    const bool die_idle = (query_.idle_dies >> g.die & 1u) != 0;
    const bool plane_by_plane = limits_.independent_plane_read && is_read(cls);
    if (!die_idle && !plane_by_plane) return "the die is busy; idle dies: " + die_list(query_.idle_dies);
    if (g.count > 1 && plane_by_plane) return "joins planes that read independently; one request in a grant";
    if (g.count > 1 && !limits_.multi_plane)
        return "joins planes, though scheduler.multi_plane is off; one request in a grant";
    for (std::uint32_t i = 0; i < g.count; ++i)
        if (std::string broken = broken_by_tag(g, i); !broken.empty()) return broken;
    return {};
}

/// The rule that the i-th tag breaks. The tags before it keep the rules.
std::string GrantRules::broken_by_tag(const Grant& g, std::uint32_t i) const {
    const auto cls = static_cast<std::size_t>(g.cls);
    const std::uint32_t tag = g.tags[i];
    const Queue& queue = dies_[g.die].of[cls];
    const std::string subject = "tag " + number(tag);
    if (std::find(g.tags.begin(), g.tags.begin() + i, tag) != g.tags.begin() + i)
        return subject + " is named twice; each request is granted once";
    const auto it = find(queue, tag);
    if (it == queue.end())
        return subject + " " + where_is(tag) + "; only what waits for this die in this class may be granted";
    if ((query_.idle_dies >> g.die & 1u) == 0 && (query_.idle_read_planes[it->plane] >> g.die & 1u) == 0)
        return subject + " is for plane " + number(it->plane) + ", which is busy; idle on that plane: dies " +
               die_list(query_.idle_read_planes[it->plane]);
    const bool any_plane = i == 0 && !(limits_.independent_plane_read && is_read(cls));
    const auto granted_now = [&](const Waiting& w) {
        return std::find(g.tags.begin(), g.tags.begin() + i, w.tag) != g.tags.begin() + i;
    };
    const auto holds = [&](const Waiting& w) {  // the request back
        return (any_plane || w.plane == it->plane) && (!is_read(cls) || w.whose.same_flow(it->whose)) &&
               !granted_now(w);
    };
    const auto passed = std::find_if(queue.begin(), it, holds);
    if (passed != it)
        return subject + " passes tag " + number(passed->tag) +
               ", which came before it; a class of a die goes in order of arrival" +
               (any_plane ? "" : " on each plane") + (is_read(cls) ? ", for each tenant and priority" : "");
    if (i == 0) return {};
    const Waiting& first = *find(queue, g.tags[0]);
    if (it->page != first.page)
        return subject + " is for page " + number(it->page) + ", tag " + number(first.tag) + " for page " +
               number(first.page) + "; planes are joined for equal pages";
    for (std::uint32_t k = 0; k < i; ++k)
        if (find(queue, g.tags[k])->plane == it->plane)
            return subject + " is for plane " + number(it->plane) + ", as tag " + number(g.tags[k]) +
                   "; each plane once in a grant";
    return {};
}

std::string GrantRules::where_is(std::uint32_t tag) const {
    for (std::size_t d = 0; d < dies_.size(); ++d)
        for (std::size_t c = 0; c < kFlashClassCount; ++c)
            if (find(dies_[d].of[c], tag) != dies_[d].of[c].end())
                return "waits for die " + number(d) + " as " + class_text(static_cast<FlashClass>(c));
    return "does not wait: it was never given to this channel's scheduler, or was granted already";
}

GrantRules::Queue::const_iterator GrantRules::find(const Queue& queue, std::uint32_t tag) {
    return std::find_if(queue.begin(), queue.end(), [tag](const Waiting& w) { return w.tag == tag; });
}

}  // namespace ssdtlm
