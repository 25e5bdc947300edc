// Where the boxes of a small graph go: inputs on the left, each box one column right of what it is made from; and once more
// from top to bottom, for a narrow screen.

const LEAST = 111, SIGN = 7, EDGE = 16, BEND = 22;

/** Two drawings of a graph, the narrow one first; one where both are equally wide. */
export function layOut({ nodes, edges }) {
	const layer = nodes.map(() => 0), columns = [], rank = new Map(), high = nodes.some((n) => n.shape.length) ? 88 : 64;
	edges.forEach(([a, b]) => { layer[b] = Math.max(layer[b], layer[a] + 1); });  // edges come in the order of their users
	nodes.forEach((_, k) => {
		const users = edges.filter(([a]) => a === k);
		if (users.length && !edges.some(([, b]) => b === k)) layer[k] = Math.min(...users.map(([, b]) => layer[b])) - 1;
		(columns[layer[k]] ||= []).push(k);
	});
	// A line that passes a column gets a place there, so that it does not run through a box: [edge, column].
	const bend = (j, c) => `${j}:${c}`;
	edges.forEach(([a, b], j) => { for (let c = layer[a] + 1; c < layer[b]; c++) columns[c].push(bend(j, c)); });
	/** What stands one column left of a box or a bend, on the same line. */
	function before(v) {
		if (typeof v === "number") return edges.flatMap(([a, b], j) => (b !== v ? [] : [layer[b] - layer[a] > 1 ? bend(j, layer[b] - 1) : a]));
		const [j, c] = v.split(":").map(Number), [a] = edges[j];
		return [layer[a] < c - 1 ? bend(j, c - 1) : a];
	}
	for (const column of columns) {
		const wish = new Map(column.map((v, i) => {
			const from = before(v).map((u) => rank.get(u));
			return [v, from.length ? from.reduce((p, q) => p + q) / from.length : i];
		}));
		const slots = (v, other) => edges.filter(([a, b]) => a === v && edges.some(([c, d]) => c === other && d === b)).map(([, , slot]) => slot);
		const swap = (p, q) => slots(p, q)[0] - slots(q, p)[0] || wish.get(p) - wish.get(q);  // operands of one node keep their order
		column.sort(swap).forEach((v, i) => rank.set(v, i - (column.length - 1) / 2));
	}
	const letters = (n) => 1.15 * n.name.length + Math.min(9, (n.leaf ? "leaf" : n.symbol).length) + 1, size = (n) => (n.shape.length ? 13 : 0);
	const width = nodes.map((n) => Math.min(200, Math.max(LEAST, Math.round(SIGN * Math.max(letters(n), size(n)) + 20))));
	const both = [false, true].map((across) => drawn({ edges, layer, columns, width, high, bend }, across));
	return both[0].w < both[1].w ? both : [both[1]];
}

/** One drawing: `across` the page, or down it. */
function drawn({ edges, layer, columns, width, high, bend }, across) {
	const room = (v) => (typeof v !== "number" ? BEND : across ? high + 30 : width[v] + 24), total = (column) => column.reduce((sum, v) => sum + room(v), 0);
	const most = Math.max(...columns.map(total)), gap = across ? 78 : 56, boxes = {}, middle = new Map();
	let along = EDGE;
	for (const column of columns) {
		const thick = across ? Math.max(...column.map((v) => width[v] || 0)) : high;
		let side = EDGE + (most - total(column)) / 2;
		for (const v of column) {
			const mid = side + room(v) / 2, start = along + (thick - (across ? width[v] : high)) / 2;
			if (typeof v === "number") boxes[v] = across ? [start, mid - high / 2, width[v], high] : [mid - width[v] / 2, start, width[v], high];
			middle.set(v, [mid, along, along + thick]);
			side += room(v);
		}
		along += thick + gap;
	}
	const turn = (p) => (across ? p : [p[1], p[0]]), end = along - gap + EDGE, wide = most + 2 * EDGE;
	const lines = edges.map(([a, b], j) => {
		const into = edges.filter((e) => e[1] === b), nth = into.indexOf(edges[j]), part = (nth + 1) / (into.length + 1), [x, y, w] = boxes[a], [u, v, t] = boxes[b];
		const port = (nth - (into.length - 1) / 2) * Math.min(37, (high - 16) / (into.length - 1));  // the labels of two lines do not touch
		const from = across ? [x + w, y + high / 2] : [x + w / 2, y + high], to = across ? [u, v + high / 2 + port] : [u + t * part, v], way = [];
		for (let c = layer[a] + 1; c < layer[b]; c++) {
			const [mid, start, stop] = middle.get(bend(j, c));
			way.push([turn([start, mid]), turn([stop, mid])]);
		}
		let d = `M${from.join(" ")}`, at = from;
		for (const [next, after] of [...way, [to]]) {
			const [p, q] = [turn(at), turn(next)], half = (p[0] + q[0]) / 2;
			d += `C${[turn([half, p[1]]), turn([half, q[1]]), next].flat().join(" ")}` + (after ? `L${after.join(" ")}` : "");
			at = after || next;
		}
		return { d, a: from, b: to, ...(!across && { side: part > 0.4 ? 1 : -1 }) };
	});
	return { w: across ? end : wide, h: across ? wide : end, rows: across ? 1 : columns.length, down: !across, nodes: boxes, edges: lines, frames: [] };
}
