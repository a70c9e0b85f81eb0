// Bits of what looks back at a run: sums in twice the precision, solvers for the best comparator, the path, the votes,
// and the searches in finite classes.
#include "exact.hpp"
#include "finite.hpp"
#include "hindsight.hpp"
#include "ledger.hpp"
#include "path.hpp"
#include "tests/bits.hpp"
#include "vote.hpp"

namespace noregret::bits {

namespace {

// each(rows, made) for dense and sparse rows, of ordinary sizes, of tiny ones and of whole numbers.
template <class Each> void in_layouts(Index count, Index width, Each each) {
    for (const double scale : {1.0, 1e-160, 0x1p20}) {
        Made<double> made(21, count, width);
        for (std::vector<double> *some : {&made.dense, &made.values}) {
            for (double &x : *some) x = scale > 1.0 ? std::floor(x * scale) : x * scale;
        }
        each(made.matrix(), made);
        each(made.sparse(), made);
    }
}

void exact_sums(Hash &hash) {
    in_layouts(90, 14, [&](const auto &rows, const Made<double> &made) {
        Stream stream{6};
        const Index n = made.count, width = made.width;
        const Numbers u = line(stream, width);
        Numbers out = zeros(3 * n), total = zeros(3 * width);
        exact_dots(rows, seen(u), table(out, 3));
        hash(out);
        exact_squares(rows, table(out, 3));
        hash(out);
        exact_combination(rows, seen(made.weights), table(total, 3));
        hash(total);
        exact_steps(rows, seen(made.weights), table(total, 3), table(out, 3));
        hash(out);
        Places chosen, moves;
        for (Index t = 0; t < n; t += 1 + t % 3) chosen.push_back(t);
        exact_updates(rows, seen(made.labels), seen(chosen), table(total, 3), table(out, 3));
        hash(out);
        for (Index t = 0; t < n; ++t) {
            for (const Index one : {t, t % 3, Index(1), t, 3 + t % 2, Index(-1)}) moves.push_back(one);
        }
        Numbers classes = zeros(5 * 3 * width);
        exact_class_updates(rows, table_seen(moves, 3), 2, width, table(classes, 3), table(out, 3));
        hash(classes);
        hash(out);
    });
}

void solvers(Hash &hash) {
    for (const Index width : {3, 20}) {
        const Made<double> made(static_cast<std::uint64_t>(width), 120, width);
        const auto both = [&](auto each) { each(made.matrix()), each(made.sparse()); };
        const Index n = made.count;
        Stream stream{4};
        const Numbers u = line(stream, width);
        both([&](const auto &rows) {
            Numbers out = zeros(n), total = zeros(width), norms = zeros(n);
            scores_of(rows, seen(u), view(out));
            hash(sum_rows(rows, seen(out), view(total)) ? Index(1) : Index(0));
            square_norms(rows, 0.7, view(norms));
            for (const Numbers *some : {&out, &total, &norms}) hash(*some);
            Numbers lo, hi, kink = made.labels;
            for (const double y : made.labels) lo.push_back(y > 0.0 ? -1.0 : 0.0), hi.push_back(y > 0.0 ? 0.0 : 1.0);
            Places order;
            for (Index t = 0; t < n; ++t) order.push_back((t * 37) % n);
            for (const double bend : {0.0, 0.5}) {
                const Bent bent{seen(kink), seen(lo), seen(hi), bend, bend > 0.0 ? 0.1 : 0.0, seen(made.weights)};
                Numbers alpha = zeros(n), w = zeros(width);
                for (int epoch = 0; epoch < 5; ++epoch) hash(dual_epoch(rows, seen(order), seen(norms), bent, 0.3, view(alpha), {w.data(), width, 1}));
                hash(alpha);
                hash(w);
                bent.slopes(seen(out), view(alpha));
                hash(alpha);
                hash(bent.total(seen(out)));
                hash(bent.along(seen(out), seen(alpha), 0.4));
            }
            Numbers alpha = zeros(n), w = zeros(width);
            const LogisticDual logistic{seen(made.labels), seen(made.weights)};
            for (int epoch = 0; epoch < 5; ++epoch) hash(dual_epoch(rows, seen(order), seen(norms), logistic, 0.3, view(alpha), {w.data(), width, 1}));
            hash(alpha);
            hash(w);
        });
        Numbers H = zeros(width * width);
        add_curvature(made.sparse(), seen(made.weights), 0.9, table(H, width));
        hash(H);
    }
}

void paths(Hash &hash) {
    const Made<double> made(31, 200, 9);
    Stream stream{12};
    const Numbers slopes = line(stream, made.count), growth = line(stream, made.count - 1);
    Numbers etas;
    for (Index t = 0; t < made.count; ++t) etas.push_back(1.0 / std::sqrt(double(t + 1)));
    const auto replay = [&](const auto &rows) {
        Numbers w = zeros(made.width), drift = w, sizes = zeros(2);
        replay_path(rows, seen(slopes), seen(etas), seen(growth), 0.9, view(w), view(drift), view(sizes));
        for (const Numbers *some : {&w, &drift, &sizes}) hash(*some);
    };
    replay(made.matrix());
    replay(made.sparse());
}

void votes(Hash &hash) {
    const Made<double> wide(41, 50, 11);
    const Made<float> narrow(42, 50, 11);
    const Rows layouts[] = {wide.matrix(), narrow.matrix(), wide.sparse(), narrow.sparse()};
    Stream stream{13};
    const Numbers steps = line(stream, 50);
    Numbers survived;
    for (int k = 0; k < 51; ++k) survived.push_back(double(stream.below(9)));
    for (const Rows &rows : layouts) {
        for (const Rows &log : layouts) {
            Numbers room = zeros(11), out = zeros(50);
            votes_on(rows, log, seen(steps), seen(survived), 1.0, -1.0, view(room), view(out));
            hash(out);
        }
    }
}

void sums_of(Hash &hash, const Ledger &ledger) {
    for (const double sum : {ledger.loss, ledger.sizes_of_loss, ledger.paid, ledger.sizes, ledger.slopes, ledger.norms, ledger.bias}) hash(sum);
    for (const double count : {ledger.infinite, ledger.flawed}) hash(count);
}

void ledgers(Hash &hash) {
    for (const char *name : {"logistic", "hinge", "exponential", "squared"}) {
        Loss loss;
        loss_named(name, 0.7, loss);
        in_layouts(90, 14, [&](const auto &rows, const Made<double> &made) {
            Stream stream{8};
            const Numbers z = line(stream, made.count);
            Numbers taken = zeros(made.count), G = zeros(made.width), squares = zeros(made.count);
            Ledger ledger{};
            std::visit([&](const auto &one) { enter_scores(one, seen(z), seen(made.labels), seen(made.weights), ledger, view(taken)); }, loss);
            enter_rows(rows, seen(taken), true, ledger, view(G));
            sums_of(hash, ledger);
            hash(G);
            std::vector<Line<const double>> columns(static_cast<std::size_t>(made.width), seen(z));  // of any numbers
            enter_columns(columns, seen(taken), view(squares), view(G));
            enter_norms(seen(taken), seen(squares), ledger);
            sums_of(hash, ledger);
            hash(G);
        });
    }
}

void finite_classes(Hash &hash) {
    for (const Index size : {7, 40, 100}) {
        Stream stream{static_cast<std::uint64_t>(size)};
        const Index points = 12, words = (size + 63) / 64;
        std::vector<Word> columns(static_cast<std::size_t>(points * words)), rows(static_cast<std::size_t>(size)), all(static_cast<std::size_t>(words), FULL);
        all.back() = last_bits(size);
        for (Index j = 0; j < points; ++j) {
            for (Index i = 0; i < size; ++i) {
                if (stream.below(2)) continue;
                columns[static_cast<std::size_t>(j * words + i / 64)] |= Word(1) << (i % 64);
                rows[static_cast<std::size_t>(i)] |= Word(1) << j;
            }
        }
        TreeMemory memory(4096, 1 << 16);
        TreeSearch tree(table_seen(columns, words), size);
        tree.turn_to(all.data());
        for (Index d = 1; d < 8; ++d) hash(static_cast<Index>(tree.advance(memory, d, 200'000)));
        hash(tree.nodes());
        Index most = 0;
        while (Index(2) << most <= size) ++most;
        SetSearch sets(table_seen(rows, 1), points, 0, most);
        hash(Index(sets.advance(1'000'000)));
        hash(sets.best());
        hash(sets.nodes());
    }
}

}  // namespace

void looking_back() {
    subject("sums in twice the precision", exact_sums);
    subject("best comparator", solvers);
    subject("path of the weights", paths);
    subject("votes of all predictors", votes);
    subject("ledgers", ledgers);
    subject("finite classes", finite_classes);
}

}  // namespace noregret::bits
