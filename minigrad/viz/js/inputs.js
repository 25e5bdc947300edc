// The inputs of a function, to be changed: type a number or drag a slider, and everything is computed anew.

import { KEEP, bracket, fmt, h } from "./tools.js";
import { indexOf } from "./numbers.js";

/** What a number may be while it is being typed. */
const BEGUN = /^[-+]?\d*\.?\d*(e[-+]?\d*)?$/i;
const numberOf = (text) => { const plain = text.trim().replace(",", ".").replace("−", "-"); return plain === "" ? NaN : Number(plain); };
/** The slider's end: a power of ten that holds the number. */
const reachOf = (x) => Math.max(Math.abs(x) && Math.abs(x) < 1 ? 1 : 10, 10 ** Math.ceil(Math.log10(Math.abs(x) || 1)));

/** What the gradient says of a change of one input, beside what happened: two passes of one graph. */
export function whatIf(a, b) {
	const numbers = (data, i) => data.vals[i]?.d || [data.vals[i]], rounded = (x) => +x.toPrecision(4);
	const [[from, ...more], [to]] = [a, b].map((data) => numbers(data, data.nodes[data.root].val)), name = a.nodes[a.root].name;
	for (const { kind, node, up } of a.steps) {
		const old = numbers(a, a.nodes[node].val), now = numbers(b, b.nodes[node]?.val), i = now.findIndex((x, i) => x !== old[i]);
		const g = numbers(a, up)[i], change = rounded(now[i] - old[i]);
		if (kind === "leaf" && !more.length && [g, change, from, to].every(Number.isFinite))
			return `What if: the gradient predicts that ${name} changes by ${fmt(g)} · ${bracket(change)} = ${fmt(rounded(g * change))}; ` +
				`it changed by ${fmt(to)} − ${bracket(from)} = ${fmt(rounded(to - from))}.`;
	}
	return "";
}

/** A strip of fields above the stepper; it stays while the graph below it is drawn anew, so that dragging goes on. */
export function makeInputs(model, on, listen) {
	const inputs = model.get("inputs") || model.get("data").inputs || {}, names = Object.keys(inputs);
	const trouble = h("span.mg-trouble", { "aria-live": "polite" });
	const strip = h("div.mg-fields", h("b", "Change an input"));
	const instead = h("span", `To try ${names.length > 1 ? "other numbers" : "another number"} for ${names.join(" and ")}, run the cell in the notebook again ` +
		"(in one that was just opened, first the cells above it).");
	const whatif = h("span.mg-whatif", { "aria-live": "polite" });
	const el = h("div.mg-strip", { role: "group", "aria-label": "Inputs", hidden: true }, strip, instead, trouble, whatif);
	let waiting = false, next = null;

	for (const [name, { s, d }] of Object.entries(inputs)) {
		const columns = s.at(-1) || 1, cells = h("span.mg-cells" + (d.length > 1 ? " many" : ""), { style: `grid-template-columns: repeat(${columns}, auto)` });
		const slider = h("input", { type: "range", ...KEEP }), ends = [h("span"), h("span")], whose = d.length > 1 ? h("code") : "";
		let chosen;

		/** The slider acts on one number of the input, and names it; its ends move only for a number beyond them. */
		const choose = (one) => {
			const reach = chosen === one ? Math.max(+slider.max, reachOf(one.value)) : reachOf(one.value);
			chosen = one;
			Object.assign(slider, { min: -reach, max: reach, step: reach / 100 });
			slider.value = one.value;
			slider.ariaLabel = `Change ${one.text}`;
			if (whose) whose.textContent = one.text;
			ends.forEach((end, i) => { end.textContent = fmt(i ? reach : -reach); });
			for (const field of cells.children) field.classList.toggle("chosen", d.length > 1 && field === one.field);
		};
		const take = (one, value) => {
			if (one.past.at(-1) !== one.value) one.past.push(one.value);
			one.value = value;
			trouble.textContent = "";
			send({ name, index: one.index, value });
		};
		d.forEach((number, index) => {
			const text = name + (s.length ? ` [${indexOf({ s }, [Math.floor(index / columns), index % columns])}]` : ""), value = +number.toPrecision(4);
			const field = h("input", { type: "text", inputmode: "decimal", value: fmt(value), "aria-label": text, ...KEEP });
			const one = { index, field, text, value, past: [] };
			const put = (value) => { field.value = fmt(value); choose(one); };
			on(field, "focus", () => choose(one));
			on(field, "input", () => {
				const typed = numberOf(field.value);
				if (Number.isFinite(typed)) {
					take(one, typed);
					choose(one);
				} else if (!BEGUN.test(field.value.trim().replace(",", ".").replace("−", "-"))) {
					const said = field.value;
					put(one.value);
					trouble.textContent = `"${said}" is not a number, so ${text} stays ${fmt(one.value)}. Write a number such as -1.5.`;
				}
			});
			on(field, "change", () => { if (!Number.isFinite(numberOf(field.value))) put(one.value); });  // left empty, or too large
			on(field, "keydown", (e) => {
				e.stopPropagation();
				if (e.key.toLowerCase() !== "z" || !(e.ctrlKey || e.metaKey)) return;
				e.preventDefault();
				const back = one.past.pop();
				if (back === undefined) return;
				one.value = back;
				put(back);
				send({ name, index, value: back });
			});
			cells.append(field);
			if (!index) choose(one);
		});
		on(slider, "input", () => {
			const value = +(+slider.value).toPrecision(4);
			chosen.field.value = fmt(value);
			take(chosen, value);
		});
		on(slider, "keydown", (e) => e.stopPropagation());
		strip.append(h("span.mg-input", h("code", `${name} =`), cells, h("span.mg-slide", whose, ends[0], slider, ends[1])));
	}

	/** One change at a time: while the kernel computes, only the latest waits. */
	function send(message) {
		if (waiting) { next = message; return; }
		waiting = true;
		model.send(message);
	}
	const answered = () => {
		waiting = false;
		const failed = model.get("trouble")?.[1];
		if (failed) trouble.textContent = failed;
		if (!next) return;
		const message = next;
		next = null;
		send(message);
	};
	listen("change:data", answered);
	listen("change:trouble", answered);

	return {
		el,
		say(text) { whatif.textContent = text; },
		/** The fields where a kernel answers; elsewhere a sentence. */
		show(live) {
			el.hidden = !names.length;
			strip.hidden = !live;
			instead.hidden = live;
		},
	};
}
