// The inputs of a function, to be changed: type a number or drag the slider, and the kernel computes everything anew.

import { KEEP, fmt, h } from "./tools.js";
import { indexOf } from "./numbers.js";

/** A strip of fields above the stepper; it stays while the graph below it is drawn anew, so that dragging goes on. */
export function makeInputs(model, on, listen) {
	const slider = h("input", { type: "range", "aria-label": "Change the number", ...KEEP });
	const trouble = h("span.mg-trouble", { "aria-live": "polite" }), fields = [];
	const el = h("div.mg-strip", { role: "group", "aria-label": "Inputs", hidden: true }, h("b", "Change an input"));
	let chosen = null, waiting = false, next = null;

	for (const [name, { s, d }] of Object.entries(model.get("inputs") || {})) {
		const columns = s.at(-1) || 1, cells = h("span.mg-cells" + (d.length > 1 ? " many" : ""), { style: `grid-template-columns: repeat(${columns}, auto)` });
		d.forEach((value, index) => {
			const text = name + (s.length ? ` [${indexOf({ s }, [Math.floor(index / columns), index % columns])}]` : "");
			const field = h("input", { type: "number", step: "any", value: fmt(+value.toPrecision(4)), "aria-label": text, ...KEEP });
			const one = { name, index, field };
			on(field, "focus", () => choose(one));
			on(field, "input", () => { if (field.value !== "" && Number.isFinite(+field.value)) send(one); });
			on(field, "keydown", (e) => e.stopPropagation());
			fields.push(one);
			cells.append(field);
		});
		el.append(h("span", h("code", `${name} =`), cells));
	}
	el.append(slider, trouble);

	/** The slider acts on one number: the field that was used last. It reaches from it to either side. */
	function choose(one) {
		if (chosen === one) return;
		chosen = one;
		const value = +one.field.value, reach = Math.max(3, Math.ceil(Math.abs(value)) * 2);
		Object.assign(slider, { min: -reach, max: reach, step: reach / 100 });
		slider.value = value;
		slider.ariaLabel = `Change ${one.field.ariaLabel}`;
		for (const other of fields) other.field.classList.toggle("chosen", other === one);
	}
	on(slider, "input", () => {
		chosen.field.value = fmt(+(+slider.value).toPrecision(4));
		send(chosen);
	});
	on(slider, "keydown", (e) => e.stopPropagation());

	/** One change at a time: while the kernel computes, only the latest waits. */
	function send({ name, index, field }) {
		const message = { name, index, value: +field.value };
		if (waiting) { next = message; return; }
		waiting = true;
		model.send(message);
	}
	const answered = () => {
		waiting = false;
		trouble.textContent = model.get("trouble")?.[1] || "";
		if (!next) return;
		const message = next;
		next = null;
		waiting = true;
		model.send(message);
	};
	listen("change:data", answered);
	listen("change:trouble", answered);

	return {
		el,
		/** Shown only where a kernel answers. */
		show(live) {
			el.hidden = !live || !fields.length;
			if (!el.hidden && !chosen) choose(fields[0]);
		},
	};
}
