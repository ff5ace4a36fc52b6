"""The commands, and what each error is for the shell: one clear line (a config may have several) and a code."""

from __future__ import annotations

import errno

import typer
from typer.exceptions import TyperException

from sweeps.toolchain.errors import ModelRejected, ToolchainError
from sweeps.tuner.inputs import BadInput
from tunerweb.cli import INTERRUPTED, complain
from tunerweb.cli.demo import demo
from tunerweb.cli.device import device
from tunerweb.cli.doctor import doctor
from tunerweb.cli.info import info
from tunerweb.cli.sweep import sweep
from tunerweb.cli.up import up

FAILED, BAD_INPUT = 1, 2

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Compile a model at every setting of Qualcomm's HTP compiler, and see what is worth shipping.",
)
for command in (up, demo, sweep, info, doctor):
    app.command()(command)
app.add_typer(device, name="device")


def run() -> int:
    try:
        code = app(standalone_mode=False)
    except BadInput as error:
        return complain(BAD_INPUT, *error.problems)
    except ModelRejected as error:
        return complain(BAD_INPUT, str(error))
    except ToolchainError as error:
        return complain(FAILED, str(error))
    except OSError as error:
        return complain(FAILED, os_sentence(error))
    except typer.Abort:
        code = INTERRUPTED
    except TyperException as error:
        message = str(error)  # empty when the help was printed instead
        return complain(BAD_INPUT, f"{message.rstrip('.')}. Try `tunerweb --help`.") if message else BAD_INPUT
    if code == INTERRUPTED:  # typer's own answer to Ctrl+C, too
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def os_sentence(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        what_next = "Free some space, or choose another folder with --out."
        return f"{error.strerror}: the files could not be written. {what_next}"
    what = error.strerror or str(error)
    where = f": {error.filename}" if error.filename else ""
    return f"{what}{where}."
