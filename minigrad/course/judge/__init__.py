"""The judge: it asks a student, compares what came back with what is right, and says in words what went wrong."""
