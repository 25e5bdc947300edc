// A small engine for pages without Python: it computes the stepper's data anew for other inputs. A node's operation and the
// rules come as trees: [operation, operands], a name, or a number. The rules are those of derivatives.py, sent in RULES.

import { RULES } from "./rules.js";
import { bracket } from "./tools.js";
import { made, number, one, plain, questionOf, renamed, rounded, sentences, short, size } from "./words.js";

/** @typedef {{ s: number[], d: number[] }} Values  numbers one after another, and their shape; [] is one number */
/** @typedef {string | number | [string, ...any[]]} Tree */

// ---- operations by their row in derivatives.py, without what follows its _, and what else stands in a rule; others are Math's
const ENTRY = {
	add: (a, b) => a + b, sub: (a, b) => a - b, rsub: (a, b) => b - a, mul: (a, b) => a * b, div: (a, b) => a / b, reciprocal: (a) => 1 / a, neg: (a) => -a,
	power: (a, b) => (a === 1 || b === 0 ? 1 : a ** b), relu: (a) => (a < 0 ? 0 : a), sigmoid: (a) => 1 / (1 + Math.exp(-a)),
	">": (a, b) => +(a > b), ">=": (a, b) => +(a >= b), "==": (a, b) => +(a === b), "&": (a, b) => a & b, where: (c, a, b) => (c ? a : b),
	zeros: () => 0, expand: (a) => a,
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
export function apply(row, args, round = (x) => x) {
	const [a, b] = args, op = row.replace(/_.*/, ""), total = (d) => d.reduce((sum, x) => round(sum + x), 0);
	const [n, m] = op === "dot" ? [1, ...a.s] : a.s, k = b?.s[1] ?? 1;
	if (op === "sum") return one(total(a.d));
	if (op === "mean") return one(round(total(a.d) / a.d.length));
	if (op === "count") return one(a.d.length);
	if (op === "mT") return { s: [m, n], d: a.d.map((_, i) => a.d[(i % n) * m + Math.floor(i / n)]) };
	if (op === "mm" || op === "dot") {
		const line = (i) => a.d.slice(i * m, i * m + m), cell = (i, j) => total(line(i).map((x, q) => round(x * b.d[q * k + j])));
		return { s: op === "dot" ? [] : [n, k], d: Array.from({ length: n * k }, (_, i) => cell(Math.floor(i / k), i % k)) };
	}
	const s = [], entry = ENTRY[op] || Math[op];
	for (const { s: own } of args) own.forEach((n, i) => { const k = own.length - 1 - i; s[k] = s[k] > 1 ? s[k] : n; });
	s.reverse();
	return { s, d: Array.from({ length: size(s) }, (_, i) => round(entry(...args.map((v) => v.d[place(i, s, v.s)])))) };
}
/** An array of the same shape, with other entries. */
const like = ({ s, d }, entry) => ({ s, d: d.map(entry) });
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
		values[i] = make ? apply(make[0], [known.x, known.y].filter(Boolean), round) : like(exact[i], (x) => round(x));
		return { ...n, shape: values[i].s, val: put(values[i]) };
	});
	const name = (i) => nodes[i].name, grads = [], got = nodes.map(() => 0);
	const steps = data.steps.map((step) => {
		const { kind, node, parent } = step;
		if (kind === "seed") grads[root] = live.seed || like(values[root], () => 1);
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

/** What a rule gives for these numbers: its result, the local derivative, the Jacobian where it is small. */
function contribution({ how, form }, rule, given, shape, round) {
	const { g } = given, result = (g) => value(rule, { ...given, g }, round), raw = result(g), { axes, sum } = unstretch(raw, shape, round);
	const local = how === "elementwise" || how === "spread" ? result(like(g, () => 1)) : null, all = Object.entries(given);
	const sub = form && all.every(([, v]) => !v.s.length) ? renamed(form, Object.fromEntries(all.map(([word, v]) => [word, bracket(rounded(v.d[0]))]))) : "";
	const cells = g.d.length * sum.d.length, unit = (i) => unstretch(result(like(g, (_, j) => +(i === j))), shape, round).sum.d;
	const jac = g.s.length && raw.s.length && cells <= 64 ? { s: [g.d.length, sum.d.length], d: g.d.flatMap((_, i) => unit(i)) } : null;
	const spoilt = local?.s.length && local.d.some((x, i) => !x && Number.isNaN(raw.d[i])), blocked = how === "elementwise" && local.s.length && local.d.includes(0);
	const note = how === "elementwise" ? (blocked ? `Where the local factor is 0, ${spoilt ? "0 times inf or nan is nan" : "nothing gets through"}` : "") : undefined;
	return { raw, axes, sum, local, sub, jac, note, edge: how === "elementwise" || how === "copy" ? `× ${number(local ? local.d[0] : 1)}` : "" };
}
