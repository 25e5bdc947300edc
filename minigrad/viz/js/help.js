// The legend of signs, the keys, and the transcript.

import { brief, count, h, scalar } from "./tools.js";

export function legend(S) {
	const { nodes, data } = S, fan = S.expected.some((n) => n > 1), rows = [];
	const row = (style, sample, text) => rows.push(h("li", h("span.mg-key " + style, { "aria-hidden": !/\w/.test(sample) && "true" }, sample), " ", h("span", text)));
	row("current", "current", "its gradient is complete: it sends a contribution to each of its inputs");
	row("ready", "ready", "its gradient is complete: it will soon be current");
	if (fan) row("waiting", "waiting: 1 of 2", "it was used twice, so two contributions come back; one has arrived");
	const edge = S.edges.findIndex((_, j) => S.moveOf[j] != null && S.sentText(j));
	if (edge >= 0) {
		row("local", S.localText(edge), `local derivative: how much ${S.name(S.edges[edge][1])} changes when ${S.name(S.edges[edge][0])} changes`);
		row("sent", S.sentText(edge), "contribution: upstream gradient g × local derivative, sent back along the edge; a thicker line is a larger one, blue is negative");
	}
	if (nodes.some((n) => !n.rg && !n.cut)) row("plain", "data", "plain data: it needs no gradient");
	if (nodes.some((n) => n.cut)) row("cut", "✂", "the graph was cut here: nothing is sent further");
	if (data.vals.some((v) => !scalar(v) && count(v) > 1)) row("scale", "", "blue: negative, white: 0, orange: positive; size: the root of the sum of all squares");
	return h("ul.mg-legend", rows);
}

export function help(S) {
	const keys = `→ ←|one step on, back|Shift + → ←|one node on, back (one step, where “by node” is on)|Home End|first, last|Space|play, pause|1 to 4, Enter|answer, go on|N|next box with
		several contributions|C|next cell|F|fit the graph|+ −|zoom|T|transcript|↑ ↓|next control or box|Esc|close, leave|?|this help`.split("|");
	const row = (k, i) => (i % 2 ? "" : h("tr", h("th", { scope: "row" }, k), h("td", keys[i + 1])));
	return [h("p.mg-name", "Signs"), legend(S), h("table", h("caption", "Keys"), h("tbody", keys.map(row)))];
}

/** What is wrong with a contribution: which was expected, and which was found. */
function wrong(S, { check, contrib }) {
	if (!check || check.verdict === "agrees") return "";
	const said = check.yours != null ? ` Expected ${brief(S.val(contrib), 60)}, found ${brief(S.val(check.yours), 60)}.` : "";
	return ` Yours differs here. ${check.verdict}${said}`;
}

export function transcript(S, heading) {
	const { steps, name } = S, head = ["step", "from", "to", "rule", "in words"];
	const ahead = S.forward.map((move) => ["forward", name(move.node), "", move.line, move.text]);
	const back = steps.map((x, k) => [k, name(x.node), x.parent != null ? name(x.parent) : x.kind === "leaf" ? name(x.node) + ".grad" : "",
		x.rule || x.kind, x.text.join(" ") + wrong(S, x)]);
	return h("table", h("caption", heading + ", all steps"), h("thead", h("tr", head.map((t) => h("th", { scope: "col" }, t)))),
		h("tbody", [...ahead, ...back].map((r) => h("tr", r.map((t) => h("td", String(t)))))));
}
