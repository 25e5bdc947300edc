// Beside the graph: the code, and a card for one node that is looked at.

import { KEEP, button, h, small } from "./tools.js";
import { figure, figures } from "./numbers.js";

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
		if (top < el.scrollTop + 4 || top + 24 > el.scrollTop + size) el.scrollTop = Math.max(0, top - (size < 60 ? 8 : size / 3));
	}
	return { el, paint, mark: (i) => light(i, "chosen") };
}

/** A card with what is known of one node now, in the place of the equation; it does not move the time. options: close, closed(i)
 * whether its box stands for several, open, live() whether a kernel answers, around(n) asks it for another part of a long pass. */
export function makeCard(S, options, on) {
	const { nodes, edges, steps, val } = S, inside = h("div");
	const shut = button(on, options.close, "×", { class: "mg-close", "aria-label": "Close (Esc)" });
	const el = h("div.mg-card", { role: "group", "aria-label": "One box", hidden: true }, shut, inside);
	let who = null;
	/** What a node is, in words, and the lines of the user's code that it stands in. */
	function about(n) {
		const kind = !n.rg ? n.cut ? `cut off by ${n.cut}` : "data: it needs no gradient" : n.leaf ? "a leaf: an input that needs a gradient" : `made by ${n.symbol || n.op}`;
		const uses = [...new Set(edges.filter(([a]) => a === n.id).map(([, b]) => nodes[b].src).filter(Boolean))].slice(0, 2);
		const line = n.src ? small(n.line && `${n.line}: `, h("code", n.src)) : uses.length ? small("used in ", uses.flatMap((use, i) => [i ? " and in " : "", h("code", use)])) : "";
		return [small(kind), line];
	}
	function paint(st) {
		if (who == null) return;
		const n = nodes[who], grad = val(st.grad[who]), saved = new Map();
		for (const k of S.byNode[who]) for (const [, label, v] of steps[k].saved || []) if (val(v) != null) saved.set(label || "a number", val(v));
		const held = [...saved].slice(0, 4).map(([label, v]) => figure(v, label, { small: "saved for its rule" }));
		inside.replaceChildren(h("p.mg-name", n.expr && n.expr !== n.name ? `${n.name} = ${n.expr}` : n.name), ...about(n),
			figures([figure(S.isMade(st, who) ? val(n.val) : null, "value", { empty: S.isMade(st, who) ? n.missing || "not saved" : "not yet" }),
				n.rg ? figure(grad, st.stored[who] ? `${n.name}.grad` : "gradient so far", { empty: "none yet" }) : "", ...held]));
		if (options.closed(who)) inside.append(button(on, options.open, "open the box"));
		const around = S.byNode[who].map((k) => steps[k].around).find(Boolean);
		if (around && options.live()) inside.append(small(steps[S.byNode[who][0]].note), button(on, () => options.around(around), "show them"));
	}
	return {
		el, paint,
		get who() { return who; },
		show(i, st) {
			who = i;
			if (i != null && el.hidden) el.style.minHeight = el.parentElement.offsetHeight + "px";
			el.hidden = i == null;
			paint(st);
			if (i != null) options.say([...inside.querySelectorAll(".mg-name, .mg-small")].map((e) => e.textContent).join(", "));
		},
	};
}
