// Numbers, sentences and questions of what the engine in the page has computed, as Python writes them (record/numbers.py,
// record/words.py, viz/forward.py).

import { fmt } from "./tools.js";

/** Four significant digits, whole numbers in full; a tie goes to the even digit, as in Python. */
export function rounded(x) {
	if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
	if (Number.isInteger(x) && Math.abs(x) < 1e6) return x || 0;
	const tie = /^(-?\d\.\d\d[02468])50*(e.*)/.exec(x.toExponential(40));
	return tie ? +(tie[1] + tie[2]) : +x.toPrecision(4);
}
export const number = (x) => fmt(rounded(x));
export const one = (x) => ({ s: [], d: [x] });
export const size = (s) => s.reduce((a, b) => a * b, 1);
function norm(d) {
	const top = Math.max(0, ...d.map(Math.abs));
	return top && Number.isFinite(top) ? top * Math.sqrt(d.reduce((sum, x) => sum + (x / top) ** 2, 0)) : top;
}

/** An array in a few words. */
export function short({ s, d }) {
	if (!s.length) return number(d[0]);
	const list = (row) => `[${row.map(number).join(", ")}]`;
	if (d.length <= 6 && s.length === 1) return list(d);
	if (d.length <= 6 && s.length === 2) return `[${Array.from({ length: s[0] }, (_, i) => list(d.slice(i * s[1], (i + 1) * s[1]))).join(", ")}]`;
	return `${s.join("×")} numbers, size ${number(norm(d))}`;
}
/** An array as it stands in the data. */
export function plain({ s, d }) {
	if (!s.length) return rounded(d[0]);
	const finite = d.filter(Number.isFinite), bad = d.length - finite.length;
	return { s, r: d.length / s.at(-1), c: s.at(-1), d: d.map(rounded), top: rounded(Math.max(0, ...finite.map(Math.abs))), norm: rounded(norm(d)), ...(bad && { bad }) };
}

/** A formula with other words for g, x, y and out. */
export const renamed = (form, words) => form.replace(/(?<![\w.])[A-Za-z_]\w*/g, (word) => words[word] ?? word).replace(/\(\(([^(),]*)\)\)/g, "($1)");

/** The sentences of one contribution, those of record/words.py. */
export function sentences({ how, rule, saved, axes, arrived, beats }, from, to, { g, raw, sum, local, sub, given, before, after }) {
	const known = saved.flatMap(([word, label, v]) => (v == null || !label ? [] : `${term(label)} = ${short(given[word])}`)), result = short(raw), factor = number(local?.d[0] ?? 1);
	const usual = `The contribution to ${to} is ${sub && sub !== result ? sub + " = " : ""}${result}.`;
	const product = {
		copy: `The upstream gradient goes to ${to} unchanged: ${result}.`,
		move: `The numbers stay the same and take the shape of ${to}: ${result}.`,
		spread: `Each of the ${raw.d.length} numbers of ${to} went into the result, so each gets ${factor === "1" ? "all of g" : `g times ${factor}`}: ${result}.`,
	}[how] || usual;
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
export const tuple = (s) => (s.length === 1 ? `(${s},)` : `(${s.join(", ")})`);
/** A name as part of a formula: an expression in brackets, and `x (2)` as x₂. */
export function term(label) {
	const [, name, count] = /^(.*?)(?: \((\d+)\))?$/s.exec(label), low = count ? [...count].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("") : "";
	const bare = name.replace(/[([]([^()[\]]|\([^()]*\))*[)\]]/g, "");  // without what stands in brackets: sin, .tanh
	return (/^[\w.]*$/.test(bare) ? name : `(${name})`) + low;
}

/** The question that a prediction asks about a contribution of one number; a question about the graph alone stays as it was. */
export function questionOf({ beats, rule }, { raw, local, sub }, to, g) {
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
export function made({ node, parts }, { nodes, edges }, values, put) {
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
