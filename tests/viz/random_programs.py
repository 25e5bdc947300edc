"""Random programs of all kinds of operations, as lines of source that run on minigrad and on PyTorch alike.

Every line binds one new name, `t0`, `t1`, ...; the last one, `loss`, is one number (or a vector, with `gradient`).
"""

import random
from typing import Any

# one number by one number; two tensors; fewer numbers; other places; products and pairs
FAMILIES = """
torch.tanh({a}) torch.sin({a}) torch.exp({a}*0.3) torch.relu({a}) -{a} {a}**2 {a}*{a}
torch.sigmoid({a}) {a}.abs()
torch.sqrt({a}.abs()+0.5) torch.log({a}*{a}+1) {a}.clamp(-0.5,0.7) 1/({a}*{a}+1) {a}.pow(3) torch.cos({a}) {a}*2.5
{a}-1 F.softplus({a}) F.gelu({a}) F.silu({a}) F.leaky_relu({a},0.1) {a}.detach()*{a} torch.where({a}>0,{a},{a}*0.1)
{a}.masked_fill({a}>0.5,0.25) {a}.clone() F.elu({a}) {a}.double() {a}.neg().exp()

{a}+{b} {a}-{b} {a}*{b} {a}/({b}*{b}+1) torch.maximum({a},{b}) torch.minimum({a},{b}) torch.where({a}>{b},{a},{b})
{a}.detach()+{b} torch.atan2({a},{b}) Both.apply({a},{b})[0] Both.apply({a},{b})[1] torch.lerp({a},{b},0.3)
F.mse_loss({a},{b}) {a}.add({b},alpha=2) torch.hypot({a},{b}+1) pair({a},{b})

{a}.sum() {a}.mean() {a}.sum(0) {a}.mean(-1) {a}.sum(-1,keepdim=True) {a}.max() {a}.amax(-1) {a}.var() {a}.std(0)
{a}.norm() {a}.logsumexp(-1) {a}.flatten().prod() {a}.max(0)[0] {a}.cumsum(0) {a}.softmax(-1) F.log_softmax({a},-1)
{a}.median() {a}.min() {a}.sum((0,1)) {a}.sort(-1)[0] {a}.std() F.normalize({a},dim=-1)
F.layer_norm({a},{a}.shape[-1:])

{a}.reshape(-1) {a}.T {a}.mT {a}.flip(0) {a}[0] {a}[-1] {a}[1:] {a}[...,::2] {a}.unsqueeze(0) {a}.squeeze()
{a}[[0,0,1]] {a}[{a}>0] {a}.expand(2,*{a}.shape) {a}.flatten() torch.stack([{a},{a}*2]) torch.cat([{a},{a}])
{a}.roll(1,0) {a}.repeat(2,1) {a}.unbind(0)[0] {a}.chunk(2,0)[0] {a}.movedim(0,-1) F.pad({a},(1,1)) {a}.diagonal()
{a}.tril() {a}.view(-1,1) {a}.index_select(0,torch.tensor([0,0])) {a}.take_along_dim({a}.argmax(-1,keepdim=True),-1)
written({a}) {a}.permute(1,0)

{a}@{b} {a}@{b}.mT {a}.mT@{b} torch.outer({a}.flatten(),{b}.flatten()) torch.einsum('...i,...i->...',{a},{b})
F.linear({a},{b}) torch.cat([{a}.flatten(),{b}.flatten()]) torch.stack([{a},{b}]) overwritten({a},{b})
torch.dot({a}.flatten(),{b}.flatten()) F.conv1d({a}.reshape(1,1,-1),{b}.reshape(1,1,-1)[...,:2])
"""
SIZES = ["", "3", "4", "2,3", "3,2", "2,1", "1,3", "3,3", "2,2,3", "1"]

HELPERS = """
class Both(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a + b, a * b
    @staticmethod
    def backward(ctx, gs, gp):
        a, b = ctx.saved_tensors
        return fitted(gs + gp * b, a), fitted(gs + gp * a, b)

def fitted(g, a):
    while g.dim() > a.dim():
        g = g.sum(0)
    for i, n in enumerate(a.shape):
        g = g.sum(i, keepdim=True) if n == 1 else g
    return g

def pair(a, b):
    s, p = Both.apply(a, b)
    return s * p

def written(a):
    y = a * 1.5
    y[0] = y[-1] * 2
    return y

def overwritten(a, b):
    y = a * 2
    y[:1] = b[:1]
    y.mul_(3)
    return y
"""


def program(seed: int) -> list[str]:
    """Lines that bind t0, t1, ... and loss. Some may not fit together: whoever runs them leaves those out."""
    pick = random.Random(seed)
    families = [family.split() for family in FAMILIES.split("\n\n")]
    lines = [f"t{i} = torch.tensor({numbers(pick, pick.choice(SIZES))}, dtype=torch.float64, requires_grad=True)"
             for i in range(pick.randint(1, 4))]  # fmt: skip
    for i in range(len(lines), len(lines) + pick.randint(3, 14)):
        a, b = (f"t{min(i - 1, int(pick.triangular(0, i, i)))}" for _ in range(2))
        lines.append(f"t{i} = {pick.choice(pick.choice(families)).format(a=a, b=b)}")
    return lines


def numbers(pick: random.Random, size: str) -> Any:
    shape = [int(n) for n in size.split(",") if n]

    def fill(rest: list[int]) -> Any:
        return [fill(rest[1:]) for _ in range(rest[0])] if rest else round(pick.uniform(-2, 2), 2)

    return fill(shape)


def run_in_both(lines: list[str], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Execute each line in both, up to one that either refuses; the next lines go on without it."""
    for space in (ours, theirs):
        exec(HELPERS, space)
    for line in lines:
        name = line.partition(" ")[0]
        for space in (ours, theirs):
            try:
                exec(line, space)
            except Exception:  # a random line may not fit
                ours.pop(name, None)
                break


def loss_of(space: dict[str, Any], seed: int) -> Any:
    """A root that uses the last tensors, one of them twice."""
    made = [v for k, v in space.items() if k[0] == "t" and k[1:].isdigit() and v.requires_grad]
    pick = random.Random(seed)
    ends = [made[-1], *pick.sample(made, min(2, len(made)))]
    root = ends[0].sum() * 0.5
    for t in ends[1:]:
        root = root + (t * t).sum()
    return root
