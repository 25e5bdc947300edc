"""The card of each wrong answer, as text: what the judge says may change only where an author looks at the difference."""
