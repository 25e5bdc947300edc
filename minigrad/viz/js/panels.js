// The reading place: the sentence, the equation with its numbers, the ledger; the code beside the graph; one node looked at.

import { KEEP, at, bracket, brief, count, cutText, fmt, h, rowsIn, scalar, shapeOf, single } from "./tools.js";
import { figure, heat, indexOf, strongest, thumb } from "./numbers.js";

const small = (...content) => h("p.mg-small", ...content);
const sign = (t) => h("span.mg-sign", t);

/** options: mute(what) whether an answer is hidden, turns() where a loop is. */
export function makePanels(S, options, on) {
	const { nodes, edges, steps, val, name } = S;
	const words = h("p.mg-words");
	const math = h("section.mg-math", { "aria-label": "The step in numbers", tabindex: 0, role: "group", ...KEEP });
	const ledger = h("section.mg-ledger", { "aria-label": "Contributions so far", tabindex: 0, role: "group", ...KEEP });
	const queue = h("p.mg-queue");
	let cell = null, cells = null;

	// ---- the equation
	function paintMath(st) {
		const { f, step } = st;
		cells = null;
		const parts = [];
		if (f.phase === "look") parts.push(legend(S));
		else if (f.phase === "forward") made(st, parts);
		else if (step.kind === "seed") parts.push(h("div.mg-figures", figure(val(step.up), `gradient of ${name(S.root)}`, { mark: "now" })));
		else if (step.kind === "leaf") stored(step, parts);
		else if (step.kind === "send") (f.name === "collect" ? collected : product)(st, parts);
		math.replaceChildren(...parts);
	}

	/** The forward pass: what goes in, what comes out. */
	function made({ f }, parts) {
		const n = nodes[f.node], move = S.forward[f.i], row = h("div.mg-figures");
		if (!move.parts.length) row.append(figure(val(n.val), n.name, { mark: "now" }));
		else {
			const infix = move.parts.length === 2 && /^([-+*/@]|\*\*)$/.test(n.symbol);
			if (!infix) row.append(sign(n.symbol || "ƒ"));
			move.parts.forEach(([label, v, number], i) => {
				if (i) row.append(sign(infix ? { "*": "·" }[n.symbol] || n.symbol : ","));
				row.append(number === undefined ? figure(val(v), label, { empty: "not saved" }) : figure(number, ""));
			});
			row.append(sign("="), figure(val(n.val), n.name, { mark: "now" }));
		}
		parts.push(row, h("p", h("code", move.line || "")));
	}

	function stored(step, parts) {
		const label = `${name(step.node)}.grad`;
		parts.push(h("div.mg-figures", step.before != null && [figure(val(step.before), `${label} before`), sign("+"),
			figure(val(step.up), "gradient of this pass"), sign("=")], figure(val(step.after), label, { mark: "now" })));
	}

	/** The sum at an input: what was there, what comes now. */
	function collected({ step, f }, parts) {
		const target = cutText(name(step.parent), 24), now = figure(val(step.contrib), `contribution from ${cutText(name(f.node), 20)}`);
		const after = figure(val(step.after), `gradient of ${target}`, { small: `${step.arrived[0]} of ${step.arrived[1]} contributions`, mark: "now" });
		const first = step.how === "slot" || step.before == null;
		parts.push(h("div.mg-figures", first ? [now, sign("→"), after]
			: [figure(val(step.before), "accumulated before"), sign("+"), now, sign(step.lost ? "≠" : "="), after]));
	}

	/** Upstream gradient, local derivative, contribution: the numbers appear beat by beat in places that stay. */
	function product(st, parts) {
		const { step, f } = st, g = val(step.up), raw = val(step.raw), local = val(step.local);
		const target = cutText(name(step.parent), 24), seen = (what) => S.reached(f, what);
		const kept = step.saved.map(([a, b, v]) => [a, b, val(v)]), row = h("div.mg-figures"), line = h("p.mg-line", h("code"));
		const rule = seen("rule") && !options.mute("rule"), answer = seen("product"), marked = answer && !scalar(raw) ? cell || strongest(raw) : null;
		const made = [];  // figures that a hovered cell lights up
		const add = (v, caption, o = {}, part = "") => made.push([v, caption, o, part]);
		const holes = step.how === "scatter" || step.how === "elementwise" ? local : null;
		if (step.how === "matmul") {
			step.terms.forEach(([term, flip], i) => {
				const [, label, v] = term === "g" ? [0, "upstream gradient", g] : kept.find(([a]) => a === term);
				if (i) made.push("@");
				add(v, (label || term) + (flip ? "ᵀ" : ""), { flip, hollow: !rule && term !== "g" }, i ? "right" : "left");
			});
		} else {
			add(g, "upstream gradient", {}, "all");
			if (local != null && step.how === "elementwise" || step.how === "copy" && scalar(raw)) {
				made.push("×");
				add(local ?? 1, "local derivative", { hollow: !rule, blocked: rule && local, small: rule ? step.partial : "" }, "all");
			} else if (step.how === "other" || step.how === "function") for (const [a, b, v] of kept) if (!scalar(v)) add(v, b || a, { hollow: !rule });
		}
		made.push(made.length > 1 ? "=" : "→");
		add(raw, step.axes.length ? "result of the rule" : `contribution to ${target}`,
			{ hollow: !answer, blocked: answer && holes, blank: step.how === "scatter", braces: step.axes, mark: f.name === "product" ? "now" : "" }, "result");
		if (step.axes.length) {
			made.push("→");
			add(val(step.contrib), `contribution to ${target}`, { small: `sum over axis ${step.axes.join(", ")}`, hollow: !seen("sum"), mark: f.name === "sum" ? "now" : "" }, "sum");
		}
		const light = (where) => {
			row.replaceChildren(...made.map((m) => (typeof m === "string" ? sign(m) : figure(m[0], m[1], { ...m[2], ...(where && lit(step, m[3], where)) }))));
			line.firstChild.textContent = where ? cellText(step, where) : !rule ? "" : numbersOf(step, answer, [g, raw, ...kept.map(([, , v]) => v)].every(scalar));
		};
		light(marked);
		cells = answer && !scalar(raw) ? { raw, light, where: marked } : null;
		on(row, "mousemove", (e) => {
			const where = cells && e.target.dataset?.at && e.target.closest("figure") === row.lastElementChild && e.target.dataset.at.split(",").map(Number);
			const result = cells && e.target.dataset?.at && [...row.children].filter((c) => c.tagName === "FIGURE");
			const index = result && made.filter((m) => typeof m !== "string").findIndex((m) => m[3] === "result");
			if (result && (result[index]?.contains(e.target) || where && !step.axes.length)) {
				const next = e.target.dataset.at.split(",").map(Number);
				if (String(next) !== String(cells.where)) light(cells.where = next);
			}
		});
		parts.push(row, line);
		if (rule) {
			const notes = [step.note].filter(Boolean);
			if (notes.length) parts.push(small(notes.join(". ").replaceAll("..", ".")));
			if (step.jac != null && !answer && val(step.jac).r <= 4 && val(step.jac).c <= 6) row.append(sign(" "), figure(val(step.jac), "full Jacobian", { small: "a row for each output" }));
			if (step.check?.verdict && answer) parts.push(comparison(step));
		}
	}

	/** What a hovered cell of the result lights up in each figure. */
	function lit(step, part, [r, c]) {
		if (part === "result") return { on: [r, c], col: step.axes.length ? c : null };
		if (step.how === "matmul") return part === "left" ? { row: r } : { col: c };
		return part === "all" && step.how === "elementwise" ? { on: [r, c] } : {};
	}

	/** The rule, and with its numbers: a gets g · b = 0.5 · (-3) = -1.5. */
	function numbersOf(step, answer, scalars) {
		const head = `${cutText(name(step.parent), 24)} gets ${step.rule}`;
		if (!scalars) return head;
		const sub = step.rule === "g" || step.sub === fmt(val(step.raw)) ? "" : step.sub && step.sub !== step.rule ? " = " + step.sub : "";
		return answer ? `${head}${sub} = ${fmt(val(step.raw))}` : head + sub;
	}

	/** The arithmetic of one cell of a contribution. */
	function cellText(step, [r, c]) {
		const g = val(step.up), raw = val(step.raw), x = at(raw, r, c);
		if (x === undefined) return "";
		const head = `cell [${indexOf(raw, [r, c]).join(", ")}]: `;
		const total = (list) => head + list.slice(0, 6).join(" + ") + (list.length > 6 ? " + …" : "") + ` = ${fmt(x)}`;
		if (step.how === "matmul") {
			const [A, B] = step.terms.map(([term, flip]) => ({ flip, v: term === "g" ? g : val(step.saved.find(([a]) => a === term)[2]) }));
			if ([A, B].some(({ v }) => scalar(v) || v.s.length < 2)) return "";
			const folded = raw.s.length === 2;  // the tables of a batch stand one under another
			const rows = raw.s.at(-2), batch = Math.floor(r / rows), i = r % rows;
			const get = ({ v, flip }, a, b) => {
				const [m, n] = flip ? [b, a] : [a, b];
				return at(v, (!folded && v.s.length > 2 ? batch * v.s.at(-2) : 0) + m, n);
			};
			const inner = !A.flip ? A.v.s.at(-1) : folded ? rowsIn(A.v) : A.v.s.at(-2), parts = [];
			for (let q = 0; q < Math.min(inner, 7); q++) {
				const a = get(A, i, q), b = get(B, q, c);
				if (a === undefined || b === undefined) break;
				parts.push(`${bracket(a)}·${bracket(b)}`);
			}
			if (parts.length < inner && parts.length < 7) parts.push("…");
			return total(parts);
		}
		if (step.how === "elementwise") {
			const local = val(step.local), a = at(g, r, c), b = local == null ? undefined : at(local, r, c);
			if (a !== undefined && b !== undefined) return `${head}${bracket(a)}·${bracket(b)} = ${fmt(x)}`;
		}
		return head + fmt(x);
	}

	function comparison(step) {
		const c = step.check, fine = c.verdict === "agrees";
		const rows = [["yours", c.yours], ["reference", step.contrib], ["numeric", c.numeric]].filter(([, v]) => v != null);
		return h("div", { class: "mg-check" + (fine ? " fine" : "") }, h("b", fine ? "Your rule agrees here." : "Yours differs here. "),
			fine ? "" : c.verdict, c.yours != null && h("div.mg-figures", rows.map(([label, v]) => figure(val(v), label))));
	}

	/** The next cell of the contribution, by the keyboard. */
	function nextCell() {
		if (!cells) return "";
		const [r, c] = cells.where, i = (r * cells.raw.c + c + 1) % cells.raw.d.length;
		cell = cells.where = [Math.floor(i / cells.raw.c), i % cells.raw.c];
		cells.light(cell);
		return math.querySelector(".mg-line").textContent;
	}

	// ---- the ledger: who sent what, and what it adds up to
	function paintLedger(st) {
		const { f, step } = st;
		if (!step) { ledger.replaceChildren(); return; }
		const who = step.kind === "send" || step.kind === "skip" ? step.parent : step.node, n = nodes[who];
		if (!n.rg) { ledger.replaceChildren(h("h4", `${cutText(n.name, 30)} needs no gradient`)); return; }
		const expected = S.expected[who], got = st.got[who], total = options.mute("count") ? "?" : expected;
		const title = `Gradient of ${cutText(n.name, 30)}`;
		const rows = [], row = (label, v, style, extra) => rows.push(h("tr", { class: style }, h("th", { scope: "row" }, label, extra), h("td", shown(v))));
		const list = S.arrivals[who].slice(0, got), skipped = Math.max(0, list.length - 5);
		const last = list.at(-1), now = (j) => j === st.k && step.kind === "send";
		if (who === S.root) row("the start of the pass", val(steps[0].up), st.k === 0 ? "now" : "");
		else if (!list.length) rows.push(h("tr", h("td", { colspan: 2 }, "nothing has arrived yet")));
		if (skipped) row(`${skipped} earlier`, val(steps[list[skipped - 1]].after));
		list.slice(skipped).forEach((j) => row((steps[j].how === "slot" ? steps[j].note + " " : "") + "from " + cutText(name(steps[j].node), 22), val(steps[j].contrib), now(j) ? "now" : ""));
		if (list.length > 1 && steps[list[0]].how !== "slot")
			row(list.some((j) => steps[j].lost) ? "≠ what is stored" : got < expected ? "sum so far" : got > expected ? "sum, too large" : "sum, complete", val(steps[last].after), "sum");
		if (n.hook != null && got >= expected) row("a hook makes it", val(n.hook), "sum");
		if (n.leaf && n.old != null) row(h("span.mg-old", `${n.name}.grad before, never cleared`), val(n.old));
		if (st.stored[who]) row(`${cutText(n.name, 22)}.grad`, val(st.grad[who]), "sum" + (step.node === who ? " now" : ""), n.old == null ? `(was ${n.empty || "None"})` : "");
		const arrived = who === S.root ? "" : got > expected ? `${got} of ${total} arrived, some twice` : `${got} of ${total} arrived`;
		ledger.replaceChildren(h("h4", title, arrived && h("span", arrived)), h("table.mg-table", h("tbody", rows)));
	}
	/** A value in a row: its digits, or a thumbnail and the norm. */
	function shown(v) {
		if (v == null) return "";
		if (single(v) !== undefined) return h("code", fmt(single(v)));
		const list = brief(v, 30);
		if (list.startsWith("[")) return h("code", list);
		const map = document.createElementNS("http://www.w3.org/2000/svg", "svg");
		for (const [k, x] of Object.entries({ class: "mg-thumb", width: 38, height: 22, "aria-hidden": "true" })) map.setAttribute(k, x);
		map.innerHTML = thumb(v, 1, 1, 36, 20);
		return h("span.mg-brief", map, h("code", `${shapeOf(v)} |${fmt(v.norm)}|`));
	}

	function paintQueue(st) {
		if (st.k < 0) { queue.replaceChildren(); return; }
		const are = (what) => [...nodes.keys()].filter((i) => S.status(st, i) === what).sort((a, b) => S.byNode[a][0] - S.byNode[b][0]);
		const some = (list, text) => options.mute("next") ? "?" : list.slice(0, 4).map(text).join(", ") + (list.length > 4 ? ` and ${list.length - 4} more` : "") || "none";
		const part = (label, text) => h("span", h("b", label + ": "), text);
		const short = (i) => cutText(name(i), 22), ready = are("ready"), waiting = are("waiting");
		queue.replaceChildren(part("Current", short(st.f.node)), part("Ready", some(ready, short)),
			part("Waiting", some(waiting, (i) => `${short(i)} (${st.got[i]} of ${S.expected[i]})`)), ...(options.turns() ? [part("Loop", options.turns())] : []));
	}

	function sentence(st) {
		const end = st.p === S.frames.length - 1 ? ` The pass is done. ${leafSummary()}` : "";
		return st.f.text + end;
	}
	function leafSummary() {
		const done = steps.filter((x) => x.kind === "leaf").map((x) => `${name(x.node)}.grad: ${brief(val(x.after))}`);
		return done.slice(0, 6).join("; ") + (done.length > 6 ? "; …" : done.length ? "." : "No leaf needed a gradient.");
	}

	function paint(st) {
		cell = null;
		words.textContent = sentence(st);
		paintMath(st);
		paintLedger(st);
		paintQueue(st);
	}
	return { words, math, ledger, queue, paint, sentence, nextCell };
}

