// Finite classes: how deep a mistake tree some hypotheses shatter, and the largest set of points that they shatter.
//
// Columns of a 0/1 matrix are bitsets of 64-bit words; bits beyond the last row are 0. Both searches stop between any two
// steps once their budget of work is spent, and go on from there when they are asked again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "arrays.hpp"

namespace noregret {

using Word = std::uint64_t;
constexpr Word FULL = ~Word(0);

// How many bits of so many words are set.
inline Index ones(const Word *words, Index length) {
    Index total = 0;
    for (Index i = 0; i < length; ++i) total += std::popcount(words[i]);
    return total;
}

// The bits of the last of the words that hold `size` bits.
inline Word last_bits(Index size) { return size % 64 ? (Word(1) << (size % 64)) - 1 : size ? FULL : 0; }

constexpr int MOVES = 6;  // moves by 1, 2, 4, 8, 16, 32 places bring any bit of a word where it belongs

// For each word of a mask the six sets of bits that move, so that `squeeze` brings its bits together.
inline void plan(const Word *mask, Index length, Word *moves) {
    for (Index i = 0; i < length; ++i) {
        Word rest = mask[i], gaps = ~rest << 1;
        for (int step = 0; step < MOVES; ++step) {
            Word odd = gaps;  // where an odd number of gaps lies below
            for (int by = 1; by < 64; by *= 2) odd ^= odd << by;
            const Word moving = odd & rest;
            moves[MOVES * i + step] = moving;
            rest = (rest ^ moving) | (moving >> (1 << step));
            gaps &= ~odd;
        }
    }
}

// The bits of `words` at the set places of `mask`, side by side, into `out`.
inline void squeeze(const Word *words, const Word *mask, const Word *moves, Index length, Word *out) {
    int filled = 0;
    Word held = 0;
    for (Index i = 0; i < length; ++i) {
        if (mask[i] == 0) continue;
        Word bits = words[i] & mask[i];
        for (int step = 0; step < MOVES; ++step) {
            const Word moving = bits & moves[MOVES * i + step];
            bits = (bits ^ moving) | (moving >> (1 << step));
        }
        held |= bits << filled;
        int after = filled + std::popcount(mask[i]);
        if (after >= 64) {
            *out++ = held;
            held = filled ? bits >> (64 - filled) : 0;
            after -= 64;
        }
        filled = after;
    }
    if (filled) *out = held;
}

// Σ_{i<d} C(columns, i), or 2⁶² where that is more: a class with more rows shatters d points (Sauer, Shelah).
inline Index sauer(Index columns, Index d) {
    Index total = 0, term = 1;
    for (Index i = 0; i < d; ++i) {
        total += term;
        if (total > Index(1) << 61 || double(term) * double(columns - i) > 0x1p61) return Index(1) << 62;
        term = term * (columns - i) / (i + 1);
    }
    return total;
}

enum class Verdict : int { no, yes, open };

// What the numbers of rows and of distinct splits alone say of ge(V, d): whether V shatters a tree of depth d.
inline Verdict at_once(Index size, Index columns, Index d) {
    if (d > 62 || size < (Index(1) << d) || columns < d) return Verdict::no;
    return d <= 1 || size > sauer(columns, d) ? Verdict::yes : Verdict::open;
}

// A 32-bit number of the words; equal words have equal numbers, and more is not relied on.
inline std::uint32_t hashed(const Word *words, Index length, std::uint32_t state) {
    for (Index i = 0; i < length; ++i) {
        for (int half = 0; half < 2; ++half) {
            std::uint32_t part = std::uint32_t(words[i] >> (32 * half)) * 0xCC9E2D51u;
            state ^= std::rotl(part, 15) * 0x1B873593u;
            state = std::rotl(state, 13) * 5u + 0xE6546B64u;
        }
    }
    state = (state ^ (state >> 16)) * 0x85EBCA6Bu;
    return state ^ (state >> 13);
}

// ---------------------------------------------------------------------------------------------------------------------
// Mistake trees. ge(V, d): some point x splits V into V₀ and V₁ with ge(V₀, d−1) and ge(V₁, d−1). A version space V is
// kept as the set of its distinct splits: each column over the rows of V, renumbered 0, 1, …, turned so that row 0 is 0,
// constant ones and repetitions dropped, in the order of their bits. Version spaces with the same set have the same
// dimension, so the set is the key under which lower ≤ Ldim ≤ upper is remembered; keys are kept whole and compared bit
// by bit.

// What is known of version spaces seen, by their splits: an open hash table. When it is full it is emptied: what it held
// can be found again.
class TreeMemory {
public:
    struct Known {
        std::uint32_t hash;
        Index at, size, columns;  // the key, `columns` splits of `size` rows, begins at word `at`
        Index lower = 0, upper = 64;
        Index first = -1;  // the split that a tree of depth `lower` begins with
    };

