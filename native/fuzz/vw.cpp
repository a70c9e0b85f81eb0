// Vowpal Wabbit's text: rows rise, every feature is a slot, once a row, and the hints name the strings that were hashed.
#include "vw.hpp"

#include <string>

#include "fuzz/piece.hpp"

using namespace noregret;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *given, std::size_t size) {
    if (size == 0) return 0;
    const Index slots = Index{1} << (1 + given[0] % 8), start = given[0] >> 5;
    const fuzz::Piece piece(given + 1, static_cast<Index>(size - 1), given[0] & 16 ? 'a' : '\n');
    const Counts counts = piece.counts('|');
    const Index most = counts.white - counts.lines;
    const fuzz::Room<double> labels(counts.lines), weights(counts.lines), values(most);
    const fuzz::Room<Index> tokens(2 * (counts.lines + 1)), lines(counts.lines), bounds(counts.lines + 1), hints(4 * most), table(4 * most + 2);
    const fuzz::Room<std::uint32_t> features(most);
    const fuzz::Room<Byte> noted((slots + 7) / 8);
    bounds.line()[0] = 0;
    const vw::Found found{labels.line(), tokens.table(2),  weights.line(), lines.line(), bounds.line(),
                          features.line(), values.line(), hints.table(4), table.line()};
    const vw::Slots places{start, slots, {noted.held.get(), noted.size}};
    vw::Progress done{0, 0, 0, 0, 0, 0};
    Index last_line = -1;
    while (done.at < piece.stop) {
        const vw::Progress before = done;
        const bool plain = vw::parse(piece.data(), piece.stop, places, found, done);
        require(done.at >= before.at && done.rows <= counts.lines && done.entries <= most && done.hints <= most, "progress");
        require(plain == (done.at == piece.stop), "it stops at the end, or in front of a line that is not plain");
        require(done.at == 0 || piece.data()[done.at - 1] == '\n', "it stops between lines");
        for (Index t = before.rows; t < done.rows; ++t) {
            require(lines.line()[t] > last_line && lines.line()[t] < done.line, "lines rise");
            last_line = lines.line()[t];
            require(before.at <= found.tokens(t, 0) && found.tokens(t, 0) <= found.tokens(t, 1) && found.tokens(t, 1) < done.at, "a label");
            require(weights.line()[t] >= 0.0, "an importance");
            require(bounds.line()[t] <= bounds.line()[t + 1] && bounds.line()[t + 1] <= done.entries, "bounds rise");
            for (Index k = bounds.line()[t]; k < bounds.line()[t + 1]; ++k) {
                require(features.line()[k] >= start && features.line()[k] < start + slots, "a slot");
                for (Index j = bounds.line()[t]; j < k && k < 64; ++j) require(features.line()[j] != features.line()[k], "a feature twice");
            }
        }
        for (Index k = before.hints; k < done.hints; ++k) {
            const Index *hint = found.hints[k];
            require(before.at < hint[1] && hint[1] <= hint[2] && hint[2] < hint[3] && hint[3] < done.at, "a hint");
            std::string name;
            for (Text at = piece.data() + hint[1]; vw::KINDS[*at] & vw::PART_OF_NAME; ++at) name += static_cast<char>(*at);
            name += '^';
            name.append(reinterpret_cast<const char *>(piece.data() + hint[2]), static_cast<std::size_t>(hint[3] - hint[2]));
            const Index offsets[] = {0, static_cast<Index>(name.size())};
            std::uint32_t hash = 0;
            require(murmur3({reinterpret_cast<Text>(name.data()), offsets[1]}, {offsets, 2}, {&hash, 1}), "a name");
            require((hash & static_cast<std::uint32_t>(slots - 1)) == hint[0], "the slot of a name");
        }
        if (!plain) {  // the simple reader takes the line, and has room for what is on it
            done.at = piece.behind_line(done.at);
            ++done.line;
        }
    }
    return 0;
}
