// The stepper: puts the parts together for one host.
//
// render({ model, el, signal }) serves three hosts: a live notebook (anywidget), a frame in a saved notebook, and a page
// of its own. The model holds one JSON value, `data`: the recording with its layout, questions and code. What is on
// screen is a pure function of a position on the time line.

import { KEEP, escape, h, s } from "./tools.js";
import { makeState } from "./state.js";
import { makeGraph } from "./graph.js";
import { help, makeCard, makeCode, makePanels, markdown, transcript } from "./panels.js";
import { makePredict } from "./predict.js";
import { makeTransport } from "./transport.js";
import { makeInputs } from "./inputs.js";

/** Draws it, and draws it anew when the kernel sends other data. */
export function render({ model, el, signal }) {
	let life = new AbortController();
	signal?.addEventListener("abort", () => life.abort());
	const place = h("div");
	const strip = makeInputs(model, place, (target, name, fn) => target.addEventListener(name, fn, { signal }));
	el.append(strip.el, place);
	model.on("change:data", () => {
		life.abort();
		life = new AbortController();
		place.replaceChildren();
		if (!model.get("data").stay) model.set("step", model.get("data").at || 0);
		draw({ model, el: place, signal: life.signal, strip });
	});
	draw({ model, el: place, signal: life.signal, strip });
}

