"""Reads formulas back from the text they are printed as; by types alone, so that what is ambiguous reads otherwise."""

import re
from fractions import Fraction

from recursive_dyn.manifold import cross, dot, hat
from recursive_dyn.manifold.formula.calculus import symbols_of

TOKEN = re.compile(r" x |δ?[^\W\d]\w*'*(?:\^\(\d+\))?|\d+(?:/\d+)?|\^T|\^\(-\d+\)|\^\d+|[().|+-]")


class Reader:
    """Sums of products; a product is chain or chain x chain; a chain is factors side by side, the last may be a.b."""

    def __init__(self, text, symbols):
        self.tokens = TOKEN.findall(text)
        assert "".join(self.tokens).replace(" ", "") == text.replace(" ", "")
        self.symbols = {str(s): s for s in symbols}
        self.symbols |= {"hat": hat}

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def take(self, *expected):
        token = self.tokens.pop(0)
        assert not expected or token in expected, f"{token} where {expected} should stand"
        return token

    def sum(self):
        negative = self.peek() == "-" and self.take()
        result = -self.product() if negative else self.product()
        while self.peek() in ("+", "-"):
            result = result + self.product() if self.take() == "+" else result - self.product()
        return result

    def product(self):
        result = self.chain()
        if self.peek() == " x ":
            self.take()
            result = cross(result, self.chain())
        return result

    def chain(self):
        first = self.factor()
        if self.peek() == ".":
            self.take()
            return dot(first, self.chain())
        if self.peek() in ("", "+", "-", ")", " x ") or (self.peek() == "|" and self.closing):
            return first
        return first * self.chain()

    def factor(self):
        token = self.take()
        if token == "(":
            result = self.enclosed(")")
        elif token == "|":
            result = self.enclosed("|")
            result = dot(result, result) ** (int(self.take().removeprefix("^")) // 2)
        elif token == "hat":
            self.take("(")
            result = hat(self.enclosed(")"))
        elif token[0].isdigit():
            result = Fraction(token)
        else:
            result = self.symbols[token]
        while self.peek().startswith("^"):
            mark = self.take().strip("^()")
            result = result.T if mark == "T" else result ** int(mark)
        return result

    closing = False  # whether a | that comes next would close a square

    def enclosed(self, end):
        outside, self.closing = self.closing, end == "|"
        result = self.sum()
        self.take(end)
        self.closing = outside
        return result


def read(text, f):
    """The formula that is printed as ``text``, in the symbols of ``f``."""
    reader = Reader(text, symbols_of(f))
    result = reader.sum()
    assert not reader.tokens, f"{reader.tokens} is left over of {text}"
    if isinstance(result, Fraction):
        return 0 * f + result if result else 0 * f
    return result