    std::mutex busy;  // held by the search that reads and writes here

    TreeMemory(Index spaces, Index words) : most_spaces_(spaces), most_words_(words), slots_(16, 0) {}

    // What is known of a version space, or nothing.
    Known *find(std::uint32_t hash, Index size, Index columns, const Word *key, Index words) {
        const std::uint32_t found = slots_[slot_of(hash, size, columns, key, words)];
        return found ? &known_[found - 1] : nullptr;
    }

    // The same, with room made for it; nothing where it is too long to be kept.
    Known *place(std::uint32_t hash, Index size, Index columns, const Word *key, Index words) {
        if (Known *old = find(hash, size, columns, key, words)) return old;
        if (words > most_words_) return nullptr;
        if (Index(keys_.size()) + words > most_words_ || 2 * Index(known_.size()) > most_spaces_) forget();
        if (2 * (known_.size() + 1) > slots_.size()) widen();
        known_.push_back({hash, Index(keys_.size()), size, columns});
        keys_.insert(keys_.end(), key, key + words);
        slots_[free_slot(hash)] = std::uint32_t(known_.size());
        return &known_.back();
    }

private:
    Index most_spaces_, most_words_;
    std::vector<std::uint32_t> slots_;  // 1 + the place in `known_`, 0 where free; a power of two of them
    std::vector<Known> known_;
    std::vector<Word> keys_;

    std::size_t slot_of(std::uint32_t hash, Index size, Index columns, const Word *key, Index words) const {
        std::size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot]; slot = (slot + 1) & (slots_.size() - 1)) {
            const Known &one = known_[slots_[slot] - 1];
            if (one.hash == hash && one.size == size && one.columns == columns && std::equal(key, key + words, keys_.data() + one.at)) break;
        }
        return slot;
    }

    std::size_t free_slot(std::uint32_t hash) const {
        std::size_t slot = hash & (slots_.size() - 1);
        while (slots_[slot]) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    void forget() {
        std::fill(slots_.begin(), slots_.end(), 0);
        known_.clear();
        keys_.clear();
    }

    void widen() {
        slots_.assign(2 * slots_.size(), 0);
        for (std::size_t i = 0; i < known_.size(); ++i) slots_[free_slot(known_[i].hash)] = std::uint32_t(i + 1);
    }
};

// The search for a tree: a frame a level. Level 0 holds the columns as given; the version space asked about is level 1.
class TreeSearch {
public:
    // words[j] holds bit i where hypothesis i of `size` says 1 at point j.
    TreeSearch(Table<const Word> words, Index size)
        : points_(words.rows), length_(words.columns), levels_(std::bit_width(std::uint64_t(size)) + 3),
          columns_(std::make_unique_for_overwrite<Word[]>(std::size_t(levels_ * points_ * length_))),
          scratch_(std::size_t(points_ * length_)), mask_(std::size_t(length_)), moves_(std::size_t(MOVES * length_)),
          places_(std::size_t(points_)), turned_(std::size_t(points_)), frames_(std::size_t(levels_)),
          splits_(std::size_t(levels_ * points_)), candidates_(std::size_t(levels_ * points_)) {
        for (Index j = 0; j < points_; ++j) {
            std::copy(words[j], words[j] + length_, columns_.get() + j * length_);
            splits_[std::size_t(j)] = {j, false};
        }
        frames_[0].size = size, frames_[0].columns = points_, frames_[0].length = length_;
    }

