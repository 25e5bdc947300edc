// Small tools that every other file uses: elements, numbers as text, values of the recording.

const SVG = "http://www.w3.org/2000/svg";

/** JupyterLab's cell commands leave alone what carries this. */
export const KEEP = { "data-lm-suppress-shortcuts": "true" };

/** An element; `"p.small"` makes one of that class. Attributes may be left out. */
export function h(tag, attrs, ...children) {
	if (attrs?.constructor !== Object) return h(tag, {}, attrs, ...children);
	const [type, name] = tag.split("."), e = document.createElement(type);
	if (name) e.className = name;
	for (const [k, v] of Object.entries(attrs)) {
		if (v !== false && v != null) e.setAttribute(k, v === true ? "" : v);
	}
	e.append(...children.flat().filter((c) => c !== "" && c != null && c !== false));
	return e;
}

export function button(on, act, label, attrs = {}) {
	const b = h("button", { type: "button", ...attrs, ...KEEP }, label);
	on(b, "click", act);
	return b;
}
export const small = (...content) => h("p.mg-small", ...content);

export function s(tag, attrs = {}, ...children) {
	const e = document.createElementNS(SVG, tag);
	for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
	e.append(...children.filter((c) => c != null));
	return e;
}

export const escape = (t) => String(t).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
/** What scrolls takes the focus of the keyboard, and nothing else does. */
export function reachable(e) {
	if (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1) e.tabIndex = 0;
	else e.removeAttribute("tabindex");
}

export const cutText = (t, n) => (t.length > n ? t.slice(0, Math.max(1, n - 1)) + "…" : t);
export const between = (low, x, high) => Math.max(low, Math.min(high, x));

/** A number's text, as Python writes it: Python has rounded it already. */
export function fmt(x) {
	if (typeof x !== "number") return String(x);
	const a = Math.abs(x);
	if (!a || (a >= 1e-4 && a < 1e6)) return String(x);
	return x.toExponential(3).replace(/\.?0*e\+?/, "e");
}

/** A negative number in brackets, as a part of a formula. */
export const bracket = (x) => (typeof x === "number" && x < 0 ? `(${fmt(x)})` : fmt(x));

// ---- values: a bare number, or { s: shape, r, c: rows and columns that are here, d: their numbers, norm, top }
export const scalar = (v) => v === null || typeof v !== "object";
export const count = (v) => (scalar(v) ? 1 : v.s.reduce((a, b) => a * b, 1));
/** One number, whatever its shape: (1,) and (1, 1) show as a number too. */
export const single = (v) => (scalar(v) ? v : v.d.length === 1 && count(v) === 1 ? v.d[0] : undefined);
export const sizes = (s) => (s.length === 1 ? `(${s},)` : s.join("×"));
/** How large the numbers of an array are together, in few letters: its norm. */
export function normOf({ norm }) {
	if (typeof norm === "string") return `size ${norm}`;
	return `size ${fmt(norm >= 100 ? Math.round(norm) : +norm.toPrecision(norm >= 0.01 ? 2 : 1))}`;
}
export const shapeOf = (v) => (scalar(v) ? "one number" : sizes(v.s));
export const rowsIn = (v) => v.s.slice(0, -1).reduce((a, b) => a * b, 1);
export const bad = (v) => (scalar(v) ? typeof v === "string" : v.bad > 0);

/** One value in so many letters: a number, a short list, else its shape. */
export function brief(v, room = 24) {
	if (v == null) return "";
	if (single(v) !== undefined) return fmt(single(v));
	const list = v.s.length === 1 && v.d.length === v.s[0] ? "[" + v.d.map(fmt).join(", ") + "]" : "";
	return list && list.length <= room ? list : shapeOf(v);
}

/** The number at a row and column, stretched as broadcasting does; undefined if it is not in the sample. */
export function at(v, row, col) {
	if (scalar(v)) return v;
	const r = rowsIn(v) === 1 ? 0 : row, c = v.s.at(-1) === 1 ? 0 : col;
	return r < v.r && c < v.c ? v.d[r * v.c + c] : undefined;
}
