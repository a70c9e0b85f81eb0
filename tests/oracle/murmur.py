"""MurmurHash3 x86 32-bit from its definition (Appleby), one byte string at a time."""


def murmur3(data: bytes, seed: int = 0) -> int:
    mask = 0xFFFFFFFF
    state = seed
    for start in range(0, len(data), 4):
        piece = data[start : start + 4]
        word = int.from_bytes(piece, "little") * 0xCC9E2D51 & mask
        word = (word << 15 | word >> 17) & mask
        state ^= word * 0x1B873593 & mask
        if len(piece) == 4:
            state = ((state << 13 | state >> 19) & mask) * 5 + 0xE6546B64 & mask
    state ^= len(data)
    state = (state ^ state >> 16) * 0x85EBCA6B & mask
    state = (state ^ state >> 13) * 0xC2B2AE35 & mask
    return state ^ state >> 16
