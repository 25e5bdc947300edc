// The controls: buttons, slider, keys, play. Every control is reached by Tab and the arrow keys, too.

import { KEEP, between, button, h } from "./tools.js";
import { nodeEnds } from "./state.js";

const ICONS = {
	first: "M2 2h2v10H2zM12 2v10L5 7z", back: "M10 2v10L3 7z", next: "M4 2v10l7-5z", last: "M2 2v10l7-5zM10 2h2v10h-2z",
	play: "M3 1v12l10-6z", pause: "M3 2h3v10H3zM8 2h3v10H8z",
};

/** options: show(p) paints a position, sync(p) tells the notebook, tell(text), predict, more: further buttons by id, model: its
 * `nodes` says whether a step is a whole node. */
export function makeTransport(S, options, on) {
	const { frames, steps, startOf, expected } = S, { model } = options, knob = {}, press = {}, byNodes = () => !!model.get("nodes");
	let p = 0, playing = null, touring = false;

	const control = ([id, label, text]) => {
		const b = knob[id] = button(on, () => press[id](), text, { "data-id": id, "aria-label": label, title: label });
		if (ICONS[id]) b.innerHTML = `<svg viewBox="0 0 14 14" aria-hidden="true"><path d="${ICONS[id]}"/></svg>`;
		return b;
	};
	const range = h("input", { type: "range", min: 0, max: frames.length - 1, step: 1, "aria-label": "Step", ...KEEP });
	const band = (phase, text) => {
		const size = frames.filter((f) => f.phase === phase || phase === "backward" && f.phase === "seed").length;
		return size && h("span." + phase, { style: `flex: ${size}` }, text);
	};
	const track = h("div.mg-track", range, S.forward.length ? h("div.mg-bands", { "aria-hidden": "true" }, band("look", ""), band("forward", "forward"), band("backward", "backward")) : "");
	const bar = h("div.mg-bar", h("div.mg-moves", [["first", "First (Home)"], ["back", "Back (left arrow)"], ["play", "Play (Space)"],
		["next", "Forward (right arrow)"], ["last", "Last (End)"]].map(control)), track,
	h("div.mg-modes", [["by", "Step by whole nodes", "by node"], ["predict", "Predict before each reveal", "predict"], ["more", "More controls", "more"],
		["help", "Signs and keys (?)", "?"]].map(control)));
	const extra = h("div.mg-bar mg-extra", { hidden: true }, options.more.map(control));
	const el = h("div.mg-tools", { role: "toolbar", "aria-label": "Controls; up and down arrows move between them" }, bar, extra);

	function go(position) {
		options.predict.dismiss();
		const before = p;
		p = between(0, position, frames.length - 1);
		paint();
		options.show(p, p === before + 1);
		if (!playing) options.sync(p);
	}
	function paint() {
		range.value = p;
		range.ariaValueText = options.where(p);
		knob.by.setAttribute("aria-pressed", byNodes());
		knob.predict.setAttribute("aria-pressed", options.predict.on);
		knob.more.setAttribute("aria-expanded", !extra.hidden);
	}
	const ends = () => nodeEnds(frames, options.graph.together);
	const nextNode = () => ends().find((q) => q > p) ?? frames.length - 1;
	const previousNode = () => ends().findLast((q) => q < p) ?? 0;

	/** One frame or one node further; a question or a wrong rule may hold the walk. True if it moved. */
	function move(by, nodes = byNodes()) {
		const { predict } = options;
		if (predict.asked && by > 0) return predict.press();
		let to = !nodes ? p + by : by > 0 ? nextNode() : previousNode();
		if (by > 0) {
			const stop = predict.next(p, to);
			if (stop >= 0) {
				if (stop - 1 !== p) go(stop - 1);
				predict.pose(stop);
				return false;
			}
			const wrong = S.frozen < 0 ? -1 : frames.findIndex((f) => f.k === S.frozen && f.name === "product");
			if (p < wrong && to > wrong) to = wrong;
			if (p === wrong) {
				pause();
				options.tell("The walk stops at the first wrong contribution: correct the rule, or drag the slider.");
				return false;
			}
		}
		if (to < 0 || to >= frames.length) return false;
		go(to);
		return true;
	}

	// ---- play: longer where there is more to read
	function play(nodes) {
		if (p === frames.length - 1) go(0);
		const wait = () => between(1000, 500 + 28 * frames[p].text.length, 6000);
		const turn = () => {
			if (move(1, nodes) && p < frames.length - 1) playing = setTimeout(turn, wait());
			else if (touring) playing = setTimeout(() => { pause(); go(0); }, wait());
			else pause();
		};
		playing = setTimeout(turn, 700);
		icon();
	}
	function pause() {
		if (!playing) return;
		clearTimeout(playing);
		playing = null;
		touring = false;
		icon();
		options.show(p);
		options.sync(p);
	}
	function icon() {
		knob.play.querySelector("path").setAttribute("d", ICONS[playing ? "pause" : "play"]);
		knob.play.title = knob.play.ariaLabel = playing ? "Pause (Space)" : "Play (Space)";
	}
	/** Plays once by whole nodes when it comes into view, until anything is pressed, and then stands at the start again. */
	function tour(box) {
		const seen = new IntersectionObserver(([entry]) => {
			if (!entry.isIntersecting) return;
			seen.disconnect();
			touring = true;
			play(true);
		}, { threshold: 0.5 });
		const pressed = (e) => {
			seen.disconnect();
			if (touring && e.key !== " " && !e.target.closest("[data-id=play]")) pause();
		};
		seen.observe(box);
		for (const name of ["pointerdown", "keydown"]) on(box, name, pressed);
	}
	function nextFan() {
		const q = frames.findIndex((f, i) => i > p && f.name === "collect" && steps[f.k].kind === "send" && expected[steps[f.k].parent] > 1);
		if (q > 0) go(q);
	}

	Object.assign(press, options.press, {
		first: () => go(0), back: () => move(-1), next: () => move(1), last: () => go(frames.length - 1),
		play: () => (playing ? pause() : play()), bad: () => go(startOf[S.firstBad]),
		by: () => { model.set("nodes", !byNodes()); paint(); }, predict: () => { options.predict.on = !options.predict.on; paint(); options.show(p); },
		more: () => { extra.hidden = !extra.hidden; paint(); },
	});

	// ---- focus and keys
	const controls = () => [...el.querySelectorAll("button, input")].filter((c) => c.getClientRects().length);
	const focusable = (it) => el.querySelectorAll("button, input").forEach((c) => { c.tabIndex = c === it ? 0 : -1; });
	focusable(knob.next);
	on(el, "focusin", (e) => focusable(e.target));
	on(range, "input", () => go(+range.value));

	/** What the keys do anywhere inside; gives whether a key was one of them. */
	function key(e) {
		const { graph, predict } = options, target = e.target, all = controls(), roving = all.indexOf(target), inGraph = graph.el.contains(target);
		const name = e.key.length === 1 ? e.key.toLowerCase() : e.key;
		if (predict.key(name) && target.type !== "text") return true;
		const keys = {
			ArrowRight: () => move(1, e.shiftKey !== byNodes()), ArrowLeft: () => move(-1, e.shiftKey !== byNodes()), Home: press.first,
			End: press.last, n: nextFan, f: press.fit, t: press.words, c: press.cell, "?": press.help, "+": press.zoomin, "=": press.zoomin,
			"-": press.zoomout, Escape: press.leave,
		};
		if (target.tagName !== "BUTTON") keys[" "] = press.play;
		if (roving >= 0) {
			const step = (d) => all[(roving + d + all.length) % all.length].focus();
			keys.ArrowDown = () => step(1);
			keys.ArrowUp = () => step(-1);
		} else if (inGraph || target.classList.contains("mg")) {
			keys.ArrowDown = () => graph.rove(1);
			keys.ArrowUp = () => graph.rove(-1);
		}
		if (!keys[name]) return false;
		keys[name]();
		return true;
	}

	return { el, knob, go, move, pause, tour, paint, key, get at() { return p; }, set at(q) { p = between(0, q, frames.length - 1); }, get playing() { return !!playing; } };
}
