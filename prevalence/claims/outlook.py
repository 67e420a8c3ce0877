"""The pieces of a sentence that are still to come, for rules that have to look ahead."""

from __future__ import annotations

from prevalence.claims.clauses import CONTRASTS, Piece, shape_of

__all__ = ["Outlook"]


class Outlook(list[Piece]):
    """The pieces after the one at hand, the next one last."""

    def after(self, piece: Piece) -> Piece:
        """The piece after one; itself at the end."""
        return self[-1] if self else piece

    def listed(self, piece: Piece) -> list[Piece]:
        """A piece and those after it, up to the conjunction of the list that it belongs to."""
        pieces = [piece]
        for one in reversed(self):
            shape = shape_of(one.words)
            named = shape in {"noun", "adjective", "verb"}
            if pieces[-1].joint or not (named or (shape == "ing" and len(one.words) == 1)):
                break
            pieces.append(one)
        return pieces

    def joint_of(self, piece: Piece) -> str:
        """The conjunction before a piece, or before the end of the list that it belongs to."""
        return self.listed(piece)[-1].joint

    def lists(self, piece: Piece) -> bool:
        """Whether a noun after a comma belongs to a list that ends in "and" or "or"."""
        return self.joint_of(piece) in {"and", "or"}

    def answers(self) -> bool:
        """Whether a clause follows that "although" at the beginning sets its own against."""
        return any(not p.joint and shape_of(p.words) in {"clause", "noun"} for p in self)

    def leads(self, piece: Piece) -> bool:
        """Whether a condition belongs to the clause after it: "..., but if it breaks, ..."."""
        if piece.joint not in {"and", "but", "yet", "so"} or not self:
            return False
        following = self[-1]
        return not following.joint and shape_of(following.words) == "clause"

    def begin_subject(self, piece: Piece, text: str) -> bool:
        """Whether a noun is the first of several subjects of the clause that follows in a text."""
        contrast = piece.joint in CONTRASTS | {"but", "yet"}
        granted = not piece.joint and text.lower().startswith(("while ", "although "))
        granted = granted and text.count(",", 0, piece.words[0].start) == 1
        apart = piece.comma and (granted or piece.joint in {"and", "so"})
        if not self or not (contrast or apart):
            return False
        rest, named = reversed(self), {"noun", "ing"}
        last = next((p for p in rest if p.joint or shape_of(p.words) not in named), None)
        return (
            last is not None
            and last.joint in {"and", "or"}
            and not last.comma
            and shape_of(last.words) == "clause"
        )
