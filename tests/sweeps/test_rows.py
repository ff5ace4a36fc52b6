"""What the sweep page shows, computed from rows: trials, ranking, progress, plots, drawer."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import HttpRequest, QueryDict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sweeps.configs import GraphConfig, HtpConfig
from sweeps.headlines import headline_of
from sweeps.models import Compilation, Conversion, Sweep, TrialState
from sweeps.outcomes import outcomes_of
from sweeps.ranking import Metric
from sweeps.rows.charts import chart_data
from sweeps.rows.drawer import drawer_context, log_of, requested_of
from sweeps.rows.judging import judgement_of
from sweeps.rows.lines import MOST_INNER, MOST_LINES, Line, RankingTable, ranking_table
from sweeps.rows.page import (
    CHANGE,
    failure_of,
    leaders,
    page_context,
    parts,
    state_of,
    sweeps_for_page,
    toolchain_label,
)
from sweeps.rows.progress import NO_TRIALS, Progress, progress_of, progress_of_each
from sweeps.rows.trials import PAGE_SIZE, Cell, TrialRow, trial_table
from sweeps.rows.views import PageView
from sweeps.verdict import verdict
from tests.people import someone
from tests.sweeps import stored
from tests.sweeps.stored import change, large_sweep, reopened, stored_sweep, trial_of
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import server_store
from tunerweb.work.leases import WorkState

pytestmark = pytest.mark.django_db
MB = 1024 * 1024


@pytest.fixture
def person() -> User:
    return someone("mira")


@pytest.fixture
def sweep(person: User) -> Sweep:
    return stored_sweep(person)


def row_of(sweep: Sweep, label: str) -> TrialRow:
    return next(row for row in trial_table(sweep, 1).rows if row.label == label)


def ranking_of(sweep: Sweep, **view: Any) -> RankingTable:
    return ranking_table(sweep, judgement_of(sweep), PageView(**view))


def names(line: Line) -> list[str]:
    return [trial.label for trial in line.trials]


def request_for(query: str = "") -> HttpRequest:
    request = HttpRequest()
    request.GET = QueryDict(query)
    return request


def changed_result(sweep: Sweep, label: str, **graph: Any) -> None:
    compilation = trial_of(sweep, label).compilation
    result: dict[str, Any] = compilation.result or {}
    result["compile"]["graphs"][0] |= graph
    Compilation.objects.filter(pk=compilation.pk).update(result=result, public_id=f"changed{compilation.pk}")


# The view, which is the address


def test_a_view_is_read_from_the_address() -> None:
    view = PageView.read(QueryDict("by=ram&sort=-cycles&all=1&page=3"))
    assert view == PageView(by=Metric.RAM, sort="-cycles", show_all=True, page=3)


@pytest.mark.parametrize(
    "query", ["by=size&sort=price&all=yes&page=0", "by=&sort=--rom&page=-1", "page=99999999999", "page=²"]
)
def test_what_makes_no_sense_in_the_address_counts_as_not_said(query: str) -> None:
    assert PageView.read(QueryDict(query)) == PageView()


def test_a_view_writes_the_address_it_was_read_from() -> None:
    query = "by=dram&sort=-rom&all=1&page=2"
    assert PageView.read(QueryDict(query)).query == query


# Trials


def test_a_done_row_has_the_values_of_its_compile(sweep: Sweep) -> None:
    assert [cell.text for cell in row_of(sweep, "P 22").cells] == ["744", "2.159", "2.06", "458,662"]


def test_the_exact_value_is_in_the_title(sweep: Sweep) -> None:
    assert row_of(sweep, "P 22").cells[0].title == "761,856 bytes"


def test_a_row_says_what_the_binary_was_granted(sweep: Sweep) -> None:
    assert row_of(sweep, "P 22").facts.granted == "O=3 · P=22 · 8 MB VTCM · 4 HVX"


def test_a_row_marks_what_was_granted_otherwise(sweep: Sweep) -> None:
    granted = {"optimization_level": 3, "p_value": 4, "vtcm_bytes": 4 * MB, "hvx_threads": 4, "dlbc": False}
    changed_result(sweep, "P=4", granted=granted)
    assert row_of(sweep, "P 4").facts.differences == ("8 MB VTCM requested, 4 MB VTCM granted",)


def test_a_running_row_has_its_phase_and_whole_seconds(sweep: Sweep) -> None:
    change(
        trial_of(sweep, "P=5"),
        WorkState.RUNNING,
        phase="finalizing",
        started_at=timezone.now() - timedelta(seconds=7.4),
    )
    row = row_of(sweep, "P 5")
    assert (row.state, row.detail, row.elapsed_s) == ("compiling", "finalizing", 7.0)


def test_a_second_try_is_told(sweep: Sweep) -> None:
    change(trial_of(sweep, "P=5"), WorkState.RUNNING, phase="reading", attempts=2, started_at=timezone.now())
    assert row_of(sweep, "P 5").detail == "reading, try 2"


def test_a_row_whose_model_is_being_converted_shows_that_phase(sweep: Sweep) -> None:
    compilation = trial_of(sweep, "P=5").compilation
    conversion = Conversion.objects.create(
        team=sweep.team, owner=sweep.owner, key="k", source_model=sweep.source_model, soc_model=57,
        toolchain=sweep.toolchain, state=WorkState.RUNNING, phase="reading", started_at=timezone.now(), attempts=1,
    )  # fmt: skip
    change(trial_of(sweep, "P=5"), WorkState.QUEUED, conversion=conversion, attempts=0)
    assert compilation.conversion is None
    assert (row_of(sweep, "P 5").state, row_of(sweep, "P 5").detail) == ("converting", "reading")


def test_a_rejected_row_has_the_reason_and_no_values(sweep: Sweep) -> None:
    change(trial_of(sweep, "P=5"), WorkState.REJECTED, reason="The compiler said no.")
    row = row_of(sweep, "P 5")
    assert row.reason == "The compiler said no."
    assert {cell.text for cell in row.cells} == {""}


def test_a_cancelled_row_shows_no_values_though_others_let_it_compile(sweep: Sweep) -> None:
    trial = trial_of(sweep, "P=5")
    trial.cancelled_at = timezone.now()
    trial.save()
    assert {cell.text for cell in row_of(sweep, "P 5").cells} == {""}


def test_a_value_that_is_not_reported_is_absent_and_not_zero(sweep: Sweep) -> None:
    Compilation.objects.filter(trials=trial_of(sweep, "P=5")).update(simulated_cycles=None)
    assert row_of(sweep, "P 5").cells[3].text == ""


def test_a_second_sweep_of_the_same_points_is_from_the_store(sweep: Sweep, person: User) -> None:
    assert row_of(stored_sweep(person), "P 5").is_from_store


def test_rows_keep_the_order_they_were_planned_in(sweep: Sweep) -> None:
    change(trial_of(sweep, "P=0"), WorkState.RUNNING, started_at=timezone.now())
    assert [row.label for row in trial_table(sweep, 1).rows][:3] == ["P 0", "as given", "P 1"]


def test_a_result_is_read_once(sweep: Sweep) -> None:
    trial_table(sweep, 1)
    with CaptureQueriesContext(connection) as queries:
        trial_table(sweep, 1)
    assert not [query for query in queries if '"result"' in query["sql"]]


def test_rows_on_another_page_are_compared_with_the_baseline_on_the_first(person: User) -> None:
    sweep = large_sweep(person, PAGE_SIZE + 10)
    last = trial_table(sweep, 2).rows[-1]
    assert last.cells[0].difference_percent is not None


# Ranking


def test_equal_trials_are_one_line(sweep: Sweep) -> None:
    assert [(line.rank_label, line.summary) for line in ranking_of(sweep).lines] == [
        ("1", "22"),
        ("2=", "0 1 2 3 4 … (15)"),
        ("17", "as given"),
        ("18", "23"),
    ]


def test_a_line_opens_into_groups_that_are_equal_in_everything(sweep: Sweep) -> None:
    tied = ranking_of(sweep).lines[1]
    assert names(tied.inner[0]) == ["P 0", "P 1", "P 2", "P 3", "P 5", "P 13", "P 15", "P 20", "P 21"]
    assert sum(len(line.trials) for line in tied.inner) == 15


def test_a_line_shows_the_range_where_its_trials_differ(sweep: Sweep) -> None:
    ram = ranking_of(sweep).lines[1].cells[1]
    assert ram.is_range
    assert ram.cell == Cell("2.162–2.166", "2,267,136 bytes to 2,270,976 bytes")  # noqa: RUF001


def test_a_difference_stands_beside_every_metric(sweep: Sweep) -> None:
    first = ranking_of(sweep).lines[0]
    found = [cell.cell.difference_percent for cell in first.cells if cell.cell]
    assert [round(value or 0, 2) for value in found] == [-0.53, -0.24, 1.44, 45.64]


def test_sorted_by_another_column_each_trial_is_a_line(sweep: Sweep) -> None:
    lines = ranking_of(sweep, sort="cycles").lines
    assert [names(line) for line in lines][:2] == [["P 19"], ["P 8"]]
    assert len(lines) == 18


def test_sorted_downwards_the_largest_is_first(sweep: Sweep) -> None:
    assert names(ranking_of(sweep, sort="-rom").lines[0]) == ["P 23"]


def test_sorted_by_p_the_config_as_given_is_last(sweep: Sweep) -> None:
    assert names(ranking_of(sweep, sort="p").lines[-1]) == ["as given"]


def test_without_a_value_a_trial_is_last_either_way(sweep: Sweep) -> None:
    changed_result(sweep, "P=6", cycles=None)
    for sort in ("cycles", "-cycles"):
        assert names(ranking_of(sweep, sort=sort).lines[-1]) == ["P 6"]


def test_cycles_of_another_clock_are_not_ranked_and_say_why(sweep: Sweep) -> None:
    (line,) = ranking_of(sweep, by=Metric.CYCLES).not_ranked
    assert names(line) == ["P 19"]
    assert line.reason == "another simulated clock (2115 MHz; P=0: 805 MHz)"


def test_a_failed_trial_is_left_out_with_its_reason(sweep: Sweep) -> None:
    for label in ("P=4", "P=5"):
        change(trial_of(sweep, label), WorkState.FAILED, reason="It crashed.")
    out = ranking_of(sweep).left_out[0]
    assert (out.state, out.labels, out.reason) == ("failed", ("4", "5"), "It crashed.")


def test_p_values_that_were_never_compiled_are_told_with_one_reason(sweep: Sweep) -> None:
    out = ranking_of(sweep).left_out[-1]
    assert out.labels == ("7", "9", "10", "11", "12", "14", "18")
    assert out.reason == "Needs at least two cores, and this compile uses one."


def test_a_pool_of_shared_weights_is_marked(sweep: Sweep) -> None:
    changed_result(sweep, "P=8", shared_weights_bytes=512 * 1024)
    ranking = ranking_of(sweep, by=Metric.RAM)
    assert [names(line) for line in ranking.lines if line.has_shared_weights] == [["P 8"]]


def test_without_a_baseline_a_difference_says_that_there_is_none(sweep: Sweep) -> None:
    change(trial_of(sweep, "P=0"), WorkState.REJECTED, reason="no")
    cell = ranking_of(sweep).lines[0].cells[0]
    assert cell.cell == Cell("744", "761,856 bytes", None)
    assert cell.reason == "there is no baseline to compare with"


def test_a_long_ranking_is_cut_until_all_of_it_is_asked_for(person: User) -> None:
    sweep = large_sweep(person, 150)
    short, long = ranking_of(sweep, sort="p"), ranking_of(sweep, sort="p", show_all=True)
    assert (len(short.lines), short.hidden) == (MOST_LINES, 150 - MOST_LINES)
    assert (len(long.lines), long.hidden) == (150, 0)


# Verdict


def test_each_sentence_of_the_verdict_stands_with_its_metric_or_among_the_remarks(sweep: Sweep) -> None:
    judgement = judgement_of(sweep)
    said = {*judgement.by_metric.values(), *judgement.remarks}
    assert said == set(verdict(outcomes_of(sweep), sweep.target).sentences)
    assert set(judgement.by_metric) == set(Metric)


def test_the_headline_is_the_one_that_is_remembered(sweep: Sweep) -> None:
    assert judgement_of(sweep).headline == headline_of(sweep)


def test_a_judgement_is_made_again_when_a_trial_has_changed(sweep: Sweep) -> None:
    before = judgement_of(sweep)
    change(trial_of(sweep, "P=22"), WorkState.FAILED, reason="no")
    assert "P=22" in before.headline
    assert "P=22" not in judgement_of(sweep).headline


def test_leaders_are_the_points_that_beat_the_baseline(sweep: Sweep) -> None:
    assert [(name, label, count) for name, label, _, count in leaders(judgement_of(sweep))] == [
        ("ROM", "P 22", 1),
        ("RAM", "P 22", 1),
        ("Cycles", "P 8", 1),
    ]


# Progress


def progress(**fields: Any) -> Progress:
    return replace(NO_TRIALS, **fields)


def test_progress_counts_each_state(sweep: Sweep) -> None:
    reopened(sweep, "P=20", "P=21")
    change(trial_of(sweep, "P=5"), WorkState.RUNNING, started_at=timezone.now())
    change(trial_of(sweep, "P=6"), WorkState.REJECTED)
    change(trial_of(sweep, "P=8"), WorkState.FAILED)
    found = progress_of(sweep)
    assert (found.total, found.queued, found.running, found.done, found.rejected, found.failed) == (18, 2, 1, 13, 1, 1)


def test_progress_of_many_sweeps_is_one_query(sweep: Sweep, person: User, django_assert_num_queries: Any) -> None:
    sweeps = [sweep, stored_sweep(person)]
    with django_assert_num_queries(1):
        assert set(progress_of_each(sweeps)) == {each.pk for each in sweeps}


def test_time_left_comes_from_the_mean_and_from_how_many_run() -> None:
    assert progress(queued=9, running=2, mean_us=3e6, oldest_at=timezone.now()).left_s == 15.0


def test_a_worker_between_two_compiles_does_not_double_the_time_left() -> None:
    begun = {"mean_us": 3e6, "busy_us": 58e6, "first_at": timezone.now() - timedelta(seconds=29)}
    two, one = (progress(queued=9, running=running, oldest_at=timezone.now(), **begun) for running in (2, 1))
    assert two.left_s
    assert one.left_s
    assert one.left_s / two.left_s < 1.1


def test_before_a_compile_has_finished_there_is_no_estimate() -> None:
    assert progress(queued=9, running=2, oldest_at=timezone.now()).left_text == "no estimate yet"


def test_while_nothing_runs_there_is_no_estimate() -> None:
    assert progress(queued=9, mean_us=3e6).left_text == "waiting for a free worker"


def test_a_compile_much_slower_than_the_others_takes_the_estimate_away() -> None:
    slow = progress(queued=9, running=2, mean_us=1e6, oldest_at=timezone.now() - timedelta(minutes=5))
    assert slow.left_text == "no estimate, because a compile takes longer than those before it"


def test_a_paused_sweep_promises_nothing() -> None:
    assert progress(queued=9, running=2, mean_us=3e6, is_paused=True).left_text == "paused, 2 still running"


def test_compiles_from_the_store_say_nothing_about_the_time_left(sweep: Sweep, person: User) -> None:
    assert progress_of(sweep).mean_us
    assert progress_of(stored_sweep(person)).mean_us is None


def test_a_part_of_a_sweep_says_that_it_is_a_part() -> None:
    said = progress(total=18, done=6, failed=1, cancelled=10, rejected=1).unfinished_text
    assert said == "It speaks of the 6 that compiled: 1 failed, 10 cancelled, 1 rejected of 18."


@pytest.mark.parametrize(
    ("ends", "word"), [({"done": 2}, "done"), ({"failed": 2}, "failed"), ({"rejected": 2}, "rejected")]
)
def test_a_finished_sweep_is_called_by_how_it_ended(sweep: Sweep, ends: dict[str, int], word: str) -> None:
    assert state_of(sweep, progress(total=2, **ends)) == word


def test_when_nothing_compiled_the_page_says_why_and_what_next(sweep: Sweep) -> None:
    for trial in sweep.trials.with_work():
        change(trial, WorkState.REJECTED, reason="Op 17 is not supported on v75.")
    failure = failure_of(sweep, judgement_of(sweep), progress_of(sweep))
    assert failure == {"what": "Nothing compiled.", "why": "Op 17 is not supported on v75.", "next": CHANGE}


# Plots


def test_the_plots_get_the_values_of_the_trials_that_the_table_shows(sweep: Sweep) -> None:
    data = chart_data(ranking_of(sweep).trials)
    assert [metric["key"] for metric in data["metrics"]] == ["rom_bytes", "ram_bytes", "dram_bytes", "cycles"]
    point = next(point for point in data["points"] if point["label"] == "P 22")
    assert point["values"] == {"rom_bytes": 761856, "ram_bytes": 2263552, "dram_bytes": 2158592, "cycles": 458662}
    assert sum(point["kinds"].values()) == point["values"]["ram_bytes"]


def test_a_value_that_does_not_compare_is_not_drawn(sweep: Sweep) -> None:
    data = chart_data(ranking_of(sweep).trials)
    assert next(point for point in data["points"] if point["label"] == "P 19")["values"]["cycles"] is None


# Drawer


def test_the_drawer_sets_what_was_asked_beside_what_was_granted(sweep: Sweep) -> None:
    (graph,) = drawer_context(sweep, trial_of(sweep, "P=22"))["graphs"]
    assert [(option.name, option.requested, option.granted) for option in graph.options] == [
        ("Optimization level O", "3", "3"),
        ("P value", "22", "22"),
        ("VTCM", "8 MB", "8 MB"),
        ("HVX threads", "4", "4"),
        ("DLBC", "", "off"),
    ]


def test_an_option_that_was_granted_otherwise_is_marked(sweep: Sweep) -> None:
    granted = {"optimization_level": 3, "p_value": 4, "vtcm_bytes": 4 * MB, "hvx_threads": 4, "dlbc": False}
    changed_result(sweep, "P=4", granted=granted)
    (graph,) = drawer_context(sweep, trial_of(sweep, "P=4"))["graphs"]
    assert [option.name for option in graph.options if option.differs] == ["VTCM"]


def test_the_last_entry_that_names_a_graph_counts() -> None:

    entries = (
        GraphConfig(vtcm_mb=4, O=3),
        GraphConfig(graph_names=("a",), vtcm_mb=8),
        GraphConfig(graph_names=("b",), O=1),
    )
    asked = requested_of(HtpConfig(graphs=entries), "a")
    assert (asked.vtcm_mb, asked.O) == (8, 3)


def test_the_longest_phase_fills_the_bar(sweep: Sweep) -> None:
    (graph,) = drawer_context(sweep, trial_of(sweep, "P=22"))["graphs"]
    assert max(graph.phases, key=lambda phase: phase.us).percent == 100


def test_the_drawer_names_the_sweeps_that_share_the_compile(sweep: Sweep, person: User) -> None:
    other = stored_sweep(person, name="the same again")
    context = drawer_context(sweep, trial_of(sweep, "P=22"))
    assert [trial.sweep for trial in context["sharing"]] == [other]


def test_the_log_comes_out_of_the_store(sweep: Sweep) -> None:
    assert "QnnContext_getBinary done" in log_of(trial_of(sweep, "P=22").compilation).text


def test_a_damaged_log_is_a_sentence(sweep: Sweep) -> None:
    compilation = trial_of(sweep, "P=22").compilation
    assert compilation.log
    path = server_store().path(compilation.log.sha256)
    whole = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(b"x")
    try:
        assert "damaged" in log_of(compilation).problem
    finally:
        path.write_bytes(whole)


# The page as a whole


def test_the_live_parts_have_an_element_for_every_row(sweep: Sweep) -> None:
    found = parts(sweeps_for_page().get(pk=sweep.pk), PageView(), request_for(), all_of_it=True)
    for trial in sweep.trials.all():
        html = found[f"trial-{trial.public_id}"]
        assert html.startswith(f'<tr id="trial-{trial.public_id}"')
        assert 'hx-swap-oob="morph"' in html


def test_every_live_part_begins_with_its_own_element(sweep: Sweep) -> None:
    running = reopened(sweep, "P=4")
    for name, html in parts(running, PageView(), request_for(), all_of_it=True).items():
        assert f'id="{name}"' in html.split(">")[0]


def test_while_it_runs_the_ranking_is_sent_on_arrival_only(sweep: Sweep) -> None:
    running = reopened(sweep, "P=4")
    assert "ranking" in parts(running, PageView(), request_for(), all_of_it=True)
    assert "ranking" not in parts(running, PageView(), request_for(), all_of_it=False)


def test_when_it_is_over_the_ranking_is_sent_too(sweep: Sweep) -> None:
    assert "ranking" in parts(sweep, PageView(), request_for(), all_of_it=False)


def test_twice_the_same_look_gives_the_same_parts(sweep: Sweep) -> None:
    """What differs is sent: a random token in a form would be sent each second."""
    running = reopened(sweep, "P=4", "P=5")
    looks = [parts(running, PageView(), request_for(), all_of_it=True) for _ in range(2)]
    assert looks[0] == looks[1]


def test_the_number_of_queries_does_not_depend_on_the_number_of_trials(sweep: Sweep, person: User) -> None:
    many = large_sweep(person, 40, name="many")
    counts = []
    for each in (sweep, many):
        page_context(each, PageView(), request_for())
        with CaptureQueriesContext(connection) as queries:
            page_context(each, PageView(), request_for())
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_sweep_of_many_trials_shows_a_part_of_each_list(person: User) -> None:
    sweep = large_sweep(person, 150)
    context = page_context(sweep, PageView(), request_for())
    assert len(context["table"].rows) == PAGE_SIZE
    assert len(context["ranking"].lines) == MOST_LINES
    assert len(context["chart"]["points"]) < 150


def test_a_build_is_called_by_its_release() -> None:
    assert toolchain_label(stored.stored_toolchain()) == "QAIRT 2.51"


def test_a_trial_that_ended_as_cancelled_work_is_cancelled(sweep: Sweep) -> None:
    change(trial_of(sweep, "P=5"), WorkState.CANCELLED, reason="")
    row = row_of(sweep, "P 5")
    assert (row.state, row.reason) == (TrialState.CANCELLED, "It was cancelled.")


def test_a_line_that_opens_into_too_many_says_how_many_more(person: User) -> None:
    sweep = large_sweep(person, 120)
    tied = max(ranking_of(sweep, by=Metric.CYCLES).lines, key=lambda line: len(line.trials))
    assert len(tied.inner) == MOST_INNER
    assert sum(len(line.trials) for line in tied.inner) + tied.hidden == len(tied.trials)
