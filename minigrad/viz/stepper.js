// The ledger stepper: walks through a recorded backward pass, one beat at a time.
//
// render({ model, el, signal }) serves three hosts: a live notebook (anywidget), a frame in a saved notebook, and a
// page of its own. The model holds one JSON value, `data`: the recording, its layout and questions.
// What is on screen is a pure function of a position in `frames`.

const SVG = "http://www.w3.org/2000/svg";
const BEATS = { 4: ["focus", "rule", "product", "collect"], 5: ["focus", "rule", "product", "sum", "collect"] };
const ICONS = {
	first: "M2 2h2v10H2zM12 2v10L5 7z", back: "M10 2v10L3 7z", next: "M4 2v10l7-5z", last: "M2 2v10l7-5zM10 2h2v10h-2z",
	play: "M3 1v12l10-6z", pause: "M3 2h3v10H3zM8 2h3v10H8z",
};

// ---- small tools
/** An element, `"p.small"` one of that class. */
function h(tag, attrs, ...children) {
	if (attrs?.constructor !== Object) return h(tag, {}, attrs, ...children);
	const [type, name] = tag.split("."), e = document.createElement(type);
	if (name) e.className = name;
	for (const [k, v] of Object.entries(attrs)) {
		if (v !== false && v != null) e.setAttribute(k, v === true ? "" : v);
	}
	e.append(...children.filter((c) => c || c === 0));
	return e;
}

function s(tag, attrs = {}, text) {
	const e = document.createElementNS(SVG, tag);
	for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
	if (text != null) e.textContent = text;
	return e;
}

/** JupyterLab's cell commands leave alone what carries this. */
const KEEP = { "data-lm-suppress-shortcuts": "true" };
const escape = (t) => String(t).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

/** A number's text, as minigrad/numerals.py writes it. */
function fmt(x) {
	if (typeof x !== "number") return String(x);
	const a = Math.abs(x);
	if (!a || (a >= 1e-4 && a < 1e6)) return String(x);
	return x.toExponential(3).replace(/\.?0*e\+?/, "e");
}

const scalar = (v) => v === null || typeof v !== "object";
const sizes = (s) => (s.length == 1 ? `(${s},)` : s.join("×"));
const shapeOf = (v) => (scalar(v) ? "one number" : sizes(v.s));
const cutText = (t, n) => (t.length > n ? t.slice(0, n - 1) + "…" : t);

/** One value in so many letters: a number, a short list, else the shape. */
function brief(v, room = 24) {
	if (v == null) return "";
	if (scalar(v)) return fmt(v);
	const list = v.s.length === 1 && v.d.length === v.s[0] ? "[" + v.d.map(fmt).join(", ") + "]" : "";
	return list && list.length <= room ? list : shapeOf(v);
}

const rowsIn = (v) => v.s.slice(0, -1).reduce((a, b) => a * b, 1);

/** The number at a row and column, stretched as broadcasting does; undefined if it is not in the sample. */
function at(v, row, col) {
	if (scalar(v)) return v;
	const r = rowsIn(v) === 1 ? 0 : row;
	const c = v.s.at(-1) === 1 ? 0 : col;
	return r < v.r && c < v.c ? v.d[r * v.c + c] : undefined;
}

// ---- heat maps
/** The largest size in values. */
const topOf = (...values) => Math.max(0, ...values.map((v) => (!v ? 0 : scalar(v) ? Math.abs(v) || 0 : +v.top || 0)));

/** Blue for negative, white for zero, orange for positive. */
function tint(x, top) {
	if (typeof x !== "number") return "#ffd0d6";
	const t = top ? Math.min(1, Math.abs(x) / top) : 0;
	const [r, g, b] = x < 0 ? [122, 178, 224] : [250, 166, 92];
	const mix = (c) => Math.round(255 + (c - 255) * t);
	return `rgb(${mix(r)},${mix(g)},${mix(b)})`;
}

/** A table as a picture. Options: top (shared scale), on (marked cell), flip, blocked, braces. */
function heat(v, o = {}) {
	const flip = o.flip && v.s.length > 1;
	const R = flip ? v.c : v.r, C = flip ? v.r : v.c;
	const value = (r, c) => (flip ? v.d[c * v.c + r] : v.d[r * v.c + c]);
	const digits = R <= 6 && C <= 6;
	const widest = digits ? Math.max(...v.d.map((x) => fmt(x).length), 2) : 0;
	const w = digits ? Math.max(28, widest * 7 + 8) : Math.max(7, Math.min(18, 170 / C));
	const hgt = digits ? 22 : Math.max(7, Math.min(18, 130 / R));
	const pad = 2;
	/** Where a row begins: batches stand a little apart. */
	const line = (r) => pad + r * hgt + (flip || v.s.length < 3 ? 0 : 4 * Math.floor(r / v.s.at(-2)));
	const cells = [];
	for (let r = 0; r < R; r++) {
		for (let c = 0; c < C; c++) {
			const x = value(r, c), X = pad + c * w, Y = line(r);
			const off = o.blocked && at(o.blocked, flip ? c : r, flip ? r : c) === 0;
			cells.push(`<rect class="cell" data-at="${flip ? [c, r] : [r, c]}" x="${X}" y="${Y}" width="${w}" height="${hgt}" ` +
				`fill="${off ? "#fff" : tint(x, o.top ?? topOf(v))}"/>`);
			if (off) cells.push(`<path class="no" d="M${X} ${Y + hgt}L${X + w} ${Y}M${X} ${Y + hgt / 2}l${w / 2} ${-hgt / 2}M${X + w / 2} ${Y + hgt}l${w / 2} ${-hgt / 2}"/>`);
			if (digits && !(off && o.blank))
				cells.push(`<text x="${X + w / 2}" y="${Y + hgt / 2 + 4}" text-anchor="middle" pointer-events="none">${fmt(x)}</text>`);
		}
	}
	if (o.on) {
		const [r, c] = flip ? [o.on[1], o.on[0]] : o.on;
		if (r < R && c < C) cells.push(`<rect class="on" fill="none" x="${pad + c * w}" y="${line(r)}" width="${w}" height="${hgt}"/>`);
	}
	let W = C * w + 2 * pad, H = line(R - 1) + hgt + pad;
	if (o.braces?.includes(v.s.length - 1)) {
		cells.push(`<path class="brace" d="M${pad + 2} ${H + 1}v5H${W - pad - 2}v-5"/>`);
		H += 12;
	}
	if (o.braces?.some((a) => a < v.s.length - 1)) {
		cells.push(`<path class="brace" d="M${W + 1} ${pad + 2}h5V${line(R - 1) + hgt - 2}h-5"/>`);
		W += 12;
	}
	const svg = s("svg", { class: "mg-heat", width: W.toFixed(1), height: H.toFixed(1), "aria-hidden": "true" });
	svg.innerHTML = cells.join("");
	return svg;
}

