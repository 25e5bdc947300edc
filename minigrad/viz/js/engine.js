// A small engine for pages without Python: it computes the stepper's data anew for other inputs. A node's operation and the
// rules come as trees: [operation, operands], a name, or a number. The rules are those of derivatives.py, sent in RULES.

import { RULES } from "./rules.js";
import { bracket, fmt } from "./tools.js";

/** @typedef {{ s: number[], d: number[] }} Values  numbers one after another, and their shape; [] is one number */
/** @typedef {string | number | [string, ...any[]]} Tree */

// ---- numbers as Python prints them
/** Four significant digits, whole numbers in full; a tie goes to the even digit, as in Python. */
export function rounded(x) {
	if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
	if (Number.isInteger(x) && Math.abs(x) < 1e6) return x || 0;
	const tie = /^(-?\d\.\d\d[02468])50*(e.*)/.exec(x.toExponential(40));
	return tie ? +(tie[1] + tie[2]) : +x.toPrecision(4);
}
export const number = (x) => fmt(rounded(x));
export const size = (s) => s.reduce((a, b) => a * b, 1);
const one = (x) => ({ s: [], d: [x] });
function norm(d) {
	const top = Math.max(0, ...d.map(Math.abs));
	return top && Number.isFinite(top) ? top * Math.sqrt(d.reduce((sum, x) => sum + (x / top) ** 2, 0)) : top;
}

/** An array in a few words. */
function short({ s, d }) {
	if (!s.length) return number(d[0]);
	const list = (row) => `[${row.map(number).join(", ")}]`;
	if (d.length <= 6 && s.length === 1) return list(d);
	if (d.length <= 6 && s.length === 2) return `[${Array.from({ length: s[0] }, (_, i) => list(d.slice(i * s[1], (i + 1) * s[1]))).join(", ")}]`;
	return `${s.join("×")} numbers, size ${number(norm(d))}`;
}
/** An array as it stands in the data. */
function plain({ s, d }) {
	if (!s.length) return rounded(d[0]);
	const finite = d.filter(Number.isFinite), bad = d.length - finite.length;
	return { s, r: d.length / s.at(-1), c: s.at(-1), d: d.map(rounded), top: rounded(Math.max(0, ...finite.map(Math.abs))), norm: rounded(norm(d)), ...(bad && { bad }) };
}

// ---- operations: those of a formula by their row in derivatives.py, those of a rule as Python writes them
const plus = (a, b) => a + b, minus = (a, b) => a - b, times = (a, b) => a * b, over = (a, b) => a / b, power = (a, b) => (a === 1 || b === 0 ? 1 : a ** b);
const ENTRY = {
	add: plus, sub: minus, rsub: (a, b) => b - a, mul: times, div: over, reciprocal: (a) => 1 / a, neg: (a) => -a, power, power_zero: () => 1, zeros: () => 0, power_base: power, power_tensor: power,
	exp: Math.exp, log: Math.log, sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos, tanh: Math.tanh, abs: Math.abs,
	relu: (a) => (a < 0 ? 0 : a), sigmoid: (a) => (a < 0 ? Math.exp(a) / (1 + Math.exp(a)) : 1 / (1 + Math.exp(-a))),
	"+": plus, "-": minus, "*": times, "/": over, "**": power, "<": (a, b) => +(a < b), ">": (a, b) => +(a > b), "==": (a, b) => +(a === b), ">=": (a, b) => +(a >= b),
	"&": (a, b) => a & b, sign: Math.sign, where: (c, a, b) => (c ? a : b), expand: (a) => a,
};

/** Where entry i of shape s is read from, in an array that is stretched to s. */
function place(i, s, own) {
	let at = 0, step = 1;
	for (let k = s.length - 1, j = own.length - 1; j >= 0; k--, j--) {
		const q = i % s[k];
		i = (i - q) / s[k];
		if (own[j] > 1) at += q * step;
		step *= own[j];
	}
	return at;
}

