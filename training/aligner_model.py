"""The aligner itself: every content word of a query is met by the best word of a passage.

A text is read by itself. Each of its content words has a vector: the mean of the states of its
pieces, of the last layer or of a learned mix of several, projected and scaled to length 1. How well
a query's word is met is the highest cosine c with a word of the passage, and has a price:
log(1 + exp(offset − steep · c)). A passage's score is minus the mean of these prices, weighted by a
learned weight of each query word that begins with how rare it is, and of one price more for the
whole: the gist, from the first tokens.

Words that are strict about what they mean come from a middle layer and know little of their
sentence. So a word may have a second vector, of the last layer: its context. A query word's fit is
the least price of a context of the passage, each raised by a share of the price of that word's
meaning, and is one more part of the score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from bert import MINILM, Bert, Shape, layers_in, load
from judge import Drawing
from torch import Tensor, nn
from torch.nn import functional as F
from vocabulary import Vocabulary
from words import CONTENT, STARTS

from examples import CLS, SEP

DEAREST = 4.0  # what a word costs at most, but for a hundredth
MARKERS = (1, 2)  # unused tokens that stand before a query or a passage where a start knows them


@dataclass(frozen=True)
class Recipe(Drawing):
    """Everything that decides what comes out, besides the data."""

    name: str = "aligner"
    epochs: int = 2
    rate: float = 1e-4
    warm_up: float = 0.1
    binary: float = 0.0
    dropout: float = 0.0
    decay: float = 0.01
    new: float = 10.0  # how much faster the parts learn that the start does not have
    scalars: float = 10.0  # the same for single numbers: steepness, offset, shares
    apart: float = 0.0  # weight of: no word is met by another document that does not have it
    swapped: float = 0.0  # weight of: a word that was put in is unmet
    renamed: float = 0.0  # weight of: a word that means the same is met by the one that stood there
    steady: float = 0.2  # weight of: the other words of such a query are met as before
    mix: tuple[int, ...] = ()  # layers whose states make words; else the last alone
    share: float = -1.0  # of the whole beside the words at first, a logit: 0.27
    share_learns: bool = True  # else the whole keeps the share it has at first
    rare: float = 0.0  # how much rarity counts in the weight of a query's word, at first
    sealed: bool = False  # numbers and names are met by the same word alone
    layers: tuple[int, ...] | None = None
    frozen: int | None = None
    by_layer: float = 1.0
    dimensions: int = 128  # of a word, or of what it means where it has a context too
    context: int = 0  # dimensions of a word's context; 0: it has none
    fit: float = 0.5  # share of fits beside the prices of words
    gate: float = 0.5  # share of a word's price that a context pays where it stands
    gist: int = 128  # dimensions of the whole; 0: there is no such term
    prices: bool = True  # else plain cosines are added up
    content: bool = True  # else every word counts
    pooled: bool = True  # else every piece is a word
    markers: bool = False
    teach: float = 0.0  # weight of the first teacher's opinion of the passages shown
    unmarked: int = 0  # lists a step that only the teachers have an opinion of
    unmarked_weight: float = 0.5  # of that
    heard: float = 0.0  # weight of what judges said that had not seen the documents
    softness: float = 1.5
    average: float = 0.4
    most: int = 256  # tokens of a passage


@dataclass(frozen=True)
class Read:
    """Texts as the aligner has read them: vectors of words, which are there, and of the whole."""

    words: Tensor  # texts, words, dimensions
    there: Tensor  # texts, words
    whole: Tensor  # texts, dimensions
    weights: Tensor  # texts, words
    keys: Tensor  # texts, words: equal for forms of one word, 0 where there is none
    sealed: Tensor  # texts, words: only the same word meets it
    contexts: Tensor  # texts, words, dimensions of a context


@dataclass(frozen=True)
class Framed:
    """A text with the tokens around it, the word each token belongs to, and what words are."""

    ids: np.ndarray
    numbers: np.ndarray
    keys: np.ndarray
    sealed: np.ndarray


def keys_of(
    ids: Sequence[int], numbers: Sequence[int], most: int, vocabulary: Vocabulary | None
) -> list[tuple[int, bool]]:
    """Return a number for each word, 0 where there is none, and whether it is sealed.

    Without a vocabulary it is the same for the same pieces, with one for forms of the same word.
    """
    pieces: dict[int, list[int]] = {}
    for token, number in zip(ids, numbers, strict=True):
        if number >= 0:
            pieces.setdefault(number, []).append(token)
    if vocabulary is None:
        known = [(hash(tuple(one)), False) for _, one in sorted(pieces.items())]
    else:
        known = [vocabulary.key(one) for _, one in sorted(pieces.items())]
    return known + [(0, False)] * (most - len(known))


def places(marks: np.ndarray, recipe: Recipe) -> list[int]:
    """Return the number of the word each token belongs to, −1 where it counts for nothing."""
    starts = (marks & STARTS).astype(bool) if recipe.pooled else np.ones(len(marks), bool)
    kept = (marks & CONTENT).astype(bool) if recipe.content else np.ones(len(marks), bool)
    if not kept.any():
        kept[:] = True
    numbers = np.cumsum(starts & kept) - 1
    return np.where(kept, np.maximum(numbers, 0), -1).tolist()


class Aligner(nn.Module):
    """An encoder with a projection of words, a weight of query words, and the price of a cosine."""

    def __init__(self, shape: Shape, recipe: Recipe, bert: Bert | None = None) -> None:
        super().__init__()
        self.recipe = recipe
        self.bert = bert or Bert(shape, recipe.dropout)
        self.project = nn.Linear(shape.hidden, recipe.dimensions, bias=False)
        nn.init.orthogonal_(self.project.weight)
        self.whole = nn.Linear(shape.hidden, max(recipe.gist, 1), bias=False)
        if recipe.gist == shape.hidden:
            nn.init.eye_(self.whole.weight)
        else:
            nn.init.orthogonal_(self.whole.weight)
        self.weigh = nn.Linear(shape.hidden, 1)
        nn.init.zeros_(self.weigh.weight)
        nn.init.ones_(self.weigh.bias)
        kinds = 3 if recipe.context else 2  # of a word, of the whole, of a context
        self.steep = nn.Parameter(torch.full((kinds,), 12.0))
        self.offset = nn.Parameter(torch.full((kinds,), 8.0))
        if recipe.context:
            self.connect = nn.Linear(shape.hidden, recipe.context, bias=False)
            nn.init.orthogonal_(self.connect.weight)
        self.share = nn.Parameter(
            torch.tensor([recipe.share]), recipe.share_learns
        )  # of the whole, a logit
        self.scale = nn.Parameter(torch.tensor([8.0]))
        self.vocabulary: Vocabulary | None = None
        self._known: dict[tuple[bool, bytes, bytes], Framed] = {}
        if recipe.mix:
            begun = torch.full((shape.layers,), -10.0)
            begun[[one - 1 for one in recipe.mix]] = 0.0
            self.mix = nn.Parameter(begun)
        if recipe.rare:
            self.rarity_share = nn.Parameter(torch.tensor([recipe.rare]))
            self.register_buffer("rarity", torch.zeros(shape.vocabulary))

    def states(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the state of each token as part of a word, and the last ones."""
        every = self.bert.every(ids, torch.zeros_like(ids), mask)
        if not self.recipe.mix:
            return every[-1].float(), every[-1].float()
        shares = torch.softmax(self.mix, 0)
        mixed = sum(one.float() * share for one, share in zip(every[1:], shares, strict=True))
        return mixed, every[-1].float()

    def tokens(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return each token's part of a word's vector, weight and context, and the gist."""
        words, last = self.states(ids, mask)
        heavy = self.weigh(words)[..., 0]
        if self.recipe.rare:
            heavy = heavy + self.rarity_share * self.rarity[ids]
        return self.project(words), heavy, self._connected(last), self._gist(last[:, 0])

    def _gist(self, first: Tensor) -> Tensor:
        return F.normalize(self.whole(first), dim=-1)

    def _connected(self, last: Tensor) -> Tensor:
        """Return each token's part of a context; of no dimensions where words have none."""
        return self.connect(last) if self.recipe.context else last[..., :0]

    def forward(self, ids: Tensor, mask: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean state of every word, and that of the first token.

        After a word's state stand its context and its rarity.
        """
        states, last = self.states(ids, mask)
        if self.recipe.context:
            states = torch.cat([states, self._connected(last)], -1)
        if self.recipe.rare:
            states = torch.cat([states, self.rarity[ids][..., None]], -1)
        count = int(numbers.max()) + 1
        into = torch.where(numbers < 0, count, numbers)
        sums = states.new_zeros(len(ids), count + 1, states.shape[-1])
        sums = sums.scatter_add(1, into[..., None].expand_as(states), states)
        sizes = states.new_zeros(len(ids), count + 1).scatter_add(
            1, into, torch.ones_like(into, dtype=states.dtype)
        )
        return sums[:, :count] / sizes[:, :count, None].clamp(min=1), last[:, 0]

    def _framed(self, text: tuple[np.ndarray, np.ndarray], *, asked: bool) -> Framed:
        """Return a text as it is read; texts come again and again, so it is kept."""
        ids, marks = text
        name = (asked and self.recipe.markers, ids.tobytes(), marks.tobytes())
        if name not in self._known:
            recipe = self.recipe
            front = [CLS, MARKERS[0 if asked else 1]] if recipe.markers else [CLS]
            room = recipe.most - len(front) - 1
            numbers = [*[-1] * len(front), *places(marks[:room], recipe), -1]
            given = [*front, *ids[:room].tolist(), SEP]
            words = keys_of(given, numbers, max(numbers) + 1, self.vocabulary)
            self._known[name] = Framed(
                np.array(given, np.int64),
                np.array(numbers, np.int64),
                np.array([key for key, _ in words], np.int64),
                np.array([shut for _, shut in words], bool),
            )
        return self._known[name]

    def read(
        self,
        texts: Sequence[tuple[np.ndarray, np.ndarray]],
        device: torch.device,
        tokens: int,
        *,
        asked: bool,
    ) -> Read:
        """Return texts, given as ids and marks, as vectors; only what is asked has weights."""
        recipe = self.recipe
        framed = [self._framed(text, asked=asked) for text in texts]
        order = sorted(range(len(framed)), key=lambda i: -len(framed[i].ids))
        states, firsts, sizes = [], [], [len(one.keys) for one in framed]
        most, start = max(sizes), 0
        while start < len(order):
            long = len(framed[order[start]].ids)
            long += -long % 8
            rows = order[start : start + max(1, tokens // long)]
            ids = np.zeros((len(rows), long), np.int64)
            into = np.full((len(rows), long), -1, np.int64)
            mask = np.zeros((len(rows), long), bool)
            for row, place in enumerate(rows):
                one = framed[place]
                ids[row, : len(one.ids)] = one.ids
                into[row, : len(one.ids)] = one.numbers
                mask[row, : len(one.ids)] = True
            made, first = self(*(torch.from_numpy(x).to(device) for x in (ids, mask, into)))
            states.append(F.pad(made, (0, 0, 0, most - made.shape[1])))
            firsts.append(first)
            start += len(rows)
        back = torch.tensor(np.argsort(order), device=device)
        words, whole = torch.cat(states)[back], torch.cat(firsts)[back]
        there = torch.arange(most, device=device) < torch.tensor(sizes, device=device)[:, None]
        rare = words.new_zeros(())
        if recipe.rare:
            words, rare = words[..., :-1], self.rarity_share * words[..., -1]
        words, contexts = words.split([words.shape[-1] - recipe.context, recipe.context], -1)
        heavy = F.softplus(self.weigh(words)[..., 0] + rare)
        weights = heavy * there if asked else there.float()
        keys, sealed = np.zeros((len(framed), most), np.int64), np.zeros((len(framed), most), bool)
        for row, one in enumerate(framed):
            keys[row, : len(one.keys)] = one.keys
            sealed[row, : len(one.keys)] = one.sealed
        return Read(
            F.normalize(self.project(words), dim=-1),
            there,
            self._gist(whole),
            weights / weights.sum(-1, keepdim=True),
            torch.from_numpy(keys).to(device),
            torch.from_numpy(sealed).to(device),
            F.normalize(contexts, dim=-1),
        )

    def cosines(self, query: Read, other: Read) -> Tensor:
        """Return those of a query's words with words of passages, −1 where they cannot meet.

        Words of the query are (queries, words, …), of passages (queries, passages, words, …).
        """
        near = torch.einsum("qid,qcjd->qcij", query.words, other.words).float()
        apart = ~other.there[:, :, None, :]
        if self.recipe.sealed:
            shut = query.sealed[:, None, :, None] | other.sealed[:, :, None, :]
            same = query.keys[:, None, :, None] == other.keys[:, :, None, :]
            apart = apart | (shut & ~same)
        return near.masked_fill(apart, -1.0)

    def fits(self, query: Read, other: Read, near: Tensor) -> Tensor | None:
        """Return what each query word's best context costs in each passage; None without contexts.

        `near` are the cosines of what words mean. Only the ranking of passages teaches contexts,
        and through them nothing is learned about what words mean.
        """
        if not self.recipe.context:
            return None
        cosine = torch.einsum("qid,qcjd->qcij", query.contexts, other.contexts).float()
        cosine = cosine.masked_fill(~other.there[:, :, None, :], -1.0)
        cost = F.softplus((self.offset[2] - self.steep[2] * cosine).clamp(max=DEAREST))
        return (cost + self.recipe.gate * self._price(near).detach()).amin(-1)

    def _price(self, cosine: Tensor) -> Tensor:
        return F.softplus((self.offset[0] - self.steep[0] * cosine).clamp(max=DEAREST))

    def score(
        self, best: Tensor, whole: Tensor, weights: Tensor, fits: Tensor | None = None
    ) -> Tensor:
        """Return the score of passages from the best cosine of each query word and of the whole.

        `best` and `fits` are (…, passages, words), `whole` (…, passages), `weights` (…, words).
        """
        if self.recipe.prices:
            best = -self._price(best)
            whole = -F.softplus(self.offset[1] - self.steep[1] * whole)
        else:
            best, whole = self.steep[0] * best, self.steep[1] * whole
        share = torch.sigmoid(self.share) if self.recipe.gist else torch.zeros_like(self.share)
        met = (best * weights[..., None, :]).sum(-1)
        if fits is not None:
            fit = -(fits * weights[..., None, :]).sum(-1)
            met = (1 - self.recipe.fit) * met + self.recipe.fit * fit
        return self.scale * ((1 - share) * met + share * whole)

    def strayed(self, best: Tensor, same: Tensor, foreign: Tensor) -> Tensor:
        """Return how far words are met that should not be, and not met that should.

        P = exp(−price) is how probably a word is met. It should be low in passages of other
        documents that do not have the word (`foreign` and not `same`), and high in the marked
        passage, the first, where it has the very word. All are (queries, passages, words).
        """
        raised = self.steep[0] * best - self.offset[0]
        away = F.softplus(raised)[foreign & ~same]
        here = F.softplus(-raised)[:, 0][same[:, 0]]
        return sum((one.mean() for one in (away, here) if len(one)), raised.new_zeros(()))


def part(read: Read, rows: int) -> Read:
    """Return texts as rows of equally many."""
    every = (getattr(read, one.name) for one in fields(Read))
    return Read(*(one.reshape(rows, one.shape[0] // rows, *one.shape[1:]) for one in every))


def picked(read: Read, rows: Sequence[int] | Tensor) -> Read:
    """Return some of the texts, again where a row is named again."""
    return Read(*(getattr(read, one.name)[rows] for one in fields(Read)))


def start_model(
    recipe: Recipe,
    start: Mapping[str, Tensor],
    shape: Shape = MINILM,
    vocabulary: Vocabulary | None = None,
) -> Aligner:
    """Return an aligner that has learned nothing yet."""
    count = len(recipe.layers) if recipe.layers else layers_in(start)
    torch.manual_seed(0)  # all runs begin with one projection, so that their mean makes sense
    model = Aligner(replace(shape, layers=count), recipe)
    load(model.bert, start, recipe.layers)
    for name, value in model.state_dict().items():
        if not name.startswith("bert.") and name in start:
            value.copy_(start[name].float())
    model.vocabulary = vocabulary
    if recipe.rare and vocabulary is not None and "rarity" not in start:
        model.rarity.copy_(torch.from_numpy(vocabulary.rarity[: shape.vocabulary]))
    return model