    // Whether these are rows of the class.
    bool fits(Line<const Word> rows) const {
        return rows.size == length_ && (length_ == 0 || (rows[length_ - 1] & ~last_bits(frames_[0].size)) == 0);
    }

    Index nodes() const { return nodes_; }                // how many version spaces were looked at
    Index size() const { return frames_[1].size; }        // of the version space asked about: its rows
    Index columns() const { return frames_[1].columns; }  // and its distinct splits

    // Ask about the version space of these rows from now on; bits beyond the last row must be 0.
    void turn_to(const Word *rows) {
        std::copy(rows, rows + length_, mask_.begin());
        build(0);
        level_ = bottom_ = 1;
    }

    // Whether level 1 shatters a tree of depth d, `open` while more work than given is needed.
    Verdict advance(TreeMemory &memory, Index d, Index work) {
        Frame &root = frames_[1];
        if (root.at == FRESH || d != root.target) {
            root.target = d, root.at = FRESH;
            level_ = bottom_ = 1;
        }
        budget_ = work_ + work;
        return search(memory);
    }

    // A shattered tree of a depth that level 1 is known to reach, into tree[1 … 2^depth − 1], label 0 to the left: the
    // children of node i are 2i and 2i + 1. False where it does not reach it.
    bool grow(TreeMemory &memory, Index depth, Line<Index> tree) {
        Index level = 1, node = 1;
        budget_ = std::numeric_limits<Index>::max() / 2;
        named_ = true;
        frames_[1].at = FRESH;
        while (level) {
            Frame &frame = frames_[std::size_t(level)];
            if (frame.at == FRESH) {
                level_ = bottom_ = level;
                frame.target = depth - level + 1;
                if (search(memory) != Verdict::yes) break;
                tree[node] = split(level, frame.choice).origin;
                frame.at = frame.second = 0;
            }
            if (level == depth || frame.second == 2) {
                --level, node /= 2;
                continue;
            }
            const int way = frame.second++;
            side(level, frame.choice, way != int(split(level, frame.choice).flipped));
            build(level);
            ++level, node = 2 * node + way;
        }
        named_ = false;
        frames_[1].at = FRESH;
        return level == 0;
    }

private:
    static constexpr Index FRESH = -1;

    struct Frame {
        Index size = 0, columns = 0, length = 0, base = 0;
        Index target = 0, candidates = 0, at = FRESH, choice = -1;
        int second = 0;
        std::uint32_t hash = 0;
    };

    struct Split {
        Index origin;  // the column of the class
        bool flipped;  // whether it was turned
    };

    Index points_, length_, levels_;
    std::unique_ptr<Word[]> columns_;
    std::vector<Word> scratch_, mask_, moves_;
    std::vector<Index> places_;
    std::vector<std::uint8_t> turned_;
    std::vector<Frame> frames_;
    std::vector<Split> splits_;
    std::vector<Index> candidates_;
    Index level_ = 1, bottom_ = 1, work_ = 0, budget_ = 0, nodes_ = 0;
    bool named_ = false;  // whether the split at the bottom is asked for, so that a mere yes is not enough

    Split &split(Index level, Index column) { return splits_[std::size_t(level * points_ + column)]; }
    Index &candidate(Index level, Index k) { return candidates_[std::size_t(level * points_ + k)]; }
    const Word *column(const Frame &frame, Index j) const { return columns_.get() + frame.base + j * frame.length; }

    // mask_: the rows of a level where a column has a value.
    void side(Index level, Index column_number, bool value) {
        const Frame &frame = frames_[std::size_t(level)];
        const Word *from = column(frame, column_number);
        for (Index i = 0; i < frame.length; ++i) mask_[std::size_t(i)] = value ? from[i] : ~from[i];
        if (frame.length) mask_[std::size_t(frame.length - 1)] &= last_bits(frame.size);
    }

