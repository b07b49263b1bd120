"""The search page knows the figures."""

import json
import re

from mfc_lb.companion.figure_search import index_figures

FIGURE = """<figure class="align-default" id="fig-a"><img alt="a" src="_images/a.webp" />
<figcaption><p><span class="caption-number">Fig. 1.2 </span><span class="caption-text">Drops for
<mjx-math><mjx-c></mjx-c></mjx-math><math><mi>λ</mi><mo>&lt;</mo><mn>1</mn></math>.</span><a
class="headerlink" href="#fig-a">#</a></p></figcaption></figure>"""


def test_figures_are_known_by_number_caption_picture_and_place(tmp_path):
    (tmp_path / "search.html").write_text('<div id="search-results"></div>', "utf-8")
    (tmp_path / "page.html").write_text(FIGURE.replace("<a\n", "<a "), "utf-8")
    index_figures(tmp_path)
    text = (tmp_path / "search.html").read_text("utf-8")
    (data,) = re.findall(r'id="figure-captions">(.*?)</script>', text)
    assert json.loads(data) == [
        {
            "address": "page.html#fig-a",
            "picture": "_images/a.webp",
            "number": "Fig. 1.2",
            "caption": "Drops for λ<1.",
        }
    ]


def test_a_page_alone_has_no_search(tmp_path):
    (tmp_path / "page.html").write_text(FIGURE, "utf-8")
    index_figures(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
