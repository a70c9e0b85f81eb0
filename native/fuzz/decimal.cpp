// A number is what strtod reads, to the last bit, wherever the text goes on behind it.
#include "decimal.hpp"

#include <cstdlib>
#include <string>

#include "fuzz/piece.hpp"

using namespace noregret;

namespace {

// [+-] digits [. digits] [e [+-] one to seven digits], with a digit before or behind the point: its length, or −1.
Index length_of(const std::string &text) {
    std::size_t i = 0;
    const auto digits = [&] {
        const std::size_t begin = i;
        while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
        return i - begin;
    };
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    std::size_t count = digits();
    if (i < text.size() && text[i] == '.') {
        ++i;
        count += digits();
    }
    if (count == 0) return -1;
    if (i < text.size() && (text[i] | 32) == 'e') {
        ++i;
        if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
        const std::size_t power = digits();
        if (power == 0 || power > 7) return -1;
    }
    return static_cast<Index>(i);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *given, std::size_t size) {
    const fuzz::Piece piece(given, static_cast<Index>(size), '7');
    if (piece.stop == 0) return 0;
    const std::string text(reinterpret_cast<const char *>(piece.data()), static_cast<std::size_t>(piece.stop));
    for (const bool quick : {false, true}) {
        const Number found = quick ? likely_unsigned(piece.data()) : number(piece.data());
        const Index length = length_of(text);
        fuzz::require(length < 0 ? !found.end : found.end == piece.data() + length, "where a number ends");
        if (length < 0) continue;
        const double expected = std::strtod(text.substr(0, static_cast<std::size_t>(length)).c_str(), nullptr);
        fuzz::require(std::bit_cast<Word>(expected) == std::bit_cast<Word>(found.value), "the nearest float");
    }
    return 0;
}