function draw({ model, el, signal, strip }) {
	const data = model.get("data"), S = makeState(data), { frames, nodes } = S;
	const on = (target, name, fn) => target.addEventListener(name, fn, { signal });
	const heading = data.title, spoken = h("div.mg-live", { "aria-live": "polite" });
	let theme = model.get("theme") || "auto", said = "", painted = null;

	// ---- the parts
	const say = (text) => { spoken.textContent = said = text; };
	/** Whether a kernel answers: a saved notebook has widgets without one. */
	const live = () => !!model.get("live") && !el.closest(".jupyter-widgets-disconnected");
	const predict = makePredict(S, { model, say, go: (p) => bar.go(p), pause: () => bar.pause(), paint: () => show(bar.at), back: () => bar.knob.next.focus({ preventScroll: true }) }, on);
	const mute = (what) => predict.mute(what);
	const graph = makeGraph(S, { mute, asks: predict.asks, pick: (i) => { if (!predict.click(i)) pick(i); } }, on);
	const code = makeCode(S, (i) => pick(i), on);
	const card = makeCard(S, { close: () => pick(null), live, around: (n) => { model.set("around", n); model.save_changes(); } }, on);
	const panels = makePanels(S, { mute, turns: () => graph.turns }, on);
	const more = h("div.mg-more", { hidden: true, tabindex: 0, role: "group", "aria-label": "Help or transcript", ...KEEP });
	const press = {
		fit: graph.fit, zoomin: () => graph.zoomBy(1.2), zoomout: () => graph.zoomBy(1 / 1.2), help: () => toggle("help"), words: () => toggle("transcript"),
		theme: () => { theme = { auto: "light", light: "dark", dark: "auto" }[theme]; paintTheme(); }, cell: () => { const text = panels.nextCell(); if (text) say(text); },
		fold: () => { graph.show(graph.folded ? "full" : "folded"); show(bar.at); }, cuts: () => { box.classList.toggle("mg-nocuts"); paintKnobs(); },
		svg: () => save("backward.svg", "image/svg+xml", picture()), html: () => save("backward.html", "text/html", page()),
		md: () => save("backward.md", "text/markdown", markdown(S)), leave,
	};
	const bar = makeTransport(S, { predict, graph, press, say, show, where, sync, more: [
		["words", "Transcript of all steps (T)", "transcript"], S.expected.some((n) => n > 1) && ["fan", "Next tensor with several contributions (N)", "next fan-in"],
		["zoomout", "Smaller (-)", "−"], ["zoomin", "Larger (+)", "+"], ["fit", "Fit the whole graph (F)", "fit"],
		data.layout.views.folded && data.layout.views.full && ["fold", "Fold loops and modules", "fold"],
		nodes.some((n) => !n.rg) && ["cuts", "Show or hide what needs no gradient", "plain data"],
		S.firstBad >= 0 && ["bad", "First number not finite", "first nan"], ["theme", "Theme: auto, light, dark", "theme"],
		["svg", "Download the graph as SVG", "svg"], ["html", "Download as a page", "html"], ["md", "Download the transcript", "md"]].filter(Boolean) }, on);
	const pos = h("span.mg-pos");
	const view = h("div.mg-view" + (code.el ? "" : " alone"), graph.el, code.el || "", card.el);
	const stage = h("div.mg-stage", panels.math, panels.ledger, panels.queue, predict.el);
	const box = h("div.mg", { role: "group", "aria-label": heading + ", stepper" }, h("div.mg-head", h("span.mg-title", heading), pos),
		view, panels.words, bar.el, stage, more, spoken);
	el.append(box);

	// ---- painting
	function where(p) {
		const phase = { look: "start", forward: "forward pass", seed: "backward pass", backward: "backward pass" }[frames[p].phase];
		return `${phase}, step ${p} of ${frames.length - 1}`;
	}
	function show(p, onward) {
		const st = S.stateAt(p);
		pos.textContent = where(p);
		box.dataset.step = p;
		box.dataset.phase = st.f.phase;
		graph.paint(st);
		panels.paint(st);
		code.paint(st);
		card.paint(st);
		stage.classList.toggle("asking", !!predict.asked);
		const text = panels.sentence(st);
		if (!bar?.playing && said !== text && !(predict.asked && painted === p)) say(text);
		if (onward && painted !== p && st.f.name === "product") graph.travel(st);
		painted = p;
		paintKnobs();
	}
	function paintKnobs() {
		for (const [id, yes] of [["fold", graph.folded], ["cuts", !box.classList.contains("mg-nocuts")]]) bar.knob[id]?.setAttribute("aria-pressed", yes);
	}
	function sync(p) {
		if (model.get("step") !== p) { model.set("step", p); model.save_changes(); }
	}
	function pick(i) {
		const again = i === card.who ? null : i;
		card.show(again, S.stateAt(bar.at));
		graph.mark(again);
		code.mark(again);
		const goal = again == null ? graph.el.querySelector("[data-node][tabindex='0']") : card.el.querySelector("button");
		goal.focus({ preventScroll: true });
	}

	// ---- the reading place keeps its height: the largest of the steps that could need most
	function settle() {
		if (el.clientWidth < 40) return;
		place();
		const places = [[panels.words, 150], [panels.math, 290], [panels.ledger, 240], [panels.queue, 80]];
		for (const [e] of places) e.style.height = "";
		let most = places.map(() => 0);
		for (const p of candidates()) {
			panels.paint(S.stateAt(p));
			box.dataset.phase = frames[p].phase;
			most = places.map(([e], i) => Math.max(most[i], e.scrollHeight));
		}
		most = most.map((size, i) => Math.min(size, places[i][1]));
		if (panels.ledger.offsetTop === panels.math.offsetTop) most[1] = most[2] = Math.max(most[1], most[2]);  // side by side
		places.forEach(([e], i) => { e.style.height = most[i] + 1 + "px"; });
		show(bar.at);
	}
	/** The code stands beside the graph, or below it where the graph needs the width. */
	function place() {
		const W = el.clientWidth - 4;
		if (code.el) {
			view.classList.remove("stacked");
			const beside = graph.heightIn(W - code.el.offsetWidth), alone = graph.heightIn(W), tall = Math.min(150, code.el.scrollHeight);
			view.classList.toggle("stacked", beside.cost > alone.cost + 0.5 * tall);
		}
		graph.choose();
		if (code.el) code.el.style.maxHeight = graph.el.style.height;
		code.settle?.();
	}
	/** A few frames that may need most room: the longest sentences, the largest tables of each kind, the longest ledger. */
	function candidates() {
		const best = new Map(), rows = (v) => (v == null || typeof v !== "object" ? 1 : v.r + v.c / 4);
		const take = (key, p, size) => { if (!(best.get(key)?.[1] >= size)) best.set(key, [p, size]); };
		frames.forEach((f, p) => {
			take("text", p, f.text.length);
			if (f.phase === "look") { take("look", p, 1); return; }
			const move = S.steps[f.k] || S.forward[f.i], sizes = ["up", "raw", "local", "contrib", "after"].map((k) => rows(S.val(move[k])));
			const ins = (move.parts || []).map(([, v]) => rows(S.val(v)));
			take(f.phase + (f.name || "") + (move.how || ""), p, Math.max(...sizes, ...ins) + (move.note || "").length / 100 + (move.check ? 9 : 0));
			take("wide" + f.name, p, sizes.reduce((a, b) => a + b, 0));
			if (move.arrived && f.name === "collect") take("ledger", p, move.arrived[0]);
			if (f.phase === "backward") take("last", p, p);
		});
		return new Set([...best.values()].map(([p]) => p));
	}

	// ---- help and downloads
	function toggle(what) {
		more.hidden = more.dataset.what === what && !more.hidden;
		more.dataset.what = what;
		more.replaceChildren(...(what === "help" ? help(S) : [transcript(S, heading)]));
		if (!more.hidden) more.scrollIntoView({ block: "nearest" });
	}
	function picture() {
		const copy = graph.svg.cloneNode(true);
		copy.setAttribute("class", "mg");
		copy.setAttribute("data-theme", box.dataset.theme);
		copy.prepend(s("style", {}, model.get("css") || ""));
		return new XMLSerializer().serializeToString(copy);
	}
	function page() {
		const parts = { CSS: model.get("css"), ESM: model.get("esm"), TITLE: escape(heading), FRAME: "", DATA: JSON.stringify(data).replace(/</g, "\\u003c") };
		return model.get("whole") || model.get("page").replace(/%(CSS|ESM|DATA|TITLE|FRAME)%/g, (_, part) => parts[part]);
	}
	function save(file, type, text) {
		const a = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: file });
		a.click();
		setTimeout(() => URL.revokeObjectURL(a.href), 1000);
	}

	// ---- keys and theme
	on(box, "keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		if (e.target.type === "text" && e.key !== "Escape") { e.stopPropagation(); return; }
		if (!bar.key(e)) return;
		e.preventDefault();
		e.stopPropagation();
	});
	function leave() {
		if (card.who != null) { pick(null); return; }
		if (predict.asked) { predict.dismiss(); show(bar.at); return; }
		if (!more.hidden) { more.hidden = true; return; }
		document.activeElement?.blur();
		box.closest(".jp-Notebook")?.focus();
	}
	const dark = matchMedia("(prefers-color-scheme: dark)");
	function paintTheme() {
		strip.el.dataset.theme = box.dataset.theme = theme === "auto" ? (hostIsDark(el, dark.matches, model.get("own")) ? "dark" : "light") : theme;
		if (model.get("own")) document.documentElement.dataset.theme = box.dataset.theme;
		bar.knob.theme.textContent = theme === "auto" ? "theme" : theme;
	}
	on(dark, "change", paintTheme);
	const watch = new MutationObserver(paintTheme), watched = { attributeFilter: ["data-jp-theme-light", "data-theme", "class", "style"] };
	for (const e of [document.body, ...hostRoots()]) watch.observe(e, watched);

	// ---- life
	const listen = (what, fn) => {
		model.on(what, fn);
		signal.addEventListener("abort", () => model.off?.(what, fn));
	};
	let width = 0;
	const sizes = new ResizeObserver(() => { if (Math.abs(el.clientWidth - width) > 1) { width = el.clientWidth; settle(); } });
	signal.addEventListener("abort", () => { watch.disconnect(); sizes.disconnect(); bar.pause(); });
	listen("change:step", () => { const q = model.get("step"); if (!bar.playing && q !== bar.at) bar.go(q); });
	listen("change:predict", () => { predict.on = !!model.get("predict"); bar.paint(); show(bar.at); });
	bar.at = model.get("step") || 0;
	bar.paint();
	paintTheme();
	strip.show(live());
	if (el.clientWidth > 40) { width = el.clientWidth; settle(); } else show(bar.at);
	sizes.observe(el);
}

/** The pages around this one, as far as this one may look at them: the theme is theirs. */
function hostRoots() {
	try {
		const outer = window.frameElement?.ownerDocument;
		return outer ? [outer.body, outer.documentElement] : [];
	} catch {
		return [];
	}
}

/** Whether the page around the stepper is dark: JupyterLab says so, of another page its background tells. */
function hostIsDark(el, preferred, mine) {
	let inner = el;
	for (let depth = 0; depth < 4 && inner; depth++) {
		const doc = inner.ownerDocument, lab = doc.body.dataset.jpThemeLight;
		if (lab) return lab === "false";
		for (let e = inner.parentElement; e; e = e.parentElement) {
			const ours = mine && doc === el.ownerDocument;  // coloured by this stepper
			const [r, g, b, alpha = 1] = ours ? [0, 0, 0, 0] : (doc.defaultView.getComputedStyle(e).backgroundColor.match(/[\d.]+/g) || []).map(Number);
			if (alpha > 0.5) return 0.3 * r + 0.6 * g + 0.1 * b < 128;
		}
		try {
			inner = doc.defaultView.frameElement;
		} catch {
			inner = null;
		}
	}
	return preferred;
}
