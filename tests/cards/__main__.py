"""`python -m tests.cards 05 12`: write the cards of these lessons anew; without a number, of all."""

import sys

from minigrad.course import lessons
from tests.cards.golden import write

for number in map(int, sys.argv[1:] or lessons.numbers()):
    write(number)
