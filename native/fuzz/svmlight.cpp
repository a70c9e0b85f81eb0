// svmlight text: rows rise, entries are within bounds and within the line they stand on, values are those of strtod.
#include "svmlight.hpp"

#include <cstdlib>
#include <string>

#include "fuzz/piece.hpp"

using namespace noregret;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *given, std::size_t size) {
    if (size == 0) return 0;
    const bool labelled = given[0] & 1;
    const fuzz::Piece piece(given + 1, static_cast<Index>(size - 1), given[0] & 2 ? '7' : '\n');
    const Counts counts = piece.counts(':');
    const fuzz::Room<double> labels(counts.lines), values(counts.others);
    const fuzz::Room<Index> tokens(2 * counts.lines), lines(counts.lines), bounds(counts.lines + 1), room(4 * counts.others + 2);
    const fuzz::Room<std::uint32_t> features(counts.others);
    bounds.line()[0] = 0;
    svmlight::Progress done{0, 0, 0, 0, 0};
    const svmlight::Found found{labels.line(), tokens.table(2), lines.line(), bounds.line(), features.line(), values.line(), room.line()};
    Index infinite = 0, last_line = -1;
    while (done.at < piece.stop) {
        const svmlight::Progress before = done;
        const bool plain = svmlight::parse(piece.data(), piece.stop, labelled, found, done);
        require(done.at >= before.at && done.rows <= counts.lines && done.entries <= counts.others, "progress");
        require(plain == (done.at == piece.stop), "it stops at the end, or in front of a line that is not plain");
        require(done.at == 0 || piece.data()[done.at - 1] == '\n', "it stops between lines");
        for (Index t = before.rows; t < done.rows; ++t) {
            require(lines.line()[t] > last_line && lines.line()[t] < done.line, "lines rise");
            last_line = lines.line()[t];
            const Index begin = found.tokens(t, 0), end = found.tokens(t, 1);
            require(before.at <= begin && begin <= end && end < done.at, "a label stands in the text");
            require(bounds.line()[t] <= bounds.line()[t + 1] && bounds.line()[t + 1] <= done.entries, "bounds rise");
            // The row once more, by strtol and strtod, which a plain line cannot lead astray.
            const char *at = reinterpret_cast<const char *>(piece.data() + end);
            for (Index k = bounds.line()[t]; k < bounds.line()[t + 1]; ++k) {
                for (;;) {
                    while (*at == ' ' || (*at >= 9 && *at <= 13)) ++at;
                    if (std::string(at, 4) != "qid:") break;
                    while (!svmlight::ends(static_cast<Byte>(*at))) ++at;
                }
                char *behind = nullptr;
                require(std::strtol(at, &behind, 10) == static_cast<long>(features.line()[k]) && *behind == ':', "a feature");
                at = behind + 1;
                const double value = std::strtod(at, &behind);
                require(std::bit_cast<Word>(value) == std::bit_cast<Word>(values.line()[k]), "a value");
                infinite += !noregret::finite(value);
                at = behind;
                for (Index j = bounds.line()[t]; j < k && k < 64; ++j) require(features.line()[j] != features.line()[k], "a feature twice");
            }
        }
        require(infinite == done.infinite, "how many values are infinite");
        if (!plain) {  // the simple reader takes the line
            done.at = piece.behind_line(done.at);
            ++done.line;
        }
    }
    return 0;
}
