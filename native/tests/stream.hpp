// A seeded stream of whole numbers for the test programs, the same on every machine: splitmix64 (G. L. Steele, D. Lea
// and C. H. Flood 2014).
#pragma once

#include <cstdint>

namespace noregret {

struct Stream {
    std::uint64_t state;

    std::uint64_t next() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)
    std::uint64_t below(std::uint64_t n) { return next() % n; }
};

}  // namespace noregret
