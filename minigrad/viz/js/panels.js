// The reading place: the sentence, the equation with its numbers, the ledger.

import { KEEP, at, bracket, brief, count, cutText, fmt, h, rowsIn, s, scalar, shapeOf, single, small } from "./tools.js";
import { figure, figures, indexOf, strongest, thumb } from "./numbers.js";
import { legend } from "./help.js";

const sign = (t) => h("span.mg-sign", t);

/** options: mute(what) whether an answer is hidden, turns() where a loop is. */
export function makePanels(S, options, on) {
	const { nodes, steps, val, name } = S;
	const words = h("p.mg-words", { "aria-hidden": "true" });  // a screen reader gets the same from the live region beside it
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
		else if (step.kind === "seed") parts.push(figures([figure(val(step.up), `gradient of ${name(S.root)}`, { mark: "now" })]));
		else if (step.kind === "leaf") stored(step, parts);
		else if (step.kind === "send") (f.name === "collect" ? collected : product)(st, parts);
		math.replaceChildren(...parts);
		const jac = math.querySelector("[data-part=jac]");
		if (jac?.offsetLeft < jac?.previousSibling.offsetLeft) jac.remove();  // no space beside the equation
	}

	function made({ f }, parts) {
		const n = nodes[f.node], move = S.forward[f.i], row = [];
		if (!move.parts.length) row.push(figure(val(n.val), n.name, { mark: "now" }));
		else {
			const infix = move.parts.length === 2 && /^([-+*/@]|\*\*)$/.test(n.symbol);
			if (!infix) row.push(sign(n.symbol || "ƒ"));
			move.parts.forEach(([label, v, number], i) => {
				if (i) row.push(sign(infix ? { "*": "·" }[n.symbol] || n.symbol : ","));
				row.push(number === undefined ? figure(val(v), label, { empty: "not saved" }) : figure(number, ""));
			});
			row.push(sign("="), figure(val(n.val), n.name, { mark: "now" }));
		}
		parts.push(figures(row), h("p", h("code", move.line || "")));
	}

	function stored(step, parts) {
		const label = `${name(step.node)}.grad`;
		parts.push(figures([step.before != null && [figure(val(step.before), `${label} before`), sign("+"),
			figure(val(step.up), "gradient of this pass"), sign("=")], figure(val(step.after), label, { mark: "now" })]));
	}

	function collected({ step, f }, parts) {
		const target = cutText(name(step.parent), 24), now = figure(val(step.contrib), `contribution from ${cutText(name(f.node), 20)}`);
		const after = figure(val(step.after), `gradient of ${target}`, { small: `${step.arrived[0]} of ${step.arrived[1]} contributions`, mark: "now" });
		const first = step.how === "slot" || step.before == null;
		parts.push(figures(first ? [now, sign("→"), after]
			: [figure(val(step.before), "accumulated before"), sign("+"), now, sign(step.lost ? "≠" : "="), after]));
		if (!first && !step.lost) parts.push(small(`${target} changes ${cutText(name(S.root), 24)} on each path, and the changes add up.`));
	}

	/** Upstream gradient, local derivative, contribution: the numbers appear beat by beat in places that stay. */
	function product({ step, f }, parts) {
		const g = val(step.up), raw = val(step.raw), local = val(step.local), summed = step.axes.length > 0;
		const rule = S.reached(f, "rule") && !options.mute("rule"), answer = S.reached(f, "product"), sum = S.reached(f, "sum");
		const mine = `contribution to ${cutText(name(step.parent), 24)}`, now = (beat) => (f.name === beat ? "now" : "");
		const row = h("div.mg-figures"), code = h("code"), made = [];  // signs, and what figures are made from
		const add = (v, caption, o) => made.push([v, caption, o]);
		if (step.how === "matmul") {
			step.terms.forEach(([term, flip], i) => {
				const [, label, v] = term === "g" ? [0, "upstream gradient", g] : saved(step, term);
				if (i) made.push("@");
				add(v, (label || term) + (flip ? "ᵀ" : ""), { flip, hollow: !rule && term !== "g", part: i ? "right" : "left" });
			});
		} else {
			add(g, "upstream gradient", { part: "all" });
			if (local != null && step.how === "elementwise" || step.how === "copy" && scalar(raw)) {
				made.push("×");
				add(local ?? 1, "local derivative", { hollow: !rule, blocked: rule && local, small: rule && step.partial, part: "all" });
			} else if (step.how === "other" || step.how === "function") {
				for (const [, label, v] of step.saved) if (label && !scalar(val(v))) add(val(v), label, { hollow: !rule });
			}
		}
		made.push(made.length > 1 ? "=" : "→");
		const blocked = answer && (step.how === "scatter" || step.how === "elementwise") && local;
		add(raw, summed ? "result of the rule" : mine, { hollow: !answer, blocked, blank: step.how === "scatter", braces: step.axes, mark: now("product"), part: "result" });
		if (summed) {
			made.push("→");
			add(val(step.contrib), mine, { small: `sum over axis ${step.axes.join(", ")}`, hollow: !sum, mark: now("sum"), part: "sum" });
		}
		const light = (where) => {
			figures(made.map((m) => (typeof m === "string" ? sign(m) : figure(m[0], m[1], { ...m[2], ...(where && lit(step, m[2].part, where)) }))), row);
			code.textContent = where && step.how !== "spread" ? cellText(step, where, sum && summed) : rule ? numbersOf(step, answer) : "";
		};
		const marked = answer && !scalar(raw) ? cell || strongest(raw) : null;
		light(marked);
		cells = marked && { raw, light, where: marked };
		on(row, "mousemove", (e) => {
			const at = cells && e.target.dataset?.at;
			if (at && at !== String(cells.where) && e.target.closest("[data-part=result]")) light(cells.where = at.split(",").map(Number));
		});
		parts.push(row, h("p.mg-line", code));
		if (!rule) return;
		if (step.note) parts.push(small(step.note));
		const jac = val(step.jac);
		if (jac && !answer && jac.r <= 4 && jac.c <= 6) row.append(figure(jac, "full Jacobian", { small: "a row for each output", part: "jac" }));
		if (step.check && answer) parts.push(comparison(step));
	}
	const saved = (step, term) => { const [a, b, v] = step.saved.find(([a]) => a === term); return [a, b, val(v)]; };

	/** What a hovered cell of the result lights up in each figure. */
	function lit(step, part, [r, c]) {
		if (part === "result") return { on: [r, c], col: step.axes.includes(0) ? c : null };
		if (step.how === "matmul") return part === "left" ? { row: r } : { col: c };
		return part === "all" && step.how === "elementwise" ? { on: [r, c] } : {};
	}

	/** The rule, and with its numbers: a gets g · b = 0.5 · (-3) = -1.5. */
	function numbersOf(step, answer) {
		const result = fmt(val(step.raw)), said = [`${cutText(name(step.parent), 24)} gets ${step.rule}`];
		if (step.sub && step.sub !== result) said.push(step.sub);
		if (answer && scalar(val(step.raw))) said.push(result);
		return said.join(" = ");
	}

	function cellText(step, [r, c], summed) {
		const g = val(step.up), raw = val(step.raw), x = at(raw, r, c), cellOf = (v, place) => `cell [${indexOf(v, place).join(", ")}]: `;
		const total = (list, x) => list.slice(0, 6).join(" + ") + (list.length > 6 ? " + …" : "") + ` = ${fmt(x)}`;
		if (x === undefined) return "";
		if (summed && raw.s.length === 2) {  // the numbers that are added up for one cell of the contribution
			const down = step.axes.includes(0), across = step.axes.includes(1), to = val(step.contrib);
			const list = raw.d.filter((_, i) => (down || Math.floor(i / raw.c) === r) && (across || i % raw.c === c)).map(bracket);
			const place = [down ? 0 : r, across ? 0 : c];
			return raw.d.length < count(raw) ? "" : (scalar(to) ? "" : cellOf(to, place)) + total(list, at(to, ...place));
		}
		const head = cellOf(raw, [r, c]);
		if (step.how === "matmul") {
			const [A, B] = step.terms.map(([term, flip]) => ({ flip, v: term === "g" ? g : saved(step, term)[2] }));
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
			return head + total(parts, x);
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
			fine ? "" : c.verdict, c.yours != null && figures(rows.map(([label, v]) => figure(val(v), label))));
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
		const { step } = st;
		if (!step) { ledger.replaceChildren(); return; }
		const who = step.kind === "send" || step.kind === "skip" ? step.parent : step.node, n = nodes[who];
		if (!n.rg) { ledger.replaceChildren(h("p.mg-name", `${cutText(n.name, 30)} needs no gradient`)); return; }
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
		if (st.stored[who]) row(`${cutText(n.name, 22)}.grad`, val(st.grad[who]), "sum" + (step.node === who ? " now" : ""), n.old == null ? ` (was ${n.empty || "None"})` : "");
		const arrived = who === S.root ? "" : got > expected ? `${got} of ${total} arrived, some twice` : `${got} of ${total} arrived`;
		ledger.replaceChildren(h("p.mg-name", title, arrived && h("span", arrived)), h("table", h("tbody", rows)));
	}
	/** A value in a row: its digits, or a thumbnail and the size. */
	function shown(v) {
		if (v == null) return "";
		if (single(v) !== undefined) return h("code", fmt(single(v)));
		const list = brief(v, 30);
		if (list.startsWith("[")) return h("code", list);
		const map = s("svg", { class: "mg-thumb", width: 38, height: 22, "aria-hidden": "true" });
		map.innerHTML = thumb(v, 1, 1, 36, 20);
		return h("span.mg-brief", map, h("code", `${shapeOf(v)}, size ${fmt(v.norm)}`));
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
