"""Linear equations and determinants in exact fractions, by elimination; the matrices are positive definite."""

from fractions import Fraction


def _upper(A, b):
    """The rows of A with b appended, zeros below the diagonal."""
    M = [[*row, right] for row, right in zip(A, b, strict=True)]
    for i, pivot in enumerate(M):
        for j in range(i + 1, len(M)):
            by = M[j][i] / pivot[i]
            M[j] = [p - by * q for p, q in zip(M[j], pivot, strict=True)]
    return M


def solved(A, b):
    """A⁻¹b."""
    M, n = _upper(A, b), len(A)
    x = [Fraction(0)] * n
    for i in reversed(range(n)):
        x[i] = (M[i][n] - sum((M[i][j] * x[j] for j in range(i + 1, n)), start=Fraction(0))) / M[i][i]
    return x


def determinant(A):
    """det A."""
    found = Fraction(1)
    for i, row in enumerate(_upper(A, [Fraction(0)] * len(A))):
        found *= row[i]
    return found
