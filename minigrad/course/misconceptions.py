"""The catalogue of misconceptions about gradients, with the code that shows it.

Each entry says the belief in a line, gives a few lines of code and what they really do, the feedback a
student gets (what was seen, why, a question; never the fix), three hints that go deeper, and where PyTorch's
documentation treats it. Exercises refer to entries by id; `minigrad.broken(id)` injects those that are a
bug of an engine; `page()` is the reference page made from all of this.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CATALOGUE", "Misconception", "feedback", "find", "page"]

NOTES = "https://docs.pytorch.org/docs/stable/notes/"
API = "https://docs.pytorch.org/docs/stable/generated/"


@dataclass(frozen=True)
class Misconception:
    """One belief. `code` is an example to run (minigrad as torch); `shows` what it really does."""

    id: str
    name: str
    belief: str
    code: str
    shows: str
    feedback: str
    hints: tuple[str, str, str]
    docs: str


CATALOGUE: dict[str, Misconception] = {}


def entry(
    id: str,
    name: str,
    belief: str,
    code: str,
    shows: str,
    feedback: str,
    hints: tuple[str, str, str],
    docs: str,
) -> None:
    """Add one entry to the catalogue."""
    if id in CATALOGUE:
        raise ValueError(f"two entries are called {id}")
    CATALOGUE[id] = Misconception(id, name, belief, code.strip(), shows, feedback, hints, docs)


def find(id: str) -> Misconception:
    """The entry of this id. KeyError with the nearest ids if there is none."""
    if id not in CATALOGUE:
        raise KeyError(
            f"there is no misconception {id!r}; the catalogue has {next(iter(CATALOGUE))} to {max(CATALOGUE)}"
        )
    return CATALOGUE[id]


def feedback(id: str) -> str:
    """What a student reads about it; "" for the empty id (a slip that no belief explains)."""
    return find(id).feedback if id else ""


entry(
    "M01", "accumulate",
    "Each backward pass gives a fresh gradient.",
    "x = torch.tensor(3.0, requires_grad=True)\n"
    "(x**2).backward()\n"
    "(x**2).backward()\n"
    "print(x.grad)",
    "tensor(12.)",
    "12 = 6 + 6: a backward pass adds to `.grad`. What should happen to `.grad` between two passes?",
    (
        "`.grad` is the sum of all gradients that have arrived since it was cleared.",
        "Three passes of 5*x leave 15 in x.grad; clearing after the second leaves 5.",
        "Look at the lines between one backward pass and the next: does one of them clear the gradient?",
    ),
    API + "torch.optim.Optimizer.zero_grad.html",
)  # fmt: skip

entry(
    "M02", "non-leaf has none",
    "Every tensor gets a .grad.",
    "x = torch.tensor(3.0, requires_grad=True)\n"
    "y = x * 2\n"
    "(y**2).backward()\n"
    "print(y.is_leaf, x.grad)",
    "False tensor(24.)",
    "An operation computed this tensor, so it is not a leaf: its gradient was used and then dropped. Which "
    "call keeps such a gradient?",
    (
        "Only leaves, such as the tensors that you make with requires_grad=True, keep their gradients.",
        "In a = w*x; b = a+1; b.backward() the gradient of a is used to compute that of w, and then dropped.",
        "Look at the line that makes the tensor: do you make it, or does an operation? retain_grad() has to come "
        "before backward().",
    ),
    API + "torch.Tensor.retain_grad.html",
)  # fmt: skip

entry(
    "M03", "wrong owner",
    "The gradient is stored in the loss.",
    "x = torch.tensor(3.0, requires_grad=True)\n"
    "loss = x**2\n"
    "loss.backward()\n"
    "print(x.grad)",
    "tensor(6.)",
    "`a.grad` is the derivative of the tensor that you called backward on, with respect to `a`. You looked at "
    "the tensor that is differentiated. Which tensor stores the answer?",
    (
        "A gradient belongs to an input: it says how the loss reacts to it.",
        "After area.backward(), width.grad is the derivative of the area with respect to the width.",
        "Look at the name before `.grad`: it has to be an input that you can change.",
    ),
    API + "torch.Tensor.grad.html",
)  # fmt: skip

entry(
    "M04", "which derivative",
    "x.grad is the derivative of the next value that is computed from x.",
    "x = torch.tensor(3.0, requires_grad=True)\n"
    "y = x * 2\n"
    "z = y**2\n"
    "z.backward()\n"
    "print(x.grad)",
    "tensor(24.)",
    "x.grad is the derivative of the tensor on which you called backward, through all operations in between. "
    "On which tensor would you call backward to get dy/dx?",
    (
        "A chain has many derivatives, and the call of backward decides which one you get.",
        "With t = 3s and u = t**2 at s = 1: du/ds = 18, dt/ds = 3, du/dt = 6.",
        "Look at the tensor before `.backward()`. It is the one whose derivative you get.",
    ),
    API + "torch.Tensor.backward.html",
)  # fmt: skip

entry(
    "M05", "unused is None",
    "A parameter that the loss does not depend on gets the gradient 0.",
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "u = torch.tensor(1.0, requires_grad=True)\n"
    "(x * 3).backward()\n"
    "print(u.grad)",
    "None",
    "No path leads from this tensor to the loss, so no gradient arrives and `.grad` stays None. When would it be 0 "
    "instead?",
    (
        "None means that no gradient has arrived. 0 means that one arrived, and that a small change has no effect.",
        "x * 0 gives x the gradient 0. If x is not used at all, its gradient is None.",
        "Look for a path from this tensor to the loss: is there one?",
    ),
    API + "torch.autograd.grad.html",
)  # fmt: skip

entry(
    "M06", "gradient follows value",
    "The gradient changes as soon as the value of its tensor changes.",
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "(x**2).backward()\n"
    "x.data = torch.tensor(5.0)\n"
    "print(x.grad)",
    "tensor(4.)",
    "A gradient is computed once, at one point, and says how fast the output changes there. What has to "
    "run again when the point changes?",
    (
        "`.grad` is a stored result, like a photograph: it does not change with the tensor.",
        "The derivative of x**3 at 1 is 3. If x is set to 10, the stored 3 stays until the forward and the "
        "backward pass run again.",
        "Did you use a value where a derivative was asked for, or change a value after its gradient was "
        "computed?",
    ),
    API + "torch.Tensor.grad.html",
)  # fmt: skip

entry(
    "M07", "nothing to clear",
    "There is always a .grad to set to zero.",
    "x = torch.tensor(1.0, requires_grad=True)\n"
    "x.grad.zero_()",
    "AttributeError: 'NoneType' object has no attribute 'zero_'",
    "Before the first backward pass there is no gradient: `.grad` is None. How can you clear it at any time?",
    (
        "None and 0 are different: either no gradient has arrived, or those that arrived add up to 0.",
        "Setting `.grad` to None works before and after the first pass; filling it with zeros works only after it.",
        "Look at the first time the clearing line runs: has a backward pass come before it?",
    ),
    API + "torch.optim.Optimizer.zero_grad.html",
)  # fmt: skip

entry(
    "M08", "zero_grad on the loss",
    "The loss owns the gradients, so it can clear them.",
    "x = torch.tensor(1.0, requires_grad=True)\n"
    "loss = x**2\n"
    "loss.zero_grad()",
    "AttributeError: 'Tensor' object has no attribute 'zero_grad'",
    "The loss owns no gradients; its leaves do. Which object knows all the leaves?",
    (
        "Clearing is done where gradients are stored: at the parameters.",
        "With two parameters w and b there are two `.grad` to clear, however many losses there are.",
        "Look at what the method is called on: an optimiser or a module knows its parameters, a tensor does"
        " not.",
    ),
    API + "torch.optim.Optimizer.zero_grad.html",
)  # fmt: skip

entry(
    "M09", "backward builds the graph",
    "backward() builds the graph.",
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "y = x**2\n"
    "print(y.grad_fn is not None)",
    "True",
    "`grad_fn` is there before any call of backward: the graph is built while you compute. What does backward() "
    "do with the graph?",
    (
        "The forward pass builds the graph, and the backward pass uses it.",
        "After c = a*b there is already a node that refers to a and b, even if you never call backward().",
        "Look at what exists just before the call of backward().",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M10", "backward twice",
    "backward() works on a graph as often as you like.",
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "y = x**2\n"
    "y.backward()\n"
    "y.backward()",
    "RuntimeError: Trying to backward through the graph a second time",
    "The first backward pass freed the saved numbers to save memory. Compute the result again, or keep them with "
    "retain_graph=True if you need the same graph twice.",
    (
        "Nodes save the numbers that their rules need, until the first backward pass.",
        "x + 2 saves nothing, so a second pass works; x**2 saves x, so a second pass fails.",
        "Look for two calls of backward() after one forward pass.",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M11", "retain_graph as a cure",
    "retain_graph=True is the right repair when backward() raises an error.",
    "w = torch.tensor(1.0, requires_grad=True)\n"
    "hidden = w * w\n"
    "for _ in range(3):\n"
    "    (hidden * 2).backward(retain_graph=True)\n"
    "print(w.grad)",
    "tensor(12.)",
    "Something computed before the loop is part of the loss, so each step goes through the same "
    "old graph. Should it be computed inside the loop, or be detached?",
    (
        "The message says that backward() went through one graph twice. Why is it the same graph?",
        "Features that are computed once, before the loop, belong to no step: compute them in each step, "
        "or detach them.",
        "Look for a tensor that requires a gradient and is made above the loop.",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M12", "detach, no_grad and copies",
    "detach and no_grad do the same, or make a copy.",
    "x = torch.tensor(3.0, requires_grad=True)\n"
    "y = x**2\n"
    "z = y.detach() * x\n"
    "z.backward()\n"
    "print(x.grad)",
    "tensor(9.)",
    "detach() cuts one edge of the graph, no_grad records nothing, and neither copies the numbers. Which paths "
    "are left after the cut?",
    (
        "No gradient passes through a cut edge; the other paths still count.",
        "In (a.detach() + a) * 5 only the second a gets a gradient: 5, not 10.",
        "Look at every path from the result back to the leaf, and cross out those with a cut edge.",
    ),
    API + "torch.Tensor.detach.html",
)  # fmt: skip

entry(
    "M13", "rewrapped",
    "A tensor made from a tensor's numbers continues its history.",
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "y = torch.tensor((x**2).item())\n"
    "y.backward()",
    "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
    "You made a new tensor from the numbers of another one, and a new tensor has no history. How can "
    "you use the numbers and keep the history?",
    (
        "A plain number has no history, but a tensor can have one.",
        "torch.tensor(y.item()), torch.tensor(y.data) and y.tolist() all give numbers without a history.",
        "Look for the constructor that is called on a result.",
    ),
    API + "torch.tensor.html",
)  # fmt: skip

entry(
    "M14", "numpy in the middle",
    "NumPy functions can be used inside a graph.",
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "x.numpy()",
    "RuntimeError: Can't call numpy() on Tensor that requires grad",
    "NumPy records no operations, so no gradient could pass through this call. Does the tensor have an "
    "operation of its own for this?",
    (
        "Every step between a parameter and the loss has to be recorded.",
        "np.log(x) would return numbers without a history; x.log() records a node.",
        "Look for the function that comes from NumPy and not from the tensor.",
    ),
    API + "torch.Tensor.numpy.html",
)  # fmt: skip

entry(
    "M15", "in-place on a saved tensor",
    "A value may be overwritten once it has been used.",
    "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    "y = x * 2\n"
    "z = y**2\n"
    "y += 1\n"
    "z.sum().backward()",
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace"
    " operation",
    "An operation saved this tensor for its rule, and you changed it afterwards. Does the rule need the input of "
    "the operation, or its output?",
    (
        "An operation saves the tensor itself, not a copy.",
        "exp saves its output, so its input may be overwritten; the square saves its input.",
        "Look for `+=`, `*=` or a method that ends in an underscore after the use.",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M16", "in-place on a leaf",
    "The update of a parameter is like any other line.",
    "w = torch.tensor(1.0, requires_grad=True)\n"
    "w -= 0.1",
    "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation",
    "The update is not part of the model. How do you switch recording off for it?",
    (
        "The graph holds what the loss depends on, and the update comes after the loss.",
        "Counting, printing and updating all belong outside the graph.",
        "Look at the block around the update: is recording switched off there?",
    ),
    API + "torch.no_grad.html",
)  # fmt: skip

entry(
    "M17", "rebinding",
    "`w = w - lr * w.grad` changes the parameter.",
    "w = torch.tensor(1.0, requires_grad=True)\n"
    "(w * 3).backward()\n"
    "w = w - 0.1 * w.grad\n"
    "print(w.is_leaf, w.grad_fn is not None)",
    "False True",
    "The name w now means a new tensor, and the parameter is the old one. Does your line change a tensor, or does "
    "it give the name to another one?",
    (
        "`=` gives a name to an object; it changes no object.",
        "After a = [1]; b = a, the line a = a + [2] leaves b unchanged, but a.append(2) changes it.",
        "Look at the left side of the update: does it change the tensor, or only move the name?",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M18", "history of losses",
    "Adding up losses keeps only numbers.",
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "total = 0.0\n"
    "for _ in range(3):\n"
    "    total += x**2\n"
    "print(total.requires_grad)",
    "True",
    "The sum is a tensor, and it keeps every graph so far in memory. You only want the number: which method gives it "
    "without the history?",
    (
        "A tensor that was computed keeps its whole graph in memory.",
        "A list of the last 1,000 losses keeps 1,000 graphs in memory.",
        "Look at the line that adds up or appends the losses: does it use a tensor or a number?",
    ),
    NOTES + "faq.html",
)  # fmt: skip

entry(
    "M19", "overwrite at fan-in",
    "Each variable gets one contribution, so `=` is enough.",
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "(x * x).backward()\n"
    "print(x.grad)",
    "tensor(4.)",
    "The variable is used twice, so two contributions arrive, but you stored only the last one. What does the chain "
    "rule do with several paths?",
    (
        "Each use of a variable makes its own contribution to the gradient.",
        "In a*b + a the variable a is used twice: its gradient is b + 1.",
        "Look at the sign between the stored gradient and the new contribution: is it `=`?",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M20", "no topological order",
    "A node can pass its gradient on as soon as it has received one contribution.",
    "a = torch.tensor(2.0, requires_grad=True)\n"
    "b = torch.tensor(3.0, requires_grad=True)\n"
    "c, d = a + b, a * b\n"
    "(c + d + c * d).backward()\n"
    "print(a.grad, b.grad)",
    "tensor(25.) tensor(19.)",
    "A node passed its gradient on before all contributions had arrived. When is a gradient complete?",
    (
        "A gradient is complete when every node that uses the value has sent its contribution.",
        "In p = q*r; s = p + q the node p has to be processed before q.",
        "Look at the order in which the nodes are processed. Does every user come before the value that it "
        "used?",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M21", "order, visits and the first gradient",
    "The order of the nodes, or the first gradient, does not matter.",
    "y = torch.tensor(3.0, requires_grad=True)\n"
    "y.backward()\n"
    "print(y.grad)",
    "tensor(1.)",
    "The order of the nodes is wrong, or the gradient that the pass starts from. Which nodes have to come first, "
    "and what is dy/dy?",
    (
        "A backward pass goes from the result to the inputs and runs each node once. It starts from the derivative "
        "of the result with respect to itself.",
        "For e = d + 1, d = c * 2 the order is e, d, c, and e starts with 1.",
        "Look at three lines: where a node is marked as visited, where the list is reversed, and where the "
        "first gradient is set.",
    ),
    API + "torch.Tensor.backward.html",
)  # fmt: skip

entry(
    "M22", "adding and multiplying mixed up",
    "Derivatives along a path are added, or those of parallel paths are multiplied.",
    "x = torch.tensor(3.0, requires_grad=True)\n"
    "((2 * x) * (x + 1)).backward()\n"
    "print(x.grad)",
    "tensor(14.)",
    "Along a path derivatives are multiplied, and where paths meet the results are added. How many paths are "
    "there, and which derivatives are on each?",
    (
        "A path is a chain of operations. Parallel paths are different ways from the input to the output.",
        "Two paths, one with the derivatives 2 and 5, the other with 3: together the derivative is 2*5 + 3.",
        "Look at the operation that joins the contributions at the input.",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M23", "forgets the upstream gradient",
    "The gradient that an operation passes on is its local derivative.",
    "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    "(x**2).backward(torch.tensor([10.0, 10.0]))\n"
    "print(x.grad)",
    "tensor([20., 40.])",
    "This is right only when the operation is the last one. Which upstream gradient arrives at the "
    "operation, and where do you use it?",
    (
        "An operation passes on the upstream gradient times its local derivative.",
        "If the loss changes 4 times as much as the output, and the output 3 times as much as the input, the "
        "loss changes 12 times as much as the input.",
        "Look for g (or out.grad, or grad_output) in what you return.",
    ),
    NOTES + "extending.html",
)  # fmt: skip

entry(
    "M24", "inner gradients remain",
    "In a second pass over the same graph, nothing has to be cleared.",
    "a = torch.tensor(3.0, requires_grad=True)\n"
    "c = a + 2\n"
    "e = c * 1\n"
    "e.backward(retain_graph=True)\n"
    "e.backward()\n"
    "print(a.grad)",
    "tensor(2.)",
    "The inner nodes still hold the gradients of the first pass, and pass them on again. Which gradients may add "
    "up from pass to pass, and which may not?",
    (
        "The gradients of leaves add up from pass to pass; those of inner nodes belong to one pass.",
        "A chain of three nodes after two passes: the leaf holds 2, and each inner node held 1 in each pass.",
        "Look at the beginning of your backward: which nodes still hold a gradient?",
    ),
    API + "torch.Tensor.backward.html",
)  # fmt: skip

entry(
    "M25", "scalars only",
    "backward() works without an argument on every tensor.",
    "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    "(x * 2).backward()",
    "RuntimeError: grad can be implicitly created only for scalar outputs",
    "Several outputs have several derivatives for each input. Which weights should the outputs have?",
    (
        "The pass starts from one weight for each output. For a single output the weight is 1.",
        "For outputs y[0] and y[1] the start [1, 0] takes the first alone, and [1, 1] takes their sum.",
        "Look at the shape of the tensor on which you call backward.",
    ),
    API + "torch.Tensor.backward.html",
)  # fmt: skip

entry(
    "M26", "meaning of the gradient argument",
    "`gradient=` is the point at which to differentiate, or it selects entries.",
    "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
    "(x**2).backward(torch.tensor([1.0, 0.5, -2.0]))\n"
    "print(x.grad)",
    "tensor([  2.,   2., -12.])",
    "v holds one weight for each output. It is the upstream gradient of the output. Where does it enter?",
    (
        "The argument has the shape of the output, not of the input. It holds one weight for each output.",
        "Take y = [3a, 5a] at any a, with v = [1, 10]. The answer is 1*3 + 10*5 = 53: one number, because there is "
        "one input.",
        "Look at the line where v is used. Each derivative is multiplied by the weight of its output.",
    ),
    API + "torch.Tensor.backward.html",
)  # fmt: skip

entry(
    "M27", "gradient of another shape",
    "A gradient has the shape of the output, or it is one number.",
    "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
    "x.sum().backward()\n"
    "print(x.grad)",
    "tensor([1., 1., 1.])",
    "The gradient of x holds one partial derivative for each entry of x. How many entries does x have?",
    (
        "A gradient always has the shape of the tensor to which it belongs.",
        "mean() of a (2, 5) matrix is one number. The gradient of the matrix has ten entries, and each is a tenth of "
        "the upstream gradient.",
        "Compare the shape of your result with the shape of the input. A single upstream gradient is passed on to "
        "all entries.",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M28", "broadcast not summed back",
    "The gradient of a stretched operand has the stretched shape, or is an average.",
    "b = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
    "(torch.ones(4, 3) + b).sum().backward()\n"
    "print(b.grad)",
    "tensor([4., 4., 4.])",
    "Each entry was used several times, so several contributions arrive at it. You averaged them, or you left them "
    "separate. What does the chain rule do with contributions?",
    (
        "To stretch a tensor means to use the same numbers several times.",
        "A price is used in 5 places, and in each of them the total changes 2 times as fast as the price. So the total "
        "changes 10 times as fast.",
        "Look at the axes that were stretched. The gradient is summed over them, not averaged, and an axis of size 1 "
        "stays.",
    ),
    NOTES + "broadcasting.html",
)  # fmt: skip

entry(
    "M29", "transposes in matrix products",
    "The gradient of a matrix product multiplies by the matrix on the same side, or by its inverse.",
    "X = torch.tensor([[1.0, 2.0]], requires_grad=True)\n"
    "W = torch.tensor([[3.0], [4.0]])\n"
    "(X @ W).sum().backward()\n"
    "print(X.grad)",
    "tensor([[3., 4.]])",
    "Write down three shapes: that of the gradient, that of G, and that of the other matrix. Which product of G and the "
    "other matrix has the shape of the gradient?",
    (
        "dX has the shape of X, and only one product of G and W has that shape.",
        "For X (5, 2) and W (2, 7), G is (5, 7), so dX is G times something of shape (7, 2).",
        "Try square matrices too. There the shapes do not decide, so compute one entry by hand.",
    ),
    API + "torch.matmul.html",
)  # fmt: skip

entry(
    "M30", "the 2 and the 1/N",
    "Constant factors of a loss can be left out of its gradient.",
    "p = torch.tensor([3.0, 1.0], requires_grad=True)\n"
    "((p - torch.tensor([1.0, 0.0])) ** 2).mean().backward()\n"
    "print(p.grad)",
    "tensor([2., 1.])",
    "A constant factor or the sign is wrong. Which factor does the square bring, and by how many numbers does the mean "
    "divide?",
    (
        "A mean of squares has two constants: 2 from the square, 1/N from the mean.",
        "In a mean over 6 squared errors, an entry with the error 3 gets the gradient 2 * 3 / 6.",
        "N counts all elements, not rows. For the sign, look at the order of the difference.",
    ),
    API + "torch.nn.MSELoss.html",
)  # fmt: skip

entry(
    "M31", "an (N, 1) against an (N,)",
    "pred - target compares each prediction with its own target, whatever the shapes are.",
    "pred, target = torch.zeros(4, 1), torch.zeros(4)\n"
    "print((pred - target).shape)",
    "torch.Size([4, 4])",
    "The difference has the shape (N, N), because every prediction is compared with every target. Which of the two "
    "has one more axis?",
    (
        "Broadcasting stretches both: (N, 1) and (N,) become (N, N).",
        "A column of 3 numbers minus a row of 3 numbers gives 9 numbers. A column minus a column gives 3.",
        "Print both shapes just before the subtraction.",
    ),
    NOTES + "broadcasting.html",
)  # fmt: skip

entry(
    "M32", "one gradient per input",
    "backward returns one gradient, however many arguments forward has.",
    "class Double(torch.autograd.Function):\n"
    "    @staticmethod\n"
    "    def forward(ctx, x, k):\n"
    "        return x * k\n"
    "    @staticmethod\n"
    "    def backward(ctx, g):\n"
    "        return g * 2\n"
    "Double.apply(torch.ones(2, requires_grad=True), 2).sum().backward()",
    "RuntimeError: function DoubleBackward returned an incorrect number of gradients (expected 2, got "
    "1)",
    "forward took several arguments, and backward has to return one gradient for each of them, in the same order. "
    "What should it return for an argument that is not a tensor?",
    (
        "The first gradient belongs to the first argument, the second gradient to the second, and so on.",
        "forward(ctx, x, power, y) has three arguments after ctx, so backward returns three values, and the second "
        "one is None.",
        "Count the parameters of forward after ctx, and count the values that backward returns.",
    ),
    NOTES + "extending.html",
)  # fmt: skip

entry(
    "M33", "apply and forward",
    "A custom Function is used by calling its forward, or by making an object of it.",
    "class Square(torch.autograd.Function):\n"
    "    @staticmethod\n"
    "    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n"
    "        return x * x\n"
    "Square.forward(None, torch.ones(1))",
    "AttributeError: 'NoneType' object has no attribute 'save_for_backward'",
    "forward alone computes and records nothing. Which call writes the node into the graph?",
    (
        "The engine makes the ctx and the node, so it has to call forward for you.",
        "If you call forward yourself, the operation is not recorded.",
        "Look at how the Function is used: ClassName.apply(x), without an object.",
    ),
    NOTES + "extending.html",
)  # fmt: skip

entry(
    "M34", "tensors on ctx",
    "It is enough to store tensors as attributes of ctx.",
    "import warnings\n"
    "class Keep(torch.autograd.Function):\n"
    "    @staticmethod\n"
    "    def forward(ctx, x):\n"
    "        ctx.x = x\n"
    "        return x * x\n"
    "    @staticmethod\n"
    "    def backward(ctx, g):\n"
    "        return g * 2 * ctx.x\n"
    "x = torch.ones(1, requires_grad=True)\n"
    "y = x * 1\n"
    "z = Keep.apply(y)\n"
    "y += 5\n"
    "z.backward()\n"
    "print(x.grad)",
    "tensor([12.])",
    "The tensor was changed after forward, and no check noticed it, so the gradient is that of another point."
    " Which call keeps a tensor and watches it?",
    (
        "What is saved for backward is watched for changes; an attribute is not.",
        "An attribute is fine for a plain number, such as an exponent or a shape.",
        "Look at the lines of forward that write to ctx.",
    ),
    API + "torch.autograd.function.FunctionCtx.save_for_backward.html",
)  # fmt: skip

entry(
    "M35", "kinks and ties",
    "At a kink, or at a tie, the derivative is whatever the formula happens to give.",
    "x = torch.tensor(0.0, requires_grad=True)\n"
    "torch.relu(x).backward()\n"
    "print(x.grad)",
    "tensor(0.)",
    "At a kink every number between the two slopes is allowed, and PyTorch has chosen one. What does it"
    " choose here?",
    (
        "relu, abs and max have points where the slope jumps.",
        "At 0, PyTorch gives abs the derivative 0. In maximum(x, 0), each input of a tie gets half of the gradient.",
        "Look at the comparison: does it include equality?",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M36", "repeated index",
    "Writing back to the places that were read returns their gradient.",
    "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
    "x[[0, 0, 1]].sum().backward()\n"
    "print(x.grad)",
    "tensor([2., 1., 0.])",
    "One position was read twice, so two contributions come back to it. What does assignment do with the first"
    " of them?",
    (
        "Reading one position twice is a fan-out, so its contributions add up.",
        "Reading position 4 three times sends three contributions back to it.",
        "Look at the line that writes into the gradient: `g[index] = ...` and `g[index] += ...` both keep "
        "one contribution.",
    ),
    API + "torch.Tensor.index_add_.html",
)  # fmt: skip

entry(
    "M37", "where and nan",
    "torch.where protects the branch that is not chosen.",
    "x = torch.tensor(0.0, requires_grad=True)\n"
    "torch.where(x > 0, torch.sqrt(x), torch.zeros(())).backward()\n"
    "print(x.grad)",
    "tensor(nan)",
    "Both branches are differentiated, and 0 times infinity is nan. Do you have to change the input of "
    "sqrt or its output?",
    (
        "where chooses between values, but the rules of both branches run in the backward pass.",
        "where(x > 0, log(x), 0) at 0 has the same problem: 1/0 times 0 is nan.",
        "Look at the input of the function that is not safe. Give it a safe number where its result is not "
        "used.",
    ),
    API + "torch.where.html",
)  # fmt: skip

entry(
    "M38", "not differentiable",
    "Anything computed from a tensor can be trained on.",
    "x = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)\n"
    "print(x.argmax().requires_grad)",
    "False",
    "Change an entry by a very small amount. Does argmax (or the accuracy) change? What would its derivative be?",
    (
        "A derivative says how fast the result changes. Here it does not change at all, and "
        "then it jumps.",
        "The number of right answers is constant almost everywhere. Cross-entropy is not.",
        "Look for the step from scores to a decision. Compute the loss before it, and count right answers after it.",
    ),
    API + "torch.argmax.html",
)  # fmt: skip

entry(
    "M39", "softmax twice",
    "cross_entropy wants probabilities.",
    "z = torch.tensor([[1.0, 2.0, 3.0]])\n"
    "t = torch.tensor([2])\n"
    "ce = torch.nn.functional.cross_entropy\n"
    "print(ce(z, t), ce(torch.softmax(z, 1), t))",
    "tensor(0.4076) tensor(0.7972)",
    "The loss cannot fall below 0.55 with three classes, however good the model is. Which two functions"
    " apply softmax to the scores?",
    (
        "cross_entropy takes raw scores and does the log-softmax itself.",
        "The softmax of a perfect answer [1, 0, 0] is only about [0.58, 0.21, 0.21].",
        "Look at the last line of the model and the first of the loss.",
    ),
    API + "torch.nn.CrossEntropyLoss.html",
)  # fmt: skip

entry(
    "M40", "steps, starts and precision",
    "The order of step() and backward(), the start and the number type do not matter.",
    "w = torch.zeros((), requires_grad=True)\n"
    "optimizer = torch.optim.SGD([w], lr=0.1)\n"
    "optimizer.step()\n"
    "print(w)",
    "tensor(0., requires_grad=True)",
    "Nothing changed, or everything changed alike, because there was no gradient yet, or because all weights are equal "
    "at the start. What does each line need from the line before it?",
    (
        "One step of training is: clear, forward, backward, step.",
        "Two weights that are equal at the start, and are used alike, get equal gradients in every step.",
        "Look at the order of these four lines in your loop, and at the first values of the weights.",
    ),
    "https://docs.pytorch.org/docs/stable/optim.html",
)  # fmt: skip

entry(
    "M41", "only the size matters",
    "A gradient that has the right number of entries, or can be stretched, will do.",
    "x = torch.ones(3, requires_grad=True)\n"
    "(x * 2).backward(torch.ones(1))",
    "RuntimeError: Mismatch in shape: grad_output[0] has a shape of torch.Size([1]) and output[0] has a"
    " shape of torch.Size([3])",
    "Entries belong to outputs by their place. Which number belongs to which output when the shapes "
    "differ?",
    (
        "The shape says which number belongs to which output.",
        "Six numbers of the shape (2, 3) are in other rows and columns than six numbers of the shape (3, 2).",
        "Look at the comparison: shapes have to be equal, not only sizes.",
    ),
    API + "torch.Tensor.backward.html",
)  # fmt: skip

entry(
    "M42", "rows and columns",
    "The Jacobian may be written either way round.",
    "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    "J = torch.autograd.functional.jacobian(lambda x: torch.stack([x[0], x[0] * x[1], x[1]]), x)\n"
    "print(J.shape)",
    "torch.Size([3, 2])",
    "A matrix of derivatives has a row for each output and a column for each input. Which of the two does one backward "
    "pass compute?",
    (
        "dy[i]/dx[j] is in row i, column j.",
        "Three outputs and two inputs give a Jacobian with 3 rows and 2 columns.",
        "Look at how you put the pieces together: do you stack them as rows or as columns?",
    ),
    API + "torch.autograd.functional.jacobian.html",
)  # fmt: skip

entry(
    "M43", "value for slope",
    "The derivative of an operation is its value, or is computed from the wrong value.",
    "x = torch.tensor(0.5, requires_grad=True)\n"
    "torch.tanh(x).backward()\n"
    "print(x.grad)",
    "tensor(0.7864)",
    "You used a value where a derivative belongs, or the input where the formula needs the output. How fast "
    "does the output change when the input changes?",
    (
        "A derivative answers 'how fast', and a value answers 'how much'.",
        "x**3 at 2 is 8, and its derivative there is 12. These are right answers to different questions.",
        "Look at each name in the formula: is it the input, the output, or the other factor?",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M44", "smaller h is better",
    "The smaller the step of a difference, the better the slope.",
    "x = torch.tensor(1.2, dtype=torch.float64)\n"
    "h = 1e-16\n"
    "print((torch.sin(x + h) - torch.sin(x - h)) / (2 * h))",
    "tensor(0., dtype=torch.float64)",
    "Two nearly equal numbers are subtracted, and most of their digits are lost. What is left when h is "
    "smaller than the last digit of x?",
    (
        "There are two errors: one shrinks when h shrinks, and the other grows.",
        "Imagine that you weigh a letter by weighing a truck with and without it: the small difference is "
        "lost in the error of the scale.",
        "Try h near 1e-5, where a central difference in float64 is best.",
    ),
    API + "torch.autograd.gradcheck.gradcheck.html",
)  # fmt: skip

entry(
    "M45", "one-sided difference",
    "f(x + h) - f(x) over h is as good as a central difference.",
    "x = torch.tensor(2.0, dtype=torch.float64)\n"
    "h = 0.5\n"
    "print(((x + h) ** 2 - x**2) / h, ((x + h) ** 2 - (x - h) ** 2) / (2 * h))",
    "tensor(4.5000, dtype=torch.float64) tensor(4., dtype=torch.float64)",
    "You looked to one side only, or divided by the wrong width. How far apart are the two points whose "
    "values you subtract?",
    (
        "The slope is the rise divided by the run, and the run is the distance between the two points.",
        "From 1.9 to 2.1 the run is 0.2.",
        "Look at the two points, at the number you divide by, and at the brackets.",
    ),
    API + "torch.autograd.gradcheck.gradcheck.html",
)  # fmt: skip

entry(
    "M46", "all inputs at once",
    "For a partial derivative, all inputs change together.",
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "y = torch.tensor(3.0, requires_grad=True)\n"
    "((x * y + 5) ** 2).backward()\n"
    "print(x.grad, y.grad)",
    "tensor(66.) tensor(44.)",
    "You changed more than one input, or the wrong one. To which single input does this derivative belong?",
    (
        "A partial derivative changes one input and holds all others fixed.",
        "The area of a field of 2 by 3 metres grows by 3 for each metre of the first side, and by 2 for each "
        "metre of the second.",
        "Compare the two calls of f. In how many arguments do they differ?",
    ),
    API + "torch.autograd.grad.html",
)  # fmt: skip

entry(
    "M47", "one graph for all inputs",
    "A function has one graph, with all of its branches.",
    "def f(x):\n"
    "    return x * 2 if x > 0 else x**2\n"
    "a = torch.tensor(3.0, requires_grad=True)\n"
    "f(a).backward()\n"
    "print(a.grad)",
    "tensor(2.)",
    "The graph is built while the code runs, and holds only the operations that ran for these numbers. Which "
    "lines ran?",
    (
        "Python decides an if before the operation in it is recorded.",
        "A while loop that runs three times adds three nodes; for another input it may add five.",
        "Look at the condition of the if or of the while: which value did it have?",
    ),
    NOTES + "autograd.html",
)  # fmt: skip

entry(
    "M48", "detach saves as much as no_grad",
    "detach() on the result saves as much memory as no_grad() does.",
    "x = torch.ones(3, requires_grad=True)\n"
    "y = (x * x).detach()\n"
    "with torch.no_grad():\n"
    "    z = x * x\n"
    "print(y.requires_grad, z.requires_grad)",
    "False False",
    "detach() cuts a graph that exists already; under no_grad none is built. With which of the two do the nodes "
    "save numbers?",
    (
        "A node saves its numbers when the operation runs.",
        "A chain of 100 operations that is detached at its end was recorded 100 times first.",
        "Look at what exists just before the call of detach().",
    ),
    API + "torch.no_grad.html",
)  # fmt: skip

entry(
    "M49", "a switch left off",
    "At the end of a block, recording can simply be switched on.",
    "with torch.no_grad():\n"
    "    with torch.no_grad():\n"
    "        pass\n"
    "    print(torch.is_grad_enabled())",
    "False",
    "Recording was switched on too early, or never again. Which state was there before the block, and where do you "
    "store it in case the block raises an error?",
    (
        "A block restores the state that it found, whatever happened inside it.",
        "At the end of the inner one of two nested blocks, recording has to stay off.",
        "Look at the end of the block: does it set True, or what was there before? Does it run after an "
        "exception?",
    ),
    API + "torch.no_grad.html",
)  # fmt: skip

entry(
    "M50", "micro-batches",
    "Adding up the gradients of parts equals the gradient of the mean over all.",
    "x = torch.tensor([1.0, 2.0, 3.0, 4.0])\n"
    "w = torch.tensor(1.0, requires_grad=True)\n"
    "for part in (x[:2], x[2:]):\n"
    "    (part * w).mean().backward()\n"
    "print(w.grad, x.mean())",
    "tensor(5.) tensor(2.5000)",
    "The mean over all examples is not the sum of the means of its parts. Which fraction of the examples is in each part?",
    (
        "In the mean over all examples, a large part counts more than a small one.",
        "Parts of 3 and 1 examples count 3/4 and 1/4.",
        "Look at the factor of each part, and at whether something is cleared between the parts.",
    ),
    NOTES + "amp_examples.html",
)  # fmt: skip

entry(
    "M51", "overflow in softmax",
    "exp(z) / sum(exp(z)) is how softmax is computed.",
    "z = torch.tensor([1000.0, 0.0])\n"
    "print(torch.exp(z) / torch.exp(z).sum(), torch.softmax(z, 0))",
    "tensor([nan, 0.]) tensor([1., 0.])",
    "exp of 1,000 is infinite, and infinity divided by infinity is nan. What may be subtracted from all"
    " scores without changing the answer, and when?",
    (
        "Softmax depends only on differences between scores.",
        "[1000, 0] and [0, -1000] have the same softmax, but only the first overflows.",
        "Look at what is subtracted, over which axis, and whether it happens before exp.",
    ),
    API + "torch.nn.functional.log_softmax.html",
)  # fmt: skip

entry(
    "M52", "the wrong axis",
    "It makes no difference over which axis a sum, a maximum or a softmax runs.",
    "z = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])\n"
    "print(torch.softmax(z, 0)[0], torch.softmax(z, 1)[0])",
    "tensor([0.5000, 0.5000, 0.5000]) tensor([0.0900, 0.2447, 0.6652])",
    "You used another axis. What do the rows of this array mean, and what do its columns mean?",
    (
        "A sum over an axis removes this axis. A softmax over an axis adds up to 1 along it.",
        "For a (2, 3) matrix, sums over axis 0 give three numbers, and sums over axis 1 give two.",
        "Compare the shapes before and after, for a matrix that is not square.",
    ),
    API + "torch.nn.functional.softmax.html",
)  # fmt: skip

entry(
    "M53", "accuracy as proof",
    "A model with a good accuracy has right gradients.",
    "x = torch.tensor([-1.0, 2.0], requires_grad=True)\n"
    "torch.relu(x).sum().backward()\n"
    "print(x.grad)",
    "tensor([0., 1.])",
    "A net whose relu rule is wrong can still reach an accuracy of 98 percent. Which test finds the mistake without "
    "training?",
    (
        "Training can make up for many mistakes. A gradient check finds them.",
        "Compare one gradient with a central difference. If they do not agree to six digits, there is a bug.",
        "Look at a single operation, with a different upstream gradient for each entry.",
    ),
    API + "torch.autograd.gradcheck.gradcheck.html",
)  # fmt: skip

entry(
    "M54", "the cure for the symptom",
    "A loss that does not fall needs a smaller learning rate, or more epochs.",
    "w = torch.tensor(1.0, requires_grad=True)\n"
    "loss = (w.detach() * 2 - 1) ** 2\n"
    "print(loss.requires_grad)",
    "False",
    "A smaller step in a wrong direction is still wrong. What do the gradients look like: None, zero, "
    "growing, or of the wrong shape?",
    (
        "The symptom says what to look at: the gradients of the first step.",
        "A flat curve from the first step: print p.grad for each parameter; None shows that no path leads from that "
        "parameter to the loss.",
        "Look for the line that breaks the path from the parameters to the loss.",
    ),
    NOTES + "faq.html",
)  # fmt: skip


def used_by() -> dict[str, list[str]]:
    """Misconception id -> ids of the exercises whose wrong answers stand for it."""
    from . import lessons

    found: dict[str, list[str]] = {}
    for exercise in lessons.all_exercises():
        ids = [w.misconception for w in exercise.wrong] + [b.misconception for b in exercise.before]
        for id in dict.fromkeys(filter(None, ids)):
            found.setdefault(id, []).append(exercise.id)
    return found


def page() -> str:
    """The reference page, `notebooks/reference/misconceptions.md`, as text."""
    from minigrad.record import bugs

    met = used_by()
    out = [
        "# Common misconceptions about gradients",
        "",
        f"{len(CATALOGUE)} beliefs, each with code that shows it and what PyTorch (and minigrad) prints. "
        f"Made by "
        "`minigrad build` from `minigrad/course/misconceptions.py`; edit there.",
    ]
    for each in CATALOGUE.values():
        out += [
            "",
            f"## {each.id} {each.name}",
            "",
            f"*{each.belief}*",
            "",
            "```python",
            each.code,
            "```",
            "",
        ]
        out += [f"It prints, or raises: `{each.shows}`", "", each.feedback, ""]
        out += [f"{number}. {hint}" for number, hint in enumerate(each.hints, 1)]
        notes = [f"[PyTorch's documentation]({each.docs})"]
        if each.id in met:
            notes.append(f"exercises {', '.join(met[each.id])}")
        if each.id in bugs.BUGS:
            notes.append(f'inject it: `with minigrad.broken("{each.id}"):`')
        out += ["", " · ".join(notes)]
    return "\n".join(out) + "\n"
