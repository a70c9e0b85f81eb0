// exp, log and their kin, our own, so that they give the same bits on every machine: sums, products, quotients and
// roots of doubles in a stated order, no fused operation, no function of the C library. Each is within 1 ulp of the
// exact value for every argument (tests/functions.cpp tries them), most within 0.52.
//
// exp x = 2^(k/128)·exp r with |r| ≤ ln 2/256, and ln x = k ln 2 + ln c + ln(1 + r) with c from a table of 128 and
// |r| < 1/230 (P. T. P. Tang, ACM Transactions on Mathematical Software 15 (1989) and 16 (1990)); r is kept with
// what its rounding took.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "function_tables.hpp"
#include "lanes.hpp"

namespace noregret::functions {

using FourWhole [[gnu::vector_size(32)]] = std::uint64_t;

constexpr double FAR_FROM_THE_EDGE = 700.0;  // exp of ± this and less is normal, and so are the parts it is summed of
constexpr double TO_WHOLE = 0x1.8p52;         // x + TO_WHOLE has the nearest whole number to x in its low bits

[[gnu::always_inline]] inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
[[gnu::always_inline]] inline double with_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }
[[gnu::always_inline]] inline double power_of_two(int n) { return with_bits(std::uint64_t(1023 + n) << 52); }  // −1022 ≤ n ≤ 1023

// exp r − 1 − r for |r| ≤ ln 2/256.
template <class N> [[gnu::always_inline]] inline N exp_series(N r) {
    const N square = r * r;
    return square * ((0.5 + r * (1.0 / 6.0)) + square * (1.0 / 24.0 + r * (1.0 / 120.0)));
}

// exp x where it is not normal or nearly so, or x is no number. The result is made 2^±128 too near to 1 and then scaled.
[[gnu::cold, gnu::noinline]] inline double exp_at_the_edge(double x) {
    if (x != x) return std::numeric_limits<double>::quiet_NaN();
    if (x > 710.0) return std::numeric_limits<double>::infinity();
    if (x < -746.0) return 0.0;
    const double whole = x * STEPS_A_UNIT + TO_WHOLE, k = whole - TO_WHOLE;
    const double r = (x - k * STEP_HIGH) - k * STEP_LOW;
    const std::uint64_t steps = bits_of(whole);
    const PowerOfTwo power = POWERS_OF_TWO[steps % 128];
    const std::uint64_t nearer = x > 0.0 ? -(std::uint64_t(128) << 52) : std::uint64_t(128) << 52;
    const double s = with_bits(bits_of(power.value) + ((steps - steps % 128) << 45) + nearer);
    return (s + s * (power.rest + (r + exp_series(r)))) * (x > 0.0 ? 0x1p128 : 0x1p-128);
}

[[gnu::always_inline]] inline double exp_of(double x) {
    if (!(x < FAR_FROM_THE_EDGE && x > -FAR_FROM_THE_EDGE)) [[unlikely]] return exp_at_the_edge(x);
    const double whole = x * STEPS_A_UNIT + TO_WHOLE, k = whole - TO_WHOLE;
    const double r = (x - k * STEP_HIGH) - k * STEP_LOW;
    const std::uint64_t steps = bits_of(whole);
    const PowerOfTwo power = POWERS_OF_TWO[steps % 128];
    const double s = with_bits(bits_of(power.value) + ((steps - steps % 128) << 45));
    return s + s * (power.rest + (r + exp_series(r)));
}

