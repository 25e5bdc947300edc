// Predict before reveal: a question holds the walk until it is answered or skipped, and a wrong answer is explained.

import { KEEP, button, fmt, h } from "./tools.js";

/** options: go(p), here() the position, pause(), paint(), model, back() where the focus goes. */
export function makePredict(S, options, on) {
	const { frames, steps } = S, { model } = options;
	const el = h("div.mg-ask", { role: "group", hidden: true });
	const answers = [...(model.get("answers") || [])], answered = new Set(answers.map((a) => a.at));
	let asked = null, active = !!model.get("predict");

	function question(p) {
		const f = frames[p], quiz = steps[f.k]?.quiz;
		return quiz?.beat === f.name && f.name ? quiz : null;
	}

	/** Asks what the frame at `p` would reveal; the walk stays one frame before it. */
	function pose(p) {
		options.pause();
		asked = { ...question(p), at: p, hinted: false };
		const choices = h("div.options"), says = h("div.says", { "aria-live": "polite" });
		if (asked.options) choices.append(...asked.options.map((o, i) => button(on, () => give(i), o, { class: "answer", title: `key ${keyOf(i)}` })));
		else {
			const field = h("input", { type: "text", inputmode: "decimal", "aria-label": "Your number", ...KEEP });
			on(field, "keydown", (e) => {
				if (e.key !== "Enter") return;
				e.preventDefault();
				e.stopPropagation();
				give(field.value);
			});
			choices.append(field, button(on, () => give(field.value), "answer"));
		}
		choices.append(button(on, () => { asked.hinted = true; says.textContent = asked.hint; }, "hint", { class: "aside" }), button(on, skip, "show the answer", { class: "aside" }));
		el.ariaLabel = `Your prediction: ${asked.ask}`;  // the focus comes here, so it is heard once
		el.replaceChildren(h("p", { "aria-hidden": "true" }, h("b", asked.ask)), choices, says);
		el.style.minHeight = el.parentElement.offsetHeight + "px";
		el.hidden = false;
		options.paint();
		el.querySelector("input, button").focus({ preventScroll: true });
	}
	/** The key of a choice: what it says where that is one letter, else its number. */
	function keyOf(i) {
		const plain = asked.options.map((o) => ({ "−": "-" })[o] || o);
		return plain.every((o) => o.length === 1) ? plain[i] : String(i + 1);
	}
	function give(answer) {
		if (!asked || asked.done || answer === -1) return;
		const number = typeof answer === "string" ? Number(answer.trim().replace(",", ".").replace("−", "-") || NaN) : answer;
		if (Number.isNaN(number)) {
			el.querySelector(".says").textContent = "A number, such as -1.5";
			return;
		}
		const right = asked.options ? number === asked.answer : Math.abs(number - asked.answer) <= asked.tol;
		const { at, type, options: choices, hinted } = asked;
		if (!asked.tried) {  // the first try is the prediction
			answers.push({ at, step: frames[at].k, type, given: choices ? choices[number] : number, right, hinted });
			model.set("answers", [...answers]);
			model.save_changes();
		}
		asked.tried = true;
		if (choices) el.querySelector(".options").children[number].ariaPressed = "true";
		if (right) { finish("Right."); return; }
		const why = choices ? asked.why[number]
			: asked.wrong.find(([v]) => Math.abs(v - number) <= asked.tol)?.[1] || "None of the usual mistakes gives this number.";
		el.querySelector(".says").replaceChildren(h("p.wrong", `Not ${choices ? "this" : fmt(number)}. ${why || ""}`), h("p", "Try again, or show the answer."));
	}
	function skip() { if (asked && !asked.done) finish(""); }
	function finish(text) {
		asked.done = true;
		answered.add(asked.at);
		options.paint();
		const target = asked.at, b = button(on, () => options.go(target), "go on", { title: "Enter" });
		el.querySelector(".says").replaceChildren(h("p.right", text), h("p", asked.reveal),
			h("p", b, h("span.mg-small", ` right at the first try: ${answers.filter((a) => a.right).length} of ${answers.length}`)));
		for (const e of el.querySelectorAll(".options > *")) e.disabled = true;
		b.focus({ preventScroll: true });
	}
	function dismiss() {
		if (!asked) return;
		const inside = el.contains(document.activeElement);
		asked = null;
		el.hidden = true;
		el.replaceChildren();
		if (inside) options.back();
	}

	return {
		el, dismiss, give, pose,
		get on() { return active; },
		set on(yes) { active = yes; if (!yes) dismiss(); },
		get asked() { return asked; },
		/** The first frame after the position, up to another, that must be asked about first. */
		next(from, to) {
			if (!active) return -1;
			for (let q = from + 1; q <= Math.min(to, frames.length - 1); q++) if (question(q) && !answered.has(q)) return q;
			return -1;
		},
		/** Whether something is still hidden: an answer that is asked for, and in predict mode all factors not yet used. */
		mute(what) {
			if (asked && !asked.done && (asked.type === what || what === "rule" && ["sign", "value", "rule"].includes(asked.type))) return true;
			return what === "local" && active;
		},
		asks: (i) => asked?.type === "next" && !asked.done && asked.ids.includes(i),
		click(i) {
			if (asked?.type !== "next" || asked.done || !asked.ids.includes(i)) return false;
			give(asked.ids.indexOf(i));
			return true;
		},
		/** The key for one step on while a question is open: it goes on after an answer, and says before that what it waits for. */
		press() {
			if (asked.done) options.go(asked.at);
			else el.querySelector(".says").textContent = "The walk goes on when this question is answered. Esc closes it.";
			return asked === null;
		},
		key(key) {
			if (!asked) return false;
			if (asked.done) return key === "Enter" && (options.go(asked.at), true);
			const i = asked.options ? asked.options.findIndex((_, q) => keyOf(q) === key) : -1;
			return i >= 0 && (give(i), true);
		},
	};
}
