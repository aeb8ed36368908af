"""`python -m longtrek` is the command line."""

from longtrek.cli import main

main()
