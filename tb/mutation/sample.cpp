// SPDX-License-Identifier: Apache-2.0
// What test_rewriting.py mutates: each operator below between blanks, and each ++ and -- before a name, is one mutant,
// and each of them changes what the program prints. `a < b` in a comment, in a text and in a dump is none.
#include <cstdio>
#include <initializer_list>

#define TWICE(x) ((x)*2)

namespace {

struct Fields {
    unsigned low : 4;
    unsigned high : 28;
};

struct Sum {
    int total = 0;
    void add(int value, bool negative) { negative ? total -= value : total += value; }
    Sum& operator+=(std::initializer_list<int> values) { return all(values, false); }
    Sum& operator-=(std::initializer_list<int> values) { return all(values, true); }
    Sum& all(std::initializer_list<int> values, bool negative) {
        for (int v : values) add(v, negative);
        return *this;
    }
};

// Made before main() starts.
struct Early {
    bool less;
    explicit Early(int a) : less(a < 4) {}
};
const Early early(4);

constexpr int clipped(int value) {
    if (value >= 7) return 6;
    return value;
}

template <typename T, int kScale>
T between(T low, T high) {
    return (high - low) * kScale + T{1};
}

int commented(int a, int b) {
    return a  // a - b, "not this"
           + b;
}

void dump(int a) {
    std::printf("%d %d\n", a + 1, a < 1);
}

// Nested: of equal and of different precedence, in parentheses, in calls, in a condition of `?:`.
int nested(int a, int b, int c) {
    const int sum = a - b - c + 1;
    const bool either = a > 4 && b != 2 || c != 3 && a < b;
    return between<int, 3>(a - 1, sum + commented(b - c, a)) * 10 + (either && !(a == b && c < 1) ? 1 : 2);
}

void print_all_nested() {
    for (int a : {0, 1, 2, 4, 5})
        for (int b : {0, 1, 2, 4, 5})
            for (int c : {0, 1, 3}) std::printf("%d,", nested(a, b, c));
    std::printf("\n");
}

int run() {
    int values[] = {3, 1, 4, 1, 5, 9};
    for (int& v : values)
        if (v > 3 && v != 5) ++v;
    Fields fields = {3, 5};
    fields.low += 2;
    if (fields.low <= 5) --fields.high;
    Sum added;
    added += {1, 2, 3};
    added -= {7};
    ++*values;
    ++values[1], --added.total;
    const auto count = [&](auto accepts) {
        int n = 0;
        for (int v : values) n += accepts(v) ? 1 : 0;
        return n;
    };
    // Lambdas with operators of their own are operands.
    const int found = count([](int v) { return v > 4; }) - count([&](int v) { return v <= 5 && v == values[2]; });
    const char* text = found == 0 ? "a < b" : "a + b";
    std::printf("%s %d %u %u %d %d %d %d\n", text, found, unsigned(fields.low), unsigned(fields.high), added.total,
                values[0], values[1], values[2]);
    std::printf("%d %d %d %d\n", int(early.less), clipped(7), clipped(6), TWICE(found - 1));
    print_all_nested();
    return 0;
}

}  // namespace

int main() {
    dump(2);
    return run();
}
