// Puts the parts together, for a live notebook (anywidget), a frame in a saved one, or a page of its own. The model holds
// one JSON value, `data`; what is on screen is a pure function of it and of a position on the time line.

import { KEEP, escape, h, reachable } from "./tools.js";
import { makeState } from "./state.js";
import { makeGraph } from "./graph.js";
import { makeCard, makeCode } from "./beside.js";
import { help, transcript } from "./help.js";
import { makePanels } from "./panels.js";
import { makePredict } from "./predict.js";
import { makeTransport } from "./transport.js";
import { makeInputs, whatIf } from "./inputs.js";
import { withEngine } from "./local.js";

/** Draws it, and draws it anew when the kernel sends other data. */
export function render({ model: given, el, signal }) {
	const model = withEngine(given, () => answers(given, el));
	let life = new AbortController();
	signal.addEventListener("abort", () => life.abort());
	const place = h("div");
	const strip = makeInputs(model, (target, name, fn) => target.addEventListener(name, fn, { signal }), (what, fn) => listen(model, signal, what, fn));
	el.append(strip.el, place);
	strip.el.addEventListener("click", (e) => { if (!e.target.closest("input")) place.querySelector(".mg").focus({ preventScroll: true }); }, { signal });
	let before = model.get("data");
	for (const name of ["focusin", "pointerdown"]) strip.el.addEventListener(name, () => { before = model.get("data"); }, { signal });
	listen(model, signal, "change:data", () => {
		strip.say(model.get("predict") ? "" : whatIf(before, model.get("data")));
		const inside = place.contains(document.activeElement);
		life.abort();
		life = new AbortController();
		place.replaceChildren();
		if (!model.get("data").stay) model.set("step", model.get("data").at || 0);
		draw({ model, el: place, signal: life.signal, strip });
		if (inside) place.querySelector(".mg").focus({ preventScroll: true });
	});
	draw({ model, el: place, signal: life.signal, strip, tour: model.get("tour") });
}

/** Calls back on changes for as long as the view lives. */
function listen(model, signal, what, fn) {
	model.on(what, fn);
	signal.addEventListener("abort", () => model.off?.(what, fn));
}

/** Whether a kernel answers: a saved notebook has widgets without one. */
const answers = (model, el) => !!model.get("live") && !el.closest(".jupyter-widgets-disconnected");

