"""`python -m prevalence`: the command line."""

from prevalence.cli import main

if __name__ == "__main__":
    main(prog_name="prevalence")
