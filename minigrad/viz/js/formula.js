// Reads what a visitor types and makes the stepper's data of it: the graph, the order of its
// moves and the rules by name. The numbers come from `compute`. Nothing that is typed is ever run as JavaScript.

import { RULES } from "./rules.js";
import { compute, constant, number, renamed, size, term } from "./engine.js";
import { cutText } from "./tools.js";
import { layOut } from "./places.js";

/** What is wrong with a formula, and where: `row` and `at`; `fix` is a line that would help. */
export class Mistake extends Error {
	constructor(says, row = 0, at = 0, fix = "") {
		super(says);
		Object.assign(this, { row, at, fix });
	}
}
const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/@=(),.[\]]))/iy;
const POWERS = { "+": 1, "-": 1, "*": 2, "/": 2, "@": 2, neg: 3, "**": 4 }, LETTERS = 2000, DEEP = 60, NAME = 24, NODES = 80, SIDE = 8;
const FUNCTIONS = ["sin", "cos", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "abs", "sum", "mean"], MODULES = ["torch", "np", "math", "minigrad", "F"];
const shown = (s) => (s.length ? `(${s.join(", ")}${s.length > 1 ? "" : ","})` : "()");

/** The tree of a line from the place `start` on: { op, args, from, to, text }; a number has `value`, and brackets around a formula
 * belong to its place, not to its text. */
function read(line, row, start) {
	const wrong = (says, at = line.length) => { throw new Mistake(says, row, at); }, tokens = [];
	for (TOKEN.lastIndex = start; line.slice(TOKEN.lastIndex).trim();) {
		const at = TOKEN.lastIndex + line.slice(TOKEN.lastIndex).search(/\S/), m = TOKEN.exec(line);
		if (!m) wrong(`“${String.fromCodePoint(line.codePointAt(at))}” cannot stand in a formula.`, at);
		tokens.push({ text: m[0].trim(), digit: m[1] !== undefined, word: m[2] !== undefined, from: at, to: TOKEN.lastIndex });
	}
	let p = 0, deep = 0;
	const peek = () => tokens[p]?.text, here = () => tokens[p]?.from ?? line.length, node = (op, args, from, more) => {
		const { to } = tokens[p - 1];
		return { op, args, from, to, text: line.slice(from, to), ...more };
	};
	function list(end, open) {
		const items = [];
		while (peek() !== end) {
			if (peek() === undefined) wrong(`The bracket “${open.text}” is never closed: “${end}” is missing.`, open.from);
			items.push(expr(0));
			if (peek() === ",") p++;
			else if (peek() !== end && peek() !== undefined) wrong(`“${peek()}” cannot stand here. Is “${end}” missing before it?`, here());
		}
		p++;
		return items;
	}
	function atom() {
		const t = tokens[p++];
		if (!t) wrong("The formula ends too early: a number, a name or a bracket is missing.");
		if (t.text === "-") {
			const a = expr(POWERS.neg);
			return a.value && !a.value.s.length ? node("number", [], t.from, { value: { s: [], d: [-a.value.d[0]] } }) : node("neg", [a], t.from);
		}
		if (t.text === "(") {
			const [a, more] = list(")", t);
			if (!a || more) wrong("Round brackets hold one formula.", t.from);
			return { ...a, from: t.from, to: tokens[p - 1].to };
		}
		if (t.text === "[") return table(list("]", t), t);
		if (t.digit) return node("number", [], t.from, { value: { s: [], d: [+t.text] } });
		if (!t.word) wrong(`“${t.text}” cannot stand here: a number, a name or a bracket is missing.`, t.from);
		if (MODULES.includes(t.text) && peek() === ".") { p++; return atom(); }
		return peek() === "(" ? call(t, [], t.from) : node("name", [], t.from);
	}
	function call(t, before, from) {
		if (!FUNCTIONS.includes(t.text)) wrong(`There is no function ${t.text} here. There are ${FUNCTIONS.join(", ")}.`, t.from);
		const args = [...before, ...list(")", tokens[p++])];
		if (args.length !== 1) wrong(`${t.text} takes one value.`, t.from);
		return node(t.text, args, from);
	}
	function table(items, open) {
		const s = items[0]?.value?.s;
		const fits = s && s.length < 2 && items.length <= SIDE && items.every((item) => item.value?.s.join() === s.join());
		if (!fits) wrong(`A list holds at most ${SIDE} numbers, or rows that are equally long: [1, 2] or [[1, 2], [3, 4]].`, open.from);
		return node("number", [], open.from, { value: { s: [items.length, ...s], d: items.flatMap((item) => item.value.d) } });
	}
	function expr(least) {
		if (++deep > DEEP) wrong("Too many brackets or operations stand inside one another here.", here());
		let a = atom();
		for (;;) {
			const op = peek();
			if (op === ".") {
				const t = tokens[++p] || wrong("A name is missing after the point.");
				p++;
				if (peek() !== "(") wrong(`.${t.text} needs brackets after it: .${t.text}().`, t.from);
				a = call(t, [a], a.from);
			} else if (POWERS[op] > least) {
				p++;
				a = node(op, [a, expr(op === "**" ? POWERS.neg - 0.5 : POWERS[op])], a.from);
			} else break;
		}
		deep--;
		return a;
	}
	const tree = expr(0), rest = peek();
	if (rest === "=") wrong("Left of = stands one name.", here());
	if (/[)\]]/.test(rest)) wrong(`“${rest}” closes a bracket that was never opened.`, here());
	if (rest) wrong(`“${rest}” cannot stand here: an operation such as + or * is missing before it.`, here());
	return tree;
}

