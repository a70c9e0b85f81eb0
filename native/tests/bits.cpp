// The core's own test of "the same bits everywhere": plays seeded streams through every loop there is and prints one hash
// a subject, of weights, losses and every figure of a run. tests/run builds it with every compiler and processor there is
// and compares.
//
// A subject is one line: subject("name", [](Hash &hash) { … hash(x) … });
#include "tests/bits.hpp"

#include "functions.hpp"
#include "vector.hpp"

using namespace noregret;
using namespace noregret::bits;

namespace {

// Arguments of every exponent, and of the sizes that occur.
template <class Function> void everywhere_of(Hash &hash, Function function) {
    Stream stream{7};
    for (int i = 0; i < 50'000; ++i) {
        hash(function(std::bit_cast<double>(stream.next())));
        hash(function(40.0 * stream.uniform() - 20.0));
        hash(function(1.0 + (stream.uniform() - 0.5) * 0.01));
    }
}

template <class R> void products(Hash &hash, const R &rows, Index width) {
    Stream stream{11};
    Numbers z = line(stream, 2 * width);
    for (const Strided<double> weights : {Strided<double>{z.data(), width, 1}, Strided<double>{z.data(), width, 2}}) {
        for (Index t = 0; t < rows.count; ++t) {
            const Products found = dot(rows, t, weights);
            hash(found.dot);
            hash(found.square);
            add(rows, t, 0.01 * found.dot, weights);
        }
    }
    hash(z);
}

template <class X> void all_products(Hash &hash) {
    for (const Index width : {0, 1, 2, 3, 5, 15, 16, 17, 31, 50, 203}) {
        const Made<X> made(static_cast<std::uint64_t>(width) + 1, 50, width);
        products(hash, made.matrix(), width);
        products(hash, made.sparse(), width);
    }
}

}  // namespace

int main() {
    subject("exp", [](Hash &hash) { everywhere_of(hash, [](double x) { return exp_of(x); }); });
    subject("exp, four at a time", [](Hash &hash) { everywhere_of(hash, [](double x) { return exp_of(Four{0.5, -3.0, x, 1e-9})[2]; }); });
    subject("expm1", [](Hash &hash) { everywhere_of(hash, expm1_of); });
    subject("log", [](Hash &hash) { everywhere_of(hash, [](double x) { return log_of(x); }); });
    subject("log1p", [](Hash &hash) { everywhere_of(hash, [](double x) { return log1p_of(x); }); });
    subject("log1p, four at a time", [](Hash &hash) { everywhere_of(hash, [](double x) { return log1p_of(Four{0.5, 1.0, x, 1e-9})[2]; }); });
    subject("tanh", [](Hash &hash) { everywhere_of(hash, tanh_of); });
    subject("cos", [](Hash &hash) { everywhere_of(hash, cos_of); });
    subject("sin", [](Hash &hash) { everywhere_of(hash, sin_of); });
    subject("log_gamma", [](Hash &hash) { everywhere_of(hash, log_gamma_of); });
    subject("normal deviates", [](Hash &hash) {
        Stream stream{3};
        for (int i = 0; i < 50'000; ++i) {
            const std::uint64_t a = stream.next(), b = stream.next();  // one after the other: arguments come in any order
            const auto two = normal_deviates(a, b);
            hash(two.high);
            hash(two.low);
        }
    });
    subject("sums over vectors", [](Hash &hash) {
        for (Index n = 0; n < 70; ++n) {
            Stream stream{static_cast<std::uint64_t>(n)};
            const Numbers z = line(stream, 2 * n), x = line(stream, n);
            for (const Strided<const double> part : {Strided<const double>{z.data(), n, 1}, Strided<const double>{z.data(), n, 2}}) {
                hash(norm2(part)), hash(norm1(part)), hash(total(part)), hash(inner({x.data(), n, 1}, part));
                hash(largest(part)), hash(lowest(part));
            }
        }
    });
    subject("rows of float64", all_products<double>);
    subject("rows of float32", all_products<float>);
    rounds();
    pools();
    kernels();
    looking_back();
    texts();
}
