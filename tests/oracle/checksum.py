"""The checksum of a cache from its definition: four lanes, each a ← (a ⊕ word)·k modulo 2⁶⁴, in plain whole numbers."""

ODD, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def checksum(words):
    lanes = [0x0101010101010101 * one for one in (0xA5, 0xB6, 0xC7, 0xD8)]
    whole = len(words) // 4 * 4
    for i, word in enumerate(words[:whole]):
        lanes[i % 4] = (lanes[i % 4] ^ word) * ODD & MASK
    total = lanes[0]
    for word in words[whole:]:
        total = (total ^ word) * ODD & MASK
        total ^= total >> 29
    for lane in lanes[1:]:
        total = (total ^ lane) * ODD & MASK
        total ^= total >> 32
    return total
