// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/cached_map.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"
#include "controller/map/cached/pages/translation_sizes.h"

namespace ssdtlm {

namespace {

CachedMappingTable::Shape table_shape(const CachedMapPeers& peers, std::uint32_t units_per_key) {
    const MapConfig& c = peers.ftl.config().map;
    return {cached_map_slots_of(peers.ftl.config(), peers.ftl.geometry()),
            peers.pages.count(),
            peers.pages.entries_each() / units_per_key,
            c.replacement,
            c.protected_percent,
            c.quotas};
}
}  // namespace

CachedMap::CachedMap(const CachedMapPeers& peers)
    : peers_(peers),
      page_of_(peers.pages.entries_each()),
      by_page_(peers.ftl.config().map.granularity == MapGranularity::page),
      units_per_key_(by_page_ ? peers.pages.entries_each() : 1),
      prefetch_(by_page_ ? 1 : peers.ftl.config().map.prefetch),
      table_(table_shape(peers, units_per_key_)),
      check_(peers.ftl),
      jobs_(peers.jobs),
      write_backs_(peers, table_, check_),
      page_reads_(
          peers, [this](std::uint32_t page) { return write_backs_.in_dram(page); }, counters_.checkpoint_reads) {
    write_backs_.on_progress([this] {
        look_again_at_ = 0;
        make_room();
        if (__builtin_expect(on_idle_ != nullptr, 0) && idle()) on_idle_();
    });
    write_backs_.on_given_back([this](std::uint32_t page) { keep(page); });
    if (by_page_ && table_.room() >= peers.pages.count())
        for (std::uint32_t page = 0; page < peers.pages.count(); ++page) take_in_known(page);
}

CachedMap::Counters& CachedMap::Counters::operator+=(const Counters& o) {
    hits += o.hits;
    misses += o.misses;
    reads += o.reads;
    most_entries = std::max(most_entries, o.most_entries);
    checkpoint_reads += o.checkpoint_reads;
    if (of_tenant.size() < o.of_tenant.size()) of_tenant.resize(o.of_tenant.size());
    for (std::size_t t = 0; t < o.of_tenant.size(); ++t) {
        of_tenant[t].hits += o.of_tenant[t].hits;
        of_tenant[t].misses += o.of_tenant[t].misses;
    }
    prefetched += o.prefetched;
    prefetch_hits += o.prefetch_hits;
    prefetch_dropped += o.prefetch_dropped;
    return *this;
}

// --- Who asks --------------------------------------------------------------------------------------------------------

/// Visits the keys that the question needs, and for whom. It visits a key once for each unit, but neighbours of an
/// extent that share a key only once.
template <class Visit>
void CachedMap::for_each_key(const Question& q, Visit&& visit) const {
    for (std::size_t i = 0; i < q.units.size(); ++i) visit(key_of(q.units[i]), q.whose[i]);
    for (std::uint32_t i = 0; i < q.extent.units; ++i) {
        const Lpa lpa{idx(q.extent.first) + i};
        if (i == 0 || !by_page_ || key_of(lpa) != key_of(Lpa{idx(lpa) - 1})) visit(key_of(lpa), q.extent.whose);
    }
}

bool CachedMap::translate(const MapExtent& extent, MapUse use, Ppa* places, const MapThen& then) {
    if (use == MapUse::remove) return true;  // what changes is taken in by unmap()
    Question q{then, {}, extent, {}, {}, 0, {}};
    if (!at_hand(q)) {
        ask(std::move(q));
        return false;
    }
    for_each_key(q, [&](std::uint32_t key, const WorkTag& whose) {
        const Slot s = table_.find(key);
        table_.use(s);
        count_hit(s, whose.tenant);
    });
    return peers_.resident.translate(extent, use, places, then);
}

bool CachedMap::bring_in(const Lpa* units, const WorkTag* whose, std::uint32_t count, const Then& then) {
    Question q{{}, then, MapExtent{}, {units, units + count}, {}, 0, {whose, whose + count}};
    if (!at_hand(q)) {
        ask(std::move(q));
        return false;
    }
    for_each_key(q, [&](std::uint32_t key, const WorkTag& of) {
        const Slot s = table_.find(key);
        table_.use(s);
        hold(s);
        count_hit(s, of.tenant);
    });
    return true;
}

/// True: no question waits before this one, and all of its entries are in memory. A clean entry must be that of its
/// translation page.
bool CachedMap::at_hand(const Question& q) const {
    bool all = queue_.empty();
    for_each_key(q, [&](std::uint32_t key, const WorkTag&) {
        const Slot s = all ? table_.find(key) : kNone;
        all = s != kNone && !is_loading(s);
        if (all && !by_page_ && !table_.is_dirty(s)) check_.require_fresh(key, 1);
    });
    return all;
}

void CachedMap::ask(Question&& q) {
    SSDTLM_CHECK(q.extent.units <= most_units(), "a command asks for more of the map than its cache has room for");
    if (free_questions_.empty()) {
        questions_.emplace_back();
        free_questions_.push_back(static_cast<std::uint32_t>(questions_.size() - 1));
    }
    const std::uint32_t number = free_questions_.back();
    free_questions_.pop_back();
    questions_[number] = std::move(q);
    queue_.push_back(number);
    admit();
}

void CachedMap::admit() {
    while (!queue_.empty() && fits(questions_[queue_.front()])) {
        const std::uint32_t number = queue_.front();
        queue_.pop_front();
        begin(number);
    }
}

bool CachedMap::fits(const Question& q) const {
    std::uint64_t more = 0;
    for_each_key(q, [&](std::uint32_t key, const WorkTag&) {
        const Slot s = table_.find(key);
        more += s == kNone || uses_[s].holders == 0;
    });
    return held_ == 0 || held_ + more <= table_.room();
}

void CachedMap::hold(Slot s) {
    table_.pin(s);
    held_ += uses_[s].holders++ == 0;
}

void CachedMap::let_go(Slot s) {
    SSDTLM_CHECK(uses_[s].holders != 0, "an entry of the map is let go that nobody asked for");
    table_.unpin(s);
    held_ -= --uses_[s].holders == 0;
}

void CachedMap::begin(std::uint32_t number) {
    std::vector<Wanted> missing;
    Question& q = questions_[number];
    for_each_key(q, [&](std::uint32_t key, const WorkTag& whose) {
        Slot s = table_.find(key);
        if (s == kNone) {
            s = take_in(key, whose.tenant);
            missing.push_back({s, whose});
        } else {
            table_.use(s);
        }
        hold(s);
        if (q.units.empty()) q.held.push_back(s);
        if (!is_loading(s)) {
            count_hit(s, whose.tenant);
            return;
        }
        ++counters_.misses;
        ++asked_by(whose.tenant).misses;
        ++q.missing;
        uses_[s].waiting.push_back(number);
    });
    if (q.missing == 0) peers_.agenda.post(peers_.agenda.now(), Then::to<&CachedMap::answer>(this, number));
    for (const Wanted& entry : missing) want(entry);
}

void CachedMap::answer(std::uint64_t number) {
    const Question q = std::move(questions_[number]);
    questions_[number] = Question{};
    free_questions_.push_back(static_cast<std::uint32_t>(number));
    if (q.units.empty()) {
        places_.resize(std::max<std::size_t>(places_.size(), q.extent.units));
        peers_.resident.translate(q.extent, MapUse::read, places_.data(), {});
        for (const Slot s : q.held) let_go(s);
    }
    q.units.empty() ? q.answered(places_.data()) : q.brought();
    admit();
    make_room(Cause::host);
}

// --- Entries that come and go ----------------------------------------------------------------------------------------

/// Adds the key to the table. Its contents are not there yet.
CachedMap::Slot CachedMap::take_in(std::uint32_t key, std::uint16_t tenant) {
    const Slot s = table_.add(key, tenant);
    if (s >= uses_.size()) uses_.resize(s + 1);
    uses_[s].loading = Loading::yes;
    uses_[s].prefetched = false;
    return s;
}

/// As the map says it is.
CachedMap::Slot CachedMap::take_in_known(std::uint32_t key) {
    const Slot s = take_in(key);
    uses_[s].loading = Loading::no;
    counters_.most_entries = std::max(counters_.most_entries, ++occupied_);
    return s;
}

void CachedMap::want(const Wanted& entry) {
    if (wanted_.empty() && occupied_ < table_.room()) return load(entry);
    wanted_.push_back(entry);
    make_room();
}

/// All who want entries of one translation page at the same time wait for one read.
void CachedMap::load(const Wanted& entry) {
    counters_.most_entries = std::max(counters_.most_entries, ++occupied_);
    const std::uint32_t page = table_.page_of(table_.key(entry.slot));
    Reading& reading = reading_[page];
    reading.slots.push_back(entry.slot);
    if (reading.slots.size() != 1) return;
    reading.whose = entry.whose;
    ++reads_under_way_;
    peers_.cores.run(page, peers_.costs.flash_issue, CoreStep::map_read, Then::to<&CachedMap::read_page>(this, page));
}

void CachedMap::read_page(std::uint64_t page) {
    const auto number = static_cast<std::uint32_t>(page);
    // What is on its way to the flash is still in the DRAM; what was never written says that nothing is mapped.
    if (write_backs_.in_dram(number) || !is_place(peers_.pages.place(number))) {
        peers_.agenda.post(peers_.agenda.now(), Then::to<&CachedMap::page_was_at_hand>(this, page));
        return;
    }
    ++counters_.reads;
    TranslationRead& job = jobs_.acquire();
    start_translation_read(peers_, job, number, &reading_.at(number).whose);
    job.txn.then = Then::to<&CachedMap::flash_done>(this, job);
    peers_.flash.submit(job.txn);
}

void CachedMap::flash_done(TranslationRead& job) {
    end_translation_read(peers_, job, Then::to<&CachedMap::page_read>(this, job));
}

void CachedMap::page_read(TranslationRead& job) {
    const std::uint32_t page = job.page;
    if (check_.has_entries(job)) compare(job);
    if (__builtin_expect(prefetch_ > 1, 0)) prefetch(page, &job);
    jobs_.release(job);
    page_at_hand(page);
}

/// With single entries, it compares only the wanted ones: others may be in memory, and newer.
__attribute__((noinline)) void CachedMap::compare(const TranslationRead& read) const {
    if (by_page_) return check_.compare_page(read);
    for (const Slot s : reading_.at(read.page).slots)
        if (uses_[s].loading == Loading::yes) check_.compare(read, Lpa{table_.key(s)});
}

void CachedMap::page_at_hand(std::uint64_t page) {
    --reads_under_way_;
    const auto found = reading_.find(static_cast<std::uint32_t>(page));
    const std::vector<Slot> readers = std::move(found->second.slots);
    reading_.erase(found);
    std::vector<std::uint32_t> complete;
    for (const Slot s : readers) {
        const std::uint64_t key = table_.key(s);
        if (uses_[s].loading == Loading::yes && !table_.is_dirty(s)) {
            check_.require_fresh(key * units_per_key_, units_per_key_);
            if (!is_place(peers_.pages.place(static_cast<std::uint32_t>(page))))
                check_.require_unmapped(key * units_per_key_, units_per_key_);
        }
        uses_[s].loading = Loading::no;
        for (const std::uint32_t question : std::exchange(uses_[s].waiting, {})) {
            if (question == kOwn)
                table_.unpin(s);
            else if (--questions_[question].missing == 0)
                complete.push_back(question);
        }
    }
    for (const std::uint32_t question : complete) answer(question);
    admit();
    make_room();
    if (__builtin_expect(on_idle_ != nullptr, 0) && idle()) on_idle_();
}

/// Precondition: clean and not held.
void CachedMap::drop(Slot s) {
    counters_.prefetch_dropped += uses_[s].prefetched;
    table_.remove(s);
    --occupied_;
}

/// An entry that is wanted takes the place of the coldest one, which is written back first if it is dirty. As many more
/// leave as collection has taken in beyond the room; the wanted entry waits for one to leave, not for all of them.
/// These are written back when a command of the host goes on. Collection alone writes none back: translation pages that
/// are written cause collection, which takes in entries, and that would go on for ever.
void CachedMap::make_room(Cause cause) {
    while (!wanted_.empty() || occupied_ > table_.room()) {
        if (occupied_ >= table_.room()) {
            const Slot coldest = table_.coldest();
            if (coldest == kNone) return;  // all are held
            if (__builtin_expect(table_.is_dirty(coldest) && peers_.ftl.media().read_only, 0)) {
                if (wanted_.empty()) return;
            } else if (table_.is_dirty(coldest)) {
                if (wanted_.empty() && cause == Cause::other) return;
                const std::uint64_t many = wanted_.size() + (occupied_ > table_.room() ? occupied_ - table_.room() : 0);
                // Looking at the coldest ones once more finds nothing new, until some of them have left or many more
                // are to leave.
                if (write_backs_.leaving() >= many || many < look_again_at_) return;
                if (write_backs_.begin(many)) continue;
                look_again_at_ = 2 * many;
                return;
            } else {
                drop(coldest);
            }
        }
        if (wanted_.empty()) continue;
        const Wanted entry = wanted_.front();
        wanted_.pop_front();
        load(entry);
    }
}

}  // namespace ssdtlm