/** One operation on arrays. `round` is Math.fround where the numbers are float32. */
function apply(op, args, round) {
	const [a, b] = args, total = (d) => d.reduce((sum, x) => round(sum + x), 0);
	if (op === "sum_all") return one(total(a.d));
	if (op === "mean_all") return one(round(total(a.d) / a.d.length));
	if (op === "count") return one(a.d.length);
	if (op === "dot") return one(total(a.d.map((x, i) => round(x * b.d[i]))));
	if (op === "mT") return { s: [a.s[1], a.s[0]], d: a.d.map((_, i) => a.d[(i % a.s[0]) * a.s[1] + Math.floor(i / a.s[0])]) };
	if (op === "mm" || op === "@") {
		const m = a.s[1], k = b.s[1], cell = (i, j) => total(Array.from({ length: m }, (_, q) => round(a.d[i * m + q] * b.d[q * k + j])));
		return { s: [a.s[0], k], d: Array.from({ length: a.s[0] * k }, (_, i) => cell(Math.floor(i / k), i % k)) };
	}
	const s = [];
	for (const { s: own } of args) own.forEach((n, i) => { const k = own.length - 1 - i; s[k] = s[k] > 1 ? s[k] : n; });
	s.reverse();
	return { s, d: Array.from({ length: size(s) }, (_, i) => round(ENTRY[op](...args.map((v) => v.d[place(i, s, v.s)])))) };
}
/** The value of a rule: a tree of [operation, operands], names and numbers. */
function value(tree, given, round) {
	if (typeof tree === "string") return given[tree];
	return typeof tree === "number" ? one(round(tree)) : apply(tree[0], tree.slice(1).map((t) => value(t, given, round)), round);
}
/** An array summed along the axes that were stretched from shape s. */
function unstretch(v, s, round) {
	const lead = v.s.length - s.length, axes = [...v.s.keys()].filter((i) => i < lead || (v.s[i] !== 1 && s[i - lead] === 1));
	if (!axes.length) return { axes, sum: v };
	const d = Array(size(s)).fill(0);
	v.d.forEach((x, i) => { const at = place(i, v.s, s); d[at] = round(d[at] + x); });
	return { axes, sum: { s, d } };
}

// ---- the stepper's data for these inputs
/** A formula with other words for g, x, y and out. */
export const renamed = (form, words) => form.replace(/(?<![\w.])[A-Za-z_]\w*/g, (word) => words[word] ?? word).replace(/\(\(([^(),]*)\)\)/g, "($1)");

/** What the rules of a row call its operands. `make` is the row, then for each operand the number of a node, or a list that
 * holds a written number. */
function operands([, ...from], values, round) {
	const [x, y] = from.map((o) => (Array.isArray(o) ? one(round(o[0])) : values[o]));
	return y ? { x, y, exponent: y, number: y, x_shape: x } : { x, x_shape: x };
}

/** New data: the graph, its names and the order of its moves stay; all numbers and sentences are made anew. `exact` has the
 * arrays of the inputs and of plain data, by the number of their node; `show` makes an array what stands in the data. */
