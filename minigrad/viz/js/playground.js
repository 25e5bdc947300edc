// The playground: what is typed becomes a stepper at once. The text, the step and the questions stand in the address, so that
// a link opens the same picture for a friend.

import { h } from "./tools.js";
import { pageModel } from "./local.js";
import { render } from "./main.js";
import { Mistake, list, parse } from "./formula.js";

const PAUSE = 250;  // milliseconds after the last key

/** Starts the playground in `root`; `texts` is what a stepper on this page knows besides its data. */
export function startPlayground(root, texts) {
	const [field, trouble, place, link] = ["textarea", ".trouble", ".live", ".copy"].map((part) => root.querySelector(part));
	let life = null, values = null, typing = 0, noting = 0;

	function keep() {
		const state = new URLSearchParams({ formula: field.value });
		if (values?.step) state.set("step", values.step);
		if (values?.predict) state.set("predict", "1");
		history.replaceState(null, "", `#${state}`);
	}
	/** Browsers allow few changes of the address a second. */
	function note() {
		clearTimeout(noting);
		noting = setTimeout(keep, PAUSE);
	}
	const lines = () => field.value.split(/\n|;/);
	/** Shows the stepper of the text; what cannot be read is told, and the picture of the last good text stays. */
	function show(step = 0, predict = false) {
		trouble.replaceChildren();
		field.ariaInvalid = "false";
		field.rows = Math.max(4, field.value.split("\n").length);
		let data;
		try {
			data = parse(field.value);
		} catch (error) {
			if (!(error instanceof Mistake)) throw error;
			return tell(error);
		}
		values = { ...texts, data, predict, nodes: values?.nodes ?? true, step, tour: !life && !location.hash };
		life?.abort();
		life = new AbortController();
		place.replaceChildren();
		render({ el: place, signal: life.signal, model: pageModel(values, (name) => {
			if (name === "data") rewrite(values.data);
			if (name !== "answers") note();
		}) });
	}
	/** The line with a mark below the letter that is wrong.
	 * @param {any} mistake */
	function tell({ message, row, at, fix }) {
		const all = lines(), line = all[row] ?? "", help = fix && h("button", `Add the line ${fix}`);
		field.ariaInvalid = "true";
		trouble.replaceChildren(h("div", h("p", all[1] != null ? `Line ${row + 1}: ${message}` : message), line.trim() && h("pre", `${line}\n${" ".repeat(at)}^`), help));
		if (help) help.onclick = () => { all.splice(row, 0, fix); put(all.join("\n")); field.focus(); };
	}
	/** A slider changed an input: the text follows. */
	function rewrite({ nodes, live }) {
		const now = lines();
		for (const n of nodes) if (n.leaf) now[n.row] = `${n.variable} = ${list(live.exact[n.id])}`;
		field.value = now.join("\n");
	}
	function put(text) {
		field.value = text;
		show();
		note();
	}
	function restore() {
		const state = new URLSearchParams(location.hash.slice(1));
		field.value = state.get("formula") ?? field.value;
		show(Math.trunc(+state.get("step")), state.has("predict"));
	}

	field.oninput = () => { clearTimeout(typing); typing = setTimeout(() => put(field.value), PAUSE); };
	for (const button of root.querySelectorAll("[data-text]")) button.onclick = () => put(button.dataset.text);
	link.onclick = async () => {
		keep();
		try {
			await navigator.clipboard.writeText(location.href);
			link.textContent = "Copied";
		} catch {
			link.textContent = "The link is in the address bar";
		}
	};
	addEventListener("hashchange", () => { if (/^#formula=/.test(location.hash)) restore(); });
	restore();
}