/** @param {{ model: any, el: any, signal: AbortSignal, strip: any, tour?: boolean }} given `tour`: it plays once by itself. */
function draw({ model, el, signal, strip, tour }) {
	const data = model.get("data"), S = makeState(data), { frames } = S;
	/** Whatever happens inside, the keyboard stays inside: what loses the focus, because it is drawn anew, hidden or switched off,
	 * gives it to the whole. Only Esc takes it away. */
	const keeping = (change) => {
		const inside = box.contains(document.activeElement), result = change();
		/** @type {any} */
		const now = document.activeElement;
		if (inside && !left && (!box.contains(now) || now.disabled || now.closest("[hidden]"))) box.focus({ preventScroll: true });
		return result;
	};
	const on = (target, name, fn) => target.addEventListener(name, (e) => keeping(() => fn(e)), { signal });
	const heading = data.title, voice = h("div.mg-live", { "aria-live": "polite" });
	let said = "", painted = null, left = false;

	// ---- the parts
	const say = (text) => { voice.textContent = said = text; };
	const tell = (text) => { panels.words.textContent = text; say(text); };
	const live = () => answers(model, el);
	/** A question takes the place of a card that is open. */
	function pause() {
		bar.pause();
		if (card.who != null) select(null);
	}
	const predict = makePredict(S, { model, pause, go: (p) => bar.go(p), paint: () => show(bar.at), back: () => bar.knob.next.focus({ preventScroll: true }) }, on);
	const mute = (what) => predict.mute(what);
	const graph = makeGraph(S, { mute, look, asks: predict.asks, select: (i) => { if (!predict.click(i)) select(i); } }, on);
	const code = makeCode(S, (i) => select(i), on);
	const card = makeCard(S, { close: () => select(null), live, closed: graph.closed, say, open: () => { select(null); press.fold(); },
		around: (n) => { model.set("around", n); model.save_changes(); } }, on);
	const panels = makePanels(S, { mute, turns: () => graph.turns }, on);
	const more = h("div.mg-more", { hidden: true, tabindex: 0, role: "group", "aria-label": "Help or transcript", ...KEEP });
	const press = {
		fit: graph.fit, zoomin: () => graph.zoomBy(1.2), zoomout: () => graph.zoomBy(1 / 1.2), help: () => toggle("help"), words: () => toggle("transcript"),
		cell: () => { const text = panels.nextCell(); if (text) say(text); },
		fold: () => { graph.show(graph.folded ? "full" : "folded"); show(bar.at); },
		html: () => save("backward.html", page()),
		leave,
	};
	const bar = makeTransport(S, { model, predict, graph, press, tell, show, where, sync, more: [
		["words", "Transcript of all steps (T)", "transcript"],
		["zoomout", "Smaller (-)", "−"], ["zoomin", "Larger (+)", "+"], ["fit", "Fit the whole graph (F)", "fit"],
		data.layout.views.folded && data.layout.views.full && ["fold", "Fold loops and modules", "fold"],
		S.firstBad >= 0 && ["bad", "First number not finite", "first nan"],
		["html", "Download as a page", "download"]].filter(Boolean) }, on);
	const pos = h("span.mg-pos");
	const view = h("div.mg-view" + (code.el ? "" : " alone"), graph.el, code.el || "");
	const stage = h("div.mg-stage", card.el, predict.el, panels.math, panels.ledger, panels.queue);
	const box = h("div.mg", { role: "group", tabindex: -1, ...KEEP, "aria-label": heading + ", stepper" }, h("div.mg-head", h("span.mg-title", heading), pos),
		view, panels.words, voice, bar.el, stage, more);
	el.append(box);

	// ---- painting
	function where(p) {
		const phase = { look: "start", forward: "forward pass" }[frames[p].phase] || "backward pass";
		return `${phase}, step ${p} of ${frames.length - 1}`;
	}
	function show(p, onward) { keeping(() => paint(p, onward)); }
	function paint(p, onward) {
		const st = S.stateAt(p);
		pos.textContent = where(p);
		box.dataset.step = p;
		box.dataset.phase = st.f.phase;
		graph.paint(st);
		panels.paint(st);
		roomy();
		card.paint(st);
		stage.classList.toggle("ahead", st.k < 0);
		code.paint(st);
		graph.follow(st);
		const text = panels.sentence(st);
		if (!bar?.playing && said !== text) say(text);
		if (onward && painted !== p && S.sends(st.f)) graph.travel(st);
		painted = p;
		bar.knob.fold?.setAttribute("aria-pressed", graph.folded);
	}
	function sync(p) {
		if (model.get("step") !== p) { model.set("step", p); model.save_changes(); }
	}
	/** The numbers of an edge that is looked at, in the place of the step's; null: those of the step again. */
	function look(j) {
		const k = S.moveOf[j], q = k == null ? -1 : S.startOf[k] + Math.max(0, S.steps[k].beats.indexOf("collect") - 1);
		if (predict.on || card.who != null || bar.playing) return;
		const p = q < 0 ? bar.at : q;
		panels.paint(S.stateAt(p));
		stage.classList.toggle("ahead", frames[p].k < 0);
		if (q >= 0) panels.words.prepend(h("b", `${S.name(S.edges[j][1])} → ${S.name(S.edges[j][0])}: `));
	}
	/** Opens the card of a box, or closes it; the focus stays where the press was. */
	function select(i) {
		const again = i === card.who ? null : i;
		card.show(again, S.stateAt(bar.at));
		graph.mark(again);
		code.mark(again);
	}

	// ---- the reading place keeps its height: the largest of the steps that could need most
	const places = [[panels.words, 150], [panels.math, 430], [panels.ledger, 240], [panels.queue, 100]];
	/** A step that needs more than those that were measured gets it: nothing is cut off below the largest height. */
	function roomy() {
		for (const [e, most] of places) {
			const need = Math.min(e.scrollHeight, most);
			if (e.style.height && need > e.clientHeight + 1) e.style.height = need + 1 + "px";
		}
		if (!stage.classList.contains("rows")) panels.ledger.style.height = panels.math.style.height;
	}
	function settle() {
		if (el.clientWidth < 40) return;
		place();
		for (const [e] of places) e.style.height = "";
		/** @type {number[]} */
		let most = [];
		const measure = () => {
			let wide = 0;
			most = places.map(() => 0);
			for (const p of candidates()) {
				panels.paint(S.stateAt(p));
				stage.classList.toggle("ahead", frames[p].k < 0);
				most = places.map(([e], i) => Math.max(most[i], e.scrollHeight));
				const row = panels.math.querySelector(".mg-figures")?.children || [];
				wide = Math.max(wide, [...row].filter((e) => e.dataset.part !== "jac").reduce((sum, e) => sum + e.offsetWidth + 10, 14));
				if (panels.ledger.scrollWidth > panels.ledger.clientWidth + 1) wide = Infinity;  // it needs the width, too
			}
			return wide;
		};
		stage.classList.toggle("rows", box.clientWidth < 620);  // the ledger below the equation, where that needs the width
		if (measure() > panels.math.clientWidth && box.clientWidth >= 620) {
			stage.classList.add("rows");
			measure();
		}
		places[0][1] = box.clientWidth < 360 ? 300 : 150;
		places[1][1] = S.steps.some((move) => move.check) || box.clientWidth < 900 ? 430 : 290;
		most = most.map((size, i) => Math.min(size, places[i][1]));
		if (!stage.classList.contains("rows")) most[1] = most[2] = Math.max(most[1], most[2]);  // side by side
		places.forEach(([e], i) => { e.style.height = most[i] + 1 + "px"; });
		show(bar.at);
	}
	/** The code stands beside the graph, or below it where the graph needs the width. */
	function place() {
		const W = el.clientWidth - 4;
		if (code.el) {
			view.classList.remove("stacked");
			const beside = graph.best(W - code.el.offsetWidth), alone = graph.best(W), tall = Math.min(138, code.el.scrollHeight);
			view.classList.toggle("stacked", beside.cost > alone.cost + 0.5 * tall);
		}
		graph.choose();
		if (!code.el) return;
		code.el.style.maxHeight = graph.el.style.height;
		reachable(code.el);
	}
	/** A few frames that may need most space: the longest sentences, the largest tables of each kind, the longest ledger. */
	function candidates() {
		const best = new Map(), rows = (v) => (v == null || typeof v !== "object" ? 1 : v.r + v.c / 4);
		const take = (key, p, size) => { if (!(best.get(key)?.[1] >= size)) best.set(key, [p, size]); };
		frames.forEach((f, p) => {
			take("text", p, f.text.length);
			if (f.phase === "look") { take("look", p, 1); return; }
			const move = S.steps[f.k] || S.forward[f.i], ins = (move.parts || []).map(([, v]) => v);
			const sizes = [...ins, ...["up", "raw", "local", "contrib", "after"].map((k) => move[k])].map((v) => rows(S.val(v)));
			take("words" + f.phase + f.name + move.how, p, f.text.length);
			take(f.phase + f.name + move.how, p, Math.max(...sizes) + (move.note || "").length / 100 + (move.check ? 9 + move.check.verdict.length / 100 : 0));
			take("wide" + f.name + move.how, p, sizes.reduce((a, b) => a + b));
			if (f.name === "product" && S.steps.length < 40) take("each" + f.k, p, 1);  // its lines may wrap
			if (f.name === "collect") take("ledger", p, move.arrived?.[0] || 0);
			if (p === frames.length - 1) take("last", p, 1);
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
	function page() {
		const parts = { CSS: model.get("css"), ESM: model.get("esm"), TITLE: escape(heading), FRAME: "", DATA: JSON.stringify(data).replace(/</g, "\\u003c") };
		return model.get("whole") || model.get("page").replace(/%(CSS|ESM|DATA|TITLE|FRAME)%/g, (_, part) => parts[part]);
	}
	function save(file, text) {
		const a = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/html" })), download: file });
		a.click();
		setTimeout(() => URL.revokeObjectURL(a.href), 1000);
	}

	// ---- keys and theme
	on(box, "focusin", () => { left = false; });
	on(box, "click", () => { if (!box.contains(document.activeElement)) box.focus({ preventScroll: true }); });
	on(box, "keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		if (e.target.type === "text" && e.key !== "Escape") { e.stopPropagation(); return; }
		if (!bar.key(e)) return;
		e.preventDefault();
		e.stopPropagation();
	});
	function leave() {
		if (card.who != null) { select(null); return; }
		if (predict.asked) { predict.dismiss(); show(bar.at); return; }
		if (!more.hidden) { more.hidden = true; return; }
		left = true;
		/** @type {any} */
		const now = document.activeElement, lab = (window.frameElement ?? box).closest(".jp-Notebook");
		now?.blur();
		lab?.focus();
	}
	const dark = matchMedia("(prefers-color-scheme: dark)");
	function paintTheme() {
		const wanted = model.get("theme") || "auto";
		strip.el.dataset.theme = box.dataset.theme = wanted !== "auto" ? wanted : hostIsDark(el, dark.matches, model.get("own")) ? "dark" : "light";
		if (model.get("own")) document.documentElement.dataset.theme = box.dataset.theme;
	}
	on(dark, "change", paintTheme);
	const watch = new MutationObserver(paintTheme), watched = { attributeFilter: ["data-jp-theme-light", "data-theme", "class", "style"] };
	const outer = window.frameElement?.ownerDocument;
	for (const e of [document.body, outer?.body, outer?.documentElement]) if (e) watch.observe(e, watched);

	// ---- life
	let width = 0;
	const sizes = new ResizeObserver(() => { if (Math.abs(el.clientWidth - width) > 1) { width = el.clientWidth; settle(); } });
	signal.addEventListener("abort", () => { watch.disconnect(); sizes.disconnect(); bar.pause(); });
	listen(model, signal, "change:step", () => { const q = model.get("step"); if (!bar.playing && q !== bar.at) bar.go(q); });
	listen(model, signal, "change:live", () => strip.show(live() || !!data.live));
	listen(model, signal, "change:predict", () => { predict.on = !!model.get("predict"); bar.paint(); show(bar.at); });
	bar.at = model.get("step") || 0;
	bar.paint();
	paintTheme();
	strip.show(live() || !!data.live);
	if (el.clientWidth > 40) { width = el.clientWidth; settle(); } else show(bar.at);
	sizes.observe(el);
	if (tour && !matchMedia("(prefers-reduced-motion: reduce)").matches) bar.tour(box);
}

/** Whether the page around the stepper is dark: JupyterLab says so, of another page its background tells. A page of our own
 * takes the theme of the page that it stands in. */
function hostIsDark(el, preferred, own) {
	for (let e = own ? window.frameElement : el; e; e = e.ownerDocument.defaultView.frameElement) {
		const lab = e.ownerDocument.body.dataset.jpThemeLight;
		if (lab) return lab === "false";
		for (let up = e.parentElement; up; up = up.parentElement) {
			const [r, g, b, alpha = 1] = getComputedStyle(up).backgroundColor.match(/[\d.]+/g).map(Number);
			if (alpha > 0.5) return 0.3 * r + 0.6 * g + 0.1 * b < 128;
		}
	}
	return preferred;
}
