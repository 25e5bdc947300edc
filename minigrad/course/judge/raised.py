"""What Python's, numpy's and the engine's own errors mean for somebody who meets them for the first time."""

from __future__ import annotations

import ast
import difflib
import re
from typing import Any

import numpy as np

from ...function import FunctionCtx
from ..student.wire import Failure

__all__ = ["explained"]

MEANS = {  # an error's type and message -> what is behind it, and a question
    r"TypeError: \w+\.backward\(\) missing 1 required":
        "The engine calls this backward with ctx and the upstream gradient. Does @staticmethod stand above it, and is self "
        "not among its inputs?",
    r"TypeError: .*takes exactly .*argument":
        "In this line a function is called with more or fewer inputs than it takes. Which ones does it take?",
    r"TypeError: .*takes .*positional arguments? but":
        "The number of inputs differs. Which inputs does the task name, and does each one have its place between the brackets "
        "after def?",
    r"TypeError: .*missing \d+ required":
        "This function is called with fewer inputs than it asks for. From where does it get what is missing?",
    r"TypeError: '[<>]=?' not supported between .*NoneType":
        "One of the two is None. Which line should have given it a value first?",
    r"IndexError: (tuple|list) index out of range":
        "This tuple or list is shorter than that, or empty: what does it hold, and how many, for this input?",
    r"UnboundLocalError":
        "This name is stored somewhere in this function, so here it is a variable of the function, and has no value yet. Is "
        "it the name of a function as well?",
    r"TypeError: save_for_backward":
        "save_for_backward takes tensors, one after the other: no list, and no plain number. A plain number may be an "
        "attribute of ctx.",
    r"TypeError: .*\(\) takes no arguments":
        "A class with brackets after it makes an object. Which method of the class is to be called?",
    r"TypeError: .*bitwise_xor|TypeError: .*\^": "In Python ^ is no power. Which sign is?",
    r"TypeError: unsupported operand .*(function|method)":
        "One of the two is a function, and not what it gives. Are brackets missing after its name?",
    r"TypeError: .*NoneType.*(iterable|subscriptable|reversible|unpack)":
        "Something that you go on with is None. A method such as reverse, sort or append changes its list and returns "
        "nothing; a function without a return, or still blank, gives None, too.",
    r"TypeError: unsupported operand .*NoneType": "One of the two is None. Which line should have given it a value first?",
    r"TypeError: .* object cannot be interpreted as an integer":
        "A whole number is needed here, as in range(3). What stands there: several numbers, a decimal one, or None?",
    r"TypeError: unsupported operand": "This operator does not take these two kinds of things. What are they?",
    r"TypeError: .*'(numpy.ndarray|tuple)' object is not callable":
        "Round brackets call a function, but this is an array or a tuple. .T, .shape and .size need no brackets, and an index "
        "needs square ones.",
    r"TypeError: .*'([\w.]+)' object is not callable":
        "Brackets after a name call it, but this one is a value and no function.",
    r"TypeError: must be real number, not": "This function takes plain numbers. Which attribute holds the number?",
    r"TypeError: object of type 'generator'":
        "A generator gives its values one at a time, and has no length. Is a list asked for, or can you count the values "
        "while you go through them?",
    r"TypeError: '(method|function|builtin_function_or_method)' object is not (reversible|subscriptable|iterable)":
        "This names a function or method and does not call it. Are brackets missing after its name?",
    r"TypeError: '(float|int|numpy.float64)' object is not iterable":
        "This is a single number. append puts one number into a list; += and a loop need a list of them.",
    r"TypeError: only integer tensors":
        "A tensor stands where Python wants a whole number: as an index, or as a factor of a tuple or a list. "
        "ctx.saved_tensors is a tuple, also when it holds one tensor.",
    r"AttributeError: 'NoneType'":
        "Something is None here: a gradient that no backward pass has reached, an input that was left out, or what a function "
        "without a return gives. Which line should have given it a value?",
    r"AttributeError: 'function' object": "This is a function, and not what it computes. What does it compute, and from what?",
    r"AttributeError: '(float|int|float64|numpy.float64)' object has no attribute '(data|grad|_backward|parents)'":
        "This is a plain number, and a Value is needed, or the other way round: inside a rule one computes with the numbers.",
    r"AttributeError: '(numpy.)?(ndarray|float64)' object has no attribute '(backward|grad|detach|requires_grad)":
        "A numpy array keeps no graph, so it has no backward pass. Should it be a tensor here, or should you compute the "
        "derivative yourself?",
    r"AttributeError: '(list|tuple|dict|set|str|dict_values|generator)' object":
        "This is a container or a text, and not one of the objects that it holds. Which one should be here, and how do you "
        "get it?",
    r"AttributeError: '[A-Z]\w*' object has no attribute":
        "This object holds nothing of that name. Is another object meant, or should a line store it in the object first "
        "(self.name = ...)?",
    r"NameError|UnboundLocalError":
        "No line that ran before this one gives this name a value. Is it spelled as in the line that sets it, and was that "
        "cell run?",
    r"OverflowError|.*overflow": "A number has become too large for the computer: does something grow with every step?",
    r"IndexError: invalid index to scalar|IndexError: too many indices":
        "There are more indices than axes here. How many axes are left at this point?",
    r"IndexError: .*out of bounds|IndexError: .*out of range":
        "This index counts the entries of another axis, or runs too far. How long is the axis that it is used for?",
    r"ValueError: matmul: .*has 0,":
        "One side of @ is a single number or no array at all. Is a method named there without its brackets?",
    r"ValueError: .*(matmul|dot|shapes .* not aligned)"
    r"|RuntimeError: .*(cannot be multiplied|size mismatch, got|inconsistent tensor size|expanded batch)":
        "In a product the last axis of the left one must be as long as the first axis of the right one. Write both shapes "
        "down: which one has to be transposed, or stand on the other side?",
    r"ValueError: .*broadcast|RuntimeError: The size of tensor a":
        "Compare the shapes from the right: two lengths must be equal, or one of them 1. Which axis is missing, or has gone "
        "too early?",
    r"ValueError: cannot reshape":
        "reshape keeps every number, so the lengths of the new shape multiplied must give how many there are. Which of them "
        "depends on the input, or are there too many numbers at this point?",
    r"(Type|UFuncType|_UFuncOutputCasting)Error: Cannot cast":
        "An array of whole numbers cannot take fractions in place. x = x / n makes a new array, and x /= n does not.",
    r"ValueError: .*(axis|axes)":
        "One axis is named twice, or does not exist. On which side do the new axes stand, and how do the others count then?",
    r"ValueError: The truth value of an array|RuntimeError: Boolean value of Tensor":
        "if asks for one truth value, and this array has several. To decide for each entry, use where; to decide once, .all() "
        "or .any(), or a comparison with None.",
    r"ValueError: .*unpack": "On the left there are more or fewer names than values on the right.",
    r"AxisError":
        "The array has fewer axes than that. Axes count from 0, and a sum may have removed one. How many are left here?",
    r"RuntimeError: element 0 of tensors does not require grad":
        "backward() was called on something without a history. Which of its inputs should require a gradient, and was it "
        "recorded or detached on the way?",
    r"RuntimeError: grad can be implicitly created":
        "backward() without an argument starts from one single number. How does one number come out of several?",
    r"RuntimeError: .*leaf .*in-?place":
        "A leaf that requires a gradient may not be changed while operations are recorded. How is recording switched off for "
        "an update, or which tensor is no leaf?",
    r"RuntimeError: Trying to backward":
        "This graph was used up by its first backward pass. Is the loss computed anew for each?",
    r"RuntimeError: .*modified by an inplace":
        "A number that the backward pass needs was changed in place, and that is this error. Is it to be caught here, or to "
        "be avoided?",
    r"RuntimeError: .*returned an invalid gradient":
        "The gradient that a backward returns has the shape of the input that it belongs to.",
    r"RuntimeError: .*Mismatch in shape": "The vector for a backward pass has one number for each output.",
    r"RuntimeError: .*returned a gradient different than None":
        "The input at this position is no tensor, and what is no tensor has no gradient: backward returns None for it.",
    r"RecursionError":
        "The function calls itself, directly or through an operator such as +, more often than Python allows. Does it end for "
        "every input, and how many calls does it need?",
}  # fmt: skip


