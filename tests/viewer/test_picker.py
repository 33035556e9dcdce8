"""A window of cards: which one is under the pointer, what keys do, and what is seen."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge.drawing.gl_context import usable
from bridge.viewer.picker import GAP, HEIGHT, TEXT, WIDTH, Card, Picker

pytestmark = pytest.mark.skipif(not usable(), reason="OpenGL 3.3 does not work here (no display and no EGL)")

SIZE = (3 * (WIDTH + GAP) + GAP, 420)
COLORS = [(220, 30, 30), (30, 200, 30), (30, 30, 220), (240, 200, 0), (0, 180, 180), (150, 0, 150), (90, 90, 90)]


@pytest.fixture
def picker():
    cards = [
        Card(f"card {k}", f"The line of number {k}.", np.full((48, 64, 3), c, np.uint8)) for k, c in enumerate(COLORS)
    ]
    result = Picker(cards, size=SIZE, hidden=True)
    yield result
    result.close()


def send(picker, *event):
    with picker._context.current():
        picker._context.window.dispatch_event(*event)
        picker._context.window.dispatch_events()


def center(picker, k):
    """Of a card's picture, pixels from the lower left."""
    left, top = picker._corner(k)
    assert picker.card_at(left, top) == k == picker.card_at(left + WIDTH - 1, top - HEIGHT - TEXT + 1)
    return round(left) + WIDTH // 2, round(top) - HEIGHT // 2


def test_pictures_are_where_their_cards_are(picker):
    seen = picker.picture()
    for k in range(3):
        x, y = center(picker, k)
        assert np.abs(seen[SIZE[1] - 1 - y, x].astype(int) - COLORS[k]).max() <= 2
    assert picker.card_at(2, SIZE[1] - 2) is None


def test_a_click_picks_what_is_under_the_pointer_also_when_scrolled(picker):
    x, y = center(picker, 1)
    send(picker, "on_mouse_release", x, y, 1, 0)
    assert picker.picked == 1
    send(picker, "on_mouse_scroll", 0, 0, 0, -100)
    x, y = center(picker, 6)
    send(picker, "on_mouse_release", x, y, 1, 0)
    assert picker.picked == 6
    seen = picker.picture()
    assert np.abs(seen[SIZE[1] - 1 - y, x].astype(int) - COLORS[6]).max() <= 2
    send(picker, "on_mouse_scroll", 0, 0, 0, 1000)
    assert center(picker, 1)[1] == SIZE[1] - GAP - HEIGHT // 2


def test_arrows_choose_and_enter_picks(picker):
    key = picker._pyglet.window.key
    for symbol, chosen in ((key.RIGHT, 1), (key.DOWN, 4), (key.DOWN, 6), (key.LEFT, 5), (key.UP, 2), (key.UP, 0)):
        send(picker, "on_key_press", symbol, 0)
        send(picker, "on_key_press", key.RETURN, 0)
        assert picker.picked == chosen
        _, top = picker._corner(chosen)
        assert HEIGHT + TEXT <= top <= SIZE[1]  # it is in the window


def test_it_says_when_it_is_closed_or_has_nothing(picker):
    assert picker.frame()
    send(picker, "on_close")
    assert picker.closed and not picker.frame() and picker.pick() is None
    with pytest.raises(rd.StateError, match="nothing to pick"):
        Picker([], hidden=True)