/** An array as Python writes it. */
export function list({ s, d }, at = 0) {
	if (!s.length) return String(d[at]);
	const inner = s.slice(1), step = size(inner);
	return `[${Array.from({ length: s[0] }, (_, i) => list({ s: inner, d }, at + i * step)).join(", ")}]`;
}

/** The stepper's data for a text. Mistake for what cannot be read or does not fit together. */
export function parse(text) {
	if (text.length > LETTERS) throw new Mistake(`This is longer than ${LETTERS} letters: leave something out.`, 0, 0);
	const lines = text.split(/\n|;/), nodes = [], make = [], exact = {}, names = new Map(), kept = [];
	/** @type {any} */
	let last = null;
	const add = (n, how, value) => {
		if (nodes.length >= NODES) throw new Mistake(`More than ${NODES} boxes are not drawn here.`, n.row, n.at);
		nodes.push({ symbol: "", leaf: false, ...n });
		make.push(how);
		if (value) exact[nodes.length - 1] = value;
		return { node: nodes.length - 1 };
	};
	lines.forEach((line, row) => {
		if (!line.trim()) return;
		const head = /^\s*([A-Za-z_]\w*)\s*=(?!=)/.exec(line), tree = read(line, row, head ? head[0].length : 0);
		kept.push([row + 1, line]);
		const span = (t) => [0, kept.length - 1, t.from, kept.length - 1, t.to], wrong = (says, t, fix) => { throw new Mistake(says, row, t.from, fix); };
		if (head && tree.op === "number") last = add({ name: head[1], leaf: true, rg: true, named: true, shape: tree.value.s, row, at: 0 }, null, tree.value);
		else {
			last = build(tree);
			const n = nodes[last.node];
			if (head && make[last.node] && n.span?.join() === span(tree).join() && !n.named) Object.assign(n, { name: head[1], named: true });
		}
		if (head) names.set(head[1], last);

		/** The node of a tree, or a number. */
		function build(t) {
			if (t.op === "number") return t.value.s.length ? given(t, t.value) : { value: t.value.d[0] };
			if (t.op === "name") return names.get(t.text) || wrong(`${t.text} has no value yet. Give it one in a line above: ${t.text} = 1`, t, `${t.text} = 1`);
			const [a, b] = t.args.map(build);
			if (a.value !== undefined && (!b || b.value !== undefined)) {
				if (t.op === "@") product(a, b, t);
				if (t.op === "/" && b.value === 0) wrong("Here a number is divided by zero.", t);
				return { value: constant(t.op, [a.value, b?.value]) };
			}
			if (!b) return made(/sum|mean/.test(t.op) ? `${t.op}_all` : t.op, [a], [a], t, t.op === "neg" ? "-" : t.op);
			if (t.op === "@") return made(product(a, b, t), [a, b], [a, b], t);
			const first = a.value !== undefined, number = first ? a : b, name = { "+": "add", "-": "sub", "*": "mul", "/": "div", "**": "power" }[t.op];
			if (number.value === undefined) return made(t.op === "**" ? "power_tensor" : name, [a, b], [a, b], t);
			if (t.op === "**" && first) return made("power_base", [given(t.args[0], { s: [], d: [a.value] }), b], [a, b], t);
			if (t.op === "/" && first) {
				const { from, to } = t.args[1], inverse = made("reciprocal", [b], [b], { ...t, text: `1 / ${line.slice(from, to)}` }, "reciprocal");
				return a.value === 1 ? inverse : made("mul", [inverse, a], [a, inverse], t, "*");
			}
			const own = t.op === "-" && first ? "rsub" : t.op === "**" && !number.value ? "power_zero" : name;
			return made(own, first ? [b, a] : [a, b], [a, b], t);
		}
		/** Numbers that are written in a formula, as a node that needs no gradient. */
		function given(t, value) {
			return add({ name: t.text, named: true, shape: value.s, row, at: t.from }, null, value);
		}
		function product(a, b, t) {
			const [s, u] = [a, b].map((o) => nodes[o.node]?.shape ?? []);
			if (s.length === 2 && u.length === 2 && s[1] === u[0]) return "mm";
			if (s.length === 1 && u.length === 1 && s[0] === u[0]) return "dot";
			const takes = "it takes two matrices (n, m) and (m, k), or two lists of one length";
			return wrong(`@ cannot multiply the shapes ${shown(s)} and ${shown(u)}: ${takes}.`, t);
		}
		/** A node of a row, with its operands in the row's order and in the order in which they are written. */
		function made(op, operands, parts, t, symbol = t.op) {
			const shapes = operands.map((o) => nodes[o.node]?.shape ?? []), [s, u] = shapes, rg = operands.some((o) => nodes[o.node]?.rg);
			const shape = op === "mm" ? [s[0], u[1]] : /_all|dot/.test(op) ? [] : stretch(shapes, t);
			return add({ name: t.text, symbol, shape, rg, expr: t.text, span: span(t), op, row, at: t.from, parts }, [op, ...operands.map((o) => o.node ?? [o.value])]);
		}
		function stretch(shapes, t) {
			const all = [];
			for (const s of shapes) s.forEach((n, i) => {
				const k = s.length - 1 - i, m = all[k] ?? 1;
				if (m !== n && m !== 1 && n !== 1) wrong(`${t.op} cannot join the shapes ${shapes.map(shown).join(" and ")}: ${m} and ${n} do not fit.`, t);
				all[k] = Math.max(m, n);
			});
			return all.reverse();
		}
	});
	if (!last) throw new Mistake("Write a formula, for example x = 2 in one line and x * x in the next.", 0, 0);
	if (!nodes[last.node]?.rg) throw new Mistake("Here is nothing to differentiate: no input stands in this line.", kept.at(-1)[0] - 1);
	return graph(nodes, make, exact, last.node, kept);
}