export function compute(data, exact, show = plain) {
	const { live, root } = data, round = live.single ? Math.fround : (x) => x, values = [], vals = [], places = new Map();
	const put = (v) => {
		const key = v && JSON.stringify(v);
		if (v && !places.has(key)) places.set(key, vals.push(show(v)) - 1);
		return v ? places.get(key) : null;
	};
	const nodes = data.nodes.map((n, i) => {
		const make = live.make[i], known = make && operands(make, values, round);
		values[i] = make ? apply(make[0], known.y ? [known.x, known.y] : [known.x], round) : { s: exact[i].s, d: exact[i].d.map(round) };
		return { ...n, shape: values[i].s, val: put(values[i]) };
	});
	const name = (i) => nodes[i].name, grads = [], got = nodes.map(() => 0);
	const steps = data.steps.map((step) => {
		const { kind, node, parent } = step;
		if (kind === "seed") grads[root] = live.seed || { s: values[root].s, d: values[root].d.map(() => 1) };
		const g = grads[node], up = put(g);
		if (kind === "leaf") return { ...step, up, after: up, text: [`${name(node)} is a leaf: ${name(node)}.grad was None and is now ${short(g)}.`] };
		if (kind !== "send") return { ...step, up };
		const given = { ...operands(live.make[node], values, round), out: values[node], g }, before = grads[parent];
		const sent = contribution(step, RULES[live.make[node][0]][step.slot].rule, given, values[parent].s, round);
		const after = (grads[parent] = before ? apply("add", [before, sent.sum], round) : sent.sum), arrived = [++got[parent], step.arrived[1]];
		const text = sentences({ ...step, arrived, axes: sent.axes }, name(node), name(parent), { ...sent, g, given, before, after });
		return {
			...step, quiz: /next|count|shape/.test(step.quiz?.type) ? step.quiz : questionOf(step, sent, name(parent), g),
			up, arrived, axes: sent.axes, sub: sent.sub, note: sent.note ?? step.note, edge: g.s.length ? step.edge : sent.edge || step.edge,
			text: step.beats.map((beat) => text[beat]), local: put(sent.local), raw: put(sent.raw), contrib: put(sent.sum), before: put(before), after: put(after), jac: put(sent.jac),
			saved: step.saved.map(([word, label, v]) => [word, label, v == null ? v : put(given[word])]),
		};
	});
	const forward = data.forward?.map((move) => ({ ...move, ...made(move, { nodes, edges: data.edges }, values, put) }));
	return { ...data, nodes, forward, steps, vals };
}

/** The value of an operation on written numbers; the sum and the mean of one number are that number. */
export const constant = (op, [a, b]) => (/sum|mean/.test(op) ? a : ENTRY[op](a, b));

/** What a rule gives for these numbers: its result, the local derivative, the Jacobian where it is small. */
function contribution({ how, form }, rule, given, shape, round) {
	const { g } = given, result = (g) => value(rule, { ...given, g }, round), raw = result(g), { axes, sum } = unstretch(raw, shape, round);
	const local = how === "elementwise" || how === "spread" ? result({ s: g.s, d: g.d.map(() => 1) }) : null, all = Object.entries(given).filter(([, v]) => v);
	const sub = form && all.every(([, v]) => !v.s.length) ? renamed(form, Object.fromEntries(all.map(([word, v]) => [word, bracket(rounded(v.d[0]))]))) : "";
	const cells = g.d.length * sum.d.length, unit = (i) => unstretch(result({ s: g.s, d: g.d.map((_, j) => +(i === j)) }), shape, round).sum.d;
	const jac = g.s.length && raw.s.length && cells <= 64 ? { s: [g.d.length, sum.d.length], d: g.d.flatMap((_, i) => unit(i)) } : null;
	const spoilt = local?.s.length && local.d.some((x, i) => !x && Number.isNaN(raw.d[i])), blocked = how === "elementwise" && local.s.length && local.d.includes(0);
	const note = how === "elementwise" ? (blocked ? `Where the local factor is 0, ${spoilt ? "0 times inf or nan is nan" : "nothing gets through"}` : "") : undefined;
	return { raw, axes, sum, local, sub, jac, note, edge: how === "elementwise" || how === "copy" ? `× ${number(local ? local.d[0] : 1)}` : "" };
}

