"""`BlockSizes`: sizes of the parts in which TCM-NN computes."""

from dataclasses import dataclass

_PAIR_BLOCKS = 64  # at most, of training examples whose pairs are parts of the work; more only cost time


@dataclass(frozen=True)
class BlockSizes:
    """Sizes that change speed and memory, never results.

    rows, columns: examples per tile of training pairs. block: new examples per block, fewer where a block
    would have more than ``cells`` values. spare: candidates beyond k in a list, by default 2 k + 14. With
    more, lists are pruned less often; a list that needs more is computed again without the filter.
    """

    rows: int = 512
    columns: int = 1024
    block: int = 256
    cells: int = 2**24
    spare: int | None = None

    def block_for(self, values: int) -> int:
        """Return the number of new examples per block, with this many values each."""
        return max(1, min(self.block, self.cells // max(values, 1)))

    def pair_block(self, m: int) -> int:
        """Return the number of training examples per block if pairs of blocks are scanned in threads."""
        least = max(self.rows, self.columns)
        return least * -(-m // (least * _PAIR_BLOCKS))

    def capacity(self, k: int, m: int) -> int:
        """Return the number of candidates that a list holds; there are never more than m."""
        return max(k + 1, min(3 * k + 14, m)) if self.spare is None else k + self.spare
