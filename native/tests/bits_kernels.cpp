// Bits of kernel values, of the kernel perceptron's rounds, of folded supports and of kernel sums in twice the precision.
#include <memory>

#include "exact_gram.hpp"
#include "fold.hpp"
#include "supports.hpp"
#include "tests/bits.hpp"

namespace noregret::bits {

namespace {

struct Kernel {
    Index kind, op;
    noregret::Numbers of;
};

const Kernel KERNELS[] = {{LINEAR_KERNEL, DOT, {0.0, 0.0, 0}}, {POLY_KERNEL, DOT, {1.0, 0.5, 3}}, {POLY_KERNEL, DOT, {0.7, 0.3, 2}},
                          {RBF_KERNEL, SQUARE, {0.0, 0.8, 0}}, {LAPLACE_KERNEL, ABSOLUTE, {0.0, 0.4, 0}}};

// The kernel values of all rows with each other, as many as are a multiple of eight, in panels.
bits::Numbers gram(const Made<double> &made, const Kernel &kernel, double bias) {
    const Index n = made.count, width = made.width;
    bits::Numbers panels = zeros(n * width), G = zeros(n * n);
    Places all;
    for (Index t = 0; t < n; ++t) all.push_back(t);
    const Table<const double> rows = table_seen(made.dense, width);
    lay(rows, seen(all), view(panels), seen(all));
    with_sum(kernel.op, [&](auto sum) { panel_sums<sum>(panels.data(), 0, n / PANEL, rows, table(G, n), 0); });
    kernel_values(kernel.kind, table(G, n), 0, n, bias, kernel.of);
    return G;
}

void values(Hash &hash) {
    for (const Kernel &kernel : KERNELS) {
        for (const Index width : {1, 7, 40, 600}) {
            const Made<double> made(static_cast<std::uint64_t>(width), 24, width);
            hash(gram(made, kernel, kernel.op == DOT ? 1.0 : 0.0));
            bits::Numbers spread = zeros(width), G = zeros(made.count * made.count);
            Places starts(made.bounds.begin(), made.bounds.end() - 1), stops(made.bounds.begin() + 1, made.bounds.end());
            sparse_sums(kernel.op, {seen(starts), seen(stops), seen(made.features), seen(made.values)}, made.sparse(), view(spread),
                        table(G, made.count), 0);
            hash(G);
            const Table<const double> rows = table_seen(made.dense, width);
            for (Index t = 1; t < made.count; ++t) hash(kernel_value(kernel.kind, kernel.op, kernel.of, rows.row(t - 1), rows.row(t)));
        }
    }
}

void supports(Hash &hash, Index limit, Index forget) {
    const auto record = std::make_unique<Record>();
    Stream stream{17};
    for (const Kernel &kernel : KERNELS) {
        for (const bool weighted : {false, true}) {
            const Made<double> made(99, 160, 6);
            const Index n = made.count;
            bits::Numbers base = zeros(n), alpha = zeros(n), scores = zeros(n), later = zeros(n), draws;
            Places order(static_cast<std::size_t>(n)), counts(2);
            for (Index t = 0; t < n; ++t) draws.push_back(stream.uniform());
            const bits::Numbers G = gram(made, kernel, 0.0);
            std::memset(static_cast<void *>(record.get()), 0, sizeof *record);
            record->config = {weighted ? SQRT : CONSTANT, 1.0, 0.0, WHOLE, INFINITE, 0.0, 0.0, 0.0, 1, NOTHING, 0.0, 0.0, 0.0, 0};
            State &st = record->state;
            st.scale = 1.0;
            st.trace_step = st.trace_next = st.curve_next = 1;
            const Supports<Index, double> s{0, table_seen(G, n), view(order), view(alpha)};
            hash(play_supports(seen(base), n + 1, 0, s, seen(made.labels), weighted ? seen(made.weights) : Line<const double>{}, view(counts),
                               {limit, forget, seen(draws)}, *record, view(scores)));
            score_all(seen(base), Supports<const Index, const double>{0, table_seen(G, n), seen(order), seen(alpha)}, counts[0], {later.data(), n - 1});
            for (const bits::Numbers *some : {&alpha, &scores, &later}) hash(*some);
            hash(order);
            hash(counts);
            for (const double x : {st.loss, st.gradient2, st.gradient2_sqrt, st.gradient2_inverse, st.gradient_dot_weights, st.norm2, st.row_max2}) hash(x);
            hash(st.mistakes);
        }
    }
}

void folded(Hash &hash) {
    for (const Index width : {1, 8, 21, 40}) {
        const Index whole = (width + PANEL - 1) / PANEL * PANEL, panels = whole / PANEL, count = 30;
        const Made<double> made(static_cast<std::uint64_t>(width) + 5, count, width), rows(static_cast<std::uint64_t>(width) + 6, 12, width);
        Stream stream{8};
        const bits::Numbers alpha = line(stream, count);
        const double gamma = 0.4, c = 0.9;
        bits::Numbers once = zeros(whole * count), twice = once, columns = once, A = zeros(panel_begins(panels, whole)), b = zeros(whole);
        for (Index s = 0; s < count; ++s) {
            for (Index j = 0; j < width; ++j) {
                const double x = made.dense[static_cast<std::size_t>(s * width + j)];
                const auto at = static_cast<std::size_t>((j / PANEL * count + s) * PANEL + j % PANEL);
                columns[static_cast<std::size_t>(j * count + s)] = x;
                once[at] = gamma * alpha[static_cast<std::size_t>(s)] * x;
                twice[at] = 2.0 * once[at];
            }
        }
        fold_matrix(seen(once), seen(twice), table_seen(columns, count), 0, panels, view(A));
        const double a = fold_line(table_seen(made.dense, width), seen(alpha), c, view(b), 0.0);
        bits::Numbers Y = zeros(12 * whole), scores = zeros(12);
        folded_sums(seen(A), seen(b), table_seen(rows.dense, width), 0, panels, table(Y, whole));
        folded_scores(a, gamma, table_seen(rows.dense, width), table_seen(Y, whole), view(scores));
        hash(a);
        for (const bits::Numbers *some : {&A, &b, &Y, &scores}) hash(*some);
    }
}

void in_twice_the_precision(Hash &hash) {
    const Made<double> made(4, 40, 12);
    Stream stream{9};
    Places to, which;
    for (Index t = 0; t < 40; t += 3) to.push_back(t);
    for (Index t = 0; t < 40; t += 2) which.push_back(t);
    const auto n = static_cast<Index>(which.size());
    const bits::Numbers coefficients = line(stream, 3 * n), given = line(stream, n * Index(to.size()));
    for (const Kernel &kernel : KERNELS) {
        for (const bool before : {false, true}) {
            bits::Numbers out = zeros(9 * Index(to.size())), squares = zeros(3 * made.count);
            const KernelSums asked{seen(to), seen(which), table_seen(coefficients, n), before, table(out, 3 * Index(to.size()))};
            kernel_sums(kernel.kind, kernel.op, kernel.of, made.sparse(), asked);
            hash(out);
            given_sums(table_seen(given, n), asked);
            hash(out);
            kernel_squares(kernel.kind, kernel.op, kernel.of, made.sparse(), table(squares, 3));
            hash(squares);
        }
    }
}

}  // namespace

void kernels() {
    subject("exponential of kernels", [](Hash &hash) {
        Stream stream{2};
        for (int i = 0; i < 50'000; ++i) hash(exponential(-720.0 * stream.uniform()));
    });
    subject("kernel values", values);
    subject("kernel perceptron", [](Hash &hash) { supports(hash, 0, OLDEST); });
    subject("budget, the oldest goes", [](Hash &hash) { supports(hash, 11, OLDEST); });
    subject("budget, any goes", [](Hash &hash) { supports(hash, 11, RANDOM); });
    subject("folded supports", folded);
    subject("kernel sums, exact", in_twice_the_precision);
}

}  // namespace noregret::bits
