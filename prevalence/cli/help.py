"""`-h` beside `--help`, for every command and group."""

from __future__ import annotations

import click

__all__ = ["HelpGroup", "ShortHelp"]


class ShortHelp(click.Command):
    """A command that takes `-h`.

    The setting that click has for this is inherited from the context of the group above, and click
    keeps the first answer: a command that is first asked without that context would lose `-h`.
    """

    def get_help_option_names(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of the help option."""
        return ["-h", "--help"]


class HelpGroup(ShortHelp, click.Group):
    """A group that takes `-h`."""
