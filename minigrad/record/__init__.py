"""The backward pass as data, and what can be read from it.

recording.py      what a recording holds: places, steps, contributions; as text and as JSON
recorder.py       `record`: sends the walk along and notes what it does
contributions.py  what each rule handed to each input, and a student's rule beside ours
names.py          what a tensor is called in the student's own code
values.py         the numbers that a graph still holds
formula.py        the text of a rule, from the table's own source; notation.py: in LaTeX, with numbers put in
words.py          sentences; numbers.py: how a number is written
explanation.py    `explain`: one tensor, in a paragraph
bugs.py           `broken`: the engine with a bug from the course's catalogue
"""

from minigrad.record.bugs import broken
from minigrad.record.explanation import explain
from minigrad.record.recorder import record
from minigrad.record.recording import Contribution, Place, Recording, Step

__all__ = ["Contribution", "Place", "Recording", "Step", "broken", "explain", "record"]
