"""The page of a config, which is its editor."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from devices.targets import all_socs
from sweeps.configs.starting import starting_text
from sweeps.configs.text_diff import diff_texts
from sweeps.forms.config_editor import Answer, EditorForm, edited
from sweeps.forms.configs import AboutForm
from sweeps.models import CompileConfig, ConfigVersion, SourceModel, Sweep, Tag
from sweeps.saving import Saved, StaleConfig, create_config, is_public_id, save_version
from tunerweb.accounts.http import SignedInRequest
from tunerweb.accounts.models import new_public_id

PAGE = "sweeps/configs/editor.html"
MOST_MODELS = 200
MOST_SWEEPS = 20
SHOWN_VERSIONS = 10
LONGEST_NUMBER = 8
MOST_TAGS_SHOWN = 12


@require_http_methods(["GET", "HEAD", "POST"])
def config_new(request: SignedInRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, _first_answer(request))
    form = EditorForm(request.POST, user=request.user)
    answer = _answered(request, form)
    if answer is None and form.name_error:
        answer = Answer(form, form.review(), refused=form.name_error)
    if answer is not None:
        return _page(request, answer)
    team, user = request.user.team, request.user
    named = {"name": form.value("name"), "public_id": form.value("public_id") or ""}
    return _saved(request, create_config(team, user, text=form.text, **named), form)


@require_http_methods(["GET", "HEAD", "POST"])
def config(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = config_of(request, public_id)
    if request.method != "POST":
        number = request.GET.get("version")
        shown = version_of(row, number) if number else row.latest
        asked = {"target": request.GET.get("target", ""), "model": request.GET.get("model", "")}
        form = EditorForm({**asked, "text": shown.text, "seen": row.latest.number}, user=request.user)
        return _page(request, Answer(form, form.review()), row, shown)
    form = EditorForm(request.POST, user=request.user)
    answer = _answered(request, form)
    if answer is not None:
        return _page(request, answer, row)
    seen = form.value("on_top") or form.value("seen") or 0
    try:
        return _saved(request, save_version(row, request.user, form.text, seen=seen), form)
    except StaleConfig as error:
        changes = diff_texts(error.latest.text, form.text)
        return _page(request, Answer(form, form.review(), newer=error.latest, newer_changes=changes), row)


@require_POST
def config_check(request: SignedInRequest) -> HttpResponse:
    """Asked while people type."""
    form = EditorForm(request.POST, user=request.user)
    answer = edited(form, request.FILES.getlist("file")) or Answer(form, form.review())
    return render(request, f"{PAGE}#answer", _editor(answer))


def find_config(request: SignedInRequest, public_id: str) -> CompileConfig | None:
    known = CompileConfig.objects.of(request.user)
    found: CompileConfig | None = known.filter(public_id=public_id).first() if is_public_id(public_id) else None
    return found


def config_of(request: SignedInRequest, public_id: str) -> CompileConfig:
    row = find_config(request, public_id)
    if row is None:
        raise Http404
    return row


def version_of(row: CompileConfig, number: str) -> ConfigVersion:
    if not number.isdecimal() or len(number) > LONGEST_NUMBER:
        raise Http404
    return get_object_or_404(row.versions, number=int(number))


def _answered(request: SignedInRequest, form: EditorForm) -> Answer | None:
    """None when the text is there to be saved."""
    answer = edited(form, request.FILES.getlist("file"))
    if answer is not None:
        return answer
    checked = form.review()
    return Answer(form, checked, refused=checked.refusal) if checked.refusal else None


def _first_answer(request: SignedInRequest) -> Answer:
    """A new config begins as a copy, as the template of a target, or empty."""
    asked = {key: request.GET.get(key, "") for key in ("target", "model")} | {"public_id": new_public_id()}
    form = EditorForm(asked, user=request.user)
    copied = find_config(request, request.GET.get("copy", ""))
    target = form.value("target")
    if copied:
        asked |= {"text": copied.latest.text, "name": f"{copied.name} (copy)"}
    elif target:
        asked["text"] = starting_text(target, form.graph_names or (), with_wrapper="wrapper" in request.GET)
    form = EditorForm(asked, user=request.user)
    return Answer(form, form.review())


def _saved(request: HttpRequest, saved: Saved, form: EditorForm) -> HttpResponse:
    version, checked = saved.version, form.review()
    if not saved.is_new:
        messages.info(request, f"Nothing has changed since version {version.number}, so no new version was saved.")
    elif checked.problems:
        messages.warning(request, f"Saved as version {version.number}. It has {checked.headline}")
    else:
        messages.success(request, f"Saved as version {version.number}.")
    url = reverse("sweeps:config", args=[version.config.public_id])
    if target := form.value("target"):
        url += f"?target={target.name}"
    return HttpResponseClientRedirect(url) if "HX-Request" in request.headers else HttpResponseRedirect(url)


def _page(
    request: SignedInRequest, answer: Answer, row: CompileConfig | None = None, shown: ConfigVersion | None = None
) -> HttpResponse:
    if request.method == "POST" and "HX-Request" in request.headers:
        return render(request, f"{PAGE}#answer", _editor(answer))
    models = SourceModel.objects.of(request.user).order_by("-created_at").only("public_id", "name", "created_at")
    context = _editor(answer) | {"socs": all_socs(), "models": models[:MOST_MODELS]}
    if row is not None:
        context |= _about(request, row, shown)
    return render(request, PAGE, context)


def _editor(answer: Answer) -> dict[str, Any]:
    findings = () if answer.review.is_blank else answer.review.findings
    return {
        "answer": answer,
        "form": answer.form,
        "review": answer.review,
        "text": answer.form.text if answer.text is None else answer.text,
        "markers": [
            {"path": one.path, "line": one.line, "kind": one.kind, "sentence": one.sentence} for one in findings
        ],
    }


def _about(request: SignedInRequest, row: CompileConfig, shown: ConfigVersion | None) -> dict[str, Any]:
    versions = row.versions.select_related("created_by").annotate(sweep_count=Count("sweeps")).order_by("-number")
    all_versions = list(versions.defer("text"))
    sweeps = Sweep.objects.of(request.user).filter(config_version__config=row)
    return {
        "latest": all_versions[0],
        "soc": next((soc for soc in all_socs() if soc.soc_model == all_versions[0].soc_model), None),
        "shown": shown if shown and shown.number != all_versions[0].number else None,
        "versions": all_versions if "versions" in request.GET else all_versions[:SHOWN_VERSIONS],
        "version_count": len(all_versions),
        "sweeps": sweeps.select_related("config_version", "owner", "source_model")[:MOST_SWEEPS],
        "sweep_count": sum(version.sweep_count for version in all_versions),
    } | about_context(row, about_form(row))


def about_context(row: CompileConfig, form: AboutForm) -> dict[str, Any]:
    return {"config": row, "about": form, "team_tags": Tag.objects.filter(team=row.team_id)[:MOST_TAGS_SHOWN]}


def about_form(row: CompileConfig) -> AboutForm:
    tags = ", ".join(tag.name for tag in row.tags.all())
    return AboutForm({"name": row.name, "tags": tags, "notes": row.notes})
