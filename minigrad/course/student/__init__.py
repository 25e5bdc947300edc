"""The student's side of a check: the process in which their code runs, and the messages between it and the judge."""
