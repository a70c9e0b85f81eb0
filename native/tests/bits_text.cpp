// Bits of what text becomes: decimal numbers, rows of every format, hashes, and rows made ready.
#include <string>

#include "decimal.hpp"
#include "delimited.hpp"
#include "expand.hpp"
#include "fuzz/piece.hpp"
#include "gather.hpp"
#include "hashing.hpp"
#include "prepare.hpp"
#include "svmlight.hpp"
#include "tests/bits.hpp"
#include "vw.hpp"

namespace noregret::bits {

namespace {

std::string digits(Stream &stream, std::uint64_t most) {
    std::string made;
    for (std::uint64_t left = stream.below(most + 1); left > 0; --left) made += char('0' + stream.below(10));
    return made;
}

// A number as people write it, or as nobody does; one part after the other, for operands are evaluated in any order.
std::string spelled(Stream &stream) {
    std::string made = stream.below(3) ? "" : stream.below(4) ? "-" : "+";
    const auto kind = stream.below(8);
    made += char('0' + stream.below(10));
    if (kind >= 4) made += digits(stream, kind == 4 ? 30 : 6);
    if (kind < 4 || stream.below(3)) {
        made += '.';
        made += digits(stream, kind < 2 ? 7 : kind == 5 ? 400 : 20);
    }
    if (kind < 6) return made;
    made += stream.below(2) ? "e" : "E";
    if (stream.below(2)) made += '-';
    return made + std::to_string(stream.below(kind == 6 ? 30 : 345));
}

fuzz::Piece piece_of(const std::string &text) { return {reinterpret_cast<const Byte *>(text.data()), static_cast<Index>(text.size()), '\n'}; }

void decimals(Hash &hash) {
    Stream stream{1};
    for (int i = 0; i < 20'000; ++i) {
        const fuzz::Piece piece = piece_of(spelled(stream));
        for (const Number found : {number(piece.data()), likely_unsigned(piece.data())}) {
            hash(found.value);
            hash(found.end ? Index(found.end - piece.data()) : Index(-1));
        }
    }
}

template <class T> void hash_room(Hash &hash, const fuzz::Room<T> &room, Index count) {
    for (Index k = 0; k < count; ++k) {
        if constexpr (std::is_floating_point_v<T>) hash(double(room.held[static_cast<std::size_t>(k)]));
        else hash(static_cast<std::uint64_t>(room.held[static_cast<std::size_t>(k)]));
    }
}

void svmlight_text(Hash &hash) {
    Stream stream{2};
    std::string text;
    for (int t = 0; t < 2000; ++t) {
        text += stream.below(2) ? "1" : "-1.5";
        for (std::uint64_t i = stream.below(3); i < 40; i += 1 + stream.below(9)) text += " " + std::to_string(i) + ":" + spelled(stream);
        text += t % 50 ? "\n" : " # why\n";
    }
    const fuzz::Piece piece = piece_of(text);
    const Counts counts = piece.counts(':');
    const fuzz::Room<double> labels(counts.lines), values(counts.others);
    const fuzz::Room<Index> tokens(2 * counts.lines), lines(counts.lines), bounds(counts.lines + 1), room(4 * counts.others + 2);
    const fuzz::Room<std::uint32_t> features(counts.others);
    bounds.line()[0] = 0;
    svmlight::Progress done{0, 0, 0, 0, 0};
    const svmlight::Found found{labels.line(), tokens.table(2), lines.line(), bounds.line(), features.line(), values.line(), room.line()};
    while (done.at < piece.stop) {
        if (svmlight::parse(piece.data(), piece.stop, true, found, done)) continue;
        done.at = piece.behind_line(done.at);
        ++done.line;
    }
    for (const Index one : {done.rows, done.entries, done.infinite}) hash(one);
    hash_room(hash, labels, done.rows);
    hash_room(hash, bounds, done.rows + 1);
    hash_room(hash, features, done.entries);
    hash_room(hash, values, done.entries);
}

void vw_text(Hash &hash) {
    Stream stream{3};
    std::string text;
    for (int t = 0; t < 2000; ++t) {
        text += stream.below(2) ? "1" : "-1";
        if (stream.below(4) == 0) text += " 0.5";
        for (std::uint64_t spaces = 1 + stream.below(3); spaces > 0; --spaces) {
            text += std::string(" |") + char('a' + stream.below(5));
            for (std::uint64_t left = stream.below(8); left > 0; --left) {
                text += " name" + digits(stream, 12);
                if (stream.below(2)) text += ":" + spelled(stream);
            }
        }
        text += '\n';
    }
    const fuzz::Piece piece = piece_of(text);
    const Counts counts = piece.counts('|');
    const Index most = counts.white - counts.lines, slots = 1 << 12;
    const fuzz::Room<double> labels(counts.lines), weights(counts.lines), values(most);
    const fuzz::Room<Index> tokens(2 * (counts.lines + 1)), lines(counts.lines), bounds(counts.lines + 1), hints(4 * most), room(4 * most + 2);
    const fuzz::Room<std::uint32_t> features(most);
    const fuzz::Room<Byte> noted(slots / 8);
    bounds.line()[0] = 0;
    const vw::Found found{labels.line(), tokens.table(2), weights.line(), lines.line(), bounds.line(), features.line(), values.line(), hints.table(4), room.line()};
    vw::Progress done{0, 0, 0, 0, 0, 0};
    while (done.at < piece.stop) {
        if (vw::parse(piece.data(), piece.stop, {3, slots, {noted.held.get(), noted.size}}, found, done)) continue;
        done.at = piece.behind_line(done.at);
        ++done.line;
    }
    for (const Index one : {done.rows, done.entries, done.hints, done.weighted}) hash(one);
    hash_room(hash, labels, done.rows);
    hash_room(hash, weights, done.rows);
    hash_room(hash, bounds, done.rows + 1);
    hash_room(hash, features, done.entries);
    hash_room(hash, values, done.entries);
    hash_room(hash, hints, 4 * done.hints);
}

void delimited_text(Hash &hash) {
    Stream stream{4};
    constexpr const char *ODD[] = {"NA", "nan", "?", "", "\"1.5\"", " 2.5 "};
    std::string text;
    const Index width = 6, rows = 2000;
    for (Index t = 0; t < rows; ++t) {
        for (Index j = 0; j < width; ++j) {
            if (j) text += ',';
            if (j == 4) text += "\"word, " + digits(stream, 6) + "\"";
            else text += stream.below(20) ? spelled(stream) : ODD[stream.below(6)];
        }
        text += t % 3 ? "\n" : "\r\n";
    }
    const fuzz::Piece piece = piece_of(text);
    const Places kinds{delimited::LABEL, delimited::NUMBER, delimited::NUMBER, delimited::IGNORED, delimited::HASHED, delimited::NUMBER}, places{0, 0, 1, 0, 0, 2};
    const fuzz::Room<double> X(3 * rows), labels(rows);
    const fuzz::Room<Index> cells(2 * rows), tokens(2 * rows), lines(rows);
    const delimited::Columns columns{seen(kinds), seen(places), X.table(3), cells.table(2), labels.line(), tokens.table(2), lines.line()};
    delimited::Progress done{0, 0, 0};
    while (done.at < piece.stop) {
        if (delimited::parse(piece.data(), piece.stop, ',', columns, done)) continue;
        done.at = piece.behind_line(done.at);
        ++done.line;
    }
    hash(done.rows);
    hash_room(hash, X, 3 * done.rows);
    hash_room(hash, labels, done.rows);
    hash_room(hash, cells, 2 * done.rows);
    hash_room(hash, lines, done.rows);
}

void hashes(Hash &hash) {
    Stream stream{5};
    std::vector<Byte> text;
    Places starts, stops;
    for (int i = 0; i < 3000; ++i) {
        starts.push_back(static_cast<Index>(text.size()));
        for (std::uint64_t left = stream.below(40); left > 0; --left) {
            text.push_back(static_cast<Byte>(stream.below(50) ? 32 + stream.below(95) : stream.below(256)));
        }
        stops.push_back(static_cast<Index>(text.size()));
    }
    const std::vector<Byte> head{'h', '^', 0xFF};
    const Cells cells{seen(head), seen(text), seen(starts), seen(stops)};
    Places rows(text.size() + starts.size()), left(starts.size()), offsets = starts;
    std::vector<std::uint32_t> out(rows.size());
    offsets.push_back(stops.back());
    murmur3(seen(text), seen(offsets), {out.data(), static_cast<Index>(starts.size())});
    hash(out);
    const Hashed whole = hash_values(cells, view(rows), view(out));
    hash(whole.count);
    hash(out);
    const Hashed words = hash_words(cells, view(rows), view(out), view(left));
    hash(words.count);
    hash(words.others);
    hash(out);
    hash(rows);
    std::vector<Word> sums;
    for (int n = 0; n < 100; ++n) {
        hash(checksum(seen(sums)));
        sums.push_back(stream.next());
    }
}

template <class X> void gathered(Hash &hash) {
    Stream stream{6};
    const Index count = 200, size = 5000;
    Places rows, bounds(static_cast<std::size_t>(count + 1)), order(static_cast<std::size_t>(size)), keys(order.size()), room(order.size()), merged_bounds(bounds.size());
    std::vector<std::uint32_t> features, out(order.size());
    std::vector<X> values, sums(order.size());
    for (Index e = 0; e < size; ++e) {
        rows.push_back(static_cast<Index>(stream.below(static_cast<std::uint64_t>(count))));
        features.push_back(static_cast<std::uint32_t>(stream.below(30)));
        values.push_back(static_cast<X>(stream.uniform() - 0.5));
    }
    by_row(seen(rows), view(bounds), view(order));
    hash(merged({seen(bounds), seen(order), seen(features)}, seen(values), view(keys), view(room), view(merged_bounds), view(out), view(sums)));
    hash(order);
    hash(merged_bounds);
    hash(out);
    hash(sums);
}

void ready(Hash &hash) {
    for (const Index width : {1, 2, 5, 18}) {
        Made<double> made(static_cast<std::uint64_t>(width) + 50, 100, width);
        Stream stream{7};
        for (Numbers *some : {&made.dense, &made.values}) {
            for (double &x : *some) x = stream.below(11) ? 1e3 * x : NOT_A_NUMBER;
        }
        const auto make = [&](const auto &given, Numbers &all) {
            Numbers sums = zeros(width), peak = zeros(width);
            Places gaps(static_cast<std::size_t>(width));
            Index rows = 0;
            fill_missing<true>(given, view(sums), view(gaps), rows);
            hash(all);
            scale_features<true>(given, view(peak));
            hash(all);
            unit_rows(given);
            hash(all);
            for (double &x : all) x = x > 0.9 ? NOT_A_NUMBER : 3.0 * x;
            fill_missing<false>(given, {sums.data(), width - 1}, {gaps.data(), width - 1}, rows);
            scale_features<false>(given, {peak.data(), width - 1});
            hash(all);
            hash(sums);
            hash(peak);
            hash(gaps);
            hash(rows);
        };
        make(Matrix{table(made.dense, width)}, made.dense);
        make(Compressed{seen(made.bounds), seen(made.features), view(made.values)}, made.values);
    }
}

// Rows of several sizes, some numbers of which are none.
Made<double> rough(Index width) {
    Made<double> made(static_cast<std::uint64_t>(width) + 70, 100, width);
    Stream stream{9};
    for (Numbers *some : {&made.dense, &made.values}) {
        for (double &x : *some) x = stream.below(15) ? (stream.below(4) ? 1e3 : 1e-5) * x : NOT_A_NUMBER;
    }
    return made;
}

void standardised(Hash &hash) {
    for (const Index width : {1, 2, 5, 18}) {
        Made<double> made = rough(width);
        Numbers mean = zeros(width), squares = zeros(width), room = zeros(width + 3);
        Index rows = 0;
        standardise<true>(Matrix{table(made.dense, width)}, {view(mean), view(squares), rows});
        hash(made.dense);
        standardise<false>(Matrix{table(made.dense, width)}, {{mean.data(), width - 1}, {squares.data(), width - 1}, rows});
        hash(made.dense);
        Numbers means = zeros(width + 3), spreads = means, out = zeros(Index(made.values.size()) + made.count * width + 1);
        Places columns, bounds = made.bounds;
        for (Index j = 0; j < width; j += 2) columns.push_back(j);
        std::vector<std::uint8_t> alone(static_cast<std::size_t>(width));
        for (Index j = 1; j < width; j += 2) alone[static_cast<std::size_t>(j)] = 1;
        std::vector<std::uint32_t> features(out.size());
        const auto play = [&](auto make) {
            hash(make(Compressed{seen(made.bounds), seen(made.features), view(made.values)}, {view(means), view(spreads), rows}, {width, 2}, seen(columns),
                      view(room), seen(alone), view(bounds), view(features), view(out)));
            for (const Numbers *some : {&means, &spreads, &room, &out}) hash(*some);
            hash(bounds);
            hash(features);
        };
        play(standardise_entries<true>);
        play(standardise_entries<false>);
        take_logs(Matrix{table(made.dense, width)});
        take_logs(Compressed{seen(made.bounds), seen(made.features), view(made.values)});
        for (const Numbers *some : {&mean, &squares, &made.dense, &made.values}) hash(*some);
        hash(rows);
    }
}

void expanded(Hash &hash) {
    for (const Index width : {1, 2, 5, 18}) {
        Made<double> made = rough(width);
        const Index D = 4 * width + 1, known = width / 2, count = made.count, K = 4;
        Numbers omega = zeros(known * D), shifts = zeros(D), room = zeros(D), cosines = zeros(count * D), products = zeros(count * width * (width + 3) / 2);
        for (Index i = 0; i < known; ++i) frequencies(i, table(omega, D).row(i));
        for (Index j = 0; j < D; ++j) shifts[static_cast<std::size_t>(j)] = offset(j);
        const auto cosine = [&](const auto &given) {
            std::vector<std::uint8_t> met(static_cast<std::size_t>(width));
            Index features = 0;
            fourier<true>(given, {{omega.data(), known, D, D}, seen(shifts), 0.7, view(met), features}, view(room), table(cosines, D));
            hash(cosines);
            fourier<false>(given, {{omega.data(), known, D, D}, seen(shifts), 0.7, view(met), features}, view(room), table(cosines, D));
            hash(cosines);
            hash(met);
            hash(features);
        };
        cosine(Matrix{table(made.dense, width)});
        cosine(Compressed{seen(made.bounds), seen(made.features), view(made.values)});
        quadratic(table_seen(made.dense, width), table(products, width * (width + 3) / 2));
        hash(products);
        Numbers edges;
        for (Index i = 0; i < width; ++i) edges.insert(edges.end(), {-300.0, double(i), 200.0});
        Places found(static_cast<std::size_t>(count * width)), place(CROSS_SLOTS), bounds(static_cast<std::size_t>(count + 1));
        bins(table_seen(made.dense, width), table_seen(edges, K - 1), table(found, width));
        for (std::size_t j = 0; j < found.size(); j += 7) found[j] = -1;
        Numbers ones = zeros(count * (width + width * (width - 1) / 2));
        std::vector<std::uint32_t> features(ones.size());
        const auto hot = [&](auto make) {
            hash(make(table_seen(found, width), K, view(place), view(bounds), view(features), view(ones)));
            hash(found);
            hash(bounds);
            hash(features);
            hash(ones);
        };
        hot(one_hot<true>);
        hot(one_hot<false>);
    }
}

}  // namespace

void texts() {
    subject("decimal numbers", decimals);
    subject("svmlight text", svmlight_text);
    subject("Vowpal Wabbit's text", vw_text);
    subject("delimited text", delimited_text);
    subject("hashes", hashes);
    subject("entries gathered, float64", gathered<double>);
    subject("entries gathered, float32", gathered<float>);
    subject("rows made ready", ready);
    subject("rows standardised", standardised);
    subject("rows expanded", expanded);
}

}  // namespace noregret::bits
