"""The gallery's judge of layouts sees what is wrong, and only that."""

import pytest
from gallery.canvas import Canvas
from support.browser import chromium

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100" font-size="14">'


@pytest.fixture(scope="module")
def canvas(chat_page):
    with chromium() as browser:
        yield Canvas(browser)


@pytest.mark.parametrize(
    ("inside", "problem"),
    [
        ('<text x="20" y="40">one</text><text x="120" y="40">two</text>', None),
        ('<text x="20" y="40">one</text><text x="30" y="44">two</text>', '"one" covers "two"'),
        ('<text x="280" y="40">too long</text>', '"too long" is cut off'),
        ('<rect x="250" y="10" width="80" height="20"/>', "a rect () is cut off"),
        ('<text x="20" y="40" opacity="0">one</text><text x="20" y="40">two</text>', None),
        # Turned labels stand side by side although their upright boxes cover each other.
        (
            '<text transform="translate(60,20) rotate(45)">diagonal</text>'
            '<text transform="translate(85,20) rotate(45)">diagonal too</text>',
            None,
        ),
        (
            '<text transform="translate(60,20) rotate(45)">diagonal</text>'
            '<text transform="translate(66,20) rotate(45)">steep</text>',
            '"diagonal" covers "steep"',
        ),
    ],
)
def test_what_is_cut_off_or_covered_is_found(canvas, inside, problem):
    found = canvas.svg(f"{HEAD}{inside}</svg>", "layout")
    assert found == ([] if problem is None else [problem])


def test_marks_that_a_plot_clips_are_not_cut_off(canvas):
    clip = '<clipPath id="c"><rect width="300" height="100"/></clipPath>'
    line = '<g clip-path="url(#c)"><path d="M0 0L900 900" stroke="red"/></g>'
    assert canvas.svg(f"{HEAD}{clip}{line}</svg>", "layout") == []


def test_a_specification_that_vega_complains_about_is_no_success(canvas):
    spec = {
        "data": {"values": [{"a": 1}]},
        "mark": "bar",
        "encoding": {"x": {"field": "a", "type": "quantitative"}, "shape": {"field": "a"}},
    }
    assert canvas.vega_lite(spec, "layout") != []
