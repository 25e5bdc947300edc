// What moves on the pages of the site: steppers, sliders, predictions, search, theme, progress. No other host is asked.
"use strict";

const root = document.body.dataset.root, here = document.body.dataset.page;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const json = (within) => JSON.parse(within.querySelector("script[type='application/json']").textContent);

function element(tag, text = "", attributes = {}) {
	const e = document.createElement(tag);
	e.textContent = text;
	for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
	return e;
}

// ---- what this browser remembers: { theme, answers: { id: { text, right } }, read: { slug: true } }
const memory = { answers: {}, read: {}, ...stored() };
function stored() {
	try { return JSON.parse(localStorage.minigrad || "{}"); } catch { return {}; }
}
function remember() {
	try { localStorage.minigrad = JSON.stringify(memory); } catch { /* it lasts as long as the page */ }
}

// ---- theme
const THEMES = { "": "as the system", light: "light", dark: "dark" };
function paintTheme() {
	const dark = memory.theme ? memory.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
	document.documentElement.dataset.theme = memory.theme || "";
	document.documentElement.classList.toggle("dark", dark);
	document.body.dataset.theme = dark ? "dark" : "light";  // steppers watch this one
	const button = document.getElementById("theme");
	button.textContent = { "": "Auto", light: "Light", dark: "Dark" }[memory.theme || ""];
	button.setAttribute("aria-label", `Theme: ${THEMES[memory.theme || ""]}`);
}
document.getElementById("theme").addEventListener("click", () => {
	const names = Object.keys(THEMES);
	memory.theme = names[(names.indexOf(memory.theme || "") + 1) % names.length];
	remember();
	paintTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintTheme);
paintTheme();

// ---- the menu closes when another place is chosen
const menu = document.querySelector(".menu");
addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
menu.addEventListener("keydown", (event) => {
	if (event.key !== "Escape") return;
	menu.open = false;
	menu.querySelector("summary").focus();
});

// ---- steppers: the code is here once, each brings its recording
const { texts, module } = window.minigradStepper;
document.head.append(element("style", texts.css));
const parts = module(), esm = module.toString().replace(/^module\(\) \{/, "").replace(/return \{[^{}]*\};\s*\}$/, "export default { render };");
const known = { css: texts.css, page: texts.page, esm, theme: "auto" };
for (const figure of all(".stepper")) {
	const data = json(figure), values = { data, predict: data.predict, step: data.at || 0, ...known };
	const el = element("div", "", { class: "live" });
	figure.append(el);
	parts.render({ model: parts.pageModel(values, () => {}), el, signal: new AbortController().signal });
	figure.classList.add("alive");
}
for (const place of all(".playground")) window.minigradPlayground(parts).startPlayground(place, known);

// ---- sliders and films: one picture for each combination of positions
for (const figure of all(".slider")) {
	const { pictures, words } = json(figure), image = figure.querySelector("img"), said = figure.querySelector(".words");
	const knobs = all("input", figure), outputs = all("output", figure), play = figure.querySelector("button");
	const values = knobs.map((knob) => JSON.parse(knob.dataset.values));
	const show = () => {
		const at = knobs.reduce((sum, knob, i) => sum * values[i].length + +knob.value, 0);
		image.src = pictures[at];
		image.alt = said.textContent = words[at];
		knobs.forEach((knob, i) => {
			outputs[i].textContent = values[i][knob.value];
			knob.setAttribute("aria-valuetext", values[i][knob.value]);
		});
	};
	let loaded = false, timer = 0;
	const load = () => { if (!loaded) { loaded = true; for (const each of pictures) new Image().src = each; } };
	const stop = () => { clearInterval(timer); timer = 0; if (play) play.textContent = "Play"; };
	for (const knob of knobs) {
		knob.addEventListener("input", () => { stop(); show(); });
		for (const name of ["focus", "pointerenter"]) knob.addEventListener(name, load);
	}
	play?.addEventListener("click", () => {
		if (timer) { stop(); return; }
		load();
		if (+knobs[0].value === pictures.length - 1) knobs[0].value = 0;
		show();
		play.textContent = "Stop";
		timer = setInterval(() => {
			knobs[0].value = +knobs[0].value + 1;
			show();
			if (+knobs[0].value === pictures.length - 1) stop();
		}, 500);
	});
	said.textContent = words[knobs.reduce((sum, knob, i) => sum * values[i].length + +knob.value, 0)];
}

// ---- predictions: asked, locked, judged
const MISSING = Symbol("no value");

/** The value of a Python literal: numbers, True, False, None, text, lists of these; MISSING for anything else. */
function literal(text) {
	const plain = text.trim().replace(/[−–]/g, "-").replace(/\(/g, "[").replace(/,?\s*\)/g, "]");
	const written = plain.replace(/'([^']*)'/g, '"$1"').replace(/\bTrue\b/g, "true").replace(/\bFalse\b/g, "false").replace(/\bNone\b/g, "null")
		.replace(/(^|[[,\s-])\.(\d)/g, "$10.$2").replace(/(\d)\.(?!\d)/g, "$1").replace(/(^|[[,\s])\+(\d)/g, "$1$2").replace(/,\s*\]/g, "]");
	for (const attempt of [written, `[${written}]`]) {
		try { return JSON.parse(attempt); } catch { /* the next form */ }
	}
	return MISSING;
}
const shape = (value) => {
	if (!Array.isArray(value)) return [];
	const inner = new Set(value.map((each) => JSON.stringify(shape(each))));
	return [value.length, ...(inner.size === 1 ? JSON.parse([...inner][0]) : [])];
};
const kind = (value) => (value === null ? "None" : { boolean: "truth", string: "text", number: "number" }[typeof value]);
const kinds = (value) => (Array.isArray(value) ? value.flatMap(kinds) : [kind(value)]);
function same(a, b, { rtol, atol }) {
	if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((each, i) => same(each, b[i], { rtol, atol }));
	return typeof a === "number" && typeof b === "number" ? Math.abs(a - b) <= atol + rtol * Math.abs(b) : a === b;
}
/** Whether an answer has a form that one may believe in. */
function fits(value, asked) {
	const texts = [value].flat(Infinity).filter((each) => typeof each === "string");
	if (typeof value === "string" || !texts.every((each) => asked.words.includes(each))) return asked.words.includes(value);
	const size = shape(value), known = asked.shapes.map((each) => JSON.stringify(each));
	if (!kinds(value).every((each) => asked.kinds.includes(each))) return false;
	return size[0] !== 0 && (!known.length || known.includes(JSON.stringify(size)) || asked.loose.includes(size.length));
}
const python = (value) => {
	if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
	return { true: "True", false: "False", null: "None" }[value] ?? (typeof value === "string" ? `"${value}"` : String(value));
};
/** A paragraph in which what stands in backticks is code. */
function paragraph(text, link, heading) {
	const p = element("p");
	text.split("`").forEach((part, i) => p.append(i % 2 ? element("code", part) : part));
	if (link) p.append(" ", element("a", link, { href: `${root}misconceptions.html#${heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-")}` }));
	return p;
}

for (const form of all(".question")) {
	const asked = json(form), says = form.querySelector(".says"), text = form.querySelector("input[type=text]");
	const folded = document.querySelector(`.folded[data-for="${asked.id}"]`);
	const unfold = () => { folded.classList.add("open"); form.querySelector(".quiet").remove(); };
	const hint = form.querySelector(".asked");
	if (hint) hint.textContent = `${asked.asked}.`;

	function judge(value) {
		if (same(value, asked.right, asked)) return { right: true, parts: [["That is what happens. Read on and see."]] };
		const known = asked.wrong.find(([answer]) => same(value, answer, asked));
		return { right: false, parts: [known ? known.slice(1) : ["Something else happens. Read on and compare."]] };
	}
	function lock(value) {
		const verdict = judge(value);
		says.replaceChildren(paragraph(`${verdict.right ? "Right" : "Not yet"}. Your answer is locked in: \`${python(value)}\`.`), ...verdict.parts.map((part) => paragraph(...part)));
		form.classList.add("locked", verdict.right ? "right" : "wrong");
		for (const control of all("input, button[type=submit]", form)) control.disabled = true;
		if (text) text.value = python(value);
		else all("input", form).find((each) => each.value === value).checked = true;
		form.querySelector(".press button[type=submit]").hidden = true;
		unfold();
		return verdict.right;
	}
	form.querySelector(".quiet").addEventListener("click", () => unfold());
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		const given = new FormData(form).get("answer") || "";
		const value = text ? literal(given) : given || MISSING;
		if (!given.trim() || value === MISSING || (text && !fits(value, asked))) {
			says.replaceChildren(paragraph(`${given.trim() ? "That has another form" : "There is no answer yet"}. The answer is ${asked.asked}. Nothing is locked in.`));
			return;
		}
		memory.answers[asked.id] = { value, right: lock(value) };
		remember();
		says.scrollIntoView({ block: "nearest" });
	});
	const before = memory.answers[asked.id];
	if (before) lock(before.value);
}
/** An address below a question opens what is folded above it. */
function reveal() {
	const goal = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
	if (!goal) return;
	for (let e = goal; e; e = e.parentElement) {
		if (e.matches(".folded")) e.classList.add("open");
		if (e.matches("details")) e.open = true;
	}
	goal.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// ---- progress: which lessons were read to their end, how many predictions are answered
const article = document.querySelector("article.lesson"), end = document.querySelector(".onward");
if (article && end) {
	new IntersectionObserver((entries) => {
		if (!entries.some((entry) => entry.isIntersecting)) return;
		memory.read[article.dataset.lesson] = true;
		remember();
	}).observe(end);
}
for (const item of all("[data-lesson]:not(article)")) {
	if (!memory.read[item.dataset.lesson]) continue;
	item.classList.add("read");
	const state = item.querySelector(".state");
	if (state) state.textContent = "· read";
}
const next = document.getElementById("go-on");
if (next) {
	const items = all(".lessons > li"), open = items.find((item) => !memory.read[item.dataset.lesson]);
	const link = (open || items[0]).querySelector("a");
	if (open && open !== items[0]) {
		next.href = link.href;
		next.textContent = `Go on with lesson ${link.textContent.slice(0, 2)}`;
	}
}
document.getElementById("forget")?.addEventListener("click", (event) => {
	Object.assign(memory, { answers: {}, read: {} });
	remember();
	event.target.replaceWith("This browser has forgotten your answers. Your theme stays.");
	for (const item of all(".read")) item.classList.remove("read");
	for (const state of all(".state")) state.textContent = "";
});

// ---- search: the index loads when the search is opened
const dialog = document.getElementById("search"), field = document.getElementById("search-words");
const found = document.getElementById("search-found"), counted = document.getElementById("search-count");
function openSearch() {
	dialog.showModal();
	field.select();
	if (window.minigradSearch) return;
	const script = element("script", "", { src: `${root}assets/search.js` });
	script.addEventListener("load", look);
	document.head.append(script);
}
document.getElementById("search-open").addEventListener("click", openSearch);
addEventListener("keydown", (event) => {
	const typing = event.target.closest("input, textarea, select, [contenteditable]");
	if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey && !dialog.open) { event.preventDefault(); openSearch(); }
});
// Words that visitors bring, and those that the course uses for the same thing.
const SAME = { backprop: "backward", backpropagation: "backward", vanishing: "vanish", overfit: "held out", overfitting: "held out" };
/** Where a word begins in a text. */
const beginning = (word) => new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "giu");
/** Sections that hold every word, the better ones first: a word of a heading counts more than one of the text, a lesson more than exercises. */
function matches(words) {
	const scored = [], sought = words.map((word) => [word, SAME[word]].filter(Boolean).map((one) => [one, beginning(one)]));
	const often = (text, at) => text.match(at)?.length || 0;
	for (const row of window.minigradSearch) {
		const [address, title, heading, text] = row;
		let score = address.startsWith("lessons/") ? 1 : address.startsWith("exercises/") || address.startsWith("api/") ? -1 : 0;
		const has = sought.every((forms) => {
			const best = Math.max(...forms.map(([one, at]) => 12 * (heading.toLowerCase() === one && words.includes(one)) + 6 * !!often(heading, at) + 2 * !!often(title, at)
				+ Math.min(3, often(text, at)) * 0.4));
			score += best;
			return best > 0;
		});
		if (has) scored.push([score, row]);
	}
	return scored.sort((a, b) => b[0] - a[0]).map(([, row]) => row);
}
/** How many letters differ, are missing, too many or exchanged with their neighbour. */
function distance(a, b) {
	let before = [], above = Array.from({ length: b.length + 1 }, (_, j) => j);
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		for (let j = 1; j <= b.length; j++) {
			row[j] = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] !== b[j - 1]));
			if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
		}
		[before, above] = [above, row];
	}
	return above[b.length];
}
let vocabulary = null;
/** The word of the course that is nearest to one that it does not have. */
function nearest(word) {
	if (!vocabulary) {
		vocabulary = new Map();
		for (const row of window.minigradSearch) for (const [one] of row.slice(1).join(" ").toLowerCase().matchAll(/[\p{L}_]{3,}/gu)) vocabulary.set(one, (vocabulary.get(one) || 0) + 1);
	}
	if (word.length < 4 || SAME[word] || [...vocabulary.keys()].some((one) => one.startsWith(word))) return word;
	const most = word.length < 8 ? 1 : 2, near = [...vocabulary].map(([one, times]) => [distance(word, one), -times, one]).filter(([far]) => far <= most);
	return near.sort((a, b) => a[0] - b[0] || a[1] - b[1])[0]?.[2] || word;
}
function look() {
	const typed = field.value.toLowerCase().split(/\s+/).filter(Boolean);
	if (!window.minigradSearch || !typed.length) { found.replaceChildren(); counted.textContent = ""; return; }
	let rows = matches(typed), asked = typed;
	if (!rows.length) rows = matches(asked = typed.map(nearest));
	const instead = rows.length && asked !== typed ? ` for \u201c${asked.join(" ")}\u201d` : "";
	counted.textContent = rows.length ? `${rows.length} ${rows.length === 1 ? "section" : "sections"} found${instead}` : "No section holds all of these words.";
	found.replaceChildren(...rows.slice(0, 20).map(([address, title, heading, text]) => {
		const item = element("li"), at = Math.max(0, text.toLowerCase().indexOf(asked[0]) - 50);
		const link = element("a", heading, { href: root + address });
		link.addEventListener("click", () => dialog.close());
		item.append(link, element("span", title === heading ? "" : title), element("p", (at ? "… " : "") + text.slice(at, at + 160)));
		return item;
	}));
}
field.addEventListener("input", look);
dialog.addEventListener("keydown", (event) => {
	if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
	const stops = [field, ...all("a", found)], at = stops.indexOf(document.activeElement);
	event.preventDefault();
	stops[(at + (event.key === "ArrowDown" ? 1 : stops.length - 1)) % stops.length].focus();
});
field.closest("form").addEventListener("keydown", (event) => {
	if (event.key !== "Enter" || event.target !== field) return;
	event.preventDefault();
	found.querySelector("a")?.click();
});

// ---- the section that is on screen is marked in the contents
const marks = new Map(all(".contents.wide a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
const spy = new IntersectionObserver((entries) => {
	for (const entry of entries) {
		if (!entry.isIntersecting) continue;
		for (const link of marks.values()) link.removeAttribute("aria-current");
		marks.get(entry.target.id)?.setAttribute("aria-current", "true");
	}
}, { rootMargin: "0px 0px -70% 0px" });
for (const id of marks.keys()) spy.observe(document.getElementById(id));