    // Level + 1: the rows of `level` that mask_ names, their distinct splits in order.
    void build(Index level) {
        const Frame &above = frames_[std::size_t(level)];
        Frame &below = frames_[std::size_t(level + 1)];
        const Index size = ones(mask_.data(), above.length), words = (size + 63) / 64;
        plan(mask_.data(), above.length, moves_.data());
        Index kept = 0;
        for (Index j = 0; j < above.columns; ++j) {
            Word *to = scratch_.data() + j * words;
            squeeze(column(above, j), mask_.data(), moves_.data(), above.length, to);
            const bool turned = size > 0 && (to[0] & 1);
            if (turned) {
                for (Index i = 0; i < words; ++i) to[i] = ~to[i];
                to[words - 1] &= last_bits(size);
            }
            turned_[std::size_t(j)] = turned;
            if (std::any_of(to, to + words, [](Word word) { return word != 0; })) places_[std::size_t(kept++)] = j;
        }
        const auto content = [&](Index j) { return scratch_.data() + j * words; };
        std::sort(places_.begin(), places_.begin() + kept, [&](Index a, Index b) {
            const auto [one, other] = std::mismatch(content(a), content(a) + words, content(b));
            return one == content(a) + words ? a < b : *one < *other;
        });
        below.base = above.base + above.columns * above.length;
        Index distinct = 0;
        for (Index k = 0; k < kept; ++k) {
            const Index j = places_[std::size_t(k)];
            if (k && std::equal(content(j), content(j) + words, content(places_[std::size_t(k - 1)]))) continue;
            std::copy(content(j), content(j) + words, columns_.get() + below.base + distinct * words);
            const Split &from = split(level, j);
            split(level + 1, distinct++) = {from.origin, from.flipped != bool(turned_[std::size_t(j)])};
        }
        below.columns = distinct, below.size = size, below.length = words, below.at = FRESH;
        work_ += above.columns * (above.length + 8);
    }

    // Keep that a frame's version space reaches its target, with the split that shows it, or that it does not.
    void remember(TreeMemory &memory, const Frame &frame, Verdict verdict) {
        TreeMemory::Known *known = memory.place(frame.hash, frame.size, frame.columns, column(frame, 0), frame.columns * frame.length);
        if (!known) return;
        if (verdict == Verdict::no) known->upper = std::min(known->upper, frame.target - 1);
        else if (frame.target > known->lower) known->lower = frame.target, known->first = frame.choice;
    }

    // Decide a fresh frame by what is known at once or remembered; else lay out its candidates, most balanced first.
    Verdict enter(TreeMemory &memory, Index level) {
        Frame &frame = frames_[std::size_t(level)];
        const Index d = frame.target, words = frame.columns * frame.length;
        const bool named = level == bottom_ && named_ && d > 0;
        frame.choice = -1;
        const Verdict verdict = at_once(frame.size, frame.columns, d);
        if (verdict == Verdict::no || (verdict == Verdict::yes && !named)) return verdict;
        frame.hash = hashed(column(frame, 0), words, std::uint32_t(frame.size));
        work_ += words;
        if (const TreeMemory::Known *known = memory.find(frame.hash, frame.size, frame.columns, column(frame, 0), words)) {
            if (known->upper < d) return Verdict::no;
            if (known->lower >= d) {
                frame.choice = known->first;
                return Verdict::yes;
            }
        }
        lay_out(level);
        frame.at = 0, frame.second = 0;
        if (d <= 2 && frame.candidates) {  // two rows are enough for depth 1
            frame.choice = candidate(level, 0);
            return Verdict::yes;
        }
        return Verdict::open;
    }

    // The columns whose smaller side could hold a tree of depth d − 1, by that side's size, largest first.
    void lay_out(Index level) {
        Frame &frame = frames_[std::size_t(level)];
        const Index least = Index(1) << (frame.target - 1);
        Index found = 0;
        for (Index j = 0; j < frame.columns; ++j) {
            const Index size = ones(column(frame, j), frame.length), small = std::min(size, frame.size - size);
            places_[std::size_t(j)] = small;
            if (small >= least) candidate(level, found++) = j;
        }
        Index *first = &candidate(level, 0);
        std::sort(first, first + found, [&](Index a, Index b) {
            const Index one = places_[std::size_t(a)], other = places_[std::size_t(b)];
            return one == other ? a < b : one > other;
        });
        frame.candidates = found;
    }

