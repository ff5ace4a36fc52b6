"""`{% icon "done" %}`: one drawing of the sprite."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str, css_class: str = "") -> SafeString:
    """The word beside it carries the meaning, so a reader passes over the drawing."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="{}#{}"></use></svg>',
        css_class,
        static("img/icons.svg"),
        name,
    )
