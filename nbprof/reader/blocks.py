"""The JSON texts of all arguments of a trace, in blocks, compressed in large traces.

In: the text of one piece after another. Out: `ArgsStore`, which unpacks a block when one of its events is looked at.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

_CACHED = 4
_WAITING = 8
_PLAIN = 8 << 20
"""Bytes of a trace that are kept as they are: packing takes about as long as decoding, and a small trace has no need."""


class _HasArgs(msgspec.Struct, gc=False):
    args: msgspec.Raw = msgspec.Raw(b"{}")


_block = msgspec.json.Decoder(list[_HasArgs])


class Rows(Protocol):
    """A block of another make: it unpacks itself, and pickles as bytes, as `packed` makes them."""

    def __len__(self) -> int:
        """Size in memory."""

    def texts(self) -> list[bytes]:
        """The JSON text of each event's arguments."""


Block: TypeAlias = bytes | Rows
"""As bytes: a JSON list of events, plain or compressed."""
Numbers: TypeAlias = NDArray[Any]


class ArgsStore:
    """Blocks of events, which never change; block b holds those from number `firsts[b]` on."""

    def __init__(self, blocks: Sequence[Block], firsts: NDArray[np.int64], count: int) -> None:
        self.blocks = blocks
        self.firsts = firsts
        self.count = count
        self._recent: dict[int, Sequence[bytes | msgspec.Raw]] = {}

    @property
    def nbytes(self) -> int:
        """Size in memory."""
        return sum(map(len, self.blocks)) + self.firsts.nbytes

    def block_of(self, numbers: Numbers) -> NDArray[np.int64]:
        """The block of each event; -1 for the number -1."""
        blocks: NDArray[np.int64] = np.searchsorted(self.firsts, numbers, side="right") - 1
        return blocks

    def text(self, number: int) -> bytes:
        """The JSON text of one event's arguments."""
        block = int(np.searchsorted(self.firsts, number, side="right")) - 1
        texts = self._recent.get(block)
        if texts is None:
            texts = _unpacked(self.blocks[block])
            # A new dict, so that another thread never meets one that changes.
            self._recent = {**dict([*self._recent.items()][1 - _CACHED :]), block: texts}
        return bytes(texts[number - int(self.firsts[block])])

    def texts(self, block: int, numbers: Numbers) -> list[bytes]:
        """The texts of some events of one block."""
        texts = _unpacked(self.blocks[block])
        return [bytes(texts[place]) for place in (numbers - self.firsts[block]).tolist()]

    def part(self, numbers: Numbers) -> tuple[ArgsStore, Numbers]:
        """A store of only the blocks that hold these events, and their numbers there."""
        of_row = self.block_of(numbers)
        used = np.unique(of_row[of_row >= 0])
        counts = np.diff(self.firsts, append=self.count)[used]
        firsts = counts.cumsum() - counts
        shift = np.zeros(len(self.blocks) + 1, np.int64)  # the block -1 reads the last entry
        shift[used] = firsts - self.firsts[used]
        blocks = [self.blocks[block] for block in used.tolist()]
        return ArgsStore(blocks, firsts, int(counts.sum())), numbers + shift[of_row]

    def __deepcopy__(self, memo: object) -> ArgsStore:
        return self


def packed(text: bytes) -> bytes:
    """A JSON list of events as a block that takes little memory."""
    # Level 1 packs a trace to a tenth; level 6 takes several times as long for little more.
    return zlib.compress(text, 1)


def _unpacked(block: Block) -> Sequence[bytes | msgspec.Raw]:
    if not isinstance(block, bytes):
        return block.texts()
    return [event.args for event in _block.decode(block if block.startswith(b"[") else zlib.decompress(block))]


class ArgsBuilder:
    """Takes the texts of one piece after another; compresses them beside the reading thread, inside `with`."""

    def __init__(self) -> None:
        # zlib lets go of the interpreter while it works, so where there is a second core this costs no time.
        self._packer = ThreadPoolExecutor(1, "nbprof-args")
        self._blocks: list[bytes | Future[bytes]] = []
        self._packing: deque[Future[bytes]] = deque()
        self._plain = 0
        self._firsts: list[int] = []
        self._count = 0

    def __enter__(self) -> ArgsBuilder:
        return self

    def __exit__(self, *_: object) -> None:
        self._packer.shutdown()

    def add(self, text: bytes, count: int) -> int:
        """Keep a JSON list of `count` events; returns the number of the first."""
        first = self._count
        self._firsts.append(first)
        self._count += count
        if self._plain + len(text) <= _PLAIN:
            self._plain += len(text)
            self._blocks.append(text)
            return first
        if len(self._packing) >= _WAITING:
            self._packing.popleft().result()  # no more texts than this wait in memory
        packing = self._packer.submit(packed, text)
        self._packing.append(packing)
        self._blocks.append(packing)
        return first

    def finish(self) -> ArgsStore:
        """What was kept."""
        blocks = [block if isinstance(block, bytes) else block.result() for block in self._blocks]
        return ArgsStore(blocks, np.array(self._firsts, np.int64), self._count)
