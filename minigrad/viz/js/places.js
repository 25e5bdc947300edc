// Where the boxes of a small graph go: inputs on the left, each box one column right of what it is made from; and once more
// from top to bottom, for a narrow screen.

const LEAST = 111, SIGN = 7, EDGE = 16, BEND = 22;

/** Two drawings of a graph, the narrow one first; one where both are equally wide. */
export function layOut({ nodes, edges }) {
	const layer = nodes.map(() => 0), columns = [], rank = [], high = nodes.some((n) => n.shape.length) ? 88 : 64;
	edges.forEach(([a, b]) => { layer[b] = Math.max(layer[b], layer[a] + 1); });  // edges come in the order of their users
	nodes.forEach((_, k) => {
		const users = edges.filter(([a]) => a === k).map(([, b]) => layer[b]);
		if (users.length && !edges.some(([, b]) => b === k)) layer[k] = Math.min(...users) - 1;
	});
	// Where a line passes a column it gets a place, as a box does, so that it does not run through one.
	const ways = edges.map(([a, b]) => {
		const way = [a];
		for (let c = layer[a] + 1; c < layer[b]; c++) way.push(layer.push(c) - 1);
		return [...way, b];
	});
	layer.forEach((c, v) => { (columns[c] ||= []).push(v); });
	const slot = (v, other) => edges.findIndex(([a, b]) => a === v && edges.some(([c, d]) => c === other && d === b));
	for (const column of columns) {
		const wish = [];
		column.forEach((v, i) => {
			const from = ways.filter((way) => way.indexOf(v) > 0).map((way) => rank[way[way.indexOf(v) - 1]]);
			wish[v] = from.length ? from.reduce((p, q) => p + q) / from.length : i;
		});
		column.sort((p, q) => slot(p, q) - slot(q, p) || wish[p] - wish[q]);  // operands of one node keep their order
		column.forEach((v, i) => { rank[v] = i - (column.length - 1) / 2; });
	}
	const width = nodes.map(({ name, leaf, symbol, shape }) => {
		const letters = 1.15 * name.length + Math.min(9, leaf ? 4 : symbol.length) + 1;
		return Math.min(200, Math.max(LEAST, Math.round(SIGN * Math.max(letters, shape.length && 13) + 20)));
	});
	const both = [false, true].map((across) => drawn({ edges, ways, columns, width, high }, across));
	return both[0].w < both[1].w ? both : [both[1]];
}

/** One drawing: `across` the page, or down it. */
function drawn({ edges, ways, columns, width, high }, across) {
	const isBox = (v) => v < width.length, room = (v) => (!isBox(v) ? BEND : across ? high + 30 : width[v] + 24);
	const wide = (column) => column.reduce((sum, v) => sum + room(v), 0), most = Math.max(...columns.map(wide)), boxes = {}, middle = [];
	const gap = across ? 78 : 56, turn = (spot) => (across ? spot : [spot[1], spot[0]]);
	let along = EDGE;
	for (const column of columns) {
		const thick = across ? Math.max(...column.map((v) => width[v] || 0)) : high;
		let side = EDGE + (most - wide(column)) / 2;
		for (const v of column) {
			const mid = side + room(v) / 2;
			const [long, short] = turn([width[v], high]);
			if (isBox(v)) boxes[v] = [...turn([along + (thick - long) / 2, mid - short / 2]), width[v], high];
			middle[v] = [[along, mid], [along + thick, mid]];
			side += room(v);
		}
		along += thick + gap;
	}
	const lines = edges.map(([a, b], j) => {
		const into = edges.filter((e) => e[1] === b), nth = into.indexOf(edges[j]), part = (nth + 1) / (into.length + 1), [x, y, w] = boxes[a], [u, v, t] = boxes[b];
		const port = (nth - (into.length - 1) / 2) * Math.min(37, (high - 16) / (into.length - 1));  // the labels of two lines do not touch
		const from = across ? [x + w, y + high / 2] : [x + w / 2, y + high], to = across ? [u, v + high / 2 + port] : [u + t * part, v];
		let d = `M${from.join(" ")}`, at = turn(from);
		for (const [next, after] of [...ways[j].slice(1, -1).map((v) => middle[v]), [turn(to)]]) {
			const half = (at[0] + next[0]) / 2;
			d += `C${[[half, at[1]], [half, next[1]], next].flatMap(turn).join(" ")}` + (after ? `L${turn(after).join(" ")}` : "");
			at = after || next;
		}
		return { d, a: from, b: to, side: across ? 0 : part > 0.4 ? 1 : -1 };
	});
	const [w, h] = turn([along - gap + EDGE, 2 * EDGE + most]);
	return { w, h, rows: across ? 1 : columns.length, down: !across, nodes: boxes, edges: lines, frames: [] };
}
