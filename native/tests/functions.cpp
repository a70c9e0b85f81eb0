// Tries the functions of functions.hpp at many arguments against quadruple precision and fails above 1 ulp.
//
//     g++ -std=gnu++20 -O2 -ffp-contract=off -I native native/tests/functions.cpp -lquadmath -o functions
//     ./functions [arguments for each function, 10000000 unless told] [seed]
#include <quadmath.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "functions.hpp"
#include "tests/stream.hpp"

using namespace noregret;
using functions::Pair, functions::with_bits;

namespace {

Stream stream{20260701};
bool failed = false;

// |got − want| in units of the last place of want.
double ulps(double got, __float128 want) {
    const double near = static_cast<double>(want);
    if (near != near || got != got) return near != near && got != got ? 0.0 : 1e9;
    if (std::isinf(near) || std::isinf(got)) return near == got ? 0.0 : 1e9;
    const int exponent = near == 0.0 ? -1022 : std::max(std::ilogb(near), -1022);
    return static_cast<double>(fabsq((static_cast<__float128>(got) - want) / ldexpq(1.0Q, exponent - 52)));
}

template <class Ours, class Exact, class... Arguments>
void try_out(const char *name, long count, double allowed, Ours ours, Exact exact, Arguments... arguments) {
    double worst = 0.0, at = 0.0;
    const auto one = [&](double x) {
        if (const double off = ulps(ours(x), exact(x)); off > worst) worst = off, at = x;
    };
    for (long i = 0; i < count / static_cast<long>(sizeof...(arguments)); ++i) (one(arguments()), ...);
    for (const double x : {0.0, -0.0, 1.0, -1.0, HUGE_VAL, -HUGE_VAL, 0x1p-1074, -0x1p-1074, 0x1p-1022, -0x1p-1022, 0x1.fffffffffffffp1023,
                           -0x1.fffffffffffffp1023}) {
        one(x);
    }
    if (const double nothing = ours(NAN); nothing == nothing) worst = 1e9, at = NAN;
    std::printf("%-10s %.4f ulp at %a (%.17g)%s\n", name, worst, at, at, worst > allowed ? "  TOO FAR" : "");
    failed |= worst > allowed;
}

double between(double low, double high) { return low + (high - low) * stream.uniform(); }
double any() { return with_bits(stream.next()); }                                         // every exponent
double small() { return std::ldexp(stream.uniform() - 0.5, -int(stream.next() % 70)); }   // about 0, at every scale
double half_turn() {  // next to a multiple of π/2
    const double near = std::ldexp(1.0, int(stream.next() % 60)) * (1.0 + stream.uniform());
    return std::nextafter(std::nearbyint(near / 1.5707963267948966) * 1.5707963267948966, stream.next() & 1 ? 1e300 : 0.0);
}

}  // namespace

int main(int count, char **words) {
    const long n = count > 1 ? std::atol(words[1]) : 10'000'000;
    if (count > 2) stream.state += static_cast<std::uint64_t>(std::atol(words[2])) << 32;
    try_out("exp", n, 1.0, [](double x) { return exp_of(x); }, expq, any, small, [] { return between(-1.0, 1.0); },
            [] { return between(-746.0, 710.0); }, [] { return between(-746.0, -700.0); });
    try_out("exp four", n / 10, 1.0, [](double x) { return exp_of(Four{1.0, x, -2.0, 0.25})[1]; }, expq, any,
            [] { return between(-746.0, 710.0); });
    try_out("expm1", n, 1.0, expm1_of, expm1q, any, small, [] { return between(-2.0, 2.0); }, [] { return between(-50.0, 710.0); });
    try_out("log", n, 1.0, [](double x) { return log_of(x); }, logq, any, [] { return 1.0 + small(); }, [] { return between(0.5, 2.0); },
            [] { return between(0.0, 0x1p-1021); });
    try_out("log1p", n, 1.0, [](double x) { return log1p_of(x); }, log1pq, any, small, [] { return between(-1.0, 1.0); },
            [] { return -1.0 - small(); }, [] { return std::exp(between(-60.0, 40.0)); });
    try_out("log1p four", n / 10, 1.0, [](double x) { return log1p_of(Four{1.0, 0.25, x, 0.0})[2]; }, log1pq, any, small,
            [] { return between(0.0, 1.0); });
    try_out("tanh", n, 1.0, tanh_of, tanhq, any, small, [] { return between(-1.0, 1.0); }, [] { return between(-23.0, 23.0); });
    try_out("cos", n, 1.0, cos_of, cosq, any, small, [] { return between(-10.0, 10.0); }, half_turn);
    try_out("sin", n, 1.0, sin_of, sinq, any, small, [] { return between(-10.0, 10.0); }, half_turn);
    const auto log_gamma = [](__float128 x) -> __float128 { return x == 0 ? __float128(INFINITY) : x > 0 ? lgammaq(x) : __float128(NAN); };
    try_out("log_gamma", n / 4, 1.0, log_gamma_of, log_gamma, any, [] { return between(0.0, 20.0); }, [] { return std::exp(between(-5.0, 60.0)); },
            [] { return 1.0 + small(); }, [] { return 2.0 + small(); });
    const auto size = [](std::uint64_t a) { return sqrtq(-2 * logq((__float128(a >> 11) + 1) * 0x1p-53Q)); };
    const auto turn = [](std::uint64_t b) { return 2 * M_PIq * __float128(b >> 11) * 0x1p-53Q; };
    double worst = 0.0;
    for (long i = 0; i < n / 10; ++i) {
        const std::uint64_t a = stream.next(), b = stream.next();
        const Pair two = normal_deviates(a, b);
        worst = std::max({worst, ulps(two.high, size(a) * cosq(turn(b))), ulps(two.low, size(a) * sinq(turn(b)))});
    }
    std::printf("%-10s %.4f ulp%s\n", "normal", worst, worst > 3.0 ? "  TOO FAR" : "");
    return failed || worst > 3.0;
}