def explained(failure: Failure, program: str = "") -> str:
    """What is behind an error, in a sentence or two; "" where the message says it all. `program` is that of the check, which
    may be what raised it."""
    said = f"{failure.type}: {failure.message}"
    seen = went_on(failure, program) if program and failure.line is None else ""
    if seen:
        return seen
    if failure.text.startswith("raise") and failure.type != "SystemExit":
        return "Your own line raises this. For this input, which of your conditions is true and should not be, or the reverse?"
    if failure.line and re.match(r"TypeError: .*(takes .*positional arguments? but|missing \d+ required)", said):
        return MEANS[r"TypeError: .*takes exactly .*argument"]
    return nearest(failure) or next((means for error, means in MEANS.items() if re.match(error, said)), "")


KINDS = {"NoneType": "None", "list": "a list", "tuple": "a tuple", "dict": "a dict", "float": "a number", "int": "a number",
         "numpy.float64": "a number", "str": "a string", "bool": "a truth value", "function": "a function",
         "method": "a method without its brackets", "numpy.ndarray": "a numpy array", "generator": "a generator",
         "memoryview": "the memory of a numpy array (its .data)"}  # fmt: skip


def went_on(failure: Failure, program: str) -> str:
    """What the check's own program met in what a student's function gave; "" for an error that does not tell."""
    attribute = re.search(r"'([\w.]+)' object has no attribute '(\w+)'", failure.message)
    length = re.search(r"object of type '([\w.]+)' has no (len)\(\)", failure.message)
    found = attribute or length
    if found is None:
        return ""
    tree = ast.parse(program)
    places = [node.value if isinstance(node, ast.Attribute) else node.args[0] for node in ast.walk(tree)
              if (isinstance(node, ast.Attribute) and node.attr == found[2])
              or (isinstance(node, ast.Call) and getattr(node.func, "id", "") == found[2])]  # fmt: skip
    if not places:
        return ""
    held = places[0]
    what = f"`{ast.unparse(held)}`" if len({ast.unparse(place) for place in places}) == 1 else "what your function gives"
    for node in ast.walk(tree) if what.startswith("`") else ():
        if isinstance(held, ast.Name) and isinstance(node, ast.comprehension) and ast.unparse(node.target) == held.id:
            what = "an entry of what your function gives"
        elif isinstance(held, ast.Name) and isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == held.id:
            what = f"`{ast.unparse(node)}`"
    tensor = found[2] in ("tolist", "item", "detach", "requires_grad")
    of_class = hasattr(type, found[2]) and not hasattr(object(), found[2])
    needed = "a list" if length else "a tensor" if tensor else "a class" if of_class else f"an object with .{found[2]}"
    asks = f"It needs {needed} there."
    if found[1] == "NoneType" and what.endswith(".grad`"):
        asks = "No gradient has arrived there: does a path of recorded operations lead from it to your result?"
    elif found[1] == "NoneType" and what.startswith("an entry"):
        asks = "Is it the gradient of a leaf, and is it there when you store it?"
    elif found[1] == "NoneType":
        asks = "Does your function end with a return?"
    article = "an" if found[1][0].lower() in "aeiou" else "a"
    return f"The check goes on with {what}, and that is {KINDS.get(found[1], f'{article} {found[1]}')}. {asks}"


TYPES: dict[str, Any] = {"numpy.ndarray": np.ndarray, "list": list, "dict": dict, "str": str, "tuple": tuple,
                         "FunctionCtx": FunctionCtx}  # fmt: skip


def nearest(failure: Failure) -> str:
    """Which attribute was meant, where one does not exist; "" if none is near."""
    unknown = re.match(r"(?:module )?'([\w.]+)'(?: object)? has no attribute '(\w+)'", failure.message)
    if unknown is None or failure.type != "AttributeError":
        return ""
    kind, attribute = unknown.groups()
    thing = np if kind == "numpy" else TYPES.get(kind)
    near = difflib.get_close_matches(attribute, dir(thing), n=1, cutoff=0.75) if thing is not None else []
    return f"There is no .{attribute} here, but there is .{near[0]}: did you mean that?" if near else ""
