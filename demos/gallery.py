"""All demos as a page to pick from: in a window, or as HTML with pictures and players, and a contact sheet."""

from __future__ import annotations

import html
import importlib
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from bridge import Capture, Player, save_animation
from bridge.viewer.picker import Card, Picker
from demos.stage import PICTURE, Stage, advance, mirrored, picture, run_window
from recursive_dyn.codegen.making.progress import each

GALLERY = (
    "showcase",
    "ragdolls",
    "breaking",
    "stack",
    "laikago_terrain",
    "stand",
    "rover",
    "driven",
    "windmill_balls",
    "chain_on_floor",
    "kuka",
    "humanoid",
    "wire",
    "surface_board",
    "torus_chain",
    "windmill",
    "tong",
    "leg",
    "wheels",
    "coaster",
    "quadrotor_load",
    "lqr",
    "reach",
    "bead_and_wire",
    "three_ways",
    "force_twin",
    "over_the_pole",
    "bezier_chain",
    "ellipsoids",
    "rattleback",
    "disc",
)
PICTURES = Path(__file__).parent / "gallery_pictures"  # what the window shows: the small ones of --headless
SMALL = (256, 192)
FRAMES = 30  # a second, of players
LONGEST, LARGEST = 10.0, 8e6  # s and bytes of a player's page
CARD = (384, 288)  # pixels, on the contact sheet
COLUMNS, CAPTION = 5, 26
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Demos of recursive-dyn</title>
<style>
body {{ margin: 0 auto; max-width: 1500px; padding: 20px; background: #f4f7fb; color: #191c21;
  font: 15px system-ui, sans-serif }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 18px }}
article {{ background: #fff; border-radius: 10px; overflow: hidden; box-shadow: 0 1px 6px #0002 }}
img {{ display: block; width: 100%; aspect-ratio: 4 / 3; object-fit: cover }}
article div {{ padding: 10px 14px 14px }} h2 {{ font-size: 17px; margin: 0 0 4px }} p {{ margin: 0; line-height: 1.4 }}
a {{ color: #2869b9 }} code {{ font-size: 13px; color: #5a6370 }}
</style></head>
<body><h1>Demos of recursive-dyn</h1><main>
{cards}
</main></body></html>
"""


def summary(name: str) -> str:
    """The first line of what a demo says of itself."""
    return (importlib.import_module(f"demos.{name}").__doc__ or "").strip().splitlines()[0]


def build(name: str) -> Stage:
    """A demo's stage."""
    stage: Stage = importlib.import_module(f"demos.{name}").build()
    return stage


def write_gallery(folder: Path, names: Sequence[str] = GALLERY, seconds: float | None = None) -> Path:
    """Pictures NAME.png, a contact sheet, players NAME.html of short motions and a page, index.html; returns its path.

    small/NAME.jpg are the pictures that the window shows. seconds: how long each demo runs, as long as it lasts if
    None, and 10 s at most. The pictures are of the middle of that time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    played = [name for name in each(names, "demos") if _written(folder, name, seconds)]
    contact_sheet(folder, names)
    entries = "\n".join(_card(name, name in played) for name in names)
    page = folder / "index.html"
    page.write_text(PAGE.format(cards=entries), encoding="utf-8")
    return page


def _written(folder: Path, name: str, seconds: float | None) -> bool:
    """Run a demo, write its picture and, where its motion is short enough, its player; whether there is one."""
    stage, small = build(name), folder / "small"
    small.mkdir(exist_ok=True)
    seconds = stage.seconds if seconds is None else seconds
    count = max(2, round(min(seconds, LONGEST) * FRAMES))
    with mirrored(stage) as mirror:
        capture = Capture(mirror)
        for k in range(count):
            advance(stage, 1.0 / FRAMES)
            capture.note()
            if k == count // 2:
                drawn = picture(stage, mirror, PICTURE)
                save_animation(folder / f"{name}.png", [drawn])
                Image.fromarray(drawn).resize(SMALL, Image.Resampling.LANCZOS).save(small / f"{name}.jpg", quality=82)
        page = Player(stage.scene, capture, stage.camera, title=f"{name}: {summary(name)}").html()
    if len(page) > LARGEST:
        return False
    (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return True


def open_gallery(seconds: float | None = None) -> None:
    """Show the page in a window, and each demo that is picked in one of its own, until the page's is closed."""
    title = "Demos of recursive-dyn"
    picker = Picker(cards(), title)
    while (picked := picker.pick()) is not None:
        name = GALLERY[picked]
        picker.tell(f"{title}: {name} is being made ...")
        run_window(build(name), seconds, title=name)
        if not picker.closed:
            picker.tell(title)


def cards() -> list[Card]:
    """A card of every demo, with the picture that is kept of it."""
    result = []
    for name in GALLERY:
        with Image.open(PICTURES / f"{name}.jpg") as picture:
            result.append(Card(name, summary(name), np.asarray(picture.convert("RGB"))))
    return result


def _card(name: str, played: bool) -> str:
    picture = f'<img src="{name}.png" alt="" loading="lazy">'
    title = f'<a href="{name}.html">{name}</a>' if played else name
    link = f'<a href="{name}.html">{picture}</a>' if played else picture
    return (
        f"<article>{link}<div><h2>{title}</h2><p>{html.escape(summary(name))}</p>"
        f"<code>python -m demos {name}</code></div></article>"
    )


def contact_sheet(folder: Path, names: Sequence[str]) -> Path:
    """All pictures of a folder on one, contact_sheet.png, each with its name."""
    width, height = CARD
    rows = math.ceil(len(names) / COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * width, rows * (height + CAPTION)), (250, 251, 253))
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=15)
    for k, name in enumerate(names):
        x, y = k % COLUMNS * width, k // COLUMNS * (height + CAPTION)
        with Image.open(folder / f"{name}.png") as own:
            sheet.paste(own.convert("RGB").resize(CARD, Image.Resampling.LANCZOS), (x, y))
        draw.text((x + 8, y + height + 4), name, fill=(25, 28, 33), font=font)
    return save_animation(folder / "contact_sheet.png", [np.asarray(sheet)])