/** The data of the part of a graph that its last line needs: names, edges, moves, layout. */
function graph(all, everyMake, everyExact, end, kept) {
	const used = new Set([end]);
	for (const i of used) for (const o of everyMake[i]?.slice(1) || []) if (!Array.isArray(o)) used.add(o);
	const order = [...used].sort((a, b) => a - b), at = new Map(order.map((i, k) => [i, k])), root = at.get(end);
	const count = new Map(), nodes = order.map((i, k) => ({ ...all[i], id: k, variable: all[i].name })), name = (i) => nodes[i].name, needs = (i) => nodes[i].rg;
	for (const n of nodes) {  // what a variable stood for before, and formulas that begin alike, get a number
		const short = cutText(n.name, NAME), times = (count.get(short) || 0) + 1;
		count.set(short, times);
		n.name = times > 1 ? `${short} (${times})` : short;
		n.parts = n.parts?.map((o) => (o.node === undefined ? [number(o.value), null, o.value] : [name(at.get(o.node)), 0]));
	}
	const make = order.map((i) => everyMake[i]?.map((o) => at.get(o) ?? o) ?? null);
	const exact = Object.fromEntries(order.flatMap((i, k) => (everyExact[i] ? [[k, everyExact[i]]] : [])));
	const edges = make.flatMap((how, k) => (how || []).slice(1).flatMap((o, slot) => (Array.isArray(o) ? [] : [[o, k, slot]])));
	const start = `The pass starts at ${name(root)} with gradient 1: when ${name(root)} changes by a little, ${name(root)} changes by just as much.`;
	const steps = [{ kind: "seed", node: root, text: [start], beats: ["seed"] }];
	for (let k = root; k >= 0; k--) {
		if (!needs(k)) continue;
		if (nodes[k].leaf) steps.push({ kind: "leaf", node: k, before: null, text: [], beats: ["collect"] });
		const own = edges.filter(([, b]) => b === k), first = own.find(([a]) => needs(a));
		for (const edge of own) {
			const [parent, , slot] = edge, nothing = `${name(k)} sends nothing to ${name(parent)}: ${name(parent)} does not require a gradient.`;
			if (!needs(parent)) steps.push({ node: k, kind: "skip", parent, slot, text: [nothing], beats: ["collect"] });
			else steps.push(send(nodes, make[k], edge, edges.filter(([a]) => a === parent).length, k !== root && edge === first));
		}
	}
	const forward = nodes.filter((n) => n.parts).map((n) => ({ node: n.id, parts: n.parts }));
	const boxes = `This is the graph of ${name(root)}: each box holds a number or an array, and lines lead from the inputs to ${name(root)}.`;
	const data = compute({
		v: 1, root, nodes, edges, steps, forward, title: `Forward and backward pass of ${name(root)}`, code: [{ title: "", lines: kept }],
		look: `${boxes} Press → to go forward, step by step, from the inputs to ${name(root)}, and then back.`,
		live: { make, exact, single: false, seed: null },
	}, exact);
	return { ...data, layout: { start: "full", views: { full: { drawings: layOut(data) } } } };
}

