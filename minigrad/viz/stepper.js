// The ledger stepper: walks through a recorded backward pass, one beat at a time.
//
// render({ model, el, signal }) serves three hosts: a live notebook (anywidget), a frame in a saved notebook, and a
// page of its own. The model holds one JSON value, `data`: the recording, its layout and its questions, all made in
// Python (see minigrad/recording.py). What is on screen is a pure function of a position in `frames`: going there from
// anywhere gives the same picture. Nothing is computed here but which numbers to show.

const SVG = "http://www.w3.org/2000/svg";
const BEATS = { 4: ["focus", "rule", "product", "collect"], 5: ["focus", "rule", "product", "sum", "collect"] };
const ICONS = {
  first: "M2 2h2v10H2zM12 2v10L5 7z", back: "M10 2v10L3 7z", next: "M4 2v10l7-5z", last: "M2 2v10l7-5zM10 2h2v10h-2z",
  play: "M3 1v12l10-6z", pause: "M3 2h3v10H3zM8 2h3v10H8z",
};

// ------------------------------------------------------------------ small tools
function h(tag, attrs = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs)) {
    if (v === true) e.setAttribute(k, "");
    else if (v !== false && v != null) e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c != null));
  return e;
}

function s(tag, attrs = {}, text) {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  if (text != null) e.textContent = text;
  return e;
}

const escape = (t) => String(t).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

/** The text of a number, as minigrad/recording.py writes it. */
function fmt(x) {
  if (typeof x !== "number") return String(x);
  const a = Math.abs(x);
  if (Number.isInteger(x) && a < 1e6) return String(x);
  if (a >= 1e-4 && a < 1e6) return String(Number(x.toPrecision(4)));
  const [digits, exponent] = x.toExponential(3).split("e");
  return Number(digits) + "e" + Number(exponent);
}

const scalar = (v) => v === null || typeof v !== "object";
const shapeOf = (v) => (scalar(v) ? "one number" : v.s.join("\u00d7"));
const cutText = (t, n) => (t.length > n ? t.slice(0, n - 1) + "\u2026" : t);

/** One value in a few words, for a graph box or a ledger row. */
function brief(v) {
  if (v == null) return "";
  if (scalar(v)) return fmt(v);
  if (v.s.length === 1 && v.d.length === v.s[0] && v.d.length <= 3) return "[" + v.d.map(fmt).join(", ") + "]";
  return shapeOf(v);
}

/** The number at a row and a column of a value's table, stretched as broadcasting does. undefined: not in the sample. */
function at(v, row, col) {
  if (scalar(v)) return v;
  const rows = v.s.slice(0, -1).reduce((a, b) => a * b, 1);
  const r = rows === 1 ? 0 : row;
  const c = v.s[v.s.length - 1] === 1 ? 0 : col;
  return r < v.r && c < v.c ? v.d[r * v.c + c] : undefined;
}

// ------------------------------------------------------------------ heat maps
/** Blue for negative, white for zero, orange for positive; always dark text on it. */
function tint(x, top) {
  if (typeof x !== "number") return "#ffd0d6";
  const t = top ? Math.min(1, Math.abs(x) / top) : 0;
  const [r, g, b] = x < 0 ? [122, 178, 224] : [250, 166, 92];
  const mix = (c) => Math.round(255 + (c - 255) * t);
  return `rgb(${mix(r)},${mix(g)},${mix(b)})`;
}

/** A table of numbers as a picture. Options: top (shared scale), on (marked cell), flip, blocked, braces. */
function heat(v, o = {}) {
  const list = v.s.length === 1;
  const flip = o.flip && !list;
  const R = flip ? v.c : v.r, C = flip ? v.r : v.c;
  const value = (r, c) => (flip ? v.d[c * v.c + r] : v.d[r * v.c + c]);
  const digits = R <= 6 && C <= 6;
  const widest = digits ? Math.max(...v.d.map((x) => fmt(x).length), 2) : 0;
  const w = digits ? Math.max(28, widest * 7 + 8) : Math.max(7, Math.min(18, 170 / C));
  const hgt = digits ? 22 : Math.max(7, Math.min(18, 130 / R));
  const pad = 2, low = o.braces ? 12 : 0;
  const cells = [];
  for (let r = 0; r < R; r++) {
    for (let c = 0; c < C; c++) {
      const x = value(r, c), X = pad + c * w, Y = pad + r * hgt;
      const off = o.blocked && at(o.blocked, flip ? c : r, flip ? r : c) === 0;
      const where = flip ? `${c},${r}` : `${r},${c}`;
      cells.push(`<rect class="cell" data-at="${where}" x="${X}" y="${Y}" width="${w}" height="${hgt}" ` +
        `fill="${off ? "#fff" : tint(x, o.top)}"/>`);
      if (off) cells.push(`<path class="no" d="M${X} ${Y + hgt}L${X + w} ${Y}M${X} ${Y + hgt / 2}L${X + w / 2} ${Y}M${X + w / 2} ${Y + hgt}L${X + w} ${Y + hgt / 2}"/>`);
      if (digits && !(off && o.blank)) {
        if (off) cells.push(`<rect x="${X + w / 2 - 7}" y="${Y + 4}" width="14" height="${hgt - 8}" fill="#fff"/>`);
        cells.push(`<text x="${X + w / 2}" y="${Y + hgt / 2 + 4}" text-anchor="middle" pointer-events="none">${fmt(x)}</text>`);
      }
    }
  }
  if (o.on) {
    const [r, c] = flip ? [o.on[1], o.on[0]] : o.on;
    if (r < R && c < C) cells.push(`<rect class="on" fill="none" x="${pad + c * w}" y="${pad + r * hgt}" width="${w}" height="${hgt}"/>`);
  }
  let W = C * w + 2 * pad, H = R * hgt + 2 * pad;
  if (o.braces && o.braces.includes(v.s.length - 1)) {
    cells.push(`<path class="brace" d="M${pad + 2} ${H + 1}v5H${W - pad - 2}v-5"/>`);
    H += low;
  }
  if (o.braces && o.braces.some((a) => a < v.s.length - 1)) {
    cells.push(`<path class="brace" d="M${W + 1} ${pad + 2}h5V${R * hgt + pad - 2}h-5"/>`);
    W += low;
  }
  const svg = s("svg", { class: "mg-heat", width: W.toFixed(1), height: H.toFixed(1), "aria-hidden": "true" });
  svg.innerHTML = cells.join("");
  return svg;
}

