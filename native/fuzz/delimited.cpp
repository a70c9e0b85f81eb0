// Delimited text: rows rise, cells stand in the text, numbers are those of strtod or missing.
#include "delimited.hpp"

#include <cstdlib>

#include "fuzz/piece.hpp"

using namespace noregret;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *given, std::size_t size) {
    if (size < 2) return 0;
    constexpr Byte DELIMITERS[] = {',', '\t', ';', '|'};
    const Byte delimiter = DELIMITERS[given[0] & 3];
    const Index width = 1 + (given[0] >> 2 & 3);
    const fuzz::Piece piece(given + 2, static_cast<Index>(size - 2), given[0] & 32 ? '7' : '\n');
    const delimited::Cut cut = delimited::records_end({piece.data(), piece.stop}, delimiter);
    require(0 <= cut.end && cut.end <= piece.stop && 0 <= cut.opened && cut.opened <= piece.stop, "where records end");
    const Index rows = piece.counts('\n').lines;
    const fuzz::Room<Index> kinds(width), places(width);
    Index numbers = 0, texts = 0;
    for (Index column = 0; column < width; ++column) {
        const Index kind = given[1] >> 2 * column & 3;
        kinds.line()[column] = kind;
        places.line()[column] = kind == delimited::NUMBER ? numbers++ : kind == delimited::HASHED ? texts++ : 0;
    }
    const fuzz::Room<double> X(rows * numbers), labels(rows);
    const fuzz::Room<Index> cells(rows * 2 * texts), tokens(2 * rows), lines(rows);
    const delimited::Columns columns{{kinds.held.get(), width}, {places.held.get(), width}, X.table(numbers),
                                     cells.table(2 * texts),    labels.line(),              tokens.table(2), lines.line()};
    delimited::Progress done{0, 0, 0};
    Index last_line = -1;
    while (done.at < piece.stop) {
        const delimited::Progress before = done;
        const bool plain = delimited::parse(piece.data(), piece.stop, delimiter, columns, done);
        require(done.at >= before.at && done.rows <= rows, "progress");
        require(plain == (done.at == piece.stop), "it stops at the end, or in front of a record that is not plain");
        require(done.at == 0 || piece.data()[done.at - 1] == '\n', "it stops between lines");
        for (Index t = before.rows; t < done.rows; ++t) {
            require(lines.line()[t] > last_line && lines.line()[t] < done.line, "lines rise");
            last_line = lines.line()[t];
            for (Index k = 0; k < texts; ++k) {
                const Index begin = columns.cells(t, 2 * k), end = columns.cells(t, 2 * k + 1);
                require(before.at <= begin && begin <= end && end < done.at, "a cell stands in the text");
            }
        }
        for (Index column = 0; column < width; ++column) {
            if (kinds.line()[column] != delimited::LABEL) continue;
            for (Index t = before.rows; t < done.rows; ++t) {
                require(before.at <= columns.tokens(t, 0) && columns.tokens(t, 0) <= columns.tokens(t, 1), "a label");
                const double label = labels.line()[t];
                const char *begin = reinterpret_cast<const char *>(piece.data() + columns.tokens(t, 0));
                require(label != label || std::bit_cast<Word>(std::strtod(begin, nullptr)) == std::bit_cast<Word>(label), "its value");
            }
        }
        // A record of numbers alone, once more by strtod, from the left, where all stand bare on one line.
        if (numbers == width && plain && before.at == 0 && done.rows == 1 && done.line == 1) {
            const char *at = reinterpret_cast<const char *>(piece.data());
            for (Index column = 0; column < width; ++column) {
                char *behind = nullptr;
                const bool bare = (*at >= '0' && *at <= '9') || *at == '-' || *at == '.';
                const double value = std::strtod(at, &behind), read = columns.X(0, column);
                if (!bare || (static_cast<Byte>(*behind) != delimiter && *behind != '\n')) break;
                require(std::bit_cast<Word>(value) == std::bit_cast<Word>(read), "a number");
                at = behind + 1;
            }
        }
        if (!plain) {
            done.at = piece.behind_line(done.at);
            ++done.line;
        }
    }
    return 0;
}
