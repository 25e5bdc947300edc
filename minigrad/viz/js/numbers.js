// Arrays as pictures: heat maps with digits, thumbnails on the graph, figures with a caption.

import { at, count, fmt, h, s, scalar, shapeOf, single, rowsIn } from "./tools.js";

/** Blue for negative, white for zero, orange for positive; each array has its own scale. */
export function tint(x, top) {
	if (typeof x !== "number") return "#ffd0d6";
	const t = top ? Math.min(1, Math.abs(x) / top) : 0;
	const [r, g, b] = x < 0 ? [122, 178, 224] : [250, 166, 92];
	const mix = (c) => Math.round(255 + (c - 255) * t);
	return `rgb(${mix(r)},${mix(g)},${mix(b)})`;
}

const topOf = (v) => (scalar(v) ? Math.abs(v) || 0 : +v.top || 0);

/** A small picture of a value in a box of the graph: at most 8 columns and 6 rows, no digits. */
export function thumb(v, x, y, W, H) {
	const C = Math.min(8, v.c), R = Math.min(6, v.r), w = W / C, hh = Math.min(H / R, 2 * w);
	const top = topOf(v), y0 = y + (H - R * hh) / 2, cells = [];
	for (let r = 0; r < R; r++) {
		for (let c = 0; c < C; c++) {
			const value = v.d[Math.floor((r * v.r) / R) * v.c + Math.floor((c * v.c) / C)];
			cells.push(`<rect x="${(x + c * w).toFixed(1)}" y="${(y0 + r * hh).toFixed(1)}" width="${w.toFixed(1)}" ` +
				`height="${hh.toFixed(1)}" fill="${tint(value, top)}"/>`);
		}
	}
	return `<g class="thumb">${cells.join("")}<rect class="rim" x="${x}" y="${y0.toFixed(1)}" width="${W}" height="${(R * hh).toFixed(1)}"/></g>`;
}

/** A matrix as a picture. Options: on (a cell), row and col (lit), flip (transposed), blocked (zeros let nothing
 * through), blank (no digits there), braces (axes that are summed), hollow (the numbers are not known yet). */
export function heat(v, o = {}) {
	const flip = o.flip && v.s.length > 1;
	const R = flip ? v.c : v.r, C = flip ? v.r : v.c;
	const value = (r, c) => (flip ? v.d[c * v.c + r] : v.d[r * v.c + c]);
	const digits = R <= 8 && C <= 8, text = (x) => fmt(C > 6 && typeof x === "number" ? +x.toPrecision(2) : x);
	const widest = digits ? Math.max(...v.d.map((x) => text(x).length), 2) : 0;
	const w = digits ? Math.max(26, widest * 6.7 + 6) : Math.max(7, Math.min(18, 150 / C));
	const hgt = digits ? 21 : Math.max(5, Math.min(18, 80 / R));
	const pad = 2, top = topOf(v);
	/** Where a row begins: the tables of a batch stand a little apart. */
	const line = (r) => pad + r * hgt + (flip || v.s.length < 3 ? 0 : 4 * Math.floor(r / v.s.at(-2)));
	let W = C * w + 2 * pad, H = line(R - 1) + hgt + pad;
	const cells = [];
	for (let r = 0; r < R; r++) {
		for (let c = 0; c < C; c++) {
			const x = value(r, c), X = (pad + c * w).toFixed(1), Y = line(r);
			const off = !o.hollow && o.blocked && at(o.blocked, r, c) === 0;
			cells.push(`<rect class="cell" data-at="${[r, c]}" x="${X}" y="${Y}" width="${w.toFixed(1)}" height="${hgt}" ` +
				(o.hollow ? "/>" : `fill="${off ? "#fff" : tint(x, top)}"/>`));
			if (o.hollow) continue;
			if (off) cells.push(`<path class="no" d="M${X} ${Y + hgt}l${w} ${-hgt}"/>`);
			if (digits && !(off && o.blank))
				cells.push(`<text x="${(pad + c * w + w / 2).toFixed(1)}" y="${Y + hgt / 2 + 4}" text-anchor="middle" pointer-events="none">${text(x)}</text>`);
		}
	}
	const frame = (r0, r1, c0, c1, name) => cells.push(`<rect class="${name}" x="${(pad + c0 * w).toFixed(1)}" y="${line(r0)}" ` +
		`width="${((c1 - c0) * w).toFixed(1)}" height="${line(r1 - 1) + hgt - line(r0)}"/>`);
	const { row, col, on: [r, c] = [R, C] } = o;
	if (row != null && row < R) frame(row, row + 1, 0, C, "lit");
	if (col != null && col < C) frame(0, R, col, col + 1, "lit");
	if (r < R && c < C) frame(r, r + 1, c, c + 1, "on");
	if (o.braces?.includes(v.s.length - 1)) {
		cells.push(`<path class="brace" d="M${pad + 2} ${H + 1}v5H${W - pad - 2}v-5"/>`);
		H += 12;
	}
	if (o.braces?.some((a) => a < v.s.length - 1)) {
		cells.push(`<path class="brace" d="M${W + 1} ${pad + 2}h5V${line(R - 1) + hgt - 2}h-5"/>`);
		W += 12;
	}
	const svg = s("svg", { class: "mg-heat" + (o.hollow ? " hollow" : ""), width: W.toFixed(1), height: H.toFixed(1), "aria-hidden": "true" });
	svg.innerHTML = cells.join("");
	return svg;
}

/** A value above its caption. Options are those of `heat`; `small` is a second line; `hollow` hides the numbers. */
export function figure(v, caption, o = {}) {
	const one = v == null ? "" : single(v);
	const notes = [];
	let body;
	if (v == null) body = h("code.mg-chip hollow", o.empty || "?");
	else if (one !== undefined) body = h("code.mg-chip" + (o.hollow ? " hollow" : ""), o.hollow ? "?" : fmt(one));
	else if (!count(v)) body = h("span", "(no numbers)");
	else {
		body = heat(v, o);
		notes.push(o.flip && v.s.length > 1 ? `${v.s.at(-1)}×${rowsIn(v)}` : shapeOf(v));
		if (v.d.length < count(v)) notes.push(`first ${v.r}×${v.c} shown`);
		if (count(v) > 64 && !o.hollow) notes.push(`size ${fmt(v.norm)}`);
	}
	if (o.mark) body.classList.add(o.mark);
	const below = [caption && h("b", caption), o.small && h("span", o.small), notes.length > 0 && h("span", notes.join(", "))];
	return h("figure", { "data-part": o.part }, h("div.mg-body", body), h("figcaption", below));
}

/** Figures and the signs between them in a row; the middles of all are on one line. */
export function figures(parts, row = h("div.mg-figures")) {
	const tall = (e) => +e.firstChild.firstChild.getAttribute("height") || 36;
	row.replaceChildren(...parts.flat().filter(Boolean));
	const most = Math.max(36, ...[...row.querySelectorAll("figure")].map(tall));
	row.style.setProperty("--tall", most + "px");
	return row;
}

export function strongest(v) {
	if (v == null || scalar(v) || !v.d.length) return null;
	const best = v.d.reduce((b, x, i) => (Math.abs(x) > Math.abs(v.d[b]) ? i : b), 0);
	return [Math.floor(best / v.c), best % v.c];
}

/** All indices of a row and column: a batch is drawn as one tall table. */
export function indexOf(v, [r, c]) {
	const index = [c];
	for (let i = v.s.length - 2, q = r; i >= 0; q = Math.floor(q / v.s[i--])) index.unshift(q % v.s[i]);
	return index;
}

