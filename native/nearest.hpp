// The nearest of the last rows, and what their labels say.
//
// The window keeps rows in slots, sixteen to a tile: of each feature sixteen numbers lie side by side, so that sixteen
// distances are summed at once, each over its features in their order. Zeros at the end of a row change no bit.
#pragma once

#include <algorithm>
#include <cmath>

#include "forecasts.hpp"
#include "scored.hpp"

namespace noregret {

constexpr Index TILE = 16;
constexpr Index AT_ONCE = 8;  // features between two looks at whether any row of the tile is still near

struct Near {
    double distance;  // squared
    Index slot;
};

// The numbers of row t, up to `width`, one for each feature.
template <class R> void spread(const R &rows, Index t, Index width, double *row) {
    std::fill_n(row, width, 0.0);
    each_entry(rows, t, [&](Index j, double x) {
        if (j < width) row[j] += x;
    });
}

struct WindowSeen {
    const double *tiles;  // slot / 16, then the feature, then slot % 16
    Index slots;          // in use
    Index width;          // features of a slot
    double *row;          // room for `width` numbers
    Near *near;           // room for `neighbours`
    Index neighbours;

    // The squared distances of a tile's rows; false, and no more than begun, where none is below `limit`: sums of squares
    // never fall.
    [[gnu::always_inline]] bool distances(const double *tile, double limit, double *out) const {
        Four a{}, b{}, c{}, d{};
        for (Index j = 0; j < width;) {
            for (const Index stop = std::min(j + AT_ONCE, width); j < stop; ++j, tile += TILE) {
                const Four x = everywhere(row[j]), e = load(tile) - x, f = load(tile + 4) - x, g = load(tile + 8) - x, h = load(tile + 12) - x;
                a += e * e;
                b += f * f;
                c += g * g;
                d += h * h;
            }
            const Four least = lower(lower(a, b), lower(c, d));
            if (!(lower(lower(least[0], least[1]), lower(least[2], least[3])) < limit)) return false;
        }
        store(a, out);
        store(b, out + 4);
        store(c, out + 8);
        store(d, out + 12);
        return true;
    }

    // The nearest so far, in order of distance; of two as near the one in the earlier slot.
    void take(double distance, Index slot, Index &found) const {
        if (found == neighbours) {
            if (!(distance < near[found - 1].distance)) return;
            --found;
        }
        Index i = found++;
        for (; i > 0 && distance < near[i - 1].distance; --i) near[i] = near[i - 1];
        near[i] = {distance, slot};
    }

    // How many of `near` are those nearest to row t.
    template <class R> Index search(const R &rows, Index t) const {
        spread(rows, t, width, row);
        Index found = 0;
        for (Index first = 0; first < slots; first += TILE) {
            double d[TILE] = {};
            const double limit = found < neighbours ? INFINITE : near[neighbours - 1].distance;
            if (!distances(tiles + first * width, limit, d)) continue;
            const Index count = std::min(TILE, slots - first);
            for (Index i = 0; i < count; ++i) {
                if (found < neighbours || d[i] < near[neighbours - 1].distance) take(d[i], first + i, found);
            }
        }
        return found;
    }

    // (d₁/d_i)⁴ for the distance d_i of the nearest but i: 1 where both are 0.
    double share(Index i) const {
        const double ratio = near[0].distance / near[i].distance;
        return ratio < 1.0 ? ratio * ratio : 1.0;
    }
};

struct Window {
    Line<double> tiles;
    Index size;    // slots
    Index *count;  // rows learned so far: the next goes to the slot count % size
    Index width;
    double *row;
    Near *near;
    Index neighbours;

    WindowSeen seen() const { return {tiles.data, std::min(*count, size), width, row, near, neighbours}; }

    // Keep row t in place of the oldest: in which slot.
    template <class R> Index put(const R &rows, Index t) const {
        spread(rows, t, width, row);
        const Index slot = *count % size;
        double *tile = tiles.data + slot / TILE * TILE * width + slot % TILE;
        for (Index j = 0; j < width; ++j) tile[j * TILE] = row[j];
        ++*count;
        return slot;
    }
};

// Two classes: log-odds (¼ + Σ of the votes for +1)/(¼ + Σ for −1), the i-th nearest voting with 1/√i.
struct NearestSeen {
    WindowSeen window;
    const double *votes;  // k·y of the row in each slot

    template <class R> double score(const R &rows, Index t) const {
        const Index found = window.search(rows, t);
        double positive = 0.25, negative = 0.25;
        for (Index i = 0; i < found; ++i) {
            const double vote = votes[window.near[i].slot] * (1.0 / std::sqrt(static_cast<double>(i + 1)));
            (vote > 0.0 ? positive : negative) += std::fabs(vote);
        }
        return log_of(positive / negative);
    }
};

struct Nearest {
    Window window;
    double *votes;

    template <class R> double score(const R &rows, Index t) const { return NearestSeen{window.seen(), votes}.score(rows, t); }
    template <class R> void learn(const R &rows, Index t, double y, double k) const { votes[window.put(rows, t)] = k * y; }
};

// Many classes: s_k = ln(α + Σ of the votes for k), a neighbour voting with its weight and its share.
struct NearestClassesSeen {
    WindowSeen window;
    const double *classes, *votes;  // the class of the row in each slot, and its weight
    double smoothing;               // α

    template <class R> void scores(const R &rows, Index t, Index known, double *s) const {
        const Index found = window.search(rows, t);
        std::fill_n(s, known, smoothing);
        for (Index i = 0; i < found; ++i) {
            const Index slot = window.near[i].slot;
            s[static_cast<Index>(classes[slot])] += votes[slot] * window.share(i);
        }
        for (Index k = 0; k < known; ++k) s[k] = log_of(s[k]);
    }
};

struct NearestClasses {
    Window window;
    double *classes, *votes;
    double smoothing, bias;
    double *p;

    template <class R> double measure(const R &rows, Index t, Index known, double *s) const {
        const double row2 = square_of(rows, t) + bias;
        if (finite(row2)) NearestClassesSeen{window.seen(), classes, votes, smoothing}.scores(rows, t, known, s);
        return row2;
    }

    template <class R> void learn(const R &rows, Index t, double c, Index y, Index, const ForecastRoom &) const {
        const Index slot = window.put(rows, t);
        classes[slot] = static_cast<double>(y);
        votes[slot] = c;
    }
};

// Numbers: the mean of the neighbours' labels, each counted with its weight and its share.
struct NearestNumbersSeen {
    WindowSeen window;
    const double *numbers, *votes;  // the label of the row in each slot, and its weight

    template <class R> double score(const R &rows, Index t) const {
        const Index found = window.search(rows, t);
        double sum = 0.0, all = 0.0;
        for (Index i = 0; i < found; ++i) {
            const Index slot = window.near[i].slot;
            const double vote = votes[slot] * window.share(i);
            sum += vote * numbers[slot];
            all += vote;
        }
        return found ? sum / all : 0.0;
    }
};

struct NearestNumbers {
    Window window;
    double *numbers, *votes;

    template <class R> double score(const R &rows, Index t) const { return NearestNumbersSeen{window.seen(), numbers, votes}.score(rows, t); }
    template <class R> void learn(const R &rows, Index t, double y, double k) const {
        const Index slot = window.put(rows, t);
        numbers[slot] = y;
        votes[slot] = k;
    }
};

}  // namespace noregret