// The same bits, four at a time.
[[gnu::always_inline]] inline Four exp_of(Four x) {
#if !defined(__AVX2__)
    return Four{exp_of(x[0]), exp_of(x[1]), exp_of(x[2]), exp_of(x[3])};  // with narrower vectors that is the faster way
#endif
    const auto inside = (x < FAR_FROM_THE_EDGE) & (x > -FAR_FROM_THE_EDGE);
    if (!(inside[0] & inside[1] & inside[2] & inside[3])) [[unlikely]] {
        return Four{exp_of(x[0]), exp_of(x[1]), exp_of(x[2]), exp_of(x[3])};
    }
    const Four whole = x * STEPS_A_UNIT + TO_WHOLE, k = whole - TO_WHOLE;
    const Four r = (x - k * STEP_HIGH) - k * STEP_LOW;
    const FourWhole steps = std::bit_cast<FourWhole>(whole), place = steps % 128;
    const PowerOfTwo powers[4] = {POWERS_OF_TWO[place[0]], POWERS_OF_TWO[place[1]], POWERS_OF_TWO[place[2]], POWERS_OF_TWO[place[3]]};
    const Four value{powers[0].value, powers[1].value, powers[2].value, powers[3].value};
    const Four rest{powers[0].rest, powers[1].rest, powers[2].rest, powers[3].rest};
    const Four s = std::bit_cast<Four>(std::bit_cast<FourWhole>(value) + ((steps - place) << 45));
    return s + s * (rest + (r + exp_series(r)));
}

// (ln(1 + r) − r)/r² for |r| < 1/230.
template <class N> [[gnu::always_inline]] inline N log_series(N r) {
    const double *a = LOG_SERIES;
    const N square = r * r;
    return (a[0] + r * a[1]) + square * ((a[2] + r * a[3]) + square * (a[4] + r * a[5]));
}

// ln(x + rest) + fold·ln 2 for a positive normal x and |rest| ≤ ulp(x)/2; rest is 0 where x is next to 1.
template <bool RESTS> [[gnu::always_inline]] inline double log_of_sum(double x, double rest, int fold) {
    const std::uint64_t above = bits_of(x) - TABLE_START;
    const Logarithm &middle = LOGARITHMS[(above >> 45) % 128];
    const std::int64_t exponent = static_cast<std::int64_t>(above) >> 52;
    const double z = with_bits(bits_of(x) - (static_cast<std::uint64_t>(exponent) << 52));
    const double head = with_bits(bits_of(z) & ~std::uint64_t(0xfff)), tail = z - head;
    const double most = head * middle.inverse - 1.0, least = tail * middle.inverse;  // both exact
    const double r = most + least;
    double taken = least - (r - most);
    if constexpr (RESTS) {
        const double share = rest * power_of_two(exponent > 1000 ? -1000 : -static_cast<int>(exponent)) * middle.inverse;
        taken += share - share * r;
    }
    const double k = static_cast<double>(exponent + fold);
    const double base = k * LN2_HIGH + middle.high;  // exact
    const double high = base + r, low = ((base - high) + r) + (k * LN2_LOW + (middle.low + taken));
    return high + (low + r * r * log_series(r));
}

[[gnu::cold, gnu::noinline]] inline double log_at_the_edge(double x) {
    if (x == 0.0) return -std::numeric_limits<double>::infinity();
    if (x == std::numeric_limits<double>::infinity()) return x;
    if (!(x > 0.0)) return std::numeric_limits<double>::quiet_NaN();
    return log_of_sum<false>(x * 0x1p54, 0.0, -54);
}

[[gnu::always_inline]] inline bool is_normal_positive(double x) {
    return bits_of(x) - 0x0010000000000000u < 0x7fe0000000000000u;
}

[[gnu::always_inline]] inline double log_of(double x) {
    if (!is_normal_positive(x)) [[unlikely]] return log_at_the_edge(x);
    return log_of_sum<false>(x, 0.0, 0);
}

// ln(1 + x).
[[gnu::always_inline]] inline double log1p_of(double x) {
    if (x < 1.0 / 256.0 && x > -1.0 / 256.0) return x == 0.0 ? x : x + x * x * log_series(x);
    const double sum = 1.0 + x;
    if (!is_normal_positive(sum)) [[unlikely]] return log_at_the_edge(sum);
    return log_of_sum<true>(sum, x < 1.0 ? x - (sum - 1.0) : 1.0 - (sum - x), 0);
}

