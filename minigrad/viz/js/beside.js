// Beside the graph: the code, and a card for one node that is looked at.

import { KEEP, button, h, small } from "./tools.js";
import { figure } from "./numbers.js";

/** The student's lines; the expression of the current node is lit, and a click on an expression chooses its box. */
export function makeCode(S, select, on) {
	const { code, nodes } = S.data, el = h("div.mg-code", { role: "group", "aria-label": "Code", ...KEEP });
	const spans = new Map();  // place in the code -> element
	if (!code?.length) return { el: null, paint() {}, mark() {} };
	const key = (n) => n.span && n.span.join();
	code.forEach((block, b) => {
		const places = [...new Map(nodes.filter((n) => n.span?.[0] === b).map((n) => [key(n), n.span])).values()];
		if (block.title) el.append(h("div.mg-where", block.title));
		const pre = h("pre");
		block.lines.forEach(([number, text], l) => {
			pre.append(h("span.mg-number", { "aria-hidden": "true" }, number ? String(number).padStart(3) : "  ⋯"), written(text, l, places), "\n");
		});
		el.append(pre);
	});

	/** One line with an element for each expression, the longer around the shorter. */
	function written(text, l, places) {
		const here = places.filter(([, a, , b]) => a <= l && l <= b).map((p) => ({ p, from: p[1] === l ? p[2] : 0, to: p[3] === l ? p[4] : text.length }))
			.filter(({ from, to }) => to > from).sort((x, y) => x.from - y.from || y.to - x.to);
		const line = h("span.mg-row"), stack = [[line, Infinity]];
		let done = 0;
		const upTo = (to) => { if (to > done) stack.at(-1)[0].append(text.slice(done, to)); done = Math.max(done, to); };
		for (const { p, from, to } of here) {
			while (stack.at(-1)[1] <= from) { upTo(stack.at(-1)[1]); stack.pop(); }
			if (to > stack.at(-1)[1]) continue;  // crosses its neighbour: cannot be lit on its own
			upTo(from);
			const span = h("span", { "data-span": p.join() });
			spans.set(p.join(), [...(spans.get(p.join()) || []), span]);
			stack.at(-1)[0].append(span);
			stack.push([span, to]);
		}
		while (stack.length > 1) { upTo(stack.at(-1)[1]); stack.pop(); }
		upTo(text.length);
		return line;
	}

	on(el, "click", (e) => {
		const span = e.target.closest("[data-span]")?.dataset.span;
		const all = [...nodes.keys()].filter((i) => key(nodes[i]) === span);
		if (span && all.length) select(all.includes(now) ? now : all.at(-1));
	});
	let now = null;
	const light = (i, style) => {
		el.querySelectorAll("." + style).forEach((e) => e.classList.remove(style));
		const list = i == null ? [] : spans.get(key(nodes[i])) || [];
		list.forEach((e) => e.classList.add(style));
		return list[0];
	};
	function paint(st) {
		now = st.f.node;
		const first = light(st.f.phase === "look" ? null : now, "lit");
		if (!first) return;
		const top = first.offsetTop, size = el.clientHeight;
		if (top < el.scrollTop + 4 || top + 24 > el.scrollTop + size) el.scrollTop = Math.max(0, top - size / 3);
	}
	return { el, paint, mark: (i) => light(i, "chosen") };
}

/** A card with what is known of one node now; it does not move the time. options: close, closed(i) whether its box stands for
 * several, open, live() whether a kernel answers, around(n) asks it for another part of a long pass. */
export function makeCard(S, options, on) {
	const { nodes, steps, val } = S, el = h("div.mg-card", { role: "dialog", "aria-label": "One tensor", hidden: true, tabindex: -1, ...KEEP });
	let who = null;
	function paint(st) {
		if (who == null) return;
		const n = nodes[who], grad = val(st.grad[who]), shut = button(on, options.close, "×", { class: "mg-close", "aria-label": "Close (Esc)" });
		const saved = new Map();
		for (const k of S.byNode[who]) for (const [, label, v] of steps[k].saved || []) if (val(v) != null) saved.set(label || "a number", val(v));
		const kind = !n.rg ? n.cut ? `cut off by ${n.cut}` : "data: it needs no gradient" : n.leaf ? "a leaf" : `made by ${n.symbol || n.op}`;
		const held = [...saved].slice(0, 4).map(([label, v]) => figure(v, label));
		el.replaceChildren(shut, h("h4", n.expr && n.expr !== n.name ? `${n.name} = ${n.expr}` : n.name), small(kind, n.line && `, ${n.line}`),
			n.src ? small(h("code", n.src)) : "", h("div.mg-figures", figure(S.isMade(st, who) ? val(n.val) : null, "value", { empty: S.isMade(st, who) ? "not saved" : "not yet" }),
				n.rg ? figure(grad, st.stored[who] ? `${n.name}.grad` : "gradient so far", { empty: "none yet" }) : ""),
			held.length ? small(h("b", "Saved for its rule")) : "", held.length ? h("div.mg-figures", held) : "");
		if (options.closed(who)) el.append(button(on, options.open, "open the box"));
		const around = S.byNode[who].map((k) => steps[k].around).find(Boolean);
		if (around && options.live()) el.append(small(steps[S.byNode[who][0]].note), button(on, () => options.around(around), "show them"));
	}
	return {
		el, paint,
		get who() { return who; },
		show(i, st) {
			who = i;
			el.hidden = i == null;
			paint(st);
		},
	};
}
