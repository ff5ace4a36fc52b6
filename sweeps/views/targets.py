"""The SoCs that can be compiled for, and what the compiler says of each."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from devices.targets import DspArch, SocModel, TargetError, all_socs, find_soc
from tunerweb.accounts.http import SignedInRequest

LONGEST_SEARCH = 60


@require_safe
@vary_on_headers("HX-Request")
def target_list(request: SignedInRequest) -> HttpResponse:
    asked = " ".join(request.GET.get("q", "").replace("\0", "").split())[:LONGEST_SEARCH]
    arch = request.GET.get("arch", "")
    socs = [soc for soc in all_socs() if arch not in list(DspArch) or soc.dsp_arch == arch]
    found, hint = _search(asked, socs)
    context = {
        "q": asked,
        "arch": arch,
        "archs": list(DspArch),
        "socs": found,
        "hint": hint,
        "count": len(all_socs()),
    }
    part = "#results" if request.htmx and not request.htmx.history_restore_request else ""
    return render(request, f"sweeps/targets/list.html{part}", context)


def _search(asked: str, socs: list[SocModel]) -> tuple[list[SocModel], str]:
    """What matches, and a sentence where the name belongs to another chip or to none."""
    if not asked:
        return socs, ""
    words = asked.casefold().split()
    found = [soc for soc in socs if all(word in _searchable(soc) for word in words)]
    try:
        named = find_soc(asked)
    except TargetError as error:
        return found, "" if found else str(error)
    if named in found:
        return [named, *(soc for soc in found if soc != named)], ""
    if named in socs:
        return [named, *found], f"{asked} is compiled for as {named.name}, number {named.soc_model}."
    return found, f"{asked} is {named.name}, of DSP arch {named.dsp_arch}."


def _searchable(soc: SocModel) -> str:
    return f"{soc.soc_model} {soc.name} {' '.join(soc.marketing_names)} {soc.dsp_arch}".casefold()


urlpatterns = [path("targets/", target_list, name="target_list")]
