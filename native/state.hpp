// The named state of a learner and of its run: one record, saved and compared bit for bit.
//
// The weights are w = scale·z (and the bias weight scale·bias), so that shrinking and projecting cost Θ(1) a round.
// `norm2` is ‖z‖² with the bias; it is updated round by round and taken afresh from z at fixed numbers of updates: every
// power of two and every multiple of REFRESH. While every feature played is below SMALL these are the first
// SMALL_REFRESH updates and every multiple of that; a projection on a ball is then made on z itself. `norm1` tells where
// ‖w‖₁ may be too large: it is then taken from z.
#pragma once

#include <array>
#include <cstddef>

#include "arrays.hpp"

namespace noregret {

constexpr Index REFRESH = 65536;  // at the most so many updates between two exact recomputations of the running norm
constexpr Index SMALL_REFRESH = 64;  // of few features
constexpr Index WINDOW = 1000;    // rounds of the windowed error
constexpr Index BINS = 8193;      // score bins a class, for the AUC: 64 binary orders × 64 steps a sign, and one for zero
constexpr Index SMALL = 64;       // up to so many features are few
constexpr double TINY = 1e-60;    // a smaller scale is folded into z before it can underflow
constexpr Index CURVE_ROWS = 256;  // of the regret curve: four to each doubling, enough for 2⁶³ rounds
constexpr Index POINTS = 2048;    // rows of the trace; when it is full every second one goes and the spacing doubles
constexpr Index TRACE_COLUMNS = 7, CURVE_COLUMNS = 4;

enum Domain : Index { WHOLE, BALL, BOX, CROSS, SIMPLEX };
enum Rate : Index { CONSTANT, SQRT, STRONG, ADAPTIVE, DOUBLING, PASSIVE, PASSIVE_CAPPED, PASSIVE_SOFT, COIN, COORDINATE, PROXIMAL, BETS, NORMALISED, DIAGONAL, DELAYED };
enum Gather : Index { NOTHING, GRADIENTS, AVERAGE };  // what `total` holds: Σg, or Σ(t − 1)·c·x, for the average

struct State {
    // the weights' scalars and the step clock
    double scale, bias, norm2, bias_gradient;
    double threshold;  // Σηλ₁/scale so far: what a penalty λ₁‖w‖₁ has taken from every |z_i|
    double norm1;      // ‖z‖₁ with the bias, where the domain asks for it
    Index large;       // whether a feature from SMALL on was played
    Index period;      // first round of the current doubling period
    double wealth;     // of coin betting; of scale-free, that of the bias
    double refused;    // ‖g‖² of a gradient longer than coin betting may take
    double bias_squares;  // Σg² of the bias, where every coordinate has its own step
    double outstanding;   // Λ·Σ‖x‖ over the rounds that wait for their labels while this one is learned
    double delayed2;      // Σ‖g‖² + 2‖g‖·outstanding
    double bias_dual;     // what FTRL-Proximal keeps of the bias in place of its weight; of scale-free, its reach
    // what the theorems need
    Index rounds, updates, mistakes;
    double loss;
    double row_max2;           // max ‖x‖²
    double mistake_row2;       // Σ‖x‖² over mistakes
    double gradient_max2;
    double gradient2;          // Σ‖g‖²
    double gradient2_sqrt;     // Σ‖g‖²/√t
    double gradient2_inverse;  // Σ‖g‖²/t
    double gradient_dot_weights;  // Σ g·w
    double label_max;             // max |y|
    Index fractional_weights;     // rounds whose sample weight was neither 0 nor 1
    // progressive figures and baselines
    double absolute, squared;
    Index positives;
    double last_label;
    double last;  // mistakes, or loss, of the baseline "previous label"
    double label_sum;
    double constant;  // loss of the running mean (regression)
    Index confusion[2][2];  // [true label][predicted label], −1 first
    double window[WINDOW];
    Index bins[2][BINS];
    double trace[POINTS][TRACE_COLUMNS];
    Index window_at;  // the slot of the window that is written next
    Index trace_rows, trace_step, trace_next;
    double curve[CURVE_ROWS][CURVE_COLUMNS];
    Index curve_rows, curve_next;
};

// The settings as the loops read them.
struct Config {
    Index rate;
    double eta, sigma;
    Index domain;
    double radius;
    double bias;       // 1 with a bias, else 0
    double tie;        // what a score of 0 counts as: +1, −1, or 0 for "a mistake either way"
    double parameter;  // the loss's own: ρ, δ, τ
    Index classify;
    Index gather;
    double beta, l1, l2;
    Index cut;  // whether coin betting cuts a gradient that is too long; whether scale-free takes the means off
};

struct Record {
    State state;
    Config config;
};

struct RecordAt {
    Record *record = nullptr;
};

struct RecordSeen {  // one that is only read
    const Record *record = nullptr;
};

struct Field {
    const char *name;
    char kind;  // 'f' or 'i', eight bytes each
    std::size_t offset;
    std::array<Index, 2> shape{0, 0};  // zeros: a single number
};

// How Python sees the two: a structured type with these names.
constexpr Field STATE_FIELDS[] = {
    {"scale", 'f', offsetof(State, scale)},
    {"bias", 'f', offsetof(State, bias)},
    {"norm2", 'f', offsetof(State, norm2)},
    {"bias_gradient", 'f', offsetof(State, bias_gradient)},
    {"threshold", 'f', offsetof(State, threshold)},
    {"norm1", 'f', offsetof(State, norm1)},
    {"large", 'i', offsetof(State, large)},
    {"period", 'i', offsetof(State, period)},
    {"wealth", 'f', offsetof(State, wealth)},
    {"refused", 'f', offsetof(State, refused)},
    {"outstanding", 'f', offsetof(State, outstanding)},
    {"delayed2", 'f', offsetof(State, delayed2)},
    {"bias_squares", 'f', offsetof(State, bias_squares)},
    {"bias_dual", 'f', offsetof(State, bias_dual)},
    {"rounds", 'i', offsetof(State, rounds)},
    {"updates", 'i', offsetof(State, updates)},
    {"mistakes", 'i', offsetof(State, mistakes)},
    {"loss", 'f', offsetof(State, loss)},
    {"row_max2", 'f', offsetof(State, row_max2)},
    {"mistake_row2", 'f', offsetof(State, mistake_row2)},
    {"gradient_max2", 'f', offsetof(State, gradient_max2)},
    {"gradient2", 'f', offsetof(State, gradient2)},
    {"gradient2_sqrt", 'f', offsetof(State, gradient2_sqrt)},
    {"gradient2_inverse", 'f', offsetof(State, gradient2_inverse)},
    {"gradient_dot_weights", 'f', offsetof(State, gradient_dot_weights)},
    {"label_max", 'f', offsetof(State, label_max)},
    {"fractional_weights", 'i', offsetof(State, fractional_weights)},
    {"absolute", 'f', offsetof(State, absolute)},
    {"squared", 'f', offsetof(State, squared)},
    {"positives", 'i', offsetof(State, positives)},
    {"last_label", 'f', offsetof(State, last_label)},
    {"last", 'f', offsetof(State, last)},
    {"label_sum", 'f', offsetof(State, label_sum)},
    {"constant", 'f', offsetof(State, constant)},
    {"confusion", 'i', offsetof(State, confusion), {2, 2}},
    {"window", 'f', offsetof(State, window), {WINDOW}},
    {"bins", 'i', offsetof(State, bins), {2, BINS}},
    {"trace", 'f', offsetof(State, trace), {POINTS, TRACE_COLUMNS}},
    {"window_at", 'i', offsetof(State, window_at)},
    {"trace_rows", 'i', offsetof(State, trace_rows)},
    {"trace_step", 'i', offsetof(State, trace_step)},
    {"trace_next", 'i', offsetof(State, trace_next)},
    {"curve", 'f', offsetof(State, curve), {CURVE_ROWS, CURVE_COLUMNS}},
    {"curve_rows", 'i', offsetof(State, curve_rows)},
    {"curve_next", 'i', offsetof(State, curve_next)},
};

constexpr Field CONFIG_FIELDS[] = {
    {"rate", 'i', offsetof(Config, rate)},
    {"eta", 'f', offsetof(Config, eta)},
    {"sigma", 'f', offsetof(Config, sigma)},
    {"domain", 'i', offsetof(Config, domain)},
    {"radius", 'f', offsetof(Config, radius)},
    {"bias", 'f', offsetof(Config, bias)},
    {"tie", 'f', offsetof(Config, tie)},
    {"parameter", 'f', offsetof(Config, parameter)},
    {"classify", 'i', offsetof(Config, classify)},
    {"gather", 'i', offsetof(Config, gather)},
    {"beta", 'f', offsetof(Config, beta)},
    {"l1", 'f', offsetof(Config, l1)},
    {"l2", 'f', offsetof(Config, l2)},
    {"cut", 'i', offsetof(Config, cut)},
};

}  // namespace noregret
