// What the parts of the core's test of bits share: a hash a subject, and seeded rows in every layout.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "lanes.hpp"
#include "rows.hpp"
#include "tests/stream.hpp"

namespace noregret::bits {

using Numbers = std::vector<double>;
using Places = std::vector<Index>;

// Over the bits of what was computed, word by word; every NaN counts the same.
struct Hash {
    std::uint64_t state = 0xcbf29ce484222325;

    void operator()(std::uint64_t whole) {
        state = (state ^ whole) * 0x9e3779b97f4a7c15;
        state ^= state >> 29;
    }
    void operator()(Index whole) { (*this)(static_cast<std::uint64_t>(whole)); }
    void operator()(double x) { (*this)(x == x ? std::bit_cast<std::uint64_t>(x) : std::uint64_t(0x7ff8000000000000)); }
    template <class T> void operator()(const std::vector<T> &line) {
        for (const T x : line) {
            if constexpr (std::is_floating_point_v<T>) (*this)(double(x));
            else (*this)(static_cast<std::uint64_t>(x));
        }
    }
};

template <class Work> void subject(const char *name, Work work) {
    Hash hash;
    work(hash);
    std::printf("%-32s %016llx\n", name, static_cast<unsigned long long>(hash.state));
}

template <class T> Line<T> view(std::vector<T> &line) { return {line.data(), static_cast<Index>(line.size())}; }
template <class T> Line<const T> seen(const std::vector<T> &line) { return {line.data(), static_cast<Index>(line.size())}; }
template <class T> Table<T> table(std::vector<T> &line, Index columns) {
    return {line.data(), columns ? static_cast<Index>(line.size()) / columns : 0, columns, columns};
}
template <class T> Table<const T> table_seen(const std::vector<T> &line, Index columns) {
    return {line.data(), columns ? static_cast<Index>(line.size()) / columns : 0, columns, columns};
}

inline Numbers zeros(Index n) { return Numbers(static_cast<std::size_t>(n)); }

// Numbers from −1 to 1.
inline Numbers line(Stream &stream, Index n) {
    Numbers made = zeros(n);
    for (double &x : made) x = 2.0 * stream.uniform() - 1.0;
    return made;
}

// Rows in every layout, of every length from 0 up and with zeros among them, the labels of a noisy linear rule, the
// scores of that rule, and weights of rounds, some of them 0 and most of them 1.
template <class X> struct Made {
    std::vector<X> dense, values;
    Places bounds{0};
    std::vector<std::uint32_t> features;
    Numbers labels, reals, weights;
    Index count, width;

    Made(std::uint64_t seed, Index count, Index width) : count(count), width(width) {
        Stream stream{seed};
        for (Index t = 0; t < count; ++t) {
            double score = 0.0;
            for (Index i = 0; i < width; ++i) {
                dense.push_back(stream.below(9) ? static_cast<X>(2.0 * stream.uniform() - 1.0) : X(0));
                score += (i % 3 ? 1.0 : -1.0) * double(dense.back());
                if (stream.below(3)) continue;
                features.push_back(static_cast<std::uint32_t>(i));
                values.push_back(dense.back());
            }
            bounds.push_back(static_cast<Index>(values.size()));
            reals.push_back(score + stream.uniform() - 0.5);
            labels.push_back(reals.back() > 0.0 ? 1.0 : -1.0);
            const auto kind = stream.below(8);
            weights.push_back(kind == 0 ? 0.0 : kind == 1 ? 0.5 + stream.uniform() : 1.0);
        }
    }
    Dense<X> matrix() const { return {dense.data(), count, width, width}; }
    Sparse<X> sparse() const { return {bounds.data(), features.data(), values.data(), count}; }
    Sparse<X> sparse(Index from) const { return {bounds.data() + from, features.data(), values.data(), count - from}; }
    Dense<X> matrix(Index from) const { return {dense.data() + from * width, count - from, width, width}; }
};

// The parts, each in a file of its own.
void rounds();
void pools();
void kernels();
void looking_back();
void texts();

}  // namespace noregret::bits
