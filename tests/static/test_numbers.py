"""The template filters: what they add to the pure formatting of `sweeps.formats`."""

from __future__ import annotations

from datetime import timedelta

from django.template import Context, Template
from django.utils import timezone


def rendered(source: str, **values: object) -> str:
    return Template("{% load numbers icons %}" + source).render(Context(values))


def test_bytes_carry_the_exact_count() -> None:
    assert rendered("{{ v|bytes }}", v=761_856) == '<span title="761,856 bytes">744 KiB</span>'


def test_a_figure_of_a_column_has_no_unit() -> None:
    assert rendered("{{ v|bytes_in:'KiB' }}", v=761_856) == '<span title="761,856 bytes">744</span>'


def test_what_is_not_there_is_a_dash_with_a_reason() -> None:
    for source in ("{{ v|bytes }}", "{{ v|bytes_in:'KiB' }}", "{{ v|grouped }}", "{{ v|percent }}", "{{ v|duration }}"):
        text = rendered(source, v=None)
        assert "—" in text
        assert 'title="' in text


def test_a_reason_is_escaped() -> None:
    assert "<b>" not in rendered("{% missing reason %}", reason="<b>")


def test_a_real_gain_has_a_colour_and_a_sign() -> None:
    text = rendered("{% delta d %}", d=-0.5)
    assert "delta-better" in text
    assert "\N{MINUS SIGN}0.5 %" in text


def test_a_tie_has_no_colour() -> None:
    assert 'class="delta"' in rendered("{% delta d %}", d=0.0)


def test_a_difference_that_is_not_real_has_no_colour() -> None:
    assert 'class="delta"' in rendered("{% delta d real=False %}", d=46.0)


def test_a_moment_has_its_exact_time() -> None:
    text = rendered("{{ v|ago }}", v=timezone.now() - timedelta(hours=2))
    assert text.startswith("<time")
    assert ">2 h ago<" in text
