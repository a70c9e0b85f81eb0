// Four numbers at a time. The order of every sum below is stated and the same on every processor: a vector of four is
// four sums taken side by side, whatever instructions the compiler finds for it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "arrays.hpp"

namespace noregret {

using Four [[gnu::vector_size(32)]] = double;
using Two [[gnu::vector_size(16)]] = double;
using FourNarrow [[gnu::vector_size(16)]] = float;
using FourWhole [[gnu::vector_size(32)]] = long long;

[[gnu::always_inline]] inline Four load(const double *from) {
    Four four;
    std::memcpy(&four, from, sizeof four);
    return four;
}

[[gnu::always_inline]] inline Four load(const float *from) {
#if defined(__AVX__)
    return _mm256_cvtps_pd(_mm_loadu_ps(from));  // what the compiler makes two instructions of
#else
    FourNarrow four;
    std::memcpy(&four, from, sizeof four);
    return __builtin_convertvector(four, Four);
#endif
}

[[gnu::always_inline]] inline void store(Four four, double *to) { std::memcpy(to, &four, sizeof four); }

[[gnu::always_inline]] inline Four everywhere(double x) { return Four{x, x, x, x}; }

// The last `count` of four numbers, zeros before them.
[[gnu::always_inline]] inline Four last_of(Four x, long long count) {
    const long long first = 4 - count;
    return FourWhole{0, 1, 2, 3} >= FourWhole{first, first, first, first} ? x : Four{};
}

// (a0 + a2) + (a1 + a3).
[[gnu::always_inline]] inline double summed(Four a) {
    const Two halves = __builtin_shufflevector(a, a, 0, 1) + __builtin_shufflevector(a, a, 2, 3);
    return halves[0] + halves[1];
}

[[gnu::always_inline]] inline Four sqrt_of(Four a) {
#if defined(__AVX__)
    return _mm256_sqrt_pd(a);
#else
    return Four{std::sqrt(a[0]), std::sqrt(a[1]), std::sqrt(a[2]), std::sqrt(a[3])};
#endif
}

// The higher and the lower of two; the first where they are equal or one is not a number.
[[gnu::always_inline]] inline double higher(double a, double b) { return b > a ? b : a; }
[[gnu::always_inline]] inline double lower(double a, double b) { return b < a ? b : a; }
[[gnu::always_inline]] inline Four higher(Four a, Four b) { return b > a ? b : a; }
[[gnu::always_inline]] inline Four lower(Four a, Four b) { return b < a ? b : a; }
[[gnu::always_inline]] inline double clipped(double x, double limit) { return lower(higher(x, -limit), limit); }

// Whether a number is neither infinite nor NaN.
[[gnu::always_inline]] inline bool finite(double x) { return x - x == 0.0; }

}  // namespace noregret