/** A value and caption: a number or heat map. */
function figure(v, caption, o = {}) {
	const total = scalar(v) ? 1 : v.s.reduce((a, b) => a * b, 1);
	const cut = !scalar(v) && v.d.length < total ? `, first ${v.r}×${v.c}` : "";
	const shape = scalar(v) ? "" : ` ${o.flip ? `${v.s.at(-1)}×${rowsIn(v)}` : shapeOf(v)}${cut}`;
	const extra = !scalar(v) && total > 36 ? `, norm ${fmt(v.norm)}` : "";
	const body = scalar(v) ? h("code", fmt(v)) : total === 0 ? h("span", "(no numbers)") : heat(v, o);
	return h("figure", body, h("figcaption", caption + shape + extra));
}

// ---- the stepper
/** Draws it, and draws it anew when the kernel sends another part of a long pass. */
function render({ model, el, signal }) {
	let life = new AbortController();
	signal?.addEventListener("abort", () => life.abort());
	draw({ model, el, signal: life.signal });
	model.on("change:data", () => {
		life.abort();
		life = new AbortController();
		el.replaceChildren();
		model.set("step", model.get("data").at || 0);
		draw({ model, el, signal: life.signal });
	});
}

function draw({ model, el, signal }) {
	const data = model.get("data");
	const { nodes, edges, steps, vals, root } = data;
	const val = (i) => (i == null ? null : vals[i]);
	const frames = steps.flatMap((step, k) => step.text.map((_, beat) => [k, beat]));
	const startOf = steps.map((_, k) => frames.findIndex(([j]) => j === k));
	const byNode = nodes.map(() => []);  // the steps in which a node speaks
	const arrivals = nodes.map(() => []);  // the steps that add to a node's ledger
	steps.forEach((step, k) => {
		byNode[step.node].push(k);
		if (step.kind === "share") arrivals[step.parent].push(k);
	});
	const hides = (what) => asked?.type === what && !asked.done;  // the answer
	const totalOf = (i) => (hides("count") ? "?" : expected[i]);
	const expected = arrivals.map((list) => (list.length ? steps[list[0]].arrived[1] : 0));
	const incoming = new Map(edges.map(([a, b, slot], i) => [b + ":" + slot, i]));
	const firstBad = steps.findIndex((x) => x.kind === "share" && bad(val(x.contrib)));
	const frozen = steps.findIndex((x) => !["agrees", "", undefined].includes(x.check?.verdict));
	const on = (target, name, fn) => target.addEventListener(name, fn, { signal });

	let p = 0, byNodes = false, playing = null, asked = null, cell = null, zoom = 1, follow = true;
	let view = data.layout.start, theme = model.get("theme") || "auto";
	let predict = !!model.get("predict");
	const answers = [...(model.get("answers") || [])];
	const answered = new Set(answers.map((a) => a.at));

	function bad(v) { return scalar(v) ? typeof v === "string" : v.bad > 0; }
	const name = (i) => nodes[i].name;
	const beatsOf = (k) => (steps[k].kind === "share" ? BEATS[steps[k].text.length] : ["collect"]);
	const reached = (k, beat, what) => beat >= beatsOf(k).indexOf(what);

	// ---- the page
	const heading = `Backward pass of ${name(root)}`;
	const press = {
		help: () => toggle("help"), theme: () => { theme = { auto: "light", light: "dark", dark: "auto" }[theme]; paintTheme(); },
		svg: () => save("backward.svg", "image/svg+xml", picture()), html: () => save("backward.html", "text/html", page()),
		md: () => save("backward.md", "text/markdown", markdown()),
		first: () => go(0), back: () => move(-1), play: () => (playing ? pause() : play()), next: () => move(1), last: () => go(frames.length - 1),
		by: () => { byNodes = !byNodes; paint(); }, predict: () => { predict = !predict; if (!predict) dismiss(); paint(); },
		fan: nextFan, zoomout: () => setZoom(zoom / 1.2), zoomin: () => setZoom(zoom * 1.2), fit, words: () => toggle("transcript"),
		fold: () => { view = view === "full" ? "folded" : "full"; drawGraph(); paint(); },
		cuts: () => { graph.classList.toggle("mg-nocuts"); paint(); }, bad: () => go(startOf[firstBad]),
	};
	const knob = {};
	const button = ([id, label, text]) => {
		const b = knob[id] = h("button", { type: "button", "data-id": id, "aria-label": label, title: label, ...KEEP }, text);
		if (ICONS[id]) b.innerHTML = `<svg viewBox="0 0 14 14" aria-hidden="true"><path d="${ICONS[id]}"/></svg>`;
		on(b, "click", press[id]);
		return b;
	};
	const pos = h("span.mg-pos");
	const range = h("input", { type: "range", min: 0, max: frames.length - 1, step: 1, "aria-label": "Position in the backward pass", ...KEEP });
	const bar = h("div.mg-bar", h("span.mg-title", heading), pos, ...[
		["help", "Keys and help (?)", "?"], ["theme", "Theme: auto, light, dark", "theme"], ["svg", "Download the graph as SVG", "svg"],
		["html", "Download as a page", "html"], ["md", "Download the transcript", "md"]].map(button));
	const bar2 = h("div.mg-bar", ...[["first", "First (Home)"], ["back", "Back (left arrow)"], ["play", "Play (Space)"],
		["next", "Forward (right arrow)"], ["last", "Last (End)"]].map(button), range, ...[["by", "Step by whole nodes", "by node"],
		["predict", "Predict before each reveal", "predict"], expected.some((n) => n > 1) && ["fan", "Next fan-in (N)", "next fan-in"],
		["zoomout", "Smaller (-)", "−"], ["zoomin", "Larger (+)", "+"], ["fit", "Fit the graph, or follow (F)", "fit"],
		["words", "Transcript of all steps (T)", "transcript"],
		data.layout.folded && data.layout.full && ["fold", "Fold repeated parts", "fold"],
		nodes.some((n) => !n.rg) && ["cuts", "Show or hide what needs no gradient", "cut edges"],
		firstBad >= 0 && ["bad", "First number not finite", "first nan"]].filter(Boolean).map(button));
	const tools = h("div", { role: "toolbar", "aria-label": "Controls; up and down arrows move between them" }, bar, bar2);

	const graph = h("div.mg-graph", { tabindex: 0, role: "group", "aria-label": "Graph, scrollable", ...KEEP });
	const local = h("section.mg-panel mg-local", { "aria-label": "The step" });
	const ledger = h("section.mg-panel mg-ledger", { tabindex: 0, role: "group", "aria-label": "Ledger", ...KEEP });
	const queue = h("div.mg-queue");
	const words = h("div.mg-words");
	const live = h("div.mg-live", { "aria-live": "polite" });
	const ask = h("div.mg-ask", { role: "group", "aria-label": "Your prediction", hidden: true });
	const more = h("div.mg-more", { hidden: true, tabindex: 0, role: "group", "aria-label": "Help or transcript", ...KEEP });
	const box = h("div.mg", { role: "group", "aria-label": heading + ", stepper" }, tools,
		h("div.mg-main", h("div.mg-left", graph, queue), h("div.mg-side", local, ask, ledger)),
		words, more, live);
	el.append(box);

	// ---- the graph
	let layout, parts, lines, said, turnText = "";
	const shown = (i) => layout.rep?.[i] ?? i;

	function drawGraph() {
		layout = data.layout[view];
		parts = new Map();
		const svg = s("svg", { viewBox: `0 0 ${layout.w} ${layout.h}`, role: "img",
			"aria-label": `Graph of ${nodes.length} tensors; the transcript says it in words` });
		const tip = ([x, y], dx, dy) => `M${x} ${y}l${dx} ${-dy}v${2 * dy}z`;
		lines = layout.edges.map((e, i) => {
			const mine = [...edges.keys()].filter((j) => (layout.line?.[j] ?? j) === i);
			const g = s("g", {}), cut = mine.every((j) => !nodes[edges[j][0]].rg);
			g.append(s("path", { class: "wire", d: e.d }), s("path", { class: "tip", d: tip(e.b, -7, 4) }),
				s("path", { class: "back", d: tip(e.a, 13, 7) }));
			if (cut) g.append(s("path", { class: "scissors", transform: `translate(${(e.a[0] + e.b[0]) / 2} ${(e.a[1] + e.b[1]) / 2})`,
				d: "M8-6L-4 3M8 6L-4-3M-10 4.5a3 3 0 1 0 6 0a3 3 0 1 0-6 0m0-9a3 3 0 1 0 6 0a3 3 0 1 0-6 0" }));
			svg.append(g);
			return { g, mine, cut };
		});
		for (const [id, [x, y, w, hh]] of Object.entries(layout.nodes)) {
			const g = s("g", { transform: `translate(${x} ${y})`, "data-node": id });
			for (const d of layout.stacked?.includes(+id) ? [6, 3, 0] : [0]) g.append(s("rect", { class: "box", x: d, y: d, width: w, height: hh, rx: 7 }));
			let hatch = "";
			for (let q = 12; q < w + hh; q += 12) hatch += `M${Math.min(q, w)} ${Math.max(0, q - w)}L${Math.max(0, q - hh)} ${Math.min(q, hh)}`;
			const t = ["name", "op", "grad"].map((what, i) => s("text", { class: what, x: 10, y: 17 + 16 * i }));
			const mark = s("path", { class: "mark" }), count = s("text", { x: w - 8, y: 17, "text-anchor": "end" });
			g.append(s("path", { class: "hatch", d: hatch }), s("rect", { class: "fresh", x: 6, y: hh - 20, width: w - 12, height: 16, rx: 3 }), ...t, mark, count);
			on(g, "click", () => clickNode(parts.get(+id).member));
			svg.append(g);
			parts.set(+id, { g, t, mark, count, w });
		}
		graph.replaceChildren(svg);
		graph.svg = svg;
		setZoom(zoom);
	}

	function setZoom(z) {
		zoom = Math.min(3, Math.max(.3, z));
		graph.svg.setAttribute("width", layout.w * zoom);
		graph.svg.setAttribute("height", layout.h * zoom);
	}
	function fit() {
		follow = !follow;
		setZoom(follow ? 1 : Math.min(1, (graph.clientWidth - 4) / layout.w));
		paint();
	}
	function keepInView(id) {
		const b = layout.nodes[shown(id)];
		if (!b) return;
		const [x, y, w, hh] = b.map((v) => v * zoom);
		const inside = (from, to, start, size) => Math.max(0, Math.min(from, Math.max(start, to - size)));
		graph.scrollLeft = inside(x - 24, x + w + 24, graph.scrollLeft, graph.clientWidth);
		graph.scrollTop = inside(y - 10, y + hh + 10, graph.scrollTop, graph.clientHeight);
	}

	function stateAt(position) {
		const [k, beat] = frames[position];
		const got = nodes.map(() => 0), grad = nodes.map(() => null), left = byNode.map((list) => list.length);
		const spent = new Set(), stored = nodes.map(() => false);
		grad[root] = steps[0].up;
		for (let i = 0; i <= k; i++) {
			const step = steps[i], full = i < k || reached(i, beat, "collect");
			if (i < k) left[step.node]--;
			if (step.kind === "share") {
				if (full) { got[step.parent]++; if (step.how !== "slot") grad[step.parent] = step.after; spent.add(incoming.get(step.node + ":" + step.slot)); }
			} else if (step.kind === "leaf") { grad[step.node] = step.after; stored[step.node] = true; }
		}
		return { k, beat, got, grad, left, spent, stored, step: steps[k] };
	}
	function status(st, i) {
		if (!nodes[i].rg) return "cut";
		if (i === st.step.node) return "current";
		if (byNode[i].length && st.left[i] === 0) return "done";
		if (i === root ? st.k > 0 : st.got[i] && st.got[i] >= expected[i]) return "ready";
		return st.got[i] ? "waiting" : "idle";
	}
	/** Which node each folded box stands for: the turn of its loop that the walk is in. */
	function membersOnShow(k) {
		const turns = [...layout.turns], map = new Map();
		for (let i = 0; i <= k; i++) if (layout.turn[steps[i].node]) turns[layout.turn[steps[i].node][0]] = layout.turn[steps[i].node][1];
		nodes.forEach((_, i) => { const t = layout.turn[i]; if (!t || turns[t[0]] === t[1]) map.set(layout.rep[i], i); });
		return [map, turns];
	}

	function paintGraph(st) {
		const { step, k, beat } = st;
		const sharing = step.kind === "share";
		const [members, turns] = layout.rep ? membersOnShow(k) : [null, []];
		turnText = turns.map((turn, i) => `turn ${turn} of ${layout.turns[i]}`).join(", ");
		for (const [id, part] of parts) {
			const i = members ? members.get(id) : id, n = nodes[i], what = status(st, i), grad = val(st.grad[i]), value = val(n.val);
			const fresh = grad != null && (step.kind === "leaf" ? step.node === i : sharing && step.parent === i && reached(k, beat, "collect"));
			const total = i === root ? 0 : expected[i];
			const counted = total > 1 && ["idle", "waiting", "ready"].includes(what);
			const broken = value != null && bad(value) || grad != null && bad(grad);
			const style = [what, fresh && "got", sharing && step.parent === i && reached(k, beat, "rule") && "target", broken && "broken",
				asked?.type === "next" && asked.ids.includes(i) && "asked"].filter(Boolean).join(" ");
			const key = [i, style, st.got[i], st.grad[i], totalOf(i)].join();
			if (key === part.was) continue;
			Object.assign(part, { was: key, member: i });
			part.g.setAttribute("class", style);
			const room = Math.floor((part.w - 20) / 7.3), x = part.w - 18;
			const shape = scalar(value) && value != null ? "= " + fmt(value) : sizes(n.shape);
			part.t[0].textContent = cutText(n.name, what === "idle" && !counted ? room : room - 3);
			part.t[1].textContent = cutText([n.symbol, shape].filter(Boolean).join("  "), room);
			part.t[2].textContent = what === "cut" ? "no gradient" : grad == null ? "" : cutText(
				(broken ? "! " : "") + (fresh && step.before != null ? (step.lost ? "" : "+") + "= → " : brief(grad).length > room - 4 && scalar(grad) ? "" : "grad ") + brief(grad, room - 5), room + 2);
			part.count.textContent = counted ? `${st.got[i]}/${totalOf(i)}` : "";
			part.mark.setAttribute("d", what === "done" ? `M${x} 12l4 4l7 -9` :
				what === "current" ? `M${x + 4} 7a4.5 4.5 0 1 0 .1 0zM${x + 4} 10.5a1 1 0 1 0 .1 0z` :
					what === "ready" && !counted ? `M${x} 8h9v8h-9z` : "");
		}
		const now = sharing ? incoming.get(step.node + ":" + step.slot) : -1;
		for (const line of lines) {
			const spent = line.mine.some((j) => st.spent.has(j) && (!members || members.get(shown(edges[j][1])) === edges[j][1]));
			const what = line.cut ? "cutline" : line.mine.includes(now) ? "flowing" : spent ? "spent" : "";
			if (what !== line.was) line.g.setAttribute("class", line.was = what);
		}
		const pair = sharing ? [step.parent, step.node] : [step.node];
		for (const i of sharing && reached(k, beat, "collect") ? pair.reverse() : pair) keepInView(i);
	}

	// ---- the step, with its numbers
	function paintLocal(st) {
		const { step, k, beat } = st, n = nodes[step.node];
		const out = [h("h4", n.name.endsWith("…") ? n.expr : n.name.startsWith(n.expr) ? n.name : `${n.name} = ${n.expr}`)];
		if (n.line) out.push(small(h("code", `${n.line}  ${n.src}`)));
		if (step.kind === "share") share(st, out);
		else if (step.kind === "seed") out.push(figures(figure(val(step.up), "the gradient that starts the pass")));
		else if (step.kind === "leaf") out.push(h("p", "A leaf: nothing made it; the walk stores what arrived."));
		else out.push(h("p", step.text[0]));
		local.replaceChildren(...out);
	}
	const small = (...content) => h("p.mg-small", ...content);
	const show = (around) => { model.set("around", around); model.save_changes(); };
	const figures = (...list) => h("div.mg-figure", ...list);

	function share({ step, k, beat }, out) {
		const g = val(step.up), raw = val(step.raw), factor = val(step.local), target = cutText(name(step.parent), 24);
		const seen = (what) => reached(k, beat, what), kept = step.kept.map(([a, b, v]) => [a, b, val(v)]);
		const inputs = edges.filter((e) => e[1] === step.node).length;
		if (!seen("rule")) { out.push(h("p", "gradient that arrived"), figures(figure(g, "g"))); return; }
		out.push(h("p", `share for ${target}` + (inputs > 1 ? `, input ${step.slot + 1} of ${inputs}` : "")),
			h("p", h("b", "rule "), h("code", `${target} gets ${step.rule}`)));
		if (step.legend) out.push(small(step.legend));
		if (step.slope) out.push(small(h("code", step.slope), step.fd != null ? `, measured by nudging: ${fmt(step.fd)}` : ""));
		if ([g, raw, ...kept.map(([, , v]) => v)].every(scalar)) {
			const sub = step.rule === "g" ? "g" : step.sub || step.rule;
			if (sub !== "g" || seen("product")) out.push(h("p", h("code.mg-sub", seen("product") ? `${sub} = ${fmt(raw)}` : sub)));
		} else arrays(step, out, seen, { g, raw, factor, kept, target });
		if (step.note) out.push(small(step.note, step.around && model.widget_manager && control(() => show(step.around), "show them")));
		if (step.jac != null && !seen("product")) out.push(figures(figure(val(step.jac), "full Jacobian, a row for each output,")));
		if (step.check?.verdict && seen("product")) out.push(comparison(step));
	}

	/** The tables of a share and the arithmetic of one cell. */
	function arrays(step, out, seen, { g, raw, factor, kept, target }) {
		const marked = cell || strongest(raw), product = seen("product");
		const sign = (t) => h("span.mg-sign", t);
		const row = figures(), line = h("p.mg-small num");
		const add = (v, caption, o) => row.append(figure(v, caption, o));
		let arrow = "→", top = topOf(!scalar(g) && g, raw);
		if (step.how === "matmul") {
			arrow = "=";
			top = topOf(top, ...kept.map(([, , v]) => v));
			step.terms.forEach(([term, flip], i) => {
				const [, label, v] = term === "g" ? [0, "g", g] : kept.find(([a]) => a === term);
				if (i) row.append(sign("@"));
				add(v, (label || term) + (flip ? " transposed" : ""), { top, flip });
			});
		} else if (step.how === "elementwise" && factor != null) {
			arrow = "=";
			top = topOf(top, factor);
			const o = { top, on: product && marked };
			add(g, "g", o);
			row.append(sign("×"));
			add(factor, "local factor", { ...o, blocked: factor });
		} else {
			add(g, "g", { top });
			if (step.how === "other" || step.how === "function") for (const [a, b, v] of kept) if (!scalar(v)) add(v, b || a);
		}
		if (product) {
			const holes = step.how === "scatter" || step.how === "elementwise" ? factor : null;
			row.append(sign(arrow));
			add(raw, `for ${target}`, { top, on: marked, blocked: holes, blank: step.how === "scatter", braces: step.axes });
			line.textContent = marked ? cellText(step, marked) : "";
		}
		if (step.axes.length && seen("sum")) {
			row.append(sign("→"));
			add(val(step.contrib), `summed over axis ${step.axes.join(", ")}`, { top: topOf(top, val(step.contrib)) });
		}
		on(row, "mousemove", (e) => {
			const where = product && e.target.dataset?.at;
			if (where) line.textContent = cellText(step, where.split(",").map(Number)) || line.textContent;
		});
		out.push(row, line);
	}

	function comparison(step) {
		const c = step.check, fine = c.verdict === "agrees";
		const rows = [["yours", c.yours], ["reference", step.contrib], ["numeric", c.numeric]].filter(([, v]) => v != null);
		const top = topOf(...rows.map(([, v]) => val(v)));
		return h("div", { class: "mg-check" + (fine ? " fine" : "") }, h("b", fine ? "Your rule agrees here." : "Yours differs here. "),
			fine ? "" : c.verdict, c.yours != null && figures(...rows.map(([label, v]) => figure(val(v), label, { top }))));
	}

	function strongest(v) {
		if (v == null || scalar(v) || !v.d.length) return null;
		const best = v.d.reduce((b, x, i) => (Math.abs(x) > Math.abs(v.d[b]) ? i : b), 0);
		return [Math.floor(best / v.c), best % v.c];
	}
	const bracket = (x) => (typeof x === "number" && x < 0 ? `(${fmt(x)})` : fmt(x));

	/** The arithmetic of one cell of a contribution. */
	function cellText(step, [r, c]) {
		const g = val(step.up), raw = val(step.raw), x = at(raw, r, c);
		if (x === undefined) return "";
		const index = [c];
		for (let i = raw.s.length - 2, q = r; i >= 0; q = Math.floor(q / raw.s[i--])) index.unshift(q % raw.s[i]);
		const head = `cell [${index.join(", ")}]: `;
		if (step.how === "matmul" && !scalar(raw)) {
			const [A, B] = step.terms.map(([term, flip]) => ({ flip, v: term === "g" ? g : val(step.kept.find(([a]) => a === term)[2]) }));
			if ([A, B].some(({ v }) => scalar(v) || v.s.length < 2)) return "";
			const folded = raw.s.length === 2;  // batches, one under another
			const rows = raw.s.at(-2), batch = Math.floor(r / rows), i = r % rows;
			const get = ({ v, flip }, a, b) => {
				const [m, n] = flip ? [b, a] : [a, b];
				return at(v, (!folded && v.s.length > 2 ? batch * v.s.at(-2) : 0) + m, n);
			};
			const inner = !A.flip ? A.v.s.at(-1) : folded ? rowsIn(A.v) : A.v.s.at(-2);
			const parts = [];
			for (let q = 0; q < Math.min(inner, 6); q++) {
				const a = get(A, i, q), b = get(B, q, c);
				if (a === undefined || b === undefined) break;
				parts.push(`${bracket(a)}·${bracket(b)}`);
			}
			if (parts.length < inner) parts.push("…");
			return head + parts.join(" + ") + ` = ${fmt(x)}`;
		}
		if (step.how === "elementwise") {
			const values = new Map([["g", at(g, r, c)], ...step.kept.map(([a, , v]) => [a, at(val(v), r, c)])]);
			if ([...values.values()].some((v) => v === undefined || v === null)) return "";
			const text = (step.formula || step.rule).replace(/(?<![\w.])[A-Za-z_]\w*/g, (t) => (values.has(t) ? bracket(values.get(t)) : t));
			return head + text + ` = ${fmt(x)}`;
		}
		return head + fmt(x);
	}

	// ---- the ledger and the queue
	function paintLedger(st) {
		const { step, k, beat } = st;
		const who = step.kind === "share" || step.kind === "skip" ? step.parent : step.node;
		const n = nodes[who];
		if (!n.rg) { ledger.replaceChildren(h("h4", `${n.name} needs no gradient: no ledger`)); return; }
		const head = h("h4", `Ledger of ${n.name}` + (who === root ? "" : `: ${st.got[who]} of ${totalOf(who)} arrived` + (st.got[who] > expected[who] ? ", some twice" : "")));
		const rows = [];
		const row = (label, v, now, cls) => {
			const whole = v && !scalar(v) && v.d.length && v.r <= 6 && v.c <= 6 && v.d.length === v.s.reduce((a, b) => a * b, 1);
			const cell = v == null ? "" : whole ? heat(v) : h("code", scalar(v) ? fmt(v) : `${shapeOf(v)}, norm ${fmt(v.norm)}`);
			rows.push(h("tr", { class: cls }, h("th", { scope: "row" }, label), h("td", now && !whole ? h("span.mg-now", cell) : cell)));
		};
		const old = (text) => h("span.mg-old", text);
		const list = arrivals[who].slice(0, st.got[who]), skipped = Math.max(0, list.length - 8);
		if (who === root) row("start", val(steps[0].up), k === 0);
		else if (!list.length) row("start: empty");
		if (skipped) row(`… ${skipped} earlier`, val(steps[list[skipped - 1]].after));
		list.slice(skipped).forEach((j, q) => {
			const how = steps[j].how === "slot" ? steps[j].note || "share" : skipped + q ? "+" : "first";
			row(`${how} from ${cutText(name(steps[j].node), 22)}${j === k ? "  (now)" : ""}`, val(steps[j].contrib), j === k);
		});
		if (list.length > 1 && steps[list[0]].how !== "slot")
			row(list.some((j) => steps[j].lost) ? "≠ what is kept" : list.length < expected[who] ? "= so far" : list.length > expected[who] ? "= too much" : "= gradient, complete",
				val(steps[list.at(-1)].after), false, "sum");
		if (n.hook != null && st.got[who] >= expected[who]) row("a hook makes it", val(n.hook), false, "sum");
		if (n.leaf && n.old != null) row(old(`+ old ${n.name}.grad, never cleared`), val(n.old));
		if (st.stored[who]) {
			if (n.old == null) row(old(`${n.name}.grad was ${n.empty || "None"}`));
			row(`= ${n.name}.grad`, val(st.grad[who]), step.node === who, "sum");
		}
		const waiting = totalOf(who) - st.got[who];
		ledger.replaceChildren(head, h("table.mg-table", h("tbody", ...rows)),
			waiting > 0 && list.length ? small(`${n.name} may not speak yet: ${waiting} more to come.`) : "");
	}

	function paintQueue(st) {
		const are = (what) => [...nodes.keys()].filter((i) => status(st, i) === what).sort((a, b) => byNode[a][0] - byNode[b][0]);
		const some = (list, text) => hides("next") ? "?" : list.slice(0, 6).map(text).join(", ") + (list.length > 6 ? `, … (${list.length})` : "") || "nobody";
		const part = (label, text) => h("span", h("b", label + ": "), text);
		queue.replaceChildren(part("SPEAKS", name(st.step.node)), part("READY", some(are("ready"), name)),
			part("WAITING", some(are("waiting"), (i) => `${name(i)} (${st.got[i]} of ${totalOf(i)})`)), turnText && part("STACKED", turnText));
	}

	// ---- painting and moving
	function paint() {
		const st = stateAt(p), { k, beat } = st, beats = steps[k].text.length;
		for (const part of [paintGraph, paintLocal, paintLedger, paintQueue]) part(st);
		pos.textContent = `step ${k}/${steps.length - 1}` + (beats > 1 ? `, beat ${beat + 1}/${beats}: ${beatsOf(k)[beat]}` : "");
		words.textContent = steps[k].text[beat] + (p === frames.length - 1 ? ` The pass is done. ${leafSummary()}` : "");
		if (!playing && said !== words.textContent) live.textContent = said = words.textContent;
		range.value = p;
		range.ariaValueText = pos.textContent;
		for (const [id, on] of [["by", byNodes], ["predict", predict], ["fold", view === "folded"], ["cuts", !graph.classList.contains("mg-nocuts")]])
			knob[id]?.setAttribute("aria-pressed", on);
		box.dataset.step = k;
		box.dataset.beat = beat;
	}
	const leafSummary = () => {
		const done = steps.filter((x) => x.kind === "leaf").map((x) => `${name(x.node)}.grad: ${brief(val(x.after))}`);
		return done.slice(0, 6).join("; ") + (done.length > 6 ? "; …" : done.length ? "." : "No leaf needed a gradient.");
	};

	function go(position) {
		dismiss();
		p = Math.max(0, Math.min(frames.length - 1, position));
		cell = null;
		paint();
		if (!playing) sync();
	}
	function sync() {
		if (model.get("step") !== p) { model.set("step", p); model.save_changes(); }
	}
	/** One beat or one node further; a question or a wrong rule may hold the walk. True if it moved. */
	function move(by) {
		if (asked && by > 0) return false;
		let to = p + by;
		if (byNodes) to = by > 0 ? nextNode() : previousNode();
		if (by > 0 && predict) {
			for (let q = p + 1; q <= Math.min(to, frames.length - 1); q++) {
				if (question(q) && !answered.has(q)) { if (q - 1 !== p) go(q - 1); return pose(q); }
			}
		}
		if (by > 0 && frozen >= 0) {
			const stop = startOf[frozen] + 2;
			if (p < stop && to > stop) to = stop;
			if (p === stop) { live.textContent = "Stopped at the first wrong edge: mend the rule, or drag the slider."; pause(); return false; }
		}
		if (to < 0 || to >= frames.length) return false;
		go(to);
		return true;
	}
	const starts = frames.flatMap(([k], q) => (q && steps[frames[q - 1][0]].node === steps[k].node ? [] : [q]));
	const nextNode = () => starts.find((q) => q > p) ?? frames.length - 1;
	const previousNode = () => starts.findLast((q) => q < p) ?? 0;
	function nextFan() {
		const q = frames.findIndex(([k, beat], i) => i > p && steps[k].kind === "share" && expected[steps[k].parent] > 1 && beat === steps[k].text.length - 1);
		if (q > 0) go(q);
	}
	function play() {
		if (p === frames.length - 1) go(0);
		playing = setInterval(() => move(1) || pause(), 900);
		playIcon();
	}
	function pause() {
		if (!playing) return;
		clearInterval(playing);
		playing = null;
		playIcon();
		paint();
		sync();
	}
	function playIcon() {
		knob.play.querySelector("path").setAttribute("d", ICONS[playing ? "pause" : "play"]);
		knob.play.title = knob.play.ariaLabel = playing ? "Pause (Space)" : "Play (Space)";
	}

	// ---- predict before reveal
	function question(position) {
		const [k, beat] = frames[position];
		return steps[k].quiz?.beat === beat && steps[k].quiz;
	}
	function control(act, ...label) {
		const b = h("button", { type: "button", ...KEEP }, ...label);
		on(b, "click", act);
		return b;
	}
	function pose(position) {
		pause();
		asked = { ...question(position), at: position, hinted: false };
		const options = h("div.options");
		const says = h("div.says", { "aria-live": "polite" });
		if (asked.options) options.append(...asked.options.map((o, i) => control(() => give(i), h("kbd", i + 1), o)));
		else {
			const field = h("input", { type: "text", inputmode: "decimal", "aria-label": "Your number", ...KEEP });
			on(field, "keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); e.stopPropagation(); give(field.value); } });
			options.append(field, control(() => give(field.value), "answer"));
		}
		options.append(control(() => { asked.hinted = true; says.textContent = asked.hint; }, "hint"), control(reveal, "skip"));
		ask.replaceChildren(h("div", h("b", asked.ask)), options, says);
		ask.hidden = false;
		paint();
		live.textContent = asked.ask;
		ask.querySelector("input, button").focus({ preventScroll: true });
		return false;
	}
	function give(answer) {
		if (!asked || asked.done || answer === -1) return;
		const number = typeof answer === "string" ? Number(answer.trim().replace(",", ".").replace("−", "-") || NaN) : answer;
		if (Number.isNaN(number)) {
			ask.querySelector(".says").textContent = "A number, such as -1.5";
			return;
		}
		const right = asked.options ? number === asked.answer : Math.abs(number - asked.answer) <= asked.tol;
		answers.push({ at: asked.at, step: frames[asked.at][0], type: asked.type, given: asked.options ? asked.options[number] : number, right, hinted: asked.hinted });
		if (asked.options) ask.querySelector(".options").children[number].ariaPressed = true;
		model.set("answers", [...answers]);
		model.save_changes();
		const why = asked.options ? asked.why[number] : asked.wrong.find(([v]) => Math.abs(v - number) <= asked.tol)?.[1];
		finish(right ? "Right." : `Not this. ${why || ""}`, right);
	}
	function reveal() { if (asked && !asked.done) finish("", null); }
	function finish(text, right) {
		asked.done = true;
		paint();
		answered.add(asked.at);
		const target = asked.at, b = control(() => go(target), "go on (Enter)");
		ask.querySelector(".says").replaceChildren(h("p", { class: right === null ? "" : right ? "right" : "wrong" }, text), h("p", asked.reveal),
			small(`Right so far: ${answers.filter((a) => a.right).length} of ${answers.length}`), b);
		for (const e of ask.querySelectorAll(".options > *")) e.disabled = true;
		b.focus({ preventScroll: true });
	}
	function dismiss() {
		if (!asked) return;
		const inside = ask.contains(document.activeElement);
		asked = null;
		ask.hidden = true;
		ask.replaceChildren();
		if (inside) graph.focus({ preventScroll: true });
	}
	function clickNode(i) {
		if (asked?.type === "next" && !asked.done) give(asked.ids.indexOf(i));
		else if (byNode[i].length) go(startOf[byNode[i][0]]);
	}

	// ---- help and downloads
	function toggle(what) {
		more.hidden = more.dataset.what === what && !more.hidden;
		more.dataset.what = what;
		more.replaceChildren(what === "help" ? help() : transcript());
	}
	function help() {
		const keys = `→ ←|one beat on, back|Shift + → ←|one node on, back|Home End|first, last|Space|play, pause|1 to 4, Enter|answer, go on|N|next
			tensor with several gradients|C|next cell of the contribution|F|fit the graph or follow the step|+ −|zoom|T|transcript|↑ ↓|move
			among the controls|Tab|controls, graph, ledger|Esc|leave to the notebook|?|this help`.split("|");
		const row = (k, i) => (i % 2 ? "" : h("tr", h("th", { scope: "row" }, k), h("td", keys[i + 1])));
		return h("table", h("caption", "Keys"), h("tbody", ...keys.map(row)));
	}
	const rowsOf = (math) => steps.map((x, k) => [k, name(x.node), x.parent != null ? name(x.parent) : x.kind === "leaf" ? name(x.node) + ".grad" : "",
		math && x.latex ? `$${x.latex}$` : x.rule || x.kind, x.text.join(" ")]);
	const HEAD = ["step", "from", "to", "rule", "in words"];
	function transcript() {
		return h("table", h("caption", heading + ", all steps"), h("thead", h("tr", ...HEAD.map((t) => h("th", { scope: "col" }, t)))),
			h("tbody", ...rowsOf().map((r) => h("tr", ...r.map((t) => h("td", String(t)))))));
	}
	const markdown = () => [HEAD, HEAD.map(() => "---"), ...rowsOf(true)].map((r) => "| " + r.map((t) => String(t).replaceAll("|", "\\|")).join(" | ") + " |").join("\n") + "\n";
	function picture() {
		const copy = graph.svg.cloneNode(true);
		copy.setAttribute("class", "mg");
		copy.setAttribute("data-theme", box.dataset.theme);
		copy.prepend(s("style", model.get("_css") || ""));
		return new XMLSerializer().serializeToString(copy);
	}
	function page() {
		return model.get("whole") || model.get("page").replace(/%(CSS|ESM|DATA|TITLE)%/g, (_, part) => ({ CSS: model.get("_css"), ESM: model.get("_esm"), TITLE: escape(heading),
			DATA: JSON.stringify(data).replace(/</g, "\\u003c") })[part]);
	}
	function save(file, type, text) {
		const a = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: file });
		a.click();
		setTimeout(() => URL.revokeObjectURL(a.href), 1000);
	}

	// ---- keys, focus, theme
	const controls = [...tools.querySelectorAll("button, input")];
	const focusable = (it) => controls.forEach((c) => { c.tabIndex = c === it ? 0 : -1; });
	focusable(knob.next);
	on(tools, "focusin", (e) => focusable(e.target));
	on(range, "input", () => go(+range.value));
	on(box, "keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		const roving = controls.indexOf(e.target);
		const keys = {
			ArrowRight: () => (e.shiftKey ? node(1) : move(1)), ArrowLeft: () => (e.shiftKey ? node(-1) : move(-1)), Home: press.first,
			End: press.last, n: nextFan, f: fit, t: press.words, c: nextCell, "?": press.help, "+": press.zoomin, "=": press.zoomin,
			"-": press.zoomout, Escape: leave,
		};
		if (e.target.tagName !== "BUTTON") Object.assign(keys, { " ": press.play, Enter: () => { if (asked?.done) go(asked.at); } });
		if (roving >= 0) {
			const step = (d) => controls[(roving + d + controls.length) % controls.length].focus();
			keys.ArrowDown = () => step(1);
			keys.ArrowUp = () => step(-1);
		}
		if (!asked?.done && asked?.options?.[e.key - 1]) keys[e.key] = () => give(e.key - 1);
		const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
		if (e.target.type === "text" && key !== "Escape") { e.stopPropagation(); return; }
		if (!keys[key]) return;
		e.preventDefault();
		e.stopPropagation();
		keys[key]();
	});
	function node(by) { const was = byNodes; byNodes = true; move(by); byNodes = was; paint(); }
	function nextCell() {
		const { step, k, beat } = stateAt(p), v = val(step.raw);
		if (v == null || scalar(v) || !reached(k, beat, "product")) return;
		const [r, c] = cell || strongest(v), i = (r * v.c + c + 1) % v.d.length;
		cell = [Math.floor(i / v.c), i % v.c];
		paint();
		live.textContent = cellText(step, cell) || "";
	}
	function leave() {
		if (asked) { dismiss(); paint(); return; }
		document.activeElement?.blur();
		box.closest(".jp-Notebook")?.focus();
	}
	const dark = matchMedia("(prefers-color-scheme: dark)");
	function paintTheme() {
		const lab = document.body.dataset.jpThemeLight;
		const auto = (lab ? lab === "false" : dark.matches) ? "dark" : "light";
		box.dataset.theme = theme === "auto" ? auto : theme;
		knob.theme.textContent = theme === "auto" ? "theme" : theme;
	}
	on(dark, "change", paintTheme);
	const watch = new MutationObserver(paintTheme);
	watch.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
	const listen = (what, fn) => {
		model.on(what, fn);
		signal.addEventListener("abort", () => model.off(what, fn));
	};
	signal.addEventListener("abort", () => { watch.disconnect(); clearInterval(playing); });
	listen("change:step", () => { const q = model.get("step"); if (!playing && q !== p) go(q); });
	listen("change:predict", () => { predict = !!model.get("predict"); paint(); });
	p = Math.max(0, Math.min(frames.length - 1, model.get("step") || 0));
	paintTheme();
	drawGraph();
	paint();
	new ResizeObserver(paint).observe(graph);  // unlaid, it cannot scroll
}

export default { render };
