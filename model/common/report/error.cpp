// SPDX-License-Identifier: Apache-2.0
#include "common/report/error.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace ssdtlm {

std::string Problem::text() const {
    std::string s = where.empty() ? found : where + ": " + found;
    if (!allowed.empty()) s += "; " + allowed;
    if (!repair.empty()) s += "; " + repair;
    // The message may quote a file that is no text. So control characters are replaced: a problem stays on one line,
    // and does not change the terminal.
    for (char& c : s)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
    return s;
}

namespace {
std::string join(const std::vector<Problem>& ps) {
    std::string s;
    for (const auto& p : ps) {
        if (!s.empty()) s += '\n';
        s += p.text();
    }
    return s;
}

/// The Damerau-Levenshtein distance without edits inside a transposition (optimal string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

/// The number at the beginning of a word, as text; empty if there is none.
std::string number_of(const std::string& word) {
    return word.substr(0, std::min(word.find_first_not_of("0123456789.,"), word.size()));
}

std::string lower(std::string s) {
    std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return s;
}

/// Splits a name into words: "dies_per_chip" gives dies, per, chip.
std::vector<std::string> words_of(const std::string& name) {
    std::vector<std::string> words(1);
    for (const char c : lower(name)) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

/// The candidate that has all words of the given name, and the fewest words in all; empty if there is none.
std::string longer_name(const std::string& given, const std::vector<std::string>& candidates) {
    const std::vector<std::string> wanted = words_of(given);
    std::string best;
    std::size_t best_words = ~std::size_t{0};
    for (const std::string& c : candidates) {
        const std::vector<std::string> words = words_of(c);
        const bool all = !wanted.empty() && std::all_of(wanted.begin(), wanted.end(), [&](const std::string& w) {
            return std::find(words.begin(), words.end(), w) != words.end();
        });
        if (!all || words.size() >= best_words) continue;
        best_words = words.size();
        best = c;
    }
    return best;
}
}  // namespace

UserError::UserError(std::vector<Problem> problems)
    : std::runtime_error(join(problems)), problems_(std::move(problems)) {}

void panic(const char* where, const char* what) {
    panic(where, std::string(what));
}

void panic(const char* where, const std::string& what) {
    throw Panic(std::string(where) + ": " + what);
}

/// A candidate is not near if half of the longer text or more must be edited. A candidate with another number is never
/// near: 12Gbps is no slip of 1.5Gbps.
std::string nearest(const std::string& given, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(2, given.size() / 3) + 1;
    for (const auto& c : candidates) {
        if (lower(c) == lower(given)) return c;
        if (number_of(c) != number_of(given)) continue;
        const std::size_t d = edit_distance(given, c);
        if (d < best_distance && 2 * d < std::max(given.size(), c.size())) {
            best_distance = d;
            best = c;
        }
    }
    if (best_distance == 1) return best;  // one wrong letter is a slip
    const std::string longer = longer_name(given, candidates);
    return longer.empty() ? best : longer;
}

}  // namespace ssdtlm
