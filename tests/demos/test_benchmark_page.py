"""A page's tables are replaced by those of the same heads, and nothing else of it is."""

import pytest

from demos.benchmark import page

BEFORE = "# Measured\n\ntext\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| c |\n| --- |\n| 3 |\nafter\n"


def test_tables_of_the_same_heads_become_what_was_printed(tmp_path, capsys):
    place = tmp_path / "page.md"
    place.write_text(BEFORE)
    with page.rewriting(place):
        print("speed\n\n| a | b |\n| --- | --- |\n| 5 | 6 |\n| 7 | 8 |\n\n| new |\n| --- |\n")
    assert place.read_text() == BEFORE.replace("| 1 | 2 |", "| 5 | 6 |\n| 7 | 8 |")
    assert f"wrote: | a | b |\n{place} has another number of these tables: | new |" in capsys.readouterr().out


def test_of_two_tables_of_one_head_each_becomes_its_own_or_none_does():
    twice = BEFORE + "\n" + BEFORE
    both = page.tables(twice.replace("| 1 | 2 |", "| 8 | 9 |", 1))
    assert page.replaced(twice, both) == twice.replace("| 1 | 2 |", "| 8 | 9 |", 1)
    assert page.replaced(twice, page.tables(BEFORE.replace("1", "8"))) == twice


def test_without_a_page_nothing_is_written_and_a_missing_one_is_found_at_once(tmp_path):
    with page.rewriting(None):
        print("| a |")
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError), page.rewriting(tmp_path / "nowhere.md"):
        raise AssertionError("measured for nothing")


def test_a_page_is_what_its_own_tables_make_of_it():
    assert page.replaced(BEFORE, page.tables(BEFORE)) == BEFORE