// ---- the code beside the graph
/** The student's lines; the expression of the current node is lit, and a click on an expression chooses its box. */
export function makeCode(S, pick, on) {
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
		if (span && all.length) pick(all.includes(now) ? now : all.at(-1));
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
	return { el, paint, mark: (i) => light(i, "chosen"),
		settle() { if (el.scrollHeight > el.clientHeight + 1 || el.scrollWidth > el.clientWidth + 1) el.tabIndex = 0; else el.removeAttribute("tabindex"); } };
}

// ---- one node looked at
/** A card with what is known of one node now; it does not move the time. options: close, live() whether a kernel answers,
 * around(n) asks it for another part of a long pass. */
export function makeCard(S, options, on) {
	const { nodes, steps, val } = S, el = h("div.mg-card", { role: "dialog", "aria-label": "One tensor", hidden: true, tabindex: -1, ...KEEP });
	let who = null;
	function paint(st) {
		if (who == null) return;
		const n = nodes[who], grad = val(st.grad[who]), shut = h("button.mg-close", { type: "button", "aria-label": "Close (Esc)", ...KEEP }, "×");
		on(shut, "click", options.close);
		const kept = new Map();
		for (const k of S.byNode[who]) for (const [, label, v] of steps[k].saved || []) if (val(v) != null) kept.set(label || "a number", val(v));
		const kind = !n.rg ? n.cut ? `cut off by ${n.cut}` : "data: it needs no gradient" : n.leaf ? "a leaf" : `made by ${n.symbol || n.op}`;
		const held = [...kept].slice(0, 4).map(([label, v]) => figure(v, label));
		el.replaceChildren(shut, h("h4", n.expr && n.expr !== n.name ? `${n.name} = ${n.expr}` : n.name), small(kind, n.line && `, ${n.line}`),
			n.src ? small(h("code", n.src)) : "", h("div.mg-figures", figure(S.isMade(st, who) ? val(n.val) : null, "value", { empty: S.isMade(st, who) ? "not saved" : "not yet" }),
				n.rg ? figure(grad, st.stored[who] ? `${n.name}.grad` : "gradient so far", { empty: "none yet" }) : ""),
			held.length ? small(h("b", "Saved for its rule")) : "", held.length ? h("div.mg-figures", held) : "");
		const around = S.byNode[who].map((k) => steps[k].around).find(Boolean);
		if (around && options.live()) {
			const b = h("button", { type: "button", ...KEEP }, "show them");
			on(b, "click", () => options.around(around));
			el.append(small(steps[S.byNode[who][0]].note), b);
		}
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

// ---- legend, keys, transcript
/** The signs that occur in this graph. */
export function legend(S) {
	const { nodes, data } = S, fan = S.expected.some((n) => n > 1), rows = [];
	const row = (sample, text) => rows.push(h("li", h("span." + sample[0], { "aria-hidden": "true" }, sample[1] || ""), h("span", text)));
	if (S.forward.length) row(["mg-key current", "6"], "the forward pass computes the values, from the inputs on");
	row(["mg-key current", "current"], "its gradient is complete: it sends a contribution to each of its inputs");
	row(["mg-key ready", "ready"], "complete, and current soon");
	if (fan) row(["mg-key waiting", "waiting: 1 of 2"], "used twice, so two contributions come back; one has arrived");
	row(["mg-key local", "× -3"], "local derivative: how much the result changes when this input changes");
	row(["mg-key sent", "6"], "contribution: upstream gradient × local derivative, sent back along the edge");
	if (nodes.some((n) => !n.rg && !n.cut)) row(["mg-key plain", "data"], "plain data: it needs no gradient");
	if (nodes.some((n) => n.cut)) row(["mg-key cut", "✂"], "the graph was cut here: nothing is sent further");
	if (data.vals.some((v) => !scalar(v) && count(v) > 1)) row(["mg-key scale"], "blue: negative, white: 0, orange: positive; |2.1| is the norm");
	return h("ul.mg-legend", rows);
}

export function help(S) {
	const keys = `→ ←|one step on, back|Shift + → ←|one node on, back|Home End|first, last|Space|play, pause|1 to 4, Enter|answer, go on|N|next
		tensor with several contributions|C|next cell of the contribution|F|fit the graph|+ −|zoom|T|transcript|↑ ↓|from control to control, from box
		to box|Tab|graph, controls, numbers|Esc|close, leave to the notebook|?|this help`.split("|");
	const row = (k, i) => (i % 2 ? "" : h("tr", h("th", { scope: "row" }, k), h("td", keys[i + 1])));
	return [h("h4", "Signs"), legend(S), h("table", h("caption", "Keys"), h("tbody", keys.map(row)))];
}

const HEAD = ["step", "from", "to", "rule", "in words"];
export function rowsOf(S, math) {
	const { steps, name } = S;
	const ahead = S.forward.map((move) => ["forward", name(move.node), "", move.line || "", move.text]);
	return ahead.concat(steps.map((x, k) => [k, name(x.node), x.parent != null ? name(x.parent) : x.kind === "leaf" ? name(x.node) + ".grad" : "",
		math && x.latex ? `$${x.latex}$` : x.rule || x.kind, x.text.join(" ")]));
}
export function transcript(S, heading) {
	return h("table", h("caption", heading + ", all steps"), h("thead", h("tr", HEAD.map((t) => h("th", { scope: "col" }, t)))),
		h("tbody", rowsOf(S).map((r) => h("tr", r.map((t) => h("td", String(t)))))));
}
export const markdown = (S) => [HEAD, HEAD.map(() => "---"), ...rowsOf(S, true)]
	.map((r) => "| " + r.map((t) => String(t).replaceAll("|", "\\|")).join(" | ") + " |").join("\n") + "\n";
