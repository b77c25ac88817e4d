"""`python -m elmbench` runs the command line."""

from elmbench.cli import main

if __name__ == "__main__":
    main()
