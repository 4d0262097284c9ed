// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/wave_options.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "common/config/quantity.h"

namespace ssdtlm {

namespace {

// The default times around a trigger. Assumed: some page programs.
constexpr Ps kBefore = 1ms;
constexpr Ps kAfter = 2ms;

const std::vector<std::string> kScopeNames = {"all",      "host", "link",      "sata_link", "nvme",
                                              "firmware", "gc",   "scheduler", "channel",   "die"};
const std::vector<std::string> kTriggers = {"command", "gc", "latency", "overtake", "power", "error"};
const std::vector<std::string> kFormats = {"vcd", "fst"};

std::string listed(const std::vector<std::string>& names) {
    std::string s;
    for (const auto& n : names) s += (s.empty() ? "" : ", ") + n;
    return s;
}

/// True: a device with this front end has the part. A front end that a user has added has neither nvme, sata_link nor
/// link.
bool has_scope(const std::string& front_end, const std::string& scope) {
    if (scope == "nvme") return front_end == "nvme";
    if (scope == "sata_link") return front_end == "sata";
    return scope != "link" || front_end == "nvme" || front_end == "sata";
}

std::string did_you_mean(const std::string& given, const std::vector<std::string>& names) {
    const std::string near = nearest(given, names);
    return near.empty() ? "" : "did you mean '" + near + "'?";
}

Ps time_of(const char* option, const std::string& text, std::vector<Problem>& problems) {
    const QuantityResult q = parse_quantity(text, Dimension::time);
    if (!q.ok)
        problems.push_back(
            {"command line", std::string(option) + " '" + text + "': " + q.found, describe(Dimension::time), q.repair});
    return Ps{q.value};
}

void parse_trigger(const std::string& text, WaveOptions& o, std::vector<Problem>& problems) {
    using Trigger = WaveOptions::Trigger;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    const std::string value = equals < text.size() ? text.substr(equals + 1) : "";
    const std::string where = "--wave-trigger '" + text + "'";
    if (name == "gc" || name == "power" || name == "error") {
        if (equals != text.size()) problems.push_back({"command line", where + ": takes no value", name, ""});
        o.trigger = name == "gc" ? Trigger::gc : name == "power" ? Trigger::power : Trigger::error;
    } else if (name == "overtake" && equals == text.size()) {
        o.trigger = Trigger::overtake;
    } else if (name == "command" || name == "overtake") {
        o.trigger = name == "command" ? Trigger::command : Trigger::overtake;
        const bool digits =
            !value.empty() && value.size() < 19 &&
            std::all_of(value.begin(), value.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
        o.count = digits ? std::stoull(value) : 0;
        if (o.count == 0)
            problems.push_back(
                {"command line", where + ": '" + value + "' is no count", name + "=N with N from 1 on", ""});
    } else if (name == "latency") {
        o.trigger = Trigger::latency;
        const QuantityResult q = parse_quantity(value, Dimension::time);
        o.latency = Ps{q.value};
        if (!q.ok)
            problems.push_back({"command line", where + ": " + q.found, "latency= with " + describe(Dimension::time),
                                "for example latency=500us"});
    } else {
        problems.push_back({"command line", "--wave-trigger '" + name + "'",
                            "command=N, gc, latency=TIME, overtake, overtake=N, power, error",
                            did_you_mean(name, kTriggers)});
    }
    o.trigger_text = text;
}

/// One item of the list: a name, indices, ".pins".
struct Item {
    std::string text;
    std::string name;
    std::vector<std::string> indices;
    bool pins = false;
    bool rtl = false;
};

class ScopeParser {
public:
    explicit ScopeParser(const WaveDevice& device) : g_(device.geometry), front_end_(device.front_end) {
        std::copy_if(kScopeNames.begin(), kScopeNames.end(), std::back_inserter(names_),
                     [this](const std::string& name) { return has_scope(front_end_, name); });
        const NandGeometry& g = g_;
        scopes_.scheduler.resize(g.channels);
        scopes_.channels.resize(g.channels);
        scopes_.pins.resize(g.channels);
        scopes_.dies.resize(g.dies());
        scopes_.scheduler_rtl.resize(g.channels);
        scopes_.channel_rtl.resize(g.channels);
    }

    WaveScopes parse(const std::string& text) {
        for (std::size_t from = 0; from <= text.size();) {
            const std::size_t comma = std::min(text.find(',', from), text.size());
            std::string word = text.substr(from, comma - from);
            word.erase(std::remove_if(word.begin(), word.end(), [](unsigned char c) { return std::isspace(c) != 0; }),
                       word.end());
            item(word);
            from = comma + 1;
        }
        if (!problems_.empty()) throw UserError(problems_);
        return scopes_;
    }

private:
    /// The part that shows commands on a device without the given part.
    std::string instead_of(const std::string& scope) const {
        if (front_end_ == "sata") return "sata_link";
        return front_end_ == "nvme" && scope == "sata_link" ? "link" : "host";
    }
    void refuse(const std::string& what, const std::string& allowed, const std::string& repair) {
        problems_.push_back({"command line", "--wave " + what, allowed, repair});
    }

    void item(const std::string& text) {
        Item i{text, "", {}, false, false};
        std::size_t at = 0;
        while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_')) ++at;
        i.name = text.substr(0, at);
        while (at < text.size() && text[at] == '[') {
            const std::size_t close = text.find(']', at);
            if (close == std::string::npos) break;
            i.indices.push_back(text.substr(at + 1, close - at - 1));
            at = close + 1;
        }
        if (std::find(kScopeNames.begin(), kScopeNames.end(), i.name) == kScopeNames.end())
            return refuse("scope '" + (i.name.empty() ? text : i.name) + "' does not exist", listed(names_),
                          did_you_mean(i.name, names_));
        if (!has_scope(front_end_, i.name))
            return refuse("scope '" + i.name + "': a device with frontend.kind = \"" + front_end_ + "\" has none",
                          listed(names_), "record '" + instead_of(i.name) + "'");
        const std::vector<std::string> parts = i.name == "channel"     ? std::vector<std::string>{".pins", ".rtl"}
                                               : i.name == "scheduler" ? std::vector<std::string>{".rtl"}
                                                                       : std::vector<std::string>{};
        const std::string part = text.substr(at);
        if (std::find(parts.begin(), parts.end(), part) != parts.end())
            (part == ".rtl" ? i.rtl : i.pins) = true;
        else if (!part.empty() && part[0] == '.')
            return refuse("scope '" + text + "': '" + part + "' is no part of it", listed(parts),
                          did_you_mean(part, parts));
        else if (!part.empty())
            return refuse("scope '" + text + "' is not understood", "a name, then [index] or [*]",
                          "for example channel[3] or die[*][0]");
        select(i);
    }

    /// Reads the index as a range. Returns false and adds a problem when there is no such index.
    bool range(const Item& i, std::size_t which, std::uint32_t count, const char* of, std::uint32_t& first,
               std::uint32_t& limit) {
        first = 0;
        limit = count;
        if (which >= i.indices.size() || i.indices[which] == "*") return true;
        const std::string& text = i.indices[which];
        const bool digits = !text.empty() && text.size() < 9 &&
                            std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
        if (digits) first = static_cast<std::uint32_t>(std::stoul(text));
        if (!digits || first >= count) {
            refuse("scope '" + i.text + "': " + of + " " + text + " does not exist",
                   "0 to " + std::to_string(count - 1) + ", or *", "");
            return false;
        }
        limit = first + 1;
        return true;
    }

    void select(const Item& i) {
        const std::size_t most = i.name == "die" ? 2 : i.name == "channel" || i.name == "scheduler" ? 1 : 0;
        if (i.indices.size() > most)
            return refuse("scope '" + i.text + "' has too many indices",
                          most == 0 ? i.name : i.name + (most == 1 ? "[channel]" : "[channel][die]"), "");
        const bool all = i.name == "all";
        if (all || i.name == "host") scopes_.host = true;
        if (all || i.name == "link") scopes_.link = has_scope(front_end_, "link");
        // For a Serial ATA drive, "link" means both the PCIe link to the adapter and the link behind it.
        if (all || i.name == "link" || i.name == "sata_link") scopes_.sata_link = has_scope(front_end_, "sata_link");
        if (all || i.name == "nvme") scopes_.nvme = has_scope(front_end_, "nvme");
        if (all || i.name == "firmware") scopes_.firmware = true;
        if (all || i.name == "gc") scopes_.gc = true;
        std::uint32_t first = 0, limit = 0, first_die = 0, limit_die = 0;
        if (!range(i, 0, g_.channels, "channel", first, limit)) return;
        if (!range(i, 1, g_.dies_per_channel(), "die", first_die, limit_die)) return;
        for (std::uint32_t ch = first; ch < limit; ++ch) {
            if (i.rtl) (i.name == "channel" ? scopes_.channel_rtl : scopes_.scheduler_rtl)[ch] = true;
            if (all || (i.name == "scheduler" && !i.rtl)) scopes_.scheduler[ch] = true;
            if (all || (i.name == "channel" && !i.pins && !i.rtl)) scopes_.channels[ch] = true;
            if (i.pins) scopes_.pins[ch] = true;
            for (std::uint32_t d = first_die; d < limit_die; ++d)
                if (all || i.name == "die") scopes_.dies[ch * g_.dies_per_channel() + d] = true;
        }
    }

    const NandGeometry& g_;
    const std::string front_end_;
    std::vector<std::string> names_;  // names of the parts that the device has
    WaveScopes scopes_;
    std::vector<Problem> problems_;
};

}  // namespace

WaveWindow WaveOptions::window() const {
    WaveWindow w;
    w.from = from;
    w.to = to;
    w.triggered = trigger != Trigger::none;
    w.before = before;
    w.after = after;
    return w;
}

WaveOptions parse_wave_options(const WaveTexts& t, std::vector<Problem>& problems) {
    WaveOptions o;
    o.on = !t.scopes.empty();
    o.scopes = t.scopes;
    if (!o.on && t.any())
        problems.push_back({"command line", "options of the wave without a wave", "",
                            "add --wave, or --wave=SCOPES for a part of the device"});
    if (!t.from.empty()) o.from = SimTime{time_of("--wave-from", t.from, problems)};
    if (!t.to.empty()) o.to = SimTime{time_of("--wave-to", t.to, problems)};
    if (o.to < o.from) problems.push_back({"command line", "--wave-to is before --wave-from", "", ""});
    if (!t.trigger.empty()) parse_trigger(t.trigger, o, problems);
    // The window begins early enough for the cause of a late command.
    o.before = !t.before.empty()                            ? time_of("--wave-before", t.before, problems)
               : o.trigger == WaveOptions::Trigger::latency ? std::max(kBefore, o.latency + o.latency / 2)
                                                            : kBefore;
    o.after = !t.after.empty() ? time_of("--wave-after", t.after, problems) : kAfter;
    if (o.trigger == WaveOptions::Trigger::none && (!t.before.empty() || !t.after.empty()))
        problems.push_back({"command line", "--wave-before or --wave-after without --wave-trigger", "",
                            "they are counted from the trigger"});
    if (std::find(kFormats.begin(), kFormats.end(), t.format) == kFormats.end())
        problems.push_back(
            {"command line", "--wave-format '" + t.format + "'", listed(kFormats), did_you_mean(t.format, kFormats)});
    o.fst = t.format == "fst";
    return o;
}

TimelineOptions parse_timeline_options(bool on, const std::string& from, const std::string& to,
                                       std::vector<Problem>& problems) {
    TimelineOptions o;
    o.on = on;
    if (!on && !(from.empty() && to.empty()))
        problems.push_back(
            {"command line", "--timeline-from or --timeline-to without --timeline", "", "add --timeline"});
    if (!from.empty()) o.from = SimTime{time_of("--timeline-from", from, problems)};
    if (!to.empty()) o.to = SimTime{time_of("--timeline-to", to, problems)};
    if (o.to < o.from) problems.push_back({"command line", "--timeline-to is before --timeline-from", "", ""});
    return o;
}

bool looks_like_wave_scopes(const std::string& text) {
    const std::size_t end = text.find_first_of(",[.");
    return std::find(kScopeNames.begin(), kScopeNames.end(), text.substr(0, end)) != kScopeNames.end() ||
           (end != std::string::npos && text[end] == '[');
}

namespace {
bool any(const std::vector<bool>& v) {
    return std::find(v.begin(), v.end(), true) != v.end();
}
}  // namespace

bool WaveScopes::any_rtl() const {
    return any(scheduler_rtl) || any(channel_rtl);
}

bool WaveScopes::any_flash() const {
    return any(scheduler) || any(channels) || any(dies);
}

bool WaveScopes::any_pins() const {
    return any(pins);
}

WaveScopes parse_wave_scopes(const std::string& text, const WaveDevice& device) {
    return ScopeParser(device).parse(text);
}

}  // namespace ssdtlm
