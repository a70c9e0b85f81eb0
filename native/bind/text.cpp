// Text into rows: the parsers, hashes, what is made of hashed entries, and rows made ready before they are played.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bind/chain.hpp"
#include "bind/subjects.hpp"
#include "delimited.hpp"
#include "gather.hpp"
#include "hashing.hpp"
#include "expand.hpp"
#include "prepare.hpp"
#include "svmlight.hpp"
#include "vw.hpp"

namespace noregret::bind {

namespace {

using Bytes = Line<const Byte>;
using Places = Line<Index>;
using GivenPlaces = Line<const Index>;
using Features = Line<std::uint32_t>;
using GivenFeatures = Line<const std::uint32_t>;
using Floats = Line<double>;

void require(bool fits, const char *what) {
    if (!fits) throw nb::value_error(what);
}

// What the parsers rely on: whole lines from a place within the text on, and enough bytes behind them.
void require_lines(Bytes data, Index at, Index stop) {
    require(0 <= at && at <= stop && stop <= data.size - SLACK, "text: the bytes behind the lines are missing");
    require(at == stop || data[stop - 1] == '\n', "text: the last line is not whole");
}

auto count_bytes(Bytes data, Index start, Index stop, Byte other) {
    require(0 <= start && start <= stop && stop <= data.size, "text: a part that is not there");
    const Counts counts = counted({data.data + start, stop - start}, other);
    return std::tuple(counts.lines, counts.others, counts.odd, counts.white);
}

bool parse_svmlight(Bytes data, Index stop, bool labelled, Floats labels, Table<Index> tokens, Places lines, Places bounds,
                    Features features, Floats values, Places room, Places done) {
    require(done.size == 5, "text: five counts are needed");
    svmlight::Progress progress{done[0], done[1], done[2], done[3], done[4]};
    require_lines(data, progress.at, stop);
    require(tokens.columns == 2 && tokens.rows >= labels.size && lines.size >= labels.size && bounds.size > labels.size,
            "text: rows of different numbers");
    require(values.size >= features.size && room.size >= 4 * features.size + 2, "text: entries of different numbers");
    const bool plain = svmlight::parse(data.data, stop, labelled, {labels, tokens, lines, bounds, features, values, room}, progress);
    const auto &[at, line, rows, entries, infinite] = progress;
    done[0] = at, done[1] = line, done[2] = rows, done[3] = entries, done[4] = infinite;
    return plain;
}

bool parse_vw(Bytes data, Index stop, Index start, Index slots, Bytes noted, Floats labels, Table<Index> tokens, Floats weights,
              Places lines, Places bounds, Features features, Floats values, Table<Index> hints, Places table, Places done) {
    require(done.size == 6, "text: six counts are needed");
    vw::Progress progress{done[0], done[1], done[2], done[3], done[4], done[5]};
    require_lines(data, progress.at, stop);
    require(slots > 0 && (slots & (slots - 1)) == 0 && noted.size * 8 >= slots, "text: a bit for each slot is needed");
    require(tokens.columns == 2 && tokens.rows > labels.size && weights.size >= labels.size && lines.size >= labels.size &&
                bounds.size > labels.size,
            "text: rows of different numbers");
    require(values.size >= features.size && hints.rows >= features.size && hints.columns == 4 && table.size >= 4 * features.size + 2,
            "text: entries of different numbers");
    const bool plain = vw::parse(data.data, stop, {start, slots, noted},
                                 {labels, tokens, weights, lines, bounds, features, values, hints, table}, progress);
    const auto &[at, line, rows, entries, new_ones, weighted] = progress;
    done[0] = at, done[1] = line, done[2] = rows, done[3] = entries, done[4] = new_ones, done[5] = weighted;
    return plain;
}

bool parse_delimited(Bytes data, Index stop, Byte delimiter, GivenPlaces kinds, GivenPlaces places, Table<double> X,
                     Table<Index> cells, Floats labels, Table<Index> tokens, Places lines, Places done) {
    require(done.size == 3, "text: three counts are needed");
    delimited::Progress progress{done[0], done[1], done[2]};
    require_lines(data, progress.at, stop);
    require(kinds.size > 0 || progress.at == stop, "text: records without columns");
    require(places.size == kinds.size, "text: columns of different numbers");
    bool hashed = false, labelled = false;
    for (Index column = 0; column < kinds.size; ++column) {
        const Index place = places[column], kind = kinds[column];
        require(place >= 0 && (kind != delimited::NUMBER || place < X.columns), "text: a number without a place");
        require(kind != delimited::HASHED || 2 * place + 1 < cells.columns, "text: a cell without a place");
        hashed |= kind == delimited::HASHED;
        labelled |= kind == delimited::LABEL;
    }
    require(X.rows >= lines.size && (!hashed || cells.rows >= lines.size), "text: rows of different numbers");
    require(!labelled || (labels.size >= lines.size && tokens.rows >= lines.size && tokens.columns == 2),
            "text: rows of different numbers");
    const bool plain = delimited::parse(data.data, stop, delimiter, {kinds, places, X, cells, labels, tokens, lines}, progress);
    done[0] = progress.at, done[1] = progress.line, done[2] = progress.rows;
    return plain;
}

auto records_end(Bytes data, Index stop, Byte delimiter) {
    require(0 <= stop && stop <= data.size, "text: a part that is not there");
    const delimited::Cut cut = delimited::records_end({data.data, stop}, delimiter);
    return std::pair(cut.end, cut.opened);
}

// The values of the numbers that begin at some places of a text, and where they end, −1 for none.
void read_numbers(Bytes data, GivenPlaces starts, Floats values, Places ends) {
    require_lines(data, 0, data.size - SLACK);
    require(values.size >= starts.size && ends.size >= starts.size, "text: no room for the numbers");
    for (Index k = 0; k < starts.size; ++k) {
        require(0 <= starts[k] && starts[k] < data.size - SLACK, "text: a place that is not there");
        const Number found = number(data.data + starts[k]);
        values[k] = found.value;
        ends[k] = found.end ? found.end - data.data : -1;
    }
}

void hash_strings(Bytes data, GivenPlaces offsets, Features out) {
    require(offsets.size > out.size && murmur3(data, offsets, out), "text: strings that are not there");
}

Index hash_cells(Bytes head, Bytes data, GivenPlaces starts, GivenPlaces stops, Places rows, Features out) {
    require(stops.size == starts.size && rows.size >= starts.size && out.size >= starts.size, "text: no room for the hashes");
    const Hashed hashed = hash_values({head, data, starts, stops}, rows, out);
    require(hashed.count >= 0, "text: cells that are not there");
    return hashed.count;
}

auto hash_cell_words(Bytes head, Bytes data, GivenPlaces starts, GivenPlaces stops, Places rows, Features out, Places left) {
    require(stops.size == starts.size && left.size >= starts.size && rows.size >= out.size, "text: no room for the hashes");
    const Hashed hashed = hash_words({head, data, starts, stops}, rows, out, left);
    require(hashed.count >= 0, "text: cells that are not there");
    return std::pair(hashed.count, hashed.others);
}

void entries_by_row(GivenPlaces rows, Places bounds, Places order) {
    require(bounds.size > 0 && order.size >= rows.size && by_row(rows, bounds, order), "entries of rows that are not there");
}

template <class X>
Index merge_rows(GivenPlaces bounds, GivenPlaces order, GivenFeatures features, Line<const X> values, Places keys, Places room,
                 Places out_bounds, Features out_features, Line<X> out_values) {
    require(bounds.size > 0 && out_bounds.size >= bounds.size && room.size >= keys.size, "entries: no room for the rows");
    require(values.size == features.size && out_features.size >= order.size && out_values.size >= order.size,
            "entries: no room for the sums");
    return merged<X>({bounds, order, features}, values, keys, room, out_bounds, out_features, out_values);
}

void bind_parsers(nb::module_ &m) {
    m.attr("IGNORED") = Index{delimited::IGNORED};
    m.attr("NUMBER") = Index{delimited::NUMBER};
    m.attr("HASHED") = Index{delimited::HASHED};
    m.attr("LABEL") = Index{delimited::LABEL};
    m.attr("SLACK") = SLACK;
    m.def("count_bytes", &count_bytes, unlocked());
    m.def("parse_svmlight", &parse_svmlight, unlocked());
    m.def("parse_vw", &parse_vw, unlocked());
    m.def("parse_delimited", &parse_delimited, unlocked());
    m.def("records_end", &records_end, unlocked());
    m.def("read_numbers", &read_numbers, unlocked());
}

void bind_hashes(nb::module_ &m) {
    m.def("hash_strings", &hash_strings, unlocked());
    m.def("hash_cells", &hash_cells, unlocked());
    m.def("hash_words", &hash_cell_words, unlocked());
    m.def("checksum", &checksum, unlocked());
    m.def("entries_by_row", &entries_by_row, unlocked());
    m.def("merge_rows", &merge_rows<double>, unlocked());
    m.def("merge_rows", &merge_rows<float>, unlocked());
    m.def("repeat_slots", &repeated, unlocked());
    m.def("maybe_new_slots", &maybe_new, unlocked());
    m.def("note_slots", &newly, unlocked());
    m.def("places_in_row", &ordinals, unlocked());
}

// A matrix, or compressed rows as three arrays.
template <class... More> struct Prepared {
    template <class Loop> static void bind(nb::module_ &m, const char *name, Loop loop) {
        def_kept(m, name, [=](Table<double> X, More... more) { loop(Matrix{X}, X.columns, more...); });
        def_kept(
            m, name,
            [=](GivenPlaces bounds, GivenFeatures features, Floats values, More... more) {
                const bool fits = bounds.size > 0 && bounds[0] >= 0 && bounds[bounds.size - 1] <= values.size;
                require(fits && features.size == values.size, "compressed rows that do not fit together");
                loop(Compressed{bounds, features, values}, 0, more...);
            });
    }
};

Moments moments_of(Floats mean, Floats squares, Places rows) {
    require(mean.size == squares.size && rows.size == 1, "moments that do not fit together");
    return {mean, squares, rows[0]};
}

void standardise_matrix(Table<double> X, Floats mean, Floats squares, Places rows, bool learn) {
    require(!learn || X.columns <= mean.size, "no room for the mean of every column");
    const Moments so_far = moments_of(mean, squares, rows);
    if (learn) standardise<true>(Matrix{X}, so_far);
    else standardise<false>(Matrix{X}, so_far);
}

// Compressed rows into compressed rows; the number of entries that were written.
Index standardise_rows(GivenPlaces bounds, GivenFeatures features, Floats values, Floats mean, Floats squares, Places rows,
                       Index start, Index slots, GivenPlaces columns, Floats room, Bytes alone, Places out_bounds,
                       Features out_features, Floats out_values, bool learn) {
    const Index count = bounds.size - 1;
    bool fits = count >= 0 && bounds[0] >= 0 && features.size == values.size && start >= 0 && slots >= 0;
    for (Index t = 0; fits && t < count; ++t) fits = bounds[t] <= bounds[t + 1];
    require(fits && bounds[count] <= values.size, "compressed rows that do not fit together");
    for (Index place = 0; fits && place < columns.size; ++place) fits = columns[place] >= 0 && columns[place] < mean.size;
    const Index most = bounds[count] - bounds[0] + count * columns.size + 1;
    require(fits && room.size == mean.size && out_bounds.size == count + 1, "columns that do not fit together");
    require(out_features.size >= most && out_values.size >= most, "no room for the standardised rows");
    const auto play = learn ? &standardise_entries<true> : &standardise_entries<false>;
    return play(Compressed{bounds, features, values}, moments_of(mean, squares, rows), {start, slots}, columns, room, alone,
                out_bounds, out_features, out_values);
}

Index one_hot_rows(Table<const Index> given, Index K, bool cross, Places place, Places bounds, Features features, Floats values) {
    bool fits = K > 0 && bounds.size == given.rows + 1 && (!cross || place.size == CROSS_SLOTS);
    for (Index t = 0; t < given.rows; ++t) {
        for (Index i = 0; i < given.columns; ++i) fits = fits && given(t, i) >= -1 && given(t, i) < K;
    }
    const Index a_row = given.columns + (cross ? given.columns * (given.columns - 1) / 2 : 0);
    require(fits && features.size >= given.rows * a_row && values.size == features.size, "bins that do not fit together");
    return cross ? one_hot<true>(given, K, place, bounds, features, values) : one_hot<false>(given, K, place, bounds, features, values);
}

void bind_expansions(nb::module_ &m) {
    m.attr("CROSS_SLOTS") = CROSS_SLOTS;
    m.def("frequencies", [](Index first, Table<double> out) {
        for (Index i = 0; i < out.rows; ++i) frequencies(first + i, out.row(i));
    }, unlocked());
    m.def("offsets", [](Floats out) {
        for (Index j = 0; j < out.size; ++j) out[j] = offset(j);
    }, unlocked());
    const auto make = [](const auto &rows, Index columns, Table<const double> table, Line<const double> shifts, double bandwidth,
                         Line<std::uint8_t> seen, Places count, Floats room, Table<double> out, bool learn) {
        const Index D = out.columns;
        const bool fits = out.rows == rows.count() && table.columns == D && shifts.size == D && room.size == D && count.size == 1;
        require(fits && D > 0 && (!learn || columns <= seen.size), "cosines that do not fit together");
        const Fourier kept{table, shifts, bandwidth, seen, count[0]};
        if (learn) fourier<true>(rows, kept, room, out);
        else fourier<false>(rows, kept, room, out);
    };
    Prepared<Table<const double>, Line<const double>, double, Line<std::uint8_t>, Places, Floats, Table<double>, bool>::bind(m, "fourier", make);
    def_kept(m, "bins", [](Table<const double> X, Table<const double> edges, Table<Index> out) {
        require(edges.rows == X.columns && out.rows == X.rows && out.columns == X.columns, "bins that do not fit together");
        bins(X, edges, out);
    });
    def_kept(m, "one_hot", &one_hot_rows);
    def_kept(m, "quadratic", [](Table<const double> X, Table<double> out) {
        require(out.rows == X.rows && out.columns == X.columns * (X.columns + 3) / 2, "no room for the products");
        quadratic(X, out);
    });
}

// One row with the last labels before it, from arrays into others; its own label is learned after that.
void bind_labels(nb::module_ &m) {
    const auto put = [](Table<double> past, Line<const double> values, Line<const double> label, double *out, bool learn) {
        put_labels({past.data, past.rows, past.columns, past.apart}, out);
        std::copy_n(values.data, values.size, out + past.rows * past.columns);
        if (learn) learn_label(past, label[0]);
    };
    def_kept(m, "put_labels", [put](Table<double> past, Table<const double> X, Line<const double> label, Table<double> out, bool learn) {
        const bool fits = X.rows == 1 && out.rows == 1 && out.columns == past.rows * past.columns + X.columns;
        require(fits && past.rows > 0 && label.size == 1, "labels that do not fit together");
        put(past, {X.data, X.columns}, label, out.data, learn);
    });
    def_kept(m, "put_labels", [put](Table<double> past, GivenPlaces bounds, GivenFeatures features, Line<const double> values, Line<const double> label,
                                    Places out_bounds, Features out_features, Floats out, bool learn) {
        const Index late = past.rows * past.columns;
        const bool one = bounds.size == 2 && bounds[0] == 0 && bounds[1] >= 0 && bounds[1] <= features.size && features.size == values.size;
        const bool fits = one && out_bounds.size == 2 && out_features.size == out.size && out.size >= late + bounds[1];
        require(fits && past.rows > 0 && label.size == 1, "labels that do not fit together");
        out_bounds[0] = 0, out_bounds[1] = late + bounds[1];
        for (Index k = 0; k < late; ++k) out_features[k] = static_cast<std::uint32_t>(k);
        for (Index k = 0; k < bounds[1]; ++k) out_features[late + k] = features[k] + static_cast<std::uint32_t>(late);
        put(past, {values.data, bounds[1]}, label, out.data, learn);
    });
}

void bind_preparation(nb::module_ &m) {
    def_kept(m, "copy_values", [](Line<const double> from, Line<double> to) {
        require(from.size == to.size, "a place for each number");
        std::copy_n(from.data, from.size, to.data);
    });
    def_kept(m, "spread_row", [](GivenPlaces bounds, GivenFeatures features, Line<const double> values, Table<double> out) {
        const bool one = bounds.size == 2 && bounds[0] == 0 && bounds[1] >= 0 && bounds[1] <= features.size && features.size == values.size;
        require(one && out.rows == 1, "compressed rows that do not fit together");
        std::fill_n(out.data, out.columns, 0.0);
        for (Index k = 0; k < bounds[1]; ++k) {
            require(features[k] < static_cast<std::uint64_t>(out.columns), "no room for a feature");
            out(0, features[k]) = values[k];
        }
    });
    const auto fill = [](const auto &rows, Index columns, Floats sums, Places gaps, Places seen, bool learn) {
        require(seen.size == 1 && gaps.size == sums.size && (!learn || columns <= sums.size), "means that do not fit together");
        if (learn) fill_missing<true>(rows, sums, gaps, seen[0]);
        else fill_missing<false>(rows, sums, gaps, seen[0]);
    };
    const auto scale = [](const auto &rows, Index columns, Floats peak, bool learn) {
        require(!learn || columns <= peak.size, "no room for the largest of every column");
        if (learn) scale_features<true>(rows, peak);
        else scale_features<false>(rows, peak);
    };
    Prepared<Floats, Places, Places, bool>::bind(m, "fill_missing", fill);
    Prepared<Floats, bool>::bind(m, "scale_features", scale);
    def_kept(m, "standardise", &standardise_matrix);
    def_kept(m, "standardise_entries", &standardise_rows);
    Prepared<>::bind(m, "take_logs", [](const auto &rows, Index) { take_logs(rows); });
    Prepared<>::bind(m, "unit_rows", [](const auto &rows, Index) { unit_rows(rows); });
}

}  // namespace

void bind_text(nb::module_ &m) {
    bind_parsers(m);
    bind_hashes(m);
    bind_preparation(m);
    bind_labels(m);
    bind_expansions(m);
}

}  // namespace noregret::bind