// The same bits, four at a time, where all four are from 0 to 1.
[[gnu::always_inline]] inline Four log1p_of(Four x) {
#if !defined(__AVX2__)
    return Four{log1p_of(x[0]), log1p_of(x[1]), log1p_of(x[2]), log1p_of(x[3])};
#endif
    const auto inside = (x >= 0.0) & (x <= 1.0);
    if (!(inside[0] & inside[1] & inside[2] & inside[3])) [[unlikely]] {
        return Four{log1p_of(x[0]), log1p_of(x[1]), log1p_of(x[2]), log1p_of(x[3])};
    }
    const Four sum = 1.0 + x, rest = x - (sum - 1.0);
    const FourWhole above = std::bit_cast<FourWhole>(sum) - TABLE_START, exponent = above >> 52, place = (above >> 45) % 128;
    const Logarithm middles[4] = {LOGARITHMS[place[0]], LOGARITHMS[place[1]], LOGARITHMS[place[2]], LOGARITHMS[place[3]]};
    const Four inverse{middles[0].inverse, middles[1].inverse, middles[2].inverse, middles[3].inverse};
    const Four middle{middles[0].high, middles[1].high, middles[2].high, middles[3].high};
    const Four middle_low{middles[0].low, middles[1].low, middles[2].low, middles[3].low};
    const FourWhole z = std::bit_cast<FourWhole>(sum) - (exponent << 52), head_bits = z & ~std::uint64_t(0xfff);
    const Four head = std::bit_cast<Four>(head_bits), tail = std::bit_cast<Four>(z) - head;
    const Four most = head * inverse - 1.0, least = tail * inverse, r = most + least;
    const Four share = rest * std::bit_cast<Four>((1023 - exponent) << 52) * inverse;
    const Four taken = (least - (r - most)) + (share - share * r);
    const Four k = std::bit_cast<Four>(exponent + bits_of(0x1p52)) - 0x1p52;
    const Four base = k * LN2_HIGH + middle, high = base + r;
    const Four low = ((base - high) + r) + (k * LN2_LOW + (middle_low + taken));
    return x < 1.0 / 256.0 ? x + x * x * log_series(x) : high + (low + r * r * log_series(r));
}

// A number as the sum of two, the second at most half an ulp of the first: some hundred bits.
struct Pair {
    double high, low;
};

