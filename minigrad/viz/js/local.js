// Changes of an input where no kernel answers: the engine of the page computes everything anew.

import { compute } from "./engine.js";

/** A model for a page without Jupyter: its values, and functions to call when one changes; `changed(name)` is called first. */
export function pageModel(values, changed) {
	const heard = {};
	return {
		get: (name) => values[name],
		on: (what, fn) => { (heard[what] ??= new Set()).add(fn); },
		off: (what, fn) => heard[what].delete(fn),
		save_changes() {},
		set(name, value) {
			if (values[name] === value) return;
			values[name] = value;
			changed(name);
			for (const fn of [...(heard[`change:${name}`] || [])]) fn();
		},
	};
}

/** The model with inputs that can be changed without Python, where the data allow it; `answers()` is true where a kernel is. */
export function withEngine(model, answers) {
	const start = model.get("data"), live = start.live;
	if (!live) return model;
	const exact = structuredClone(live.exact), leaves = start.nodes.filter((n) => n.leaf && exact[n.id].d.length <= 12);
	const inputs = Object.fromEntries(leaves.map((n) => [n.name, live.exact[n.id]]));
	const own = {
		get: (what) => (what === "inputs" ? (answers() && model.get("inputs")) || inputs : model.get(what)),
		send(message) {
			const leaf = leaves.find((n) => n.name === message.name);
			if (leaf) exact[leaf.id].d[message.index] = message.value;  // the page goes on from here when the kernel has ended
			if (answers()) model.send(message);
			else model.set("data", { ...compute(start, exact), live: { ...live, exact: structuredClone(exact) }, stay: true });
		},
	};
	for (const name of ["set", "save_changes", "on"]) own[name] = (...given) => model[name](...given);
	own.off = (...given) => model.off?.(...given);
	return own;
}