/** The sentences of one contribution, those of record/words.py. */
function sentences({ how, rule, saved, axes, arrived, beats }, from, to, { g, raw, sum, local, sub, given, before, after }) {
	const known = saved.flatMap(([word, label, v]) => (v == null || !label ? [] : `${term(label)} = ${short(given[word])}`)), result = short(raw), factor = number(local?.d[0] ?? 1);
	const product = {
		copy: `The upstream gradient goes to ${to} unchanged: ${result}.`,
		move: `The numbers stay the same and take the shape of ${to}: ${result}.`,
		spread: `Each of the ${raw.d.length} numbers of ${to} went into the result, so each gets ${factor === "1" ? "all of g" : `g times ${factor}`}: ${result}.`,
	}[how] || `The contribution to ${to} is ${sub && sub !== result ? sub + " = " : ""}${result}.`;
	const count = `(${arrived[0]} of ${arrived[1]} arrived)`, stretched = axes.length === 1 ? `stretched axis ${axes} is` : `stretched axes ${axes.join(", ")} are`;
	return {
		focus: `${from} is current: its gradient is complete. The upstream gradient is g = ${short(g)}.`,
		rule: `Its rule for ${to} is ${rule}${known.length ? ", with " + known.join(", ") : ""}.`,
		product,
		sum: `${to} has shape ${tuple(sum.s)}: it was stretched, so the ${stretched} summed: ${short(sum)}.`,
		collect: (beats.includes("product") ? "" : product + " ") +
			(before ? `${short(before)} + ${short(sum)} = ${short(after)} is now the gradient of ${to} ${count}.` : `The gradient of ${to} was empty; now it is ${short(after)} ${count}.`),
	};
}
const tuple = (s) => (s.length === 1 ? `(${s},)` : `(${s.join(", ")})`);
/** A name as part of a formula: an expression in brackets, and `x (2)` as x₂. */
export function term(label) {
	const [, name, count] = /^(.*?)(?: \((\d+)\))?$/s.exec(label), low = count ? [...count].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("") : "";
	return (/ |^-/.test(name) && !/\([^()]*\)$/.test(name) ? `(${name})` : name) + low;
}

/** The question that a prediction asks about a contribution of one number; a question about the graph alone stays as it was. */
function questionOf({ beats, rule }, { raw, local, sub }, to, g) {
	const x = raw.d[0], result = short(raw), tol = Math.max(0.005 * Math.abs(x), 1e-6);
	if (raw.s.length || !Number.isFinite(x)) return undefined;
	const mistakes = [
		[-x, "The size is right, but the sign is wrong."],
		[local?.d[0] ?? 1, "That is the local derivative alone: the upstream gradient g is missing."],
		[g.d[0], "That is g itself: the local derivative is missing."],
	];
	return {
		type: "value", beat: beats.find((beat) => beat !== "focus"), ask: `What is the contribution to ${to}?`, answer: rounded(x), tol,
		wrong: mistakes.filter(([y]) => Math.abs(y - x) > tol).map(([y, why]) => [rounded(y), why]),
		hint: `The rule is ${rule}, and g is ${short(g)}.`, reveal: `It is ${sub && sub !== result ? sub + " = " : ""}${result}.`,
	};
}

/** One move of the forward pass: its formula with the numbers, as viz/forward.py writes it. */
function made({ node, parts }, { nodes, edges }, values, put) {
	const n = nodes[node], { s, d } = values[node], uses = edges.filter(([a]) => a === node).length;
	const from = parts.map(([label, , written]) => (written === undefined ? values[nodes.findIndex((n) => n.name === label)] : one(written)));
	const formula = n.expr || joined(n.symbol, parts.map(([label]) => label)), said = formula === n.name ? [formula] : [n.name, formula];
	if (!s.length && from.length && from.every((v) => !v.s.length)) said.push(joined(n.symbol, from.map((v) => number(v.d[0]))));
	const line = said.join(" = ") + (s.length ? `, shape ${s.length > 1 ? s.join("×") : tuple(s)}` : ` = ${number(d[0])}`);
	const again = uses > 1 ? ` ${n.name} is used ${uses} times, so ${uses} contributions will come back to it.` : "";
	const shown = parts.map(([label, , ...written], i) => [label, written.length ? null : put(from[i]), ...written]);
	return { line, text: `${n.name} is computed: ${line}.${again}`, parts: shown };
}

/** Operands with their operation, in brackets where that is needed. */
function joined(symbol, texts) {
	const inside = (t, i) => (/ /.test(t) || (t[0] === "-" && (i || symbol === "**")) ? `(${t})` : t), sign = symbol === "*" ? "·" : symbol;
	if (texts.length === 2 && /^([-+*/@]|\*\*)$/.test(symbol)) return `${inside(texts[0], 0)} ${sign} ${inside(texts[1], 1)}`;
	if (symbol !== "-") return `${symbol}(${texts.join(", ")})`;
	return texts[0][0] === "-" ? `-(${texts[0]})` : `-${texts[0]}`;
}