    // Build the side of a frame's candidate that is next: the smaller one first.
    void descend(Index level) {
        const Frame &frame = frames_[std::size_t(level)];
        const Index chosen = candidate(level, frame.at), size = ones(column(frame, chosen), frame.length);
        side(level, chosen, (2 * size <= frame.size) != bool(frame.second));
        build(level);
        frames_[std::size_t(level + 1)].target = frame.target - 1;
        ++nodes_;
    }

    // The verdict on the frame at the bottom, `open` when the budget of work is spent: called again it goes on.
    Verdict search(TreeMemory &memory) {
        Index level = level_;
        Verdict verdict = Verdict::open;
        while (true) {
            Frame &frame = frames_[std::size_t(level)];
            if (frame.at == FRESH) {
                verdict = enter(memory, level);
                if (frame.at != FRESH && verdict == Verdict::yes) remember(memory, frame, Verdict::yes);
            } else if (frame.at == frame.candidates) {
                verdict = Verdict::no;
                remember(memory, frame, Verdict::no);
            }
            if (verdict == Verdict::open && frame.at < frame.candidates) {
                if (work_ > budget_) {
                    level_ = level;
                    return Verdict::open;
                }
                descend(level++);
                continue;
            }
            while (verdict != Verdict::open) {
                if (level == bottom_) {
                    level_ = level;
                    return verdict;
                }
                verdict = tell(memory, --level, verdict);
            }
        }
    }

    // A frame hears of the side it asked about: on to the next candidate, to the other side, or done.
    Verdict tell(TreeMemory &memory, Index level, Verdict verdict) {
        Frame &frame = frames_[std::size_t(level)];
        if (verdict == Verdict::no) {
            ++frame.at;
            frame.second = 0;
            return Verdict::open;
        }
        if (frame.second == 0) {
            frame.second = 1;
            return Verdict::open;
        }
        frame.choice = candidate(level, frame.at);
        remember(memory, frame, Verdict::yes);
        return Verdict::yes;
    }
};

// ---------------------------------------------------------------------------------------------------------------------
// Shattered sets. A set of j columns that is shattered cuts the rows into 2ʲ cells, none of them empty. It can grow by
// columns that cut every cell, and only by those of them that stood behind the column taken last. Which columns cut a
// cell is one pass over its rows, for all columns at once: where both a 0 and a 1 were seen. Only sets that could still
// grow beyond the largest one known are looked at; a set of `target` columns needs 2^(target − j) rows in every cell.
class SetSearch {
public:
    std::mutex busy;  // held while it searches

    // bits[i] holds bit j where row i has a 1 in column j of `columns`; sets of `least` are known to exist, none of more
    // than `most`.
    SetSearch(Table<const Word> bits, Index columns, Index least, Index most)
        : count_(bits.rows), length_(bits.columns), least_(least), most_(most), bits_(std::size_t(count_ * length_)),
          rows_(std::size_t((most + 2) * count_)), starts_((std::size_t(2) << most) + std::size_t(most) + 3),
          candidates_(std::size_t((most + 2) * length_)), chosen_(std::size_t(most + 2)) {
        for (Index i = 0; i < count_; ++i) {
            std::copy(bits[i], bits[i] + length_, bits_.begin() + i * length_);
            rows_[std::size_t(i)] = i;
        }
        starts_[2] = count_;
        for (Index i = 0; i < length_; ++i) candidates_[std::size_t(i)] = i + 1 < length_ ? FULL : last_bits(columns);
    }

    Index nodes() const { return nodes_; }
    const std::vector<Index> &best() const { return best_; }  // the columns of the largest shattered set found so far
    void at_most(Index limit) { most_ = std::min(most_, limit); }

