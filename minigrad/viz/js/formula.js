// Reads what a visitor types. Each line is computed as it is read, and each result notes how it was made: what the last line
// needs of that is the graph of the stepper's data. Nothing that is typed is ever run as JavaScript.

import { RULES } from "./rules.js";
import { apply, compute } from "./engine.js";
import { layOut } from "./places.js";
import { cutText } from "./tools.js";
import { number, one, renamed, term, tuple } from "./words.js";

/** What is wrong with a formula, and where: `row` and `at`; `fix` is a line that would help. */
export class Mistake extends Error {
	constructor(says, row = 0, at = 0, fix = "") {
		super(says);
		Object.assign(this, { row, at, fix });
	}
}
const TOKEN = /((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|\*\*|[-+*/@=(),.[\]]|(\S)/gu;
const POWERS = { "+": 1, "-": 1, "*": 2, "/": 2, "@": 2, neg: 3, "**": 4 };
/** For each sign the rows for two boxes, for a number on the right, and for one on the left. */
const ROWS = { "+": ["add", "add", "add"], "-": ["sub", "sub", "rsub"], "*": ["mul", "mul", "mul"], "/": ["div", "div"], "**": ["power_tensor", "power", "power_base"] };
const FUNCTIONS = "sin, cos, exp, log, sqrt, tanh, sigmoid, relu, abs, sum, mean", MODULES = ["torch", "np", "math", "minigrad", "F"];

/** A written number or a box of the graph: a box has an id, and what was computed also its row in the table and its operands.
 * @typedef {{ value: import("./engine.js").Values, name: string, row: number, at: number, id?: number, op?: string, from?: Operand[],
 * [more: string]: any }} Operand */
const isBox = (o) => o.id !== undefined;

function atMost(most, there, what, row, at) {
	if (there > most) throw new Mistake(`At most ${most} ${what} are possible here.`, row, at);
}

/** The stepper's data for a text. Mistake for what cannot be read or does not fit together. */
export function parse(text) {
	atMost(2000, text.length, "letters");
	const names = new Map(), code = [];
	/** @type {any} */
	let last;
	let boxes = 0;
	/** @param {Operand} o */
	const box = (o, more) => {
		atMost(80, boxes + 1, "boxes", o.row, o.at);
		return { symbol: "", leaf: false, from: [], ...o, id: boxes++, ...more };
	};
	text.split(/\n|;/).forEach((line, row) => {
		if (!line.trim()) return;
		const head = /^\s*([A-Za-z_]\w*)\s*=(?!=)/.exec(line), name = head?.[1];
		code.push([row + 1, line]);
		last = read(line, row, head?.[0].length || 0, names, box, code.length - 1);
		if (!head) return;
		if (!isBox(last)) last = box(last, { name, leaf: true, rg: true });
		else if (last.row === row) last.name = name;
		names.set(name, last);
	});
	if (!last) throw new Mistake("Write a formula, for example x = 2 in one line and x * x in the next.");
	if (!last.rg) throw new Mistake("Here is nothing to differentiate: no input stands in this line.", code.at(-1)[0] - 1);
	return graph(last, code);
}

/** What a line gives from the place `start` on. `names` are the variables, `box(operand)` makes a box, `nth` is the line in the code.
 * @returns {Operand} */
function read(line, row, start, names, box, nth) {
	TOKEN.lastIndex = start;
	const tokens = [...line.matchAll(TOKEN)];
	let p = 0, deep = 0;
	const peek = () => tokens[p]?.[0], here = () => tokens[p]?.index ?? line.length, end = () => tokens[p - 1].index + tokens[p - 1][0].length;
	/** @returns {never} */
	function wrong(says, at = here(), fix = "") { throw new Mistake(says, row, at, fix); }
	const missing = (what) => wrong(`${peek() ? `“${peek()}” cannot stand here` : "The formula ends too early"}: ${what} is missing.`);
	const written = (value, at, more) => ({ value, name: line.slice(at, end()), row, at, ...more });
	const boxed = (o) => (!isBox(o) && o.value.s.length ? box(o) : o);

	/** A row of the table at work: a box, or a number where all operands are. */
	function result(op, from, at, symbol, more = {}) {
		const made = written(apply(op, from.map((o) => o.value)), at, { parts: from, ...more });
		return from.some(isBox) ? box(made, { op, from, symbol, expr: made.name, span: [0, nth, at, nth, end()], rg: from.some((o) => o.rg) }) : made;
	}
	const unary = (name, a, at) => result(/sum|mean/.test(name) ? `${name}_all` : name, [boxed(a)], at, name === "neg" ? "-" : name);
	function binary(symbol, left, right, at, second) {
		const both = [boxed(left), boxed(right)], [a, b] = both, [s, u] = both.map((o) => o.value.s), number = b.value.d[0];
		const broadcast = s.every((n, i) => n === 1 || [n, 1, undefined].includes(u.at(i - s.length)));
		if (symbol === "@" ? !s.length || s.length !== u.length || s.at(-1) !== u[0] : !broadcast)
			wrong(`${symbol} cannot join the shapes ${tuple(s)} and ${tuple(u)}: ` +
				(symbol === "@" ? "it takes two matrices (n, m) and (m, k), or two lists of one length." : "sizes have to be equal, or 1."), at);
		if (symbol === "@") return result(s.length > 1 ? "mm" : "dot", both, at, symbol);
		if (symbol === "/" && !isBox(a) && !isBox(b) && !number) wrong("Here a number is divided by zero.", at);
		const [two, onRight, onLeft] = ROWS[symbol];
		if (isBox(b) && isBox(a)) return result(two, both, at, symbol);
		if (!isBox(b)) return result(symbol === "**" && !number ? "power_zero" : onRight, both, at, symbol);
		if (symbol !== "/") return result(onLeft, symbol === "**" ? both : [b, a], at, symbol, { parts: both });
		const inverse = result("reciprocal", [b], at, "reciprocal", { name: `1 / ${line.slice(second, end())}` });
		return a.value.d[0] === 1 ? inverse : result("mul", [inverse, a], at, "*", { parts: [a, inverse] });
	}

	/** What stands between the bracket that was just read and its end. */
	function items(close) {
		const { index, 0: open } = tokens[p - 1], found = [];
		for (; peek() !== close; peek() === "," ? p++ : tokens[p] && peek() !== close && missing(`“${close}” or an operation`)) {
			if (!tokens[p]) wrong(`The bracket “${open}” is never closed.`, index);
			found.push(expr(0));
		}
		p++;
		return found;
	}
	/** @param {any[]} found */
	function only([a, more], whose, at) { return a && !more ? a : wrong(`${whose} one value.`, at); }
	function atom() {
		const at = here(), [text, digits, word] = tokens[p] || [""];
		if (!digits && !word && !/[-([]/.test(text)) missing("a number, a name or a bracket");
		p++;
		if (digits) return written(one(+digits), at);
		if (text === "-") return unary("neg", expr(POWERS.neg), at);
		if (text === "(") return only(items(")"), "Round brackets hold", at);
		if (text === "[") return array(items("]"), at);
		if (MODULES.includes(word) && peek() === ".") { p++; return atom(); }
		return peek() === "(" ? call(word, [], at, at) : names.get(word) || wrong(`${word} has no value yet. Give it one in a line above: ${word} = 1`, at, `${word} = 1`);
	}
	function call(name, before, at, begin) {
		if (!FUNCTIONS.split(", ").includes(name)) wrong(`There is no function ${name} here. There are ${FUNCTIONS}.`, at);
		if (tokens[p++]?.[0] !== "(") wrong(`.${name} needs brackets after it: .${name}().`, at);
		return unary(name, only([...before, ...items(")")], `${name} takes`, at), begin);
	}
	function array(rows, at) {
		const s = rows[0]?.value.s;
		if (!s || s.length > 1 || rows.some((o) => isBox(o) || o.value.s.join() !== s.join()))
			wrong("A list holds numbers, or rows that are equally long: [1, 2] or [[1, 2], [3, 4]].", at);
		atMost(8, rows.length, "entries of a list", row, at);
		return written({ s: [rows.length, ...s], d: rows.flatMap((o) => o.value.d) }, at);
	}
	function expr(least) {
		const at = here();
		atMost(60, ++deep, "brackets or operations inside one another", row, at);
		let a = atom();
		for (let op = peek(); op === "." || POWERS[op] > least; op = peek()) {
			const second = tokens[++p]?.index;
			if (op === ".") a = call(tokens[p++]?.[0], [a], second, at);
			else a = binary(op, a, expr(op === "**" ? POWERS.neg : POWERS[op]), at, second);
		}
		deep--;
		return a;
	}
	for (const { 3: other, index } of tokens) if (other) wrong(`“${other}” cannot stand in a formula.`, index);
	const found = expr(0);
	if (peek() === "=") wrong("Left of = stands one name.");
	if (/[)\]]/.test(peek())) wrong(`“${peek()}” closes a bracket that was never opened.`);
	return tokens[p] ? missing("an operation such as + or *") : found;
}

/** An array as Python writes it. */
export function list({ s: [n, m], d }) {
	const rows = m ? Array.from({ length: n }, (_, i) => d.slice(i * m, i * m + m)) : n ? d : d[0];
	return JSON.stringify(rows).replaceAll(",", ", ");
}

/** The data of a result: the boxes that it needs, their names, edges, moves and places. */
function graph(root, code) {
	const used = new Set([root]), times = new Map();
	for (const n of used) for (const o of n.from) if (isBox(o)) used.add(o);
	const order = [...used].sort((a, b) => a.id - b.id), exact = {}, make = [], edges = [], forward = [], { name: end } = root;
	order.forEach((n, id) => {
		const name = cutText(n.name, 24), nth = (times.get(name) || 0) + 1;
		times.set(name, nth);  // what a variable stood for before, and formulas that begin alike, get a number
		Object.assign(n, { id, variable: n.name, name: nth > 1 ? `${name} (${nth})` : name });
		n.from.forEach((o, slot) => { if (isBox(o)) edges.push([o.id, id, slot]); });
		make.push(n.op ? [n.op, ...n.from.map((o) => o.id ?? o.value.d)] : null);
		if (n.op) forward.push({ node: id, parts: n.parts.map((o) => (isBox(o) ? [o.name, 0] : [number(o.value.d[0]), null, o.value.d[0]])) });
		else exact[id] = n.value;
	});
	const start = `The pass starts at ${end} with gradient 1: when ${end} changes by a little, ${end} changes by just as much.`;
	const steps = [{ kind: "seed", node: root.id, text: [start], beats: ["seed"] }];
	for (const n of order.filter((n) => n.rg).reverse()) {
		if (n.leaf) steps.push({ kind: "leaf", node: n.id, before: null, text: [], beats: ["collect"] });
		const first = n === root ? -1 : n.from.findIndex((o) => o.rg);
		n.from.forEach((to, slot) => {
			if (to.rg) steps.push(send(n, to, slot, edges.filter(([a]) => a === to.id).length, slot === first));
			else if (isBox(to)) steps.push({ kind: "skip", node: n.id, parent: to.id, slot, beats: ["collect"],
				text: [`${n.name} sends nothing to ${to.name}: ${to.name} does not require a gradient.`] });
		});
	}
	const nodes = order.map(({ value, from, parts, ...n }) => ({ ...n, shape: value.s }));
	const data = compute({
		v: 1, root: root.id, nodes, edges, steps, forward, title: `Forward and backward pass of ${end}`, code: [{ title: "", lines: code }],
		look: `Lines lead from the inputs to ${end}. Click here and press → to compute ${end} step by step, and then, on the way back, its gradients.`,
		live: { make, exact, single: false, seed: null },
	}, exact);
	return { ...data, layout: { start: "full", views: { full: { drawings: layOut(data) } } } };
}

const HOW = { mm: "matmul", dot: "other", sum_all: "spread", mean_all: "spread" };
/** A contribution without its numbers. `uses` is how many contributions its target gets. */
function send(n, to, slot, uses, first) {
	const [x, y] = n.from, words = Object.entries({ x, y, exponent: y, out: n }), names = {}, known = {};
	for (const [word, o] of words) if (o && isBox(o)) names[word] = term(o.name); else if (o) known[word] = number(o.value.d[0]);
	const { form: general, partial } = RULES[n.op][slot], count = to.value.d.length;
	const copies = general === "g" || (known.y === "1" && /^(mul|div|power)$/.test(n.op)), kind = HOW[n.op] || (copies ? "copy" : "elementwise");
	const how = kind === "spread" && count === 1 ? "move" : kind, multiplies = how === "elementwise" || how === "copy";
	/** A formula with what is known: x ** (2 - 1) is x, and a case that a written base decides is not asked. */
	const settled = (rule) => renamed(known.x ? rule.replace(/where\(.*, 0, (.*)\)/, "$1") : rule, known)
		.replace(/\((-?[\d.e]+) - 1\)/, (_, k) => number(k - 1)).replace(/ \*\* 1(?![\d.])/, "");
	const form = copies ? "g" : n.op === "power_zero" ? "g · 0" : settled(general);
	const local = renamed(copies ? "1" : n.op === "div" && known.y ? number(1 / y.value.d[0]) : settled(partial || ""), names);
	const short = local && local.length < 8 ? local.replaceAll(" · ", "·") : /\w/.test(n.symbol) ? `${n.symbol}′` : "slope";
	const stretched = multiplies && n.value.s.join() !== to.value.s.join(), factor = n.op === "mean_all" ? number(1 / count) : "1";
	return {
		node: n.id, kind: "send", parent: to.id, slot, how, form, text: [], axes: [], arrived: [0, uses],
		rule: { spread: `g${factor === "1" ? "" : ` · ${factor}`} to each number`, move: "g, the same numbers" }[how] || renamed(form, names),
		saved: words.filter(([word]) => names[word] && general.split(/\W+/).includes(word)).map(([word, o]) => [word, o.name, 0]),
		beats: [first && "focus", /other|matmul|elementwise/.test(how) && "rule", (how !== "copy" || to.value.s.length || stretched) && "product", stretched && "sum", "collect"].filter(Boolean),
		edge: { matmul: slot ? `${names.x}ᵀ @` : `@ ${names.y}ᵀ`, spread: `× ${factor}`, move: "reshape", copy: "× 1", other: "" }[how] ?? `× ${short}`,
		terms: how !== "matmul" ? [] : slot ? [["x", true], ["g", false]] : [["g", false], ["y", true]],
		partial: multiplies && local ? `∂${term(n.name)}/∂${term(to.name)} = ${local}` : "",
	};
}
