"""Whatever a game does to its scene while it runs: nothing is lost, nor gained from nowhere, and states come again."""

import pytest
from random_games import RandomGame

GAMES = [("auto", seed) for seed in (0, 5, 8, 10)] + [("velocity_constraints", seed) for seed in range(10)]
QUICK = ("auto", 10), ("velocity_constraints", 0)


@pytest.mark.filterwarnings("ignore:bodies overlap")
@pytest.mark.parametrize(
    "method, seed", [pytest.param(*game, marks=[] if game in QUICK else pytest.mark.slow) for game in GAMES]
)
def test_random_games_lose_nothing(method, seed):
    game = RandomGame(seed, method)
    with game.game:
        for _ in range(14):
            game.act()
