"""Faults of the tools that make the pages, which are mended in their HTML."""

import re

import pytest

from mfc_lb.companion.html import _described, _mended

VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1" />'
SEARCH = """<form><input type="search" id="search-input" /></form><div class="bd-search-container">
<form><input type="search" id="search-input" /></form></div>"""
ARTICLE = """<title>A page</title><p>A menu.</p><article class="bd-article"><h1>A page</h1>
<p>With <em>news</em> every
<math><mi>M</mi></math> &lt; 3 steps.</p><p>More.</p></article>"""


def test_a_fold_is_called_what_it_shows():
    mended = _mended('<summary aria-label="Toggle hidden content"><p>The numbers</p></summary>')
    assert mended == "<summary><p>The numbers</p></summary>"


def test_the_screen_is_described_once():
    assert _mended(f"{VIEWPORT}{VIEWPORT}<title>x</title>{VIEWPORT}").count("viewport") == 1


def test_the_start_page_has_its_title_once():
    assert _mended("<title>A book &#8212; A book</title>") == "<title>A book</title>"
    other = "<title>A page &#8212; A book</title>"
    assert _mended(other) == other


def test_the_two_search_fields_of_the_search_page_have_their_own_identifiers():
    assert re.findall(r'id="([^"]*)"', _mended(SEARCH)) == ["search-input", "search-words"]


def test_a_page_is_described_by_its_first_paragraph():
    described = _described(ARTICLE)
    assert '<meta name="description" content="With news every M &lt; 3 steps." />' in described


def test_a_long_description_ends_between_words():
    long = ARTICLE.replace("news", "word " * 50)
    (words,) = re.findall('name="description" content="(.*?)"', _described(long))
    assert len(words) <= 160
    assert words.endswith(" word …")


@pytest.mark.parametrize("page", ["<title>x</title><p>y</p>", ARTICLE.replace("<p>", "<div>")])
def test_a_page_without_a_paragraph_has_no_description(page):
    assert _described(page) == page