/** A value with its caption: a number, or a heat map with its shape. */
function figure(v, caption, o = {}) {
  const total = scalar(v) ? 1 : v.s.reduce((a, b) => a * b, 1);
  const cut = !scalar(v) && v.d.length < total ? `, first ${v.r}\u00d7${v.c}` : "";
  const shape = scalar(v) ? "" : ` ${o.flip ? [...v.s.slice(0, -2), ...v.s.slice(-2).reverse()].join("\u00d7") : shapeOf(v)}${cut}`;
  const extra = !scalar(v) && total > 36 ? `, norm ${fmt(v.norm)}` : "";
  const body = scalar(v) ? h("code", {}, fmt(v)) : total === 0 ? h("span", {}, "(no numbers)") : heat(v, o);
  return h("figure", {}, body, h("figcaption", {}, caption + shape + extra));
}

// ------------------------------------------------------------------ the stepper
function render({ model, el, signal }) {
  const data = model.get("data");
  const { nodes, edges, steps, vals } = data;
  const val = (i) => (i == null ? null : vals[i]);
  const frames = steps.flatMap((step, k) => step.text.map((_, beat) => [k, beat]));
  const startOf = steps.map(() => 0);
  frames.forEach(([k, beat], p) => { if (beat === 0) startOf[k] = p; });
  const byNode = nodes.map(() => []);         // the steps in which a node speaks
  const arrivals = nodes.map(() => []);       // the steps that add to a node's ledger
  steps.forEach((step, k) => {
    byNode[step.node].push(k);
    if (step.kind === "share") arrivals[step.parent].push(k);
  });
  const incoming = new Map(edges.map(([a, b, slot], i) => [b + ":" + slot, i]));
  const root = data.root;
  const firstBad = steps.findIndex((x) => x.kind === "share" && val(x.contrib) && bad(val(x.contrib)));
  const frozen = steps.findIndex((x) => x.check && x.check.verdict !== "agrees" && x.check.verdict !== "");
  const on = (target, name, fn) => target.addEventListener(name, fn, { signal });

  let p = 0, byNodes = false, playing = null, asked = null, cell = null, zoom = 1, follow = true;
  let view = data.layout.start, theme = model.get("theme") || "auto", showCut = true;
  let predict = !!model.get("predict");
  const answers = [...(model.get("answers") || [])];
  const answered = new Set(answers.map((a) => a.at));

  function bad(v) { return scalar(v) ? typeof v === "string" : v.bad > 0; }
  const name = (i) => nodes[i].name;
  const beatName = (k, beat) => (steps[k].kind === "share" ? BEATS[steps[k].text.length][beat] : "collect");
  const reached = (k, beat, what) => {
    if (steps[k].kind !== "share") return true;
    return beat >= BEATS[steps[k].text.length].indexOf(what);
  };

  // ---------------------------------------------------------------- the page
  const button = (id, label, content, press) => {
    const b = h("button", { type: "button", "data-id": id, "aria-label": label, title: label, tabindex: -1,
      "data-lm-suppress-shortcuts": "true" });
    if (ICONS[content]) b.innerHTML = `<svg viewBox="0 0 14 14" aria-hidden="true"><path d="${ICONS[content]}"/></svg>`;
    else b.textContent = content;
    on(b, "click", press);
    return b;
  };
  const title = h("span", { class: "mg-title" }, `Backward pass of ${name(root)}`);
  const pos = h("span", { class: "mg-pos" });
  const range = h("input", { type: "range", min: 0, max: frames.length - 1, step: 1, "aria-label": "Position in the backward pass",
    tabindex: -1, "data-lm-suppress-shortcuts": "true" });
  const playButton = button("play", "Play (Space)", "play", () => (playing ? pause() : play()));
  const nodeButton = button("by", "Step by whole nodes instead of beats", "by node", () => { byNodes = !byNodes; paint(); });
  const predictButton = button("predict", "Predict before each reveal", "predict", () => { predict = !predict; if (!predict) dismiss(); paint(); });
  const foldButton = button("fold", "Fold or unfold repeated parts", "unfold", () => {
    view = view === "full" ? "folded" : "full"; drawGraph(); paint();
  });
  const cutButton = button("cuts", "Show or hide what needs no gradient", "cut edges", () => { showCut = !showCut; paint(); });
  const badButton = button("bad", "Jump to the first number that is not finite", "first nan", () => go(startOf[firstBad]));
  const bar = h("div", { class: "mg-bar", role: "toolbar", "aria-label": "Stepper controls, up and down arrows move between them" },
    title, pos,
    button("help", "Keys and help (?)", "?", () => toggle("help")),
    button("theme", "Theme: automatic, light or dark", "theme", () => { theme = { auto: "light", light: "dark", dark: "auto" }[theme]; paintTheme(); }),
    button("svg", "Download this picture as SVG", "svg", () => save("backward.svg", "image/svg+xml", picture())),
    button("html", "Download this stepper as a page of its own", "html", () => save("backward.html", "text/html", page())),
    button("md", "Download the transcript as Markdown", "md", () => save("backward.md", "text/markdown", markdown())));
  const bar2 = h("div", { class: "mg-bar" },
    button("first", "First (Home)", "first", () => go(0)),
    button("back", "Back (left arrow)", "back", () => move(-1)),
    playButton,
    button("next", "Forward (right arrow)", "next", () => move(1)),
    button("last", "Last (End)", "last", () => go(frames.length - 1)),
    range, nodeButton, predictButton,
    button("fan", "Next tensor that several gradients reach (N)", "next fan-in", nextFan),
    button("zoomout", "Smaller (-)", "\u2212", () => setZoom(zoom / 1.2)),
    button("zoomin", "Larger (+)", "+", () => setZoom(zoom * 1.2)),
    button("fit", "Fit the graph or follow the step (F)", "fit", fit),
    button("words", "Transcript of all steps (T)", "transcript", () => toggle("transcript")));
  if (data.layout.folded && data.layout.full) bar2.append(foldButton);
  if (nodes.some((n) => !n.rg)) bar2.append(cutButton);
  if (firstBad >= 0) bar2.append(badButton);
  const tools = h("div", { role: "presentation" }, bar, bar2);
  bar.removeAttribute("role"); bar.removeAttribute("aria-label");
  tools.setAttribute("role", "toolbar");
  tools.setAttribute("aria-label", "Stepper controls; up and down arrows move between them");

  const graph = h("div", { class: "mg-graph", tabindex: 0, role: "group", "aria-label": "Graph, scrollable", "data-lm-suppress-shortcuts": "true" });
  const local = h("section", { class: "mg-panel mg-local", "aria-label": "The step" });
  const ledger = h("section", { class: "mg-panel mg-ledger", tabindex: 0, role: "group", "aria-label": "Ledger", "data-lm-suppress-shortcuts": "true" });
  const queue = h("div", { class: "mg-queue" });
  const words = h("div", { class: "mg-words" });
  const live = h("div", { class: "mg-live", "aria-live": "polite" });
  const ask = h("div", { class: "mg-ask", role: "group", "aria-label": "Your prediction", hidden: true });
  const more = h("div", { class: "mg-more", hidden: true, tabindex: -1, "data-lm-suppress-shortcuts": "true" });
  const box = h("div", { class: "mg", role: "group", "aria-label": `Backward pass of ${name(root)}, stepper` }, tools,
    h("div", { class: "mg-main" }, h("div", { class: "mg-left" }, graph, queue), h("div", { class: "mg-side" }, local, ask, ledger)),
    words, more, live);
  el.append(box);

  // ---------------------------------------------------------------- the graph
  let layout, parts, lines;
  const shown = (i) => (view === "folded" ? layout.rep[i] : i);

  function drawGraph() {
    layout = data.layout[view];
    parts = new Map();
    const svg = s("svg", { viewBox: `0 0 ${layout.w} ${layout.h}`, role: "img",
      "aria-label": `Graph of ${nodes.length} tensors; the transcript holds the same in words` });
    lines = layout.edges.map((e, i) => {
      const g = s("g", {});
      g.append(s("path", { class: "wire", d: e.d }), s("path", { class: "tip", d: tip(e.b, -7, 4) }),
        s("path", { class: "back", d: tip(e.a, 13, 7) }));
      svg.append(g);
      return { g, was: "", e };
    });
    for (const group of layout.groups || []) {
      const [x, y, w, hh] = group.box;
      svg.append(s("rect", { class: "frame", x, y, width: w, height: hh, rx: 8 }));
      group.text = s("text", { x: x + 8, y: y + 13 });
      svg.append(group.text);
    }
    for (const [id, [x, y, w, hh]] of Object.entries(layout.nodes)) {
      const g = s("g", { class: "node", transform: `translate(${x} ${y})`, "data-node": id });
      g.append(s("rect", { class: "box", width: w, height: hh, rx: 7 }));
      const hatch = s("path", { class: "hatch", d: hatching(w, hh) });
      const t = [s("text", { class: "name", x: 10, y: 17 }), s("text", { class: "op", x: 10, y: 33 }), s("text", { x: 10, y: 49 })];
      const freshBox = s("rect", { class: "fresh", x: 6, y: hh - 20, width: w - 12, height: 16, rx: 3 });
      const mark = s("path", { class: "mark" }), count = s("text", { class: "count", x: w - 8, y: 17, "text-anchor": "end" });
      g.append(hatch, freshBox, ...t, mark, count);
      on(g, "click", () => clickNode(parts.get(+id).member));
      svg.append(g);
      parts.set(+id, { g, t, hatch, freshBox, mark, count, w, h: hh, was: "" });
    }
    lines.forEach(({ e }, i) => { if (cutLine(i)) svg.append(scissors(e)); });
    graph.replaceChildren(svg);
    graph.svg = svg;
    setZoom(zoom);
  }
  const tip = ([x, y], dx, dy) => `M${x} ${y}l${dx} ${-dy}v${2 * dy}z`;
  const hatching = (w, hh) => {
    let d = "";
    for (let x = 12; x < w + hh; x += 12) d += `M${Math.min(x, w)} ${Math.max(0, x - w)}L${Math.max(0, x - hh)} ${Math.min(x, hh)}`;
    return d;
  };
  function lineOf(i) { return view === "folded" ? layout.line[i] : i; }
  function cutLine(i) { return edges.some(([a], j) => lineOf(j) === i && !nodes[a].rg); }
  function scissors(e) {
    const x = (e.a[0] + e.b[0]) / 2, y = (e.a[1] + e.b[1]) / 2;
    const g = s("g", { class: "scissors", transform: `translate(${x} ${y})` });
    g.append(s("path", { d: "M8 -6L-4 3M8 6L-4 -3" }), s("circle", { cx: -7, cy: 4.5, r: 3 }), s("circle", { cx: -7, cy: -4.5, r: 3 }));
    return g;
  }

  function setZoom(z) {
    zoom = Math.min(3, Math.max(0.3, z));
    graph.svg.setAttribute("width", (layout.w * zoom).toFixed(0));
    graph.svg.setAttribute("height", (layout.h * zoom).toFixed(0));
  }
  function fit() {
    follow = !follow;
    setZoom(follow ? 1 : Math.min(1, (graph.clientWidth - 4) / layout.w));
    paint();
  }
  function keepInView(id) {
    const b = layout.nodes[shown(id)];
    if (!b || !follow) return;
    const room = 60;
    const [x, y, w, hh] = b.map((v) => v * zoom);
    if (x - room < graph.scrollLeft) graph.scrollLeft = Math.max(0, x - room);
    else if (x + w + room > graph.scrollLeft + graph.clientWidth) graph.scrollLeft = x + w + room - graph.clientWidth;
    if (y - 10 < graph.scrollTop) graph.scrollTop = Math.max(0, y - 10);
    else if (y + hh + 10 > graph.scrollTop + graph.clientHeight) graph.scrollTop = y + hh + 10 - graph.clientHeight;
  }

  /** Everything that holds at a position: a function of the position alone. */
  function stateAt(position) {
    const [k, beat] = frames[position];
    const got = nodes.map(() => 0), grad = nodes.map(() => null), left = byNode.map((list) => list.length);
    const spent = new Set(), stored = nodes.map(() => false);
    grad[root] = steps[0].up;
    for (let i = 0; i <= k; i++) {
      const step = steps[i], full = i < k || reached(i, beat, "collect");
      if (full && i < k) left[step.node]--;
      if (step.kind === "share") {
        if (full) { got[step.parent]++; grad[step.parent] = step.after; spent.add(incoming.get(step.node + ":" + step.slot)); }
      } else if (step.kind === "leaf") { grad[step.node] = step.after; stored[step.node] = true; }
    }
    return { k, beat, got, grad, left, spent, stored, step: steps[k] };
  }
  function status(st, i) {
    if (!nodes[i].rg) return "cut";
    if (i === st.step.node) return "current";
    if (byNode[i].length && st.left[i] === 0) return "done";
    if (i === root ? st.k > 0 : arrivals[i].length && st.got[i] === arrivals[i].length) return "ready";
    return st.got[i] ? "waiting" : "idle";
  }
  /** Which node each box of a folded graph stands for: the turn of its loop that the walk is in, or was in last. */
  function membersOnShow(k) {
    const turns = layout.groups.map((g) => g.n), map = new Map();
    for (let i = 0; i <= k; i++) if (layout.turn[steps[i].node]) turns[layout.turn[steps[i].node][0]] = layout.turn[steps[i].node][1];
    nodes.forEach((_, i) => { const t = layout.turn[i]; if (!t || turns[t[0]] === t[1]) map.set(layout.rep[i], i); });
    return [map, turns];
  }

  function paintGraph(st) {
    const { step, k, beat } = st;
    const sharing = step.kind === "share";
    const [members, turns] = view === "folded" ? membersOnShow(k) : [null, []];
    turns.forEach((turn, i) => { layout.groups[i].text.textContent = `\u00d7 ${layout.groups[i].n}, this is number ${turn}`; });
    for (const [id, part] of parts) {
      const i = members ? members.get(id) : id;
      const n = nodes[i];
      const what = status(st, i);
      const fresh = sharing && reached(k, beat, "collect") && step.parent === i || step.kind === "leaf" && step.node === i;
      const target = sharing && reached(k, beat, "rule") && step.parent === i;
      const broken = n.val != null && bad(val(n.val)) || st.grad[i] != null && bad(val(st.grad[i]));
      const total = i === root ? 0 : arrivals[i].length;
      const key = [i, what, fresh, target, st.got[i], st.grad[i], st.stored[i], showCut, asked?.type === "next"].join();
      if (key === part.was) continue;
      part.was = key;
      part.member = i;
      const pickable = asked?.type === "next" && !["done", "cut"].includes(what);
      part.g.setAttribute("class", `node ${what}${target ? " target" : ""}${pickable ? " asked" : ""} pick`);
      part.g.style.display = what === "cut" && !showCut ? "none" : "";
      const room = Math.floor((part.w - 20) / 7.3);
      const counted = total > 1 && what !== "done" && what !== "current" && what !== "cut";
      part.t[0].textContent = cutText(n.name, counted || what !== "idle" ? room - 3 : room);
      const shape = n.val != null && scalar(val(n.val)) ? "= " + fmt(val(n.val)) : n.shape.length ? n.shape.join("\u00d7") : "";
      part.t[1].textContent = cutText([n.symbol, shape].filter(Boolean).join("  "), room);
      part.hatch.style.display = n.rg ? "none" : "";
      const g = st.grad[i];
      part.t[2].textContent = what === "cut" ? "no gradient" : g == null ? "" :
        cutText((broken ? "! " : "") + (fresh && total > 1 ? "+= " : "") + "grad " + brief(val(g)), room + 1);
      part.t[2].setAttribute("class", fresh ? "fresh-text" : broken ? "bad" : "");
      part.freshBox.style.display = fresh ? "" : "none";
      part.count.textContent = counted ? `${st.got[i]}/${total}` : "";
      const x = part.w - 18;
      part.mark.setAttribute("d", what === "done" ? `M${x} 12l4 4l7 -9` :
        what === "current" ? `M${x + 4} 7a4.5 4.5 0 1 0 .1 0zM${x + 4} 10.5a1 1 0 1 0 .1 0z` :
          what === "ready" && !counted ? `M${x} 8h9v8h-9z` : "");
    }
    lines.forEach((line, i) => {
      const mine = edges.map((_, j) => j).filter((j) => lineOf(j) === i);
      const flowing = (sharing || step.kind === "skip") && mine.includes(incoming.get(step.node + ":" + step.slot));
      const spent = mine.some((j) => st.spent.has(j) && (!members || members.get(shown(edges[j][1])) === edges[j][1]));
      const cut = mine.every((j) => !nodes[edges[j][0]].rg);
      const what = cut ? "cutline" : flowing && sharing ? "flowing" : spent ? "spent" : "";
      const key = what + showCut;
      if (key === line.was) return;
      line.was = key;
      line.g.setAttribute("class", what);
      line.g.style.display = cut && !showCut ? "none" : "";
    });
    for (const g of graph.svg.querySelectorAll(".scissors")) g.style.display = showCut ? "" : "none";
    keepInView(sharing && reached(k, beat, "collect") ? step.parent : step.node);
  }

  // ---------------------------------------------------------------- the step, with its numbers
  function paintLocal(st) {
    const { step, k, beat } = st;
    const n = nodes[step.node];
    const out = [];
    const made = n.expr && n.expr !== n.name ? `${n.name} = ${n.expr}` : n.name;
    out.push(h("h4", {}, made));
    if (n.line) out.push(h("div", { class: "mg-line mg-small" }, h("code", {}, `${n.line}  ${n.src}`)));
    if (step.kind === "seed") {
      out.push(h("p", {}, scalar(val(step.up)) ? `\u2202${n.name} / \u2202${n.name} = ` : "the gradient you gave: "),
        h("div", { class: "mg-figure" }, figure(val(step.up), "g", { top: topOf(val(step.up)) })));
    } else if (step.kind === "leaf") {
      out.push(h("p", {}, "A leaf: nothing made it, so the walk stops here and stores what arrived."));
    } else if (step.kind === "skip" || step.kind === "end") {
      out.push(h("p", {}, step.text[0]));
    } else share(st, out);
    local.replaceChildren(...out);
  }

  function share({ step, k, beat }, out) {
    const g = val(step.up), raw = val(step.raw), contrib = val(step.contrib), factor = val(step.local);
    const target = name(step.parent), seen = (what) => reached(k, beat, what);
    const inputs = edges.filter((e) => e[1] === step.node).length;
    out.push(h("p", {}, `gradient that arrived: g${seen("rule") ? `; share for ${target}` : ""}` +
      (inputs > 1 && seen("rule") ? ` (input ${step.slot + 1} of ${inputs})` : "")));
    if (!seen("rule")) {
      out.push(h("div", { class: "mg-figure" }, figure(g, "g", { top: topOf(g) })));
      return;
    }
    const rule = h("p", {}, h("b", {}, "rule "), h("code", {}, `${cutText(target, 24)} gets ${step.rule}`));
    out.push(rule);
    const labelled = step.kept.filter(([a, b]) => b && b !== a).map(([a, b]) => `${a} is ${b}`);
    if (labelled.length) out.push(h("p", { class: "mg-small" }, labelled.join(", ")));
    const scalars = scalar(g) && scalar(raw) && step.kept.every(([, , v]) => scalar(val(v)));
    if (scalars) {
      const sub = step.sub || step.rule;
      out.push(h("p", {}, h("code", { class: "mg-sub" }, seen("product") ? `${sub} = ${fmt(raw)}` : sub)));
      if (step.local != null && step.how === "elementwise")
        out.push(h("p", { class: "mg-small" }, `local slope ${fmt(factor)}`, step.fd != null ? `, measured by nudging: ${fmt(step.fd)}` : ""));
    } else {
      const shownCell = cell || strongest(raw);
      const all = [g, factor, raw, ...step.kept.map(([, , v]) => val(v))];
      const top = step.how === "matmul" || step.how === "elementwise" ? Math.max(...all.map(topOf)) : Math.max(topOf(g), topOf(raw));
      const row = h("div", { class: "mg-figure" });
      const sign = (t) => h("span", { class: "mg-sign" }, t);
      const o = { top, on: seen("product") ? shownCell : null };
      if (step.how === "matmul") {
        step.terms.forEach(([term, flip], i) => {
          const v = term === "g" ? g : val(step.kept.find(([a]) => a === term)[2]);
          const lab = term === "g" ? "g" : step.kept.find(([a]) => a === term)[1] || term;
          if (i) row.append(sign("@"));
          row.append(figure(v, lab + (flip ? " transposed" : ""), { top, flip }));
        });
      } else if (step.how === "elementwise" && factor != null) {
        row.append(figure(g, "g", o), sign("\u00d7"), figure(factor, "local factor", { ...o, blocked: factor }));
      } else {
        row.append(figure(g, "g", { top }));
        if (step.how === "other" || step.how === "function")
          step.kept.filter(([, , v]) => !scalar(val(v))).forEach(([a, b, v]) => row.append(sign("and"), figure(val(v), b || a, { top: topOf(val(v)) })));
      }
      if (seen("product")) {
        const arrow = step.how === "elementwise" || step.how === "matmul" ? "=" : "\u2192";
        row.append(sign(arrow), figure(raw, `for ${cutText(target, 14)}`, { ...o, blocked: step.how === "scatter" || step.how === "elementwise" ? factor : null,
          blank: step.how === "scatter", braces: step.axes.length ? step.axes : null }));
      }
      if (seen("sum") && step.axes.length)
        row.append(sign("\u2192"), figure(contrib, `summed over axis ${step.axes.join(", ")}`, { top: Math.max(top, topOf(contrib)) }));
      on(row, "mouseover", (e) => {
        const where = e.target.dataset?.at;
        if (where && seen("product")) { cell = where.split(",").map(Number); const t = cellText(step, cell); if (t) line.textContent = t; }
      });
      out.push(row);
      const line = h("p", { class: "mg-small num" });
      if (seen("product") && shownCell) { line.textContent = cellText(step, shownCell) || ""; out.push(line); }
      if (factor != null && step.how === "elementwise" && !scalar(factor) && factor.d.includes(0))
        out.push(h("p", { class: "mg-small" }, "hatched: the local factor is 0, nothing gets through"));
      if (step.how === "scatter") out.push(h("p", { class: "mg-small" }, "hatched: never read, so no gradient comes back"));
      if (step.how === "move" && seen("product")) out.push(h("p", { class: "mg-small" }, "same numbers, new shape: no arithmetic"));
    }
    if (step.jac && seen("rule")) out.push(h("p", { class: "mg-small" }, step.jac));
    if (step.check && step.check.verdict && seen("product")) out.push(comparison(step));
    if (seen("product") && contrib && bad(contrib)) out.push(h("p", { class: "mg-check" }, "Not a finite number: see where it comes from."));
  }

  function comparison(step) {
    const c = step.check, fine = c.verdict === "agrees";
    const rows = [["yours", c.yours], ["reference", step.contrib], ["numeric", c.numeric]].filter(([, v]) => v != null);
    const top = Math.max(...rows.map(([, v]) => topOf(val(v))));
    return h("div", { class: "mg-check" + (fine ? " fine" : "") },
      h("b", {}, fine ? "Your rule agrees here." : "Your rule differs here: the first wrong edge stops the walk."),
      fine || c.verdict === "" ? null : h("p", {}, c.verdict),
      h("div", { class: "mg-figure" }, ...rows.map(([label, v]) => figure(val(v), label, { top }))));
  }

  function topOf(v) { return v == null ? 0 : scalar(v) ? (typeof v === "number" ? Math.abs(v) : 0) : typeof v.top === "number" ? v.top : 0; }
  function strongest(v) {
    if (v == null || scalar(v) || !v.d.length) return null;
    let best = 0;
    v.d.forEach((x, i) => { if (typeof x === "number" && Math.abs(x) > Math.abs(v.d[best])) best = i; });
    return [Math.floor(best / v.c), best % v.c];
  }
  const bracket = (x) => (typeof x === "number" && x < 0 ? `(${fmt(x)})` : fmt(x));

  /** The arithmetic of one cell of a contribution. */
  function cellText(step, [r, c]) {
    const g = val(step.up), raw = val(step.raw), x = at(raw, r, c);
    if (x === undefined) return "";
    const where = raw.s.length === 1 ? `[${c}]` : raw.s.length === 2 ? `[${r}, ${c}]` : `row ${r}, column ${c}`;
    const head = `cell ${where}: `;
    if (step.how === "matmul" && !scalar(raw)) {
      const [A, B] = step.terms.map(([term, flip]) => ({ flip, v: term === "g" ? g : val(step.kept.find(([a]) => a === term)[2]) }));
      if ([A, B].some(({ v }) => scalar(v) || v.s.length < 2)) return "";
      const rows = raw.s[raw.s.length - 2], batch = Math.floor(r / rows), i = r % rows;
      const get = ({ v, flip }, a, b) => {
        const [m, n] = flip ? [b, a] : [a, b];
        return at(v, (v.s.length > 2 ? batch * v.s[v.s.length - 2] : 0) + m, n);
      };
      const inner = A.v.s[A.v.s.length - (A.flip ? 2 : 1)];
      const parts = [];
      for (let q = 0; q < Math.min(inner, 6); q++) {
        const a = get(A, i, q), b = get(B, q, c);
        if (a === undefined || b === undefined) break;
        parts.push(`${bracket(a)}\u00b7${bracket(b)}`);
      }
      if (parts.length < inner) parts.push("\u2026");
      return head + parts.join(" + ") + ` = ${fmt(x)}`;
    }
    if (step.how === "elementwise") {
      const values = new Map([["g", at(g, r, c)], ...step.kept.map(([a, , v]) => [a, at(val(v), r, c)])]);
      if ([...values.values()].some((v) => v === undefined || v === null)) return "";
      const text = step.rule.replace(/(?<![\w.])[A-Za-z_]\w*/g, (t) => (values.has(t) ? bracket(values.get(t)) : t));
      return head + text + ` = ${fmt(x)}`;
    }
    return head + fmt(x);
  }

  // ---------------------------------------------------------------- the ledger and the queue
  function paintLedger(st) {
    const { step, k, beat } = st;
    const who = step.kind === "share" || step.kind === "skip" ? step.parent : step.node;
    const n = nodes[who];
    if (!n.rg) { ledger.replaceChildren(h("h4", {}, `${n.name} keeps no ledger`), h("p", {}, "It needs no gradient.")); return; }
    const total = arrivals[who].length;
    const head = h("h4", {}, `Ledger of ${n.name}` + (who === root ? "" : `: ${st.got[who]} of ${total} arrived`));
    const rows = [];
    const cellFor = (v, now) => {
      const inner = scalar(v) ? h("code", {}, fmt(v)) : v.d.length && v.r <= 6 && v.c <= 6 && !v.s.includes(0) && v.d.length === v.s.reduce((a, b) => a * b, 1)
        ? heat(v, { top: topOf(v) }) : h("code", {}, `${shapeOf(v)}, norm ${fmt(v.norm)}`);
      return h("td", {}, now ? h("span", { class: scalar(v) ? "mg-now" : "" }, inner) : inner);
    };
    const row = (label, v, now, cls) => rows.push(h("tr", { class: cls || "" }, h("th", { scope: "row" }, label), v == null ? h("td", {}) : cellFor(v, now)));
    if (who === root) row("start", val(steps[0].up), st.k === 0);
    else if (!st.got[who]) row("start: empty", null);
    const list = arrivals[who].slice(0, st.got[who]);
    const skipped = Math.max(0, list.length - 8);
    if (skipped) row(`\u2026 ${skipped} earlier`, val(steps[list[skipped - 1]].after));
    list.slice(skipped).forEach((j, q) => {
      const now = j === k, first = skipped + q === 0;
      row(`${first ? "first" : "+"} from ${cutText(name(steps[j].node), 22)}${now ? "  (now)" : ""}`, val(steps[j].contrib), now, now ? "now" : "");
    });
    if (st.got[who] > 1) row(st.got[who] === total ? "= gradient, complete" : "= so far", val(st.stored[who] ? steps[list[list.length - 1]].after : st.grad[who]), false, "sum");
    if (n.leaf && (n.old != null || st.stored[who])) {
      const old = h("tr", {}, h("th", { scope: "row" }, h("span", { class: "mg-old" }, n.old == null ? `${n.name}.grad was` : `+ old ${n.name}.grad, never cleared`)),
        n.old == null ? h("td", {}, h("code", {}, "None")) : cellFor(val(n.old)));
      rows.push(old);
      if (st.stored[who]) row(`= ${n.name}.grad`, val(st.grad[who]), step.node === who, "sum");
    }
    const waiting = total - st.got[who];
    ledger.replaceChildren(head, h("table", { class: "mg-table" }, h("tbody", {}, ...rows)),
      waiting > 0 && st.got[who] > 0 ? h("p", { class: "mg-small" }, `${n.name} may not speak yet: ${waiting} more to come.`) : h("span"));
  }

  function paintQueue(st) {
    const order = (i) => byNode[i][0] ?? Infinity;
    const ready = [], waiting = [];
    nodes.forEach((n, i) => {
      const what = status(st, i);
      if (what === "ready") ready.push(i);
      else if (what === "waiting") waiting.push(i);
    });
    ready.sort((a, b) => order(a) - order(b));
    const some = (list, text) => list.slice(0, 6).map(text).join(", ") + (list.length > 6 ? `, \u2026 (${list.length})` : "");
    queue.replaceChildren(
      h("span", {}, h("b", {}, "SPEAKS "), name(st.step.node), "  \u00b7  "),
      h("span", {}, h("b", {}, "READY "), ready.length ? some(ready, name) : "nobody", "  \u00b7  "),
      h("span", {}, h("b", {}, "WAITING "), waiting.length ? some(waiting, (i) => `${name(i)} (${st.got[i]} of ${arrivals[i].length})`) : "nobody"));
  }

  // ---------------------------------------------------------------- painting and moving
  function paint() {
    const st = stateAt(p);
    const [k, beat] = frames[p];
    const beats = steps[k].text.length;
    paintGraph(st);
    paintLocal(st);
    paintLedger(st);
    paintQueue(st);
    pos.textContent = `step ${k}/${steps.length - 1}` + (beats > 1 ? `, beat ${beat + 1}/${beats}: ${beatName(k, beat)}` : "");
    words.textContent = steps[k].text[beat] + (p === frames.length - 1 ? ` The pass is done: ${leafSummary()}` : "");
    if (!playing) live.textContent = words.textContent;
    range.value = p;
    range.setAttribute("aria-valuetext", pos.textContent);
    nodeButton.setAttribute("aria-pressed", String(byNodes));
    predictButton.setAttribute("aria-pressed", String(predict));
    cutButton.setAttribute("aria-pressed", String(showCut));
    foldButton.textContent = view === "full" ? "fold" : "unfold";
    box.dataset.step = k;
    box.dataset.beat = beat;
  }
  const leafSummary = () => {
    const done = steps.filter((x) => x.kind === "leaf").map((x) => `${name(x.node)}.grad = ${brief(val(x.after))}`);
    return done.slice(0, 6).join("; ") + (done.length > 6 ? "; \u2026" : "") + (done.length ? "." : "no leaf needed a gradient.");
  };

  function go(position) {
    dismiss();
    p = Math.max(0, Math.min(frames.length - 1, position));
    cell = null;
    paint();
    if (!playing) sync();
  }
  function sync() {
    if (model.get("step") !== p) { model.set("step", p); model.save_changes(); }
  }
  /** One beat or one node further; a question or a wrong rule may hold the walk. True if it moved. */
  function move(by) {
    if (asked && by > 0) return false;
    let to = p + by;
    if (byNodes) to = by > 0 ? nextNode() : previousNode();
    if (by > 0 && predict) {
      for (let q = p + 1; q <= Math.min(to, frames.length - 1); q++) {
        if (question(q) && !answered.has(q)) { if (q - 1 !== p) go(q - 1); return pose(q); }
      }
    }
    if (by > 0 && frozen >= 0) {
      const stop = startOf[frozen] + 2;
      if (p < stop && to > stop) to = stop;
      if (p === stop) { live.textContent = "The walk stops at the first wrong edge. Mend the rule, or drag the slider to go on."; pause(); return false; }
    }
    if (to < 0 || to >= frames.length) return false;
    go(to);
    return true;
  }
  function nextNode() {
    const here = steps[frames[p][0]].node;
    for (let q = p + 1; q < frames.length; q++) if (steps[frames[q][0]].node !== here) return q;
    return frames.length - 1;
  }
  function previousNode() {
    const start = (q) => { const n = steps[frames[q][0]].node; while (q > 0 && steps[frames[q - 1][0]].node === n) q--; return q; };
    const first = start(p);
    return first < p || p === 0 ? first : start(p - 1);
  }
  function nextFan() {
    for (let q = p + 1; q < frames.length; q++) {
      const [k, beat] = frames[q];
      if (steps[k].kind === "share" && arrivals[steps[k].parent].length > 1 && beat === steps[k].text.length - 1) { go(q); return; }
    }
  }
  function play() {
    if (playing) return;
    if (p === frames.length - 1) go(0);
    playing = setInterval(() => { if (!move(1)) pause(); }, 900);
    playIcon();
  }
  function pause() {
    if (!playing) return;
    clearInterval(playing);
    playing = null;
    playIcon();
    paint();
    sync();
  }
  function playIcon() {
    playButton.firstChild.firstChild.setAttribute("d", ICONS[playing ? "pause" : "play"]);
    playButton.setAttribute("aria-label", playing ? "Pause (Space)" : "Play (Space)");
  }
  signal?.addEventListener("abort", () => clearInterval(playing));

  // ---------------------------------------------------------------- predict before reveal
  function question(position) {
    const [k, beat] = frames[position];
    const q = steps[k].quiz;
    return q && q.beat === beat ? q : null;
  }
  function pose(position) {
    pause();
    asked = { ...question(position), at: position, hinted: false };
    const control = (label, press, extra = {}) => {
      const b = h("button", { type: "button", "data-lm-suppress-shortcuts": "true", ...extra }, label);
      on(b, "click", press);
      return b;
    };
    const options = h("div", { class: "options" });
    const says = h("div", { class: "says", "aria-live": "polite" });
    if (asked.options) asked.options.forEach((o, i) => options.append(control(`${i + 1}  ${o}`, () => give(i), { "data-option": i })));
    else {
      const field = h("input", { type: "text", inputmode: "decimal", "aria-label": "Your number", "data-lm-suppress-shortcuts": "true" });
      on(field, "keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); e.stopPropagation(); give(field.value); } });
      options.append(field, control("answer", () => give(field.value)));
    }
    options.append(control("hint", () => { asked.hinted = true; says.textContent = asked.hint; }), control("skip", () => reveal()));
    ask.replaceChildren(h("div", {}, h("b", {}, asked.ask)), options, says);
    ask.hidden = false;
    paint();
    live.textContent = asked.ask;
    ask.querySelector("input, button").focus({ preventScroll: true });
    return false;
  }
  function give(answer) {
    if (!asked || asked.done) return;
    const number = typeof answer === "string" ? Number(answer.replace(",", ".").replace("\u2212", "-")) : answer;
    if (typeof answer === "string" && (answer.trim() === "" || Number.isNaN(number))) {
      ask.querySelector(".says").textContent = "A number, please: for example -1.5";
      return;
    }
    const right = asked.options ? number === asked.answer : Math.abs(number - asked.answer) <= Math.max(asked.tol || 0, 1e-9);
    const [k] = frames[asked.at];
    answers.push({ at: asked.at, step: k, type: asked.type, given: asked.options ? asked.options[number] : number, right, hinted: asked.hinted });
    model.set("answers", [...answers]);
    model.save_changes();
    const why = asked.options ? asked.why?.[number] : (asked.wrong || []).find(([v]) => Math.abs(v - number) <= (asked.tol || 1e-9))?.[1];
    const text = right ? "Right." : `Not this. ${why || ""}`;
    finish(text, right);
  }
  function reveal() { if (asked && !asked.done) finish("", null); }
  function finish(text, right) {
    asked.done = true;
    answered.add(asked.at);
    const says = ask.querySelector(".says");
    const target = asked.at;
    const b = h("button", { type: "button", "data-lm-suppress-shortcuts": "true" }, "go on (Enter)");
    on(b, "click", () => go(target));
    says.replaceChildren(h("p", { class: right === null ? "" : right ? "right" : "wrong" }, text), h("p", {}, asked.reveal),
      h("p", { class: "mg-small" }, `Right so far: ${answers.filter((a) => a.right).length} of ${answers.length}`), b);
    for (const e of ask.querySelectorAll(".options button, .options input")) e.disabled = true;
    b.focus({ preventScroll: true });
  }
  function dismiss() {
    if (!asked) return;
    const inside = ask.contains(document.activeElement);
    asked = null;
    ask.hidden = true;
    ask.replaceChildren();
    if (inside) graph.focus({ preventScroll: true });
  }
  function clickNode(i) {
    if (asked?.type === "next" && !asked.done) {
      const option = asked.ids.indexOf(i);
      if (option >= 0) give(option);
      else ask.querySelector(".says").textContent = `${name(i)} is not one of the choices.`;
      return;
    }
    if (byNode[i].length) go(startOf[byNode[i][0]]);
  }

  // ---------------------------------------------------------------- help, transcript, downloads
  function toggle(what) {
    if (more.dataset.what === what && !more.hidden) { more.hidden = true; return; }
    more.dataset.what = what;
    more.hidden = false;
    more.replaceChildren(what === "help" ? help() : transcript());
  }
  function help() {
    const keys = [["\u2192 \u2190", "one beat on, back"], ["Shift + \u2192 \u2190", "one node on, back"], ["Home End", "first, last"],
      ["Space", "play, pause"], ["1 to 4, Enter", "answer, go on"], ["N", "next tensor that several gradients reach"],
      ["C", "next cell of the shown contribution"], ["F", "fit the graph or follow the step"], ["+ \u2212", "zoom"], ["T", "transcript"],
      ["\u2191 \u2193", "move among the controls"], ["Tab", "controls, graph, ledger"], ["Esc", "leave to the notebook"], ["?", "this help"]];
    return h("table", {}, h("caption", {}, "Keys"), h("tbody", {}, ...keys.map(([k, t]) => h("tr", {}, h("th", { scope: "row" }, k), h("td", {}, t)))));
  }
  const rowsOf = () => steps.map((x, k) => [k, name(x.node), x.parent != null ? name(x.parent) : x.kind === "leaf" ? name(x.node) + ".grad" : "",
    x.rule || x.kind, x.text.join(" ")]);
  const HEAD = ["step", "from", "to", "rule", "in words"];
  function transcript() {
    return h("table", {}, h("caption", {}, `Backward pass of ${name(root)}, all steps`), h("thead", {}, h("tr", {}, ...HEAD.map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, ...rowsOf().map((r) => h("tr", {}, ...r.map((t) => h("td", {}, String(t)))))));
  }
  const markdown = () => [HEAD, HEAD.map(() => "---"), ...rowsOf()].map((r) => "| " + r.map((t) => String(t).replaceAll("|", "\\|")).join(" | ") + " |").join("\n") + "\n";
  function picture() {
    const copy = graph.svg.cloneNode(true);
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("class", "mg");
    copy.setAttribute("data-theme", box.dataset.theme);
    copy.prepend(s("style", {}, model.get("_css") || ""));
    return new XMLSerializer().serializeToString(copy);
  }
  function page() {
    return model.get("whole") || model.get("page").replace(/%(CSS|ESM|DATA|TITLE)%/g, (_, part) => ({ CSS: model.get("_css"), ESM: model.get("_esm"), TITLE: escape(title.textContent),
      DATA: JSON.stringify(data).replace(/</g, "\\u003c") })[part]);
  }
  function save(file, type, text) {
    const a = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: file });
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  }

  // ---------------------------------------------------------------- keys, focus, theme
  const controls = [...tools.querySelectorAll("button, input")];
  function focusable(i) { controls.forEach((c, j) => { c.tabIndex = j === i ? 0 : -1; }); }
  focusable(controls.findIndex((c) => c.dataset.id === "next"));
  on(tools, "focusin", (e) => focusable(controls.indexOf(e.target)));
  on(range, "input", () => go(+range.value));
  on(box, "keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.type === "text";
    const onButton = e.target.tagName === "BUTTON";
    const roving = controls.indexOf(e.target);
    const press = {
      ArrowRight: () => (e.shiftKey ? node(1) : move(1)), ArrowLeft: () => (e.shiftKey ? node(-1) : move(-1)),
      Home: () => go(0), End: () => go(frames.length - 1), n: nextFan, f: fit, t: () => toggle("transcript"), c: nextCell,
      "?": () => toggle("help"), "+": () => setZoom(zoom * 1.2), "=": () => setZoom(zoom * 1.2), "-": () => setZoom(zoom / 1.2),
      Escape: leave,
    };
    if (!onButton) press[" "] = () => (playing ? pause() : play());
    if (!onButton) press.Enter = () => { if (asked?.done) go(asked.at); };
    if (roving >= 0) {
      const step = (d) => controls[(roving + d + controls.length) % controls.length].focus();
      press.ArrowDown = () => step(1);
      press.ArrowUp = () => step(-1);
    }
    if (asked && !asked.done && asked.options && /^[1-4]$/.test(e.key)) press[e.key] = () => { if (+e.key <= asked.options.length) give(+e.key - 1); };
    const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    if (typing && key !== "Escape") { e.stopPropagation(); return; }
    if (!press[key]) return;
    e.preventDefault();
    e.stopPropagation();
    press[key]();
  });
  function node(by) { const was = byNodes; byNodes = true; move(by); byNodes = was; paint(); }
  function nextCell() {
    const { step, k, beat } = stateAt(p), v = val(step.raw);
    if (v == null || scalar(v) || !reached(k, beat, "product")) return;
    const [r, c] = cell || strongest(v), i = (r * v.c + c + 1) % v.d.length;
    cell = [Math.floor(i / v.c), i % v.c];
    paint();
    live.textContent = cellText(step, cell) || "";
  }
  function leave() {
    if (asked) { dismiss(); paint(); return; }
    document.activeElement?.blur();
    box.closest(".jp-Notebook")?.focus();
  }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  function paintTheme() {
    const lab = document.body.dataset.jpThemeLight;
    const auto = lab != null ? (lab === "false" ? "dark" : "light") : dark.matches ? "dark" : "light";
    box.dataset.theme = theme === "auto" ? auto : theme;
    controls.find((c) => c.dataset.id === "theme").textContent = theme === "auto" ? "theme" : theme;
  }
  on(dark, "change", paintTheme);
  const watch = new MutationObserver(paintTheme);
  watch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  signal?.addEventListener("abort", () => watch.disconnect());

  model.on?.("change:step", () => { const q = model.get("step"); if (!playing && q !== p) go(q); });
  model.on?.("change:predict", () => { predict = !!model.get("predict"); paint(); });
  p = Math.max(0, Math.min(frames.length - 1, model.get("step") || 0));
  paintTheme();
  drawGraph();
  paint();
}

export default { render };
