"""The command line as a program: `prevalence`, and `python -m prevalence`."""

from __future__ import annotations

import signal

__all__ = ["run"]


def run() -> None:
    """Run the command line; Ctrl-C while it is loaded ends the process without a word."""
    # Nobody could turn the interrupt into a line before what does so is imported.
    mine = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if mine:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from prevalence.cli import errors, main  # noqa: F401 - errors to have it there

    if mine:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main(prog_name="prevalence")


if __name__ == "__main__":
    run()