    // Whether nothing larger than `best` is left to find; false when so much work is done: called again it goes on.
    bool advance(Index work) {
        const Index budget = work_ + work;
        while (found() < most_) {
            if (depth_ + count_candidates(depth_) < std::max(found() + 1, least_)) {
                if (depth_ == 0) return true;
                --depth_;
                continue;
            }
            if (work_ > budget) return false;
            const Index column = first_candidate();
            chosen_[std::size_t(depth_)] = column;
            ++nodes_;
            if (depth_ + 1 > found()) best_.assign(chosen_.begin(), chosen_.begin() + depth_ + 1);
            grow(column, std::max(found() + 1, least_));
            ++depth_;
        }
        return true;
    }

private:
    Index count_, length_, least_, most_;
    std::vector<Word> bits_;
    std::vector<Index> rows_;        // of each depth j: the rows, cell after cell
    std::vector<Index> starts_;      // 2ʲ + j + c: where cell c of depth j begins
    std::vector<Word> candidates_;  // of each depth: the columns to try next
    std::vector<Index> chosen_, best_;
    Index depth_ = 0, work_ = 0, nodes_ = 0;

    Index found() const { return Index(best_.size()); }
    Word *candidates(Index depth) { return candidates_.data() + depth * length_; }
    Index count_candidates(Index depth) { return ones(candidates(depth), length_); }
    Index *cell(Index depth, Index c) { return starts_.data() + (Index(1) << depth) + depth + c; }

    // Take the first candidate away; there must be one.
    Index first_candidate() {
        Word *words = candidates(depth_);
        Index i = 0;
        while (words[i] == 0) ++i;
        const Index column = 64 * i + std::countr_zero(words[i]);
        words[i] &= words[i] - 1;
        return column;
    }

    // Cells 2c and 2c + 1 of the next depth: the rows of cell c with 0 to its front, with 1 to its back; the least size.
    Index cut(Index c, Index column) {
        const Index begin = cell(depth_, c)[0], end = cell(depth_, c)[1];
        const Index *from = rows_.data() + depth_ * count_;
        Index *to = rows_.data() + (depth_ + 1) * count_, front = begin, back = end;
        for (Index i = begin; i < end; ++i) {
            const bool one = bits_[std::size_t(from[i] * length_ + column / 64)] >> (column % 64) & 1;
            to[one ? --back : front++] = from[i];
        }
        Index *below = cell(depth_ + 1, 2 * c);
        below[0] = begin, below[1] = front, below[2] = end;
        work_ += end - begin;
        return std::min(front - begin, end - front);
    }

    // Drop the candidates of the next depth that do not cut one of its cells: those without a 0 or without a 1 in it.
    void sift(Index c) {
        const Index begin = cell(depth_ + 1, c)[0], end = cell(depth_ + 1, c)[1];
        const Index *rows = rows_.data() + (depth_ + 1) * count_;
        Word *words = candidates(depth_ + 1);
        for (Index i = 0; i < length_; ++i) {
            const Word wanted = words[i];
            Word some = 0, every = FULL;
            Index k = begin;
            for (; k < end && (some & ~every & wanted) != wanted; ++k) {
                const Word row = bits_[std::size_t(rows[k] * length_ + i)];
                some |= row;
                every &= row;
            }
            words[i] = wanted & some & ~every;
            work_ += k - begin + 1;
        }
    }

    // The next depth: its cells and its candidates, of which none is left as soon as `target` is out of reach.
    void grow(Index column, Index target) {
        Word *next = candidates(depth_ + 1);
        std::copy(candidates(depth_), candidates(depth_) + length_, next);
        const Index least = Index(1) << std::max(target - depth_ - 1, Index(0));
        for (Index c = 0; c < (Index(1) << depth_); ++c) {
            bool reach = cut(c, column) >= least;
            if (reach) {
                sift(2 * c);
                sift(2 * c + 1);
                reach = depth_ + 1 + count_candidates(depth_ + 1) >= target;
            }
            if (!reach) return std::fill(next, next + length_, 0);
        }
    }
};

}  // namespace noregret
