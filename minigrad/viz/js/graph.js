// The picture of the graph: boxes with values and gradients, edges with local derivatives and what travelled back.

import { KEEP, bad, between, brief, cutText, fmt, h, normOf, reachable, s, single, sizes } from "./tools.js";
import { thumb } from "./numbers.js";

const SMALLEST = 10 / 12;  // the smallest text of a drawing has 12 px: it is never shown below 10
const TALLEST = { wide: 355, narrow: 360 };
const LETTER = 7, BOLD = 8;  // pixels of a letter in the widest of the usual fonts

/** options: select(id) when a box is chosen, look(edge) when an edge is looked at and look(null) after it, mute(what) whether an
 * answer is hidden, asks(id) whether it is a choice. */
export function makeGraph(S, options, on) {
	const { nodes, edges, data } = S;
	const views = data.layout.views;
	let view = data.layout.start, drawing, parts, lines, zoom = 1, chosen = null, byHand = false, here = null, svg;
	const el = h("div.mg-graph", { role: "group", "aria-label": "Graph", ...KEEP });
	const shown = (i) => views[view].rep?.[i] ?? i;

	// ---- drawing: once for each view and width
	function draw() {
		parts = new Map();
		const { line: which, stacked, turn, turns, groups = {} } = views[view];
		svg = s("svg", { viewBox: `0 0 ${drawing.w} ${drawing.h}`, role: "group",
			"aria-label": `Graph of ${nodes.length} boxes; up and down arrows move between boxes and edges, Enter opens a box` });
		const tip = ([x, y], dx, dy) => (drawing.down ? `M${x} ${y}l${-dy} ${dx}h${2 * dy}z` : `M${x} ${y}l${dx} ${-dy}v${2 * dy}z`);
		lines = drawing.edges.map((e, i) => {
			const mine = [...edges.keys()].filter((j) => (which?.[j] ?? j) === i);
			const plain = mine.every((j) => !nodes[edges[j][0]].rg), cut = plain && mine.some((j) => nodes[edges[j][0]].cut);
			const [x, y] = e.b;
			const label = (name, dy) => s("text", { class: name, x: x + 9 * (e.side || -1), y: y + dy - (drawing.down ? 32 : 0), "text-anchor": e.side > 0 ? "start" : "end", "aria-hidden": "true" });  // the line says it
			const walked = mine.some((j) => S.moveOf[j] != null), g = s("g", walked ? { role: "img", tabindex: -1, ...KEEP } : {});
			const line = { mine, plain, cut, walked, g, local: label("local", -5), sent: label("sent", 14), wire: s("path", { class: "wire", d: e.d }) };
			if (walked) {  // under the pointer or the keyboard it shows its contribution
				line.g.append(s("path", { class: "hold", d: e.d }));
				for (const name of ["mouseenter", "focus"]) on(line.g, name, () => options.look(line.now ?? mine[0]));
				for (const name of ["mouseleave", "blur"]) on(line.g, name, () => options.look(null));
			}
			line.g.append(line.wire, s("path", { class: "tip", d: tip(e.b, -7, 4) }), s("path", { class: "back", d: tip(e.a, 13, 7) }));
			if (cut) line.g.append(s("path", { class: "scissors", transform: `translate(${(e.a[0] + e.b[0]) / 2} ${(e.a[1] + e.b[1]) / 2})`,
				d: "M8-6L-4 3M8 6L-4-3M-10 4.5a3 3 0 1 0 6 0a3 3 0 1 0-6 0m0-9a3 3 0 1 0 6 0a3 3 0 1 0-6 0" }));
			svg.append(line.g);
			return line;
		});
		for (const line of lines) svg.append(line.local, line.sent);  // above all lines, below the boxes
		for (const [x, y, w, hh, label] of drawing.frames || [])
			svg.prepend(s("rect", { class: "frame", x, y, width: w, height: hh, rx: 9 }), s("text", { class: "label", x: x + 8, y: y + 13 }, label));
		for (const [id, place] of Object.entries(drawing.nodes)) parts.set(+id, box(+id, place, stacked?.includes(+id) && turns[turn[id][0]], groups[id]));
		el.replaceChildren(svg);
		scale();
	}

	/** A rounded box; plain data are a sheet with a folded corner. */
	function outline(n, w, hh) {
		return n.rg ? s("rect", { class: "box", width: w, height: hh, rx: 7 })
			: s("path", { class: "box", d: `M0 0H${w - 12}L${w} 12V${hh}H0Z M${w - 12} 0V12H${w}` });
	}

	function box(id, [x, y, w, hh], many, group) {
		const n = nodes[id];
		const g = s("g", { transform: `translate(${x} ${y})`, "data-node": id, role: "button", tabindex: -1, ...KEEP });
		for (const d of many || group ? [6, 3] : []) g.append(s("rect", { class: "box behind", x: d, y: d, width: w, height: hh, rx: 7 }));
		const text = (name, tx, ty, end) => s("text", { class: name, x: tx, y: ty, ...(end && { "text-anchor": "end" }) });
		const part = { id, g, w, hh, many, group, member: id, name: text("name", 10, 19), tag: text("tag", w - (n.rg ? 9 : 16), 19, true),
			body: s("g"), pill: s("g", { class: "pill" }) };
		g.append(outline(n, w, hh), part.body, part.name, part.tag, part.pill);
		on(g, "click", () => { focusBox(id, true); options.select(part.member); });
		on(g, "keydown", (e) => {
			if (e.key !== "Enter" && e.key !== " ") return;
			e.preventDefault();
			e.stopPropagation();
			options.select(part.member);
		});
		svg.append(g);
		return part;
	}

	// ---- fitting: the drawing that shows the whole graph in readable size
	/** How well a drawing fits a width: what would have to be scrolled costs most, then rows, height and small text. */
	function fitting(d, W) {
		const H = W < 480 ? TALLEST.narrow : TALLEST.wide, room = +getComputedStyle(el).getPropertyValue("--room") || H;  // a page may give less
		const at = between(SMALLEST, Math.min(W / d.w, Math.min(H, room) / d.h), 1);
		const cost = Math.max(0, d.w * at - W) * 20 + Math.max(0, d.h * at - H) * 2 + d.h * at * 0.5 + (1 - at) * 150 + d.rows * 60;
		return { d, at, cost, height: Math.min(d.h * at, H) };
	}
	const best = (W) => views[view].drawings.map((d) => fitting(d, W)).reduce((a, b) => (b.cost < a.cost ? b : a));

	function choose() {
		const W = el.clientWidth - 2;
		if (W < 40) return;  // not laid out yet
		const { d, at } = best(W);
		if (!byHand) zoom = at;
		el.style.height = Math.min(Math.ceil(d.h * at) + 8, (W < 480 ? TALLEST.narrow : TALLEST.wide) + 60) + "px";
		if (d !== drawing) {
			drawing = d;
			draw();
		} else scale();
	}
	function scale() {
		svg.setAttribute("width", (drawing.w * zoom).toFixed(1));
		svg.setAttribute("height", (drawing.h * zoom).toFixed(1));
		reachable(el);
	}
	function keepInView(id) {
		const b = drawing.nodes[shown(id)];
		if (!b) return;
		const [x, y, w, hh] = b.map((v) => v * zoom);
		const inside = (from, to, start, size) => Math.max(0, Math.min(from, Math.max(start, to - size)));
		const left = inside(x - 24, x + w + 24, el.scrollLeft, el.clientWidth), top = inside(y - 14, y + hh + 10, el.scrollTop, el.clientHeight);
		if (Math.abs(left - el.scrollLeft) + Math.abs(top - el.scrollTop) > 1) el.scrollTo(left, top);  // slow
	}

	// ---- painting: what a position changes
	/** Which node each folded box stands for: the turn of its loop that the walk is in.
	 * @returns {[Map<number, number>, number[]]} */
	function membersOnShow(st) {
		const { rep, turn, turns } = views[view], now = [...turns], map = new Map();
		const see = (i) => { if (turn[i]) now[turn[i][0]] = turn[i][1]; };
		if (st.k >= 0) for (let i = 0; i <= st.k; i++) see(S.steps[i].node);
		else S.forward.slice(0, (st.f.i ?? -1) + 1).forEach((move) => see(move.node));
		nodes.forEach((_, i) => { if (!turn[i] || now[turn[i][0]] === turn[i][1]) map.set(rep[i], i); });
		return [map, now];
	}

	function paint(st) {
		const { f, step } = st;
		const sending = step?.kind === "send", to = sending ? step.parent : -1;
		/** @type {[Map<number, number> | null, number[]]} */
		const [members, now] = views[view].rep ? membersOnShow(st) : [null, []];
		here = { st, members, turns: now.map((turn, i) => `turn ${turn} of ${views[view].turns[i]}`).join(", ") };
		for (const [id, part] of parts) {
			const i = members ? members.get(id) ?? id : id, n = nodes[i], inside = (q) => part.group?.members.includes(q);
			const what = inside(f.node) && f.phase !== "look" ? "current" : S.status(st, i);
			const grad = S.val(st.grad[i]), value = S.isMade(st, i) ? S.val(n.val) : undefined;
			const fresh = grad != null && (step?.kind === "leaf" ? step.node === i : to === i && S.reached(f, "collect"));
			const aim = (to === i || inside(to) && !inside(f.node)) && S.reached(f, "rule") && !fresh;
			const total = i === S.root ? 0 : options.mute("count") ? "?" : S.expected[i];
			const broken = value != null && bad(value) || grad != null && bad(grad);
			const pill = aim ? "receives" + (total > 1 ? ` ${st.got[i] + 1} of ${total}` : "")
				: what === "waiting" ? `waiting: ${st.got[i]} of ${total}` : !options.mute("next") && ["current", "ready"].includes(what) ? what : "";
			const style = [what, fresh && "got", aim && "target", broken && "broken", n.leaf && "leaf", chosen === i && "chosen",
				options.asks(i) && "asked"].filter(Boolean).join(" ");
			const key = [i, style, pill, st.grad[i], st.stored[i], value === undefined].join();
			if (key === part.was) continue;
			Object.assign(part, { was: key, member: i });
			fill(part, n, { value, grad, style, pill, what, stored: st.stored[i], fresh });
		}
		const edge = sending ? S.incoming.get(step.node + ":" + step.slot) : -1;
		for (const line of lines) {
			const group = views[view].groups?.[shown(edges[line.mine[0]][1])];
			const mine = members && !group ? line.mine.filter((j) => members.get(shown(edges[j][1])) === edges[j][1]) : line.mine;
			const flowing = line.mine.includes(edge) && S.reached(f, "rule"), spent = mine.some((j) => st.spent.has(j));
			const what = line.cut ? "cutline" : line.plain ? "plainline" : flowing ? "flowing" : spent ? "spent" : "";
			const j = mine[0], hidden = line.plain || group || j === undefined || options.mute("local") && !spent || !S.isMade(st, edges[j][1]);
			const local = hidden ? "" : S.localText(j), sent = spent && !line.plain ? S.sentText(mine.findLast((q) => st.spent.has(q))) : "";
			const [weight, negative] = sent ? S.weightOf(mine.findLast((q) => st.spent.has(q))) : [0, false];
			const key = [j, what, local, sent].join("|");
			if (key === line.was) continue;
			Object.assign(line, { was: key, now: j });
			const [to, from] = edges[j ?? line.mine[0]].slice(0, 2).map(S.name);
			line.g.setAttribute("aria-label", [`${from} to ${to}`, local && `local derivative ${local}`, sent && `contribution ${sent}`].filter(Boolean).join(", "));
			line.g.setAttribute("class", what + (negative ? " minus" : ""));
			line.g.style.setProperty("--thick", (1.5 + 3.5 * weight).toFixed(1));
			line.local.textContent = local;
			line.local.setAttribute("class", "local " + what);
			line.sent.textContent = sent;
			line.sent.setAttribute("class", "sent " + what + (negative ? " minus" : ""));
		}
	}
	/** Scrolls what the position is about into view: apart from painting, for it has to wait for the layout. */
	function follow({ f, step }) {
		const pair = step?.kind === "send" && S.reached(f, "rule") ? [step.parent, f.node] : [f.node];
		for (const i of S.reached(f, "collect") ? pair.reverse() : pair) keepInView(i);
	}

	function fill(part, n, { value, grad, style, pill, what, stored, fresh }) {
		const { w, hh } = part, tall = hh > 70;
		part.g.setAttribute("class", style);
		const group = part.group, named = group?.label || n.name, size = group?.members.length;
		const tag = group ? `${size} nodes` : part.many ? `× ${part.many}` : !n.rg ? n.cut || "data" : n.leaf ? "leaf" : n.symbol === n.name.split(" (")[0] ? "" : n.symbol;
		part.tag.textContent = cutText(tag, 9);
		part.name.textContent = cutText(named, Math.max(3, Math.floor((w - (n.rg ? 24 : 32) - Math.min(9, tag.length) * LETTER) / BOLD)));
		const out = [];
		const put = (style, x, y, text, end) => out.push(`<text class="${style}" x="${x}" y="${y}"${end ? ' text-anchor="end"' : ""}>${text}</text>`);
		const row = (label, v, y, empty, style) => {
			const known = v != null, one = known ? single(v) : empty, list = known ? brief(v, Math.floor((w - 20) / LETTER)) : "", middle = tall ? y + 18 : y;
			if (one !== undefined) {
				const text = fmt(one), tight = (label.length + text.length + 1) * LETTER > w - 20;  // one below the other, or the number alone
				if ((known || empty.length < 3) && (tall || !tight)) put("label", 10, tight ? y + 10 : middle, label);
				put((known ? "num " : "label ") + style, w - 10, tight && tall ? y + 25 : middle, text, true);
			} else if (list[0] === "[") {
				put("label", 10, y + 10, label);
				put("num " + style, 10, y + 24, list);
			} else {
				out.push(thumb(v, 10, y + 1, 30, 25));
				const [word, norm] = normOf(v).split(" ");
				put(style || "num", 44, y + 11, style ? label : sizes(v.s));
				put("label " + style, 44, y + 24, word);
				put("num " + style, 72, y + 24, norm);
			}
		};
		row("value", value, tall ? 24 : 37, value === undefined ? "?" : "not saved", "");
		if (fresh) out.push(`<rect class="fresh" x="5" y="${tall ? 54 : 43}" width="${w - 10}" height="${tall ? 29 : 16}" rx="3"/>`);
		if (n.rg) row(stored ? ".grad" : "grad", grad, 55, "", "grad");
		part.body.innerHTML = out.join("");
		const wide = pill.length * 6.4 + 14;
		part.pill.replaceChildren(...(pill ? [s("rect", { x: 7, y: -14, width: wide, height: 17, rx: 8.5 }),
			s("text", { x: 7 + wide / 2, y: -1, "text-anchor": "middle" }, pill)] : []));
		part.g.setAttribute("aria-label", [named, n.expr && n.expr !== n.name ? "= " + n.expr : "", !n.rg ? "needs no gradient" : n.leaf ? "leaf" : "",
			value != null ? "value " + brief(value) : "", grad != null ? "gradient " + brief(grad) : "", pill || (what === "done" ? "done" : "")]
			.filter(Boolean).join(", "));
	}

	/** The product travels once along its edge, from the current node back to the input. */
	function travel(st) {
		const edge = S.incoming.get(st.step.node + ":" + st.step.slot);
		const line = lines.find((l) => l.mine.includes(edge));
		if (!line || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
		const text = S.sentText(edge), wide = text.length * 7 + 12, whole = line.wire.getTotalLength();
		const token = s("g", { class: "token", "aria-hidden": "true" }, s("rect", { x: -wide / 2, y: -10, width: wide, height: 20, rx: 10 }),
			s("text", { y: 4, "text-anchor": "middle" }, text));
		svg.append(token);
		const began = performance.now();
		const move = (now) => {
			const t = Math.min(1, (now - began) / 300), at = line.wire.getPointAtLength(whole * (1 - t));
			token.setAttribute("transform", `translate(${at.x} ${at.y})`);
			if (t < 1 && token.isConnected) requestAnimationFrame(move);
			else token.remove();
		};
		move(began);
	}

	// ---- the keyboard inside the graph: one stop for Tab, up and down from box to box
	function rove(by) {
		const all = [...parts.values(), ...lines.filter((line) => line.walked)].map(({ g }) => g), now = all.indexOf(document.activeElement);
		const next = all[(now + by + all.length) % all.length];
		if (next.dataset.node) focusBox(+next.dataset.node, true);
		next.focus({ preventScroll: true });
	}
	function focusBox(id, silent) {
		for (const [other, part] of parts) part.g.setAttribute("tabindex", other === id ? 0 : -1);
		if (!silent) parts.get(id)?.g.focus({ preventScroll: true });
	}
	function mark(i) {
		chosen = i;
		if (here) paint(here.st);
	}

	drawing = views[view].drawings.reduce((a, b) => (Math.abs(b.w - 700) < Math.abs(a.w - 700) ? b : a));
	draw();
	focusBox(shown(S.root), true);
	return {
		el, paint, follow, travel, choose, rove, mark,
		get svg() { return svg; },
		get turns() { return here?.turns || ""; },
		get folded() { return view !== "full"; },
		get parts() { return parts; },
		holds: (e) => svg.contains(e),
		/** Whether one box stands for both nodes: a step by nodes takes it whole. */
		together: (a, b) => a === b || !!views[view].groups?.[shown(a)] && shown(a) === shown(b),
		best,
		/** Whether the box of a node stands for several and can be opened. */
		closed: (i) => view !== "full" && !!views.full && (views[view].groups?.[shown(i)] || views[view].stacked.includes(shown(i))),
		zoomBy(by) {
			zoom = between(0.4, zoom * by, 3);
			byHand = true;
			scale();
		},
		fit() { byHand = false; choose(); },
		show(other) {
			view = other;
			drawing = null;
			choose();
			if (!drawing) { drawing = views[view].drawings[0]; draw(); }
			focusBox(shown(S.root), true);
		},
	};
}
