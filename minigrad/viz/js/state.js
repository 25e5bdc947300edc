// What is true at each position of the walk. No element of the page is touched here: a position goes in, facts come out,
// so that going back, jumping and stepping cannot differ.

import { bad, fmt, normOf, single } from "./tools.js";

/** The beats of one contribution, in order; a move may leave some out. */
const ORDER = ["focus", "rule", "product", "sum", "collect"];

export function makeState(data) {
	const { nodes, edges, steps, vals, root } = data;
	const val = (i) => (i == null ? null : vals[i]);
	const name = (i) => nodes[i].name;
	const forward = data.forward || [];

	// ---- the time line: one frame for each press of a key
	const touch = matchMedia("(hover: none) and (pointer: coarse)").matches;
	const look = touch ? data.look.replace(/(Click here and p|P)ress →/, "Tap the button to the right of Play") : data.look;
	const frames = [{ phase: "look", node: root, text: look, k: -1 }];
	forward.forEach((move, i) => frames.push({ phase: "forward", node: move.node, text: move.text, k: -1, i }));
	steps.forEach((step, k) => step.text.forEach((text, beat) =>
		frames.push({ phase: step.kind === "seed" ? "seed" : "backward", node: step.node, text, k, beat, name: step.beats[beat] })));
	const startOf = steps.map((_, k) => frames.findIndex((f) => f.k === k));
	const madeAt = new Map(forward.map((move, i) => [move.node, i]));

	// ---- the graph, looked up from both ends
	const incoming = new Map(edges.map(([, b, slot], i) => [b + ":" + slot, i]));
	const moveOf = edges.map(() => null);  // the move that walks an edge
	const byNode = nodes.map(() => []);  // the moves in which a node is current
	const arrivals = nodes.map(() => []);  // the moves that bring a contribution to a node
	steps.forEach((step, k) => {
		byNode[step.node].push(k);
		if (step.kind !== "send" && step.kind !== "skip") return;
		const edge = incoming.get(step.node + ":" + step.slot);
		if (edge !== undefined) moveOf[edge] = k;
		if (step.kind === "send") arrivals[step.parent].push(k);
	});
	const expected = arrivals.map((list) => (list.length ? steps[list[0]].arrived[1] : 0));
	const firstBad = steps.findIndex((x) => x.kind === "send" && bad(val(x.contrib)));
	const frozen = steps.findIndex((x) => !["agrees", "", undefined].includes(x.check?.verdict));

	/** Whether a frame shows a part of its move already: the rule, the product, the sum. */
	const reached = (f, what) => ORDER.indexOf(f.name) >= ORDER.indexOf(what);

	/** Whether a frame is the first that shows a contribution. */
	const sends = (f) => steps[f.k]?.kind === "send" && steps[f.k].beats.findIndex((name) => reached({ name }, "product")) === f.beat;

	function stateAt(p) {
		const f = frames[p], step = f.k < 0 ? null : steps[f.k];
		const got = nodes.map(() => 0), grad = nodes.map(() => null), left = byNode.map((list) => list.length);
		const spent = new Set(), stored = nodes.map(() => false);
		if (step) grad[root] = steps[0].up;
		for (let i = 0; i <= f.k; i++) {
			const move = steps[i];
			if (i < f.k) left[move.node]--;
			if (move.kind === "send" && (i < f.k || reached(f, "collect"))) {
				got[move.parent]++;
				if (move.how !== "slot") grad[move.parent] = move.after;
			} else if (move.kind === "leaf") {
				grad[move.node] = move.after;
				stored[move.node] = true;
			}
			if (move.kind === "send" && (i < f.k || reached(f, "product"))) spent.add(incoming.get(move.node + ":" + move.slot));
		}
		return { p, f, step, k: f.k, got, grad, left, spent, stored };
	}

	/** In plain words: no gradient, made later, idle, waiting, ready, current, done. */
	function status(st, i) {
		if (!nodes[i].rg) return "plain";
		if (st.f.phase === "forward" || st.f.phase === "look") {
			if (st.f.phase === "forward" && st.f.node === i) return "current";
			return forward.length && madeAt.has(i) && !isMade(st, i) ? "later" : "idle";
		}
		if (i === st.step.node) return "current";
		if (byNode[i].length && st.left[i] === 0) return "done";
		if (i === root ? st.k > 0 : st.got[i] && st.got[i] >= expected[i]) return "ready";
		return st.got[i] ? "waiting" : "idle";
	}

	/** Whether the forward pass has computed a node at this position. */
	function isMade(st, i) {
		if (!madeAt.has(i) || st.k >= 0) return true;
		return st.f.phase === "forward" && madeAt.get(i) <= st.f.i;
	}

	const localText = (j) => steps[moveOf[j]]?.edge || "";
	/** What travelled back along an edge: a number, of tensors their size. */
	function sentText(j) {
		const step = steps[moveOf[j]], v = step && val(step.contrib);
		return v == null ? "" : single(v) !== undefined ? fmt(single(v)) : normOf(v);
	}

	/** How large a contribution is, from 0 to 1 of the largest of the pass, and whether it is one negative number. */
	const sizeOf = (v) => Math.abs(single(v) ?? v?.norm ?? 0) || 0;
	const largest = Math.max(1e-300, ...steps.map((x) => sizeOf(val(x.contrib))).filter(Number.isFinite));
	function weightOf(j) {
		const v = val(steps[moveOf[j]]?.contrib);
		return v == null ? [0, false] : [Math.min(1, Math.sqrt(sizeOf(v) / largest)), single(v) < 0];
	}

	return {
		weightOf, data, nodes, edges, steps, root, frames, forward, startOf, incoming, moveOf, byNode, arrivals, expected, firstBad, frozen,
		val, name, reached, sends, stateAt, status, isMade, localText, sentText,
	};
}

/** Where whole nodes end, for stepping by nodes: all that a node sends is one step, and what the pass starts with belongs to the
 * node that is computed last. `together(a, b)` is true for two nodes that are one step. */
export function nodeEnds(frames, together) {
	const one = (a, b) => together(a.node, b.node) && (a.phase === b.phase || a.phase === "seed" || (b.phase === "seed" && a.phase === "forward"));
	return frames.flatMap((f, q) => (frames[q + 1] && one(f, frames[q + 1]) ? [] : [q]));
}
