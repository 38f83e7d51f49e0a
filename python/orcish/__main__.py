"""``python -m orcish``."""

from orcish_cli import run_program

if __name__ == "__main__":
    run_program()