// a + b exactly.
[[gnu::always_inline]] inline Pair sum_of(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

// a·b exactly, for factors below 2^970 whose product is above 2^−960 (T. J. Dekker 1971).
[[gnu::always_inline]] inline Pair product_of(double a, double b) {
    const double product = a * b, wide_a = a * 0x1.0000002p27, wide_b = b * 0x1.0000002p27;
    const double a1 = wide_a - (wide_a - a), b1 = wide_b - (wide_b - b), a2 = a - a1, b2 = b - b1;
    return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

[[gnu::always_inline]] inline Pair plus(Pair a, Pair b) {
    const Pair sum = sum_of(a.high, b.high);
    const double low = sum.low + (a.low + b.low), high = sum.high + low;
    return {high, low - (high - sum.high)};
}

[[gnu::always_inline]] inline Pair times(Pair a, Pair b) {
    const Pair product = product_of(a.high, b.high);
    const double low = product.low + (a.high * b.low + a.low * b.high), high = product.high + low;
    return {high, low - (high - product.high)};
}

[[gnu::always_inline]] inline Pair over(Pair a, Pair b) {
    const double q = a.high / b.high;
    const Pair taken = product_of(q, b.high);
    const double low = (((a.high - taken.high) - taken.low) + (a.low - q * b.low)) / b.high, high = q + low;
    return {high, low - (high - q)};
}

// exp x − 1 for −40 ≤ x ≤ 100.
inline Pair expm1_pair(double x) {
    const double whole = x * STEPS_A_UNIT + TO_WHOLE, k = whole - TO_WHOLE;
    const double near = x - k * STEP_HIGH, beside = k * STEP_LOW, r = near - beside, taken = (near - r) - beside;
    const std::uint64_t steps = bits_of(whole);
    const PowerOfTwo power = POWERS_OF_TWO[steps % 128];
    const double s = with_bits(bits_of(power.value) + ((steps - steps % 128) << 45));
    const double square = r * r, sixth = square * square * square * (1.0 / 720.0 + r * (1.0 / 5040.0));
    const Pair linear = product_of(s, r), less = sum_of(s, -1.0), sum = sum_of(less.high, linear.high);
    const double rest = (sum.low + less.low) + (linear.low + s * (power.rest * (1.0 + r) + (taken + (exp_series(r) + sixth))));
    const double high = sum.high + rest;
    return {high, rest - (high - sum.high)};
}

// exp x − 1.
inline double expm1_of(double x) {
    if (x < 0x1p-54 && x > -0x1p-54) return x;
    if (!(x <= 100.0)) return exp_of(x);  // 1 is far below its last place
    return x < -40.0 ? -1.0 : expm1_pair(x).high;
}

inline double tanh_of(double x) {
    const double size = x < 0.0 ? -x : x;
    if (size < 0x1p-28) return x;
    if (!(size < 22.0)) return x != x ? exp_of(x) : (x < 0.0 ? -1.0 : 1.0);
    const Pair grown = expm1_pair(2.0 * size);
    const double found = over(grown, plus(grown, {2.0, 0.0})).high;
    return x < 0.0 ? -found : found;
}

// sin and cos of high + low for |high| ≤ π/4.
inline double sine_series(double high, double low) {
    const double z = high * high, far = z * z;
    const double start = -1.0 / 6.0 + z * (1.0 / 120.0), next = -1.0 / 5040.0 + z * (1.0 / 362880.0);
    const double later = -1.0 / 39916800.0 + z * (1.0 / 6227020800.0);
    const double last = -1.0 / 1307674368000.0 + z * (1.0 / 355687428096000.0 - z * (1.0 / 121645100408832000.0));
    const double series = start + far * (next + far * (later + far * last));
    return high + (high * z * series + low * (1.0 - 0.5 * z));
}

inline double cosine_series(double high, double low) {
    const Pair square = product_of(high, high);
    const double z = square.high, far = z * z;
    const double start = 1.0 / 24.0 - z * (1.0 / 720.0), next = 1.0 / 40320.0 - z * (1.0 / 3628800.0);
    const double later = 1.0 / 479001600.0 - z * (1.0 / 87178291200.0);
    const double last = 1.0 / 20922789888000.0 - z * (1.0 / 6402373705728000.0);
    const double series = start + far * (next + far * (later + far * last)), half = 0.5 * z, rest = 1.0 - half;
    return rest + (((1.0 - rest) - half) + (far * series - (0.5 * square.low + high * low)));
}

struct Angle {
    Pair rest;          // within ±π/4
    unsigned quarters;  // of a turn, modulo 4
};

// A fraction of a quarter turn, a whole number of 2⁻¹²⁶ths below ½ in size, as an angle.
inline Pair quarter_turns(__int128 fraction) {
    const bool below = fraction < 0;
    unsigned __int128 size = below ? -static_cast<unsigned __int128>(fraction) : static_cast<unsigned __int128>(fraction);
    if (size == 0) return {0.0, 0.0};
    int shift = 0;  // the leading bit goes to the place 127
    if ((size >> 64) == 0) size <<= 64, shift = 64;
    const int zeros = std::countl_zero(static_cast<std::uint64_t>(size >> 64));
    size <<= zeros;
    const double high = static_cast<double>(static_cast<std::uint64_t>(size >> 75)) * 0x1p-53;
    const double low = static_cast<double>(static_cast<std::uint64_t>(size >> 22) & ((std::uint64_t(1) << 53) - 1)) * 0x1p-106;
    const Pair angle = times({high, low}, {HALF_PI_HIGH, HALF_PI_LOW});
    const double unit = (below ? -4.0 : 4.0) * power_of_two(-(shift + zeros));
    return {angle.high * unit, angle.low * unit};
}

// x less whole quarter turns, for every finite x: the product with 2/π is taken in whole numbers, from the bits of
// 2/π that matter for this exponent (M. H. Payne and R. N. Hanek 1983).
inline Angle reduced(double x) {
    const double size = x < 0.0 ? -x : x;
    if (size <= QUARTER_PI) return {{x, 0.0}, 0};
    const int exponent = static_cast<int>(bits_of(size) >> 52) - 1075;  // size = whole·2^exponent
    const std::uint64_t whole = (bits_of(size) & ((std::uint64_t(1) << 52) - 1)) | (std::uint64_t(1) << 52);
    const int first = exponent + 62;  // place of the bit of 2/π, after 64 zeros, whose product with `whole` counts half turns
    const int word = first / 64, within = first % 64;
    std::uint64_t window[3];
    for (int i = 0; i < 3; ++i) {
        window[i] = TWO_OVER_PI[word + i] << within;
        if (within) window[i] |= TWO_OVER_PI[word + i + 1] >> (64 - within);
    }
    const unsigned __int128 low = static_cast<unsigned __int128>(whole) * window[2];
    const unsigned __int128 mid = static_cast<unsigned __int128>(whole) * window[1] + static_cast<std::uint64_t>(low >> 64);
    const std::uint64_t top = whole * window[0] + static_cast<std::uint64_t>(mid >> 64);
    unsigned __int128 turns = (static_cast<unsigned __int128>(top) << 64) | static_cast<std::uint64_t>(mid);  // of 2⁻¹²⁶ths
    const std::uint64_t dropped = static_cast<std::uint64_t>(low);
    unsigned quarters = static_cast<unsigned>(turns >> 126) & 3u;
    turns &= (static_cast<unsigned __int128>(1) << 126) - 1;
    __int128 fraction = static_cast<__int128>(turns);
    if (turns >> 125) {
        fraction -= static_cast<__int128>(1) << 126;
        quarters = (quarters + 1) & 3u;
    }
    Pair rest = quarter_turns(fraction);
    const double tail = static_cast<double>(dropped) * 0x1p-190 * HALF_PI_HIGH;
    rest = plus(rest, {tail, 0.0});
    if (x < 0.0) return {{-rest.high, -rest.low}, (4u - quarters) & 3u};
    return {rest, quarters};
}

inline double cosine_at(Angle angle) {
    const double found = angle.quarters & 1u ? sine_series(angle.rest.high, angle.rest.low) : cosine_series(angle.rest.high, angle.rest.low);
    return ((angle.quarters + 1) & 2u) ? -found : found;
}

inline double cos_of(double x) {
    if (!finite(x)) return std::numeric_limits<double>::quiet_NaN();
    return cosine_at(reduced(x));
}

inline double sin_of(double x) {
    if (!finite(x)) return std::numeric_limits<double>::quiet_NaN();
    if (x < 0x1p-28 && x > -0x1p-28) return x;
    Angle angle = reduced(x);
    angle.quarters = (angle.quarters + 3) & 3u;
    return cosine_at(angle);
}

// ln x for a normal x > 0, to within 2^−68.
inline Pair log_pair(double x) {
    const std::uint64_t above = bits_of(x) - TABLE_START;
    const Logarithm &middle = LOGARITHMS[(above >> 45) % 128];
    const std::int64_t exponent = static_cast<std::int64_t>(above) >> 52;
    const double z = with_bits(bits_of(x) - (static_cast<std::uint64_t>(exponent) << 52));
    const double head = with_bits(bits_of(z) & ~std::uint64_t(0xfff)), tail = z - head;
    const double most = head * middle.inverse - 1.0, least = tail * middle.inverse, r = most + least, taken = least - (r - most);
    const double k = static_cast<double>(exponent);
    const Pair sum = sum_of(k * LN2_HIGH + middle.high, r);
    return plus(sum, sum_of(r * r * log_series(r), (k * LN2_LOW + middle.low) + (taken - r * taken)));
}

// ln Γ near 1 or 2, where it is 0: d·(first + d·Σ c_k d^k), |d| ≤ 1/64.
inline double log_gamma_near_zero(double d, Pair first, const double (&c)[9]) {
    double series = c[8];
    for (int k = 7; k >= 0; --k) series = c[k] + d * series;
    if (d < 0x1p-60 && d > -0x1p-60) return d == 0.0 ? 0.0 : d * first.high;
    const Pair linear = product_of(d, first.high);
    return linear.high + (linear.low + (d * first.low + d * d * series));
}

// ln Γ(x) for x > 0, not a number elsewhere: Stirling's series for x + 16, less ln(x(x + 1)…(x + 15)).
inline double log_gamma_of(double x) {
    if (x == std::numeric_limits<double>::infinity()) return x;
    if (!(x > 0.0)) return x == 0.0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (x < 0x1p-60) return -log_of(x);
    const double from_one = x - 1.0, from_two = x - 2.0;
    if (from_one <= 0x1p-6 && from_one >= -0x1p-6) return log_gamma_near_zero(from_one, {AT_ONE_HIGH, AT_ONE_LOW}, LOG_GAMMA_AT_ONE);
    if (from_two <= 0x1p-6 && from_two >= -0x1p-6) return log_gamma_near_zero(from_two, {AT_TWO_HIGH, AT_TWO_LOW}, LOG_GAMMA_AT_TWO);
    if (x > 0x1p60) {  // all but x(ln x − 1) is below an ulp
        const Pair slope = plus(log_pair(x), {-1.0, 0.0});
        return x > 0x1p900 ? (times(slope, {x * 0x1p-200, 0.0}).high) * 0x1p200 : times(slope, {x, 0.0}).high;
    }
    Pair y{x, 0.0}, product{1.0, 0.0};
    const bool shifted = x < 16.0;
    if (shifted) {
        for (int j = 0; j < 16; ++j) product = times(product, sum_of(x, j));
        y = sum_of(x, 16.0);
    }
    const Pair inverse = over({1.0, 0.0}, y);
    const double u = inverse.high * inverse.high;
    const double series = u * (-1.0 / 360.0 + u * (1.0 / 1260.0 + u * (-1.0 / 1680.0 + u * (1.0 / 1188.0 + u * (-691.0 / 360360.0 + u * (1.0 / 156.0))))));
    const Pair log = plus(log_pair(y.high), {y.low * inverse.high, 0.0});
    Pair found = times(log, plus(y, {-0.5, 0.0}));
    found = plus(found, {-y.high, -y.low});
    found = plus(found, {HALF_LOG_TWO_PI_HIGH, HALF_LOG_TWO_PI_LOW});
    found = plus(found, plus(times(inverse, {TWELFTH_HIGH, TWELFTH_LOW}), {inverse.high * series, 0.0}));
    if (shifted) {
        const Pair less = plus(log_pair(product.high), {product.low / product.high, 0.0});
        found = plus(found, {-less.high, -less.low});
    }
    return found.high;
}

// Two independent standard normal deviates from two uniform whole numbers of 64 bits, each within 3 ulp of
// √(−2 ln u)·cos 2πv and √(−2 ln u)·sin 2πv for u = (⌊a/2¹¹⌋ + 1)/2⁵³, v = ⌊b/2¹¹⌋/2⁵³ (G. E. P. Box and M. E. Muller 1958).
inline Pair normal_deviates(std::uint64_t a, std::uint64_t b) {
    const double u = (static_cast<double>(a >> 11) + 1.0) * 0x1p-53;
    const double size = std::sqrt(-2.0 * log_of(u));
    const std::uint64_t turned = (b >> 11) << 11;
    unsigned quarters = static_cast<unsigned>(turned >> 62);
    std::int64_t fraction = static_cast<std::int64_t>(turned & ((std::uint64_t(1) << 62) - 1));  // of a quarter turn, 2⁻⁶²ths
    if (fraction >> 61) {
        fraction -= std::int64_t(1) << 62;
        quarters = (quarters + 1) & 3u;
    }
    const Angle angle{quarter_turns(static_cast<__int128>(fraction) * (static_cast<__int128>(1) << 64)), quarters};
    return {size * cosine_at(angle), size * cosine_at({angle.rest, (quarters + 3) & 3u})};
}

}  // namespace noregret::functions

namespace noregret {

using functions::exp_of;
using functions::log_of;
using functions::log1p_of;
using functions::expm1_of;
using functions::tanh_of;
using functions::cos_of;
using functions::sin_of;
using functions::log_gamma_of;
using functions::normal_deviates;

}  // namespace noregret
