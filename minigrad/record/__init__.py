"""The backward pass as data, and what can be read from it.

moves.py          what a recording holds: places, steps, contributions
recording.py      a `Recording`, as text and as JSON; words.py: its sentences
recorder.py       `record`: sends the walk along; steps.py writes down what it does
pytorch.py        the same for a pass of PyTorch (pytorch_pass.py and others)
places.py         the graph's tensors, with names (names.py) and values (nodes.py)
contributions.py  one contribution, explained
formula.py        the text of a rule, from the table's own source
explanation.py    `explain`: one tensor, in a paragraph; faults.py: `check_graph`
replacement.py    `replace`: a rule of your own in the engine
bugs.py           `broken`: the engine with a bug of the course's catalogue
"""

from .bugs import broken
from .explanation import explain
from .faults import check_graph
from .moves import Contribution, Place, Saved, Step
from .recorder import record
from .recording import Recording
from .replacement import replace

__all__ = ["Contribution", "Place", "Recording", "Saved", "Step"]
__all__ += ["broken", "check_graph", "explain", "record", "replace"]