/** A contribution without its numbers. `uses` is how many contributions its target gets. */
function send(nodes, [row, x, y], [parent, node, slot], uses, first) {
	const { form: general, partial } = RULES[row][slot], n = nodes[node], to = nodes[parent], c = Array.isArray(y) ? y[0] : null, all = size(to.shape);
	const plain = general === "g" || (c === 1 && /^(mul|div|power)$/.test(row)), known = c === null ? {} : { y: number(c) };
	const how = row === "mm" ? "matmul" : row === "dot" ? "other" : /_all/.test(row) ? (all > 1 ? "spread" : "move") : plain ? "copy" : "elementwise";
	const power = c === 2 ? "2 · x" : `${number(c)} · x ** ${number(c - 1)}`, base = `out · log(${n.parts[0][0]})`;  // the table's formulas, with what is known
	const slope = plain ? "1" : row === "power" ? power : row === "power_base" ? base : row === "div" && c !== null ? number(1 / c) : renamed(partial || "", known);
	const form = plain ? "g" : row === "power" || row === "power_base" ? `g · ${slope}` : renamed(general, known);
	const names = { out: term(n.name), x: nodes[x] && term(nodes[x].name), ...(nodes[y] && { y: term(nodes[y].name) }) }, label = { x: nodes[x]?.name, y: nodes[y]?.name, out: n.name };
	const factor = row === "mean_all" ? number(1 / all) : "1", local = renamed(slope, names), multiplies = how === "elementwise" || how === "copy", stretched = multiplies && n.shape.join() !== to.shape.join();
	const short = local.length < 8 ? local.replaceAll(" · ", "·") : /\w/.test(n.symbol) ? `${n.symbol}′` : "slope";
	return {
		node, kind: "send", parent, slot, how, form, text: [], axes: [], arrived: [0, uses], latex: "",
		rule: { spread: `g${factor === "1" ? "" : ` · ${factor}`} to each number`, move: "g, the same numbers" }[how] || renamed(form, names),
		saved: ["x", "y", "out"].filter((word) => label[word] && form.split(/\W+/).includes(word)).map((word) => [word, label[word], 0]),
		beats: [first && "focus", /other|matmul|elementwise/.test(how) && "rule", (how !== "copy" || to.shape.length || stretched) && "product", stretched && "sum", "collect"].filter(Boolean),
		edge: { matmul: slot ? `${names.x}ᵀ @` : `@ ${names.y}ᵀ`, spread: `× ${factor}`, move: "reshape", copy: "× 1" }[how] || `× ${short}`,
		terms: how !== "matmul" ? [] : slot ? [["x", true], ["g", false]] : [["g", false], ["y", true]],
		partial: multiplies ? `∂${term(n.name)}/∂${term(to.name)} = ${local}` : "",
	};
}
