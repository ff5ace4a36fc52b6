"""What the candidates computed on a device, kept once each and compared as soon as the baseline's are there."""

from __future__ import annotations

from pathlib import Path

from sweeps.jobs.compared import judged, kept_outputs, outputs_of
from sweeps.models import DeviceOutputs, DeviceSession, Trial, TrialKind, Verdict


def has_outputs(session: DeviceSession, trial: Trial) -> bool:
    return session.outputs.filter(trial=trial).exists()


def keep_outputs(session: DeviceSession, trial: Trial, path: Path) -> None:
    _, fields = kept_outputs(session.team, path)
    DeviceOutputs.objects.update_or_create(session=session, trial=trial, defaults=fields)


def compare_on_device(session: DeviceSession) -> None:
    """The order of a round is one of chance: the baseline may come last."""
    waiting = list(session.outputs.filter(verdict="").select_related("outputs", "trial"))
    rows = session.outputs.select_related("outputs", "trial")
    baseline = rows.filter(trial__kind=TrialKind.BASELINE).first()
    if baseline is None:
        return
    reference = outputs_of(baseline)
    for row in waiting:
        if row.pk == baseline.pk:
            row.verdict = Verdict.REFERENCE
        else:
            fields, row.sentence = judged(reference, outputs_of(row) or {})
            row.verdict, row.differences = fields["verdict"], fields.get("differences", [])
            # Only the baseline's are read again.
            row.outputs = None
        row.save(update_fields=["verdict", "differences", "sentence", "outputs"])
