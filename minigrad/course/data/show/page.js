// The pages of `minigrad show`: each part of a page works if the page has it.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const redraws = [];  // what is drawn again when the theme changes
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const shown = (draw) => { redraws.push(draw); draw(); };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraws.forEach((draw) => draw()));

// ---- a field to draw in, which says so while it is empty
const emptied = (pen, words) => {
	pen.clearRect(0, 0, pen.canvas.width, pen.canvas.height);
	Object.assign(pen, { font: `${pen.canvas.width / 16}px system-ui, sans-serif`, textAlign: "center", fillStyle: colour("quiet") });
	pen.fillText(words, pen.canvas.width / 2, pen.canvas.height / 2);
};

// ---- a loss curve; the circle goes with the film
const line = (losses, top) => losses.map((loss, i) => `${i ? "L" : "M"}${(100 * i) / (losses.length - 1 || 1)} ${100 - (100 * loss) / top}`);
const curve = (id, losses, dots = []) => {
	const svg = $(id);
	if (!svg) return () => {};
	const top = Math.max(...losses, ...dots) || 1;
	const add = (kind, d) => {
		const path = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "path"));
		path.setAttribute("class", kind);
		path.setAttribute("d", d);
		return path;
	};
	add("dots", dots.length ? line(dots, top).map((place) => `${place.replace("L", "M")}h0`).join("") : "");
	add("line", line(losses, top).join(""));
	const now = add("dots", "");
	svg.closest(".curve").querySelector(".top").textContent = top.toPrecision(3);
	svg.closest(".curve").querySelector(".last").textContent = `step ${losses.length.toLocaleString("en")}`;
	return (step) => now.setAttribute("d", step ? line(losses, top)[step - 1].replace("L", "M") + "h0" : "");
};
const mark = $("twenty") ? curve("twenty", data.losses.slice(0, 20), data.pytorch) : curve("curve", data.losses);

// ---- a film: a slider over its frames, and a button that plays them
const film = (draw) => {
	const range = $("film"), button = $("play"), last = data.film.length - 1;
	let timer = 0;
	range.max = last;
	const show = () => {
		const frame = data.film[range.value], loss = data.losses[frame.step - 1];
		mark(frame.step);
		$("said").textContent = frame.step ? `After step ${frame.step}: loss ${loss < 0.001 ? "less than 0.001" : loss.toPrecision(3)}` : "Before the first step";
		$("said").textContent += draw(frame) ?? "";
		range.setAttribute("aria-valuetext", $("said").textContent);
	};
	const stop = () => { clearInterval(timer); timer = 0; button.textContent = "Play"; };
	const play = () => {
		if (timer) return stop();
		if (+range.value === last) range.value = 0;
		button.textContent = "Pause";
		timer = setInterval(() => { range.value = +range.value + 1; show(); if (+range.value === last) stop(); }, 4000 / last);
	};
	button.addEventListener("click", play);
	range.addEventListener("input", () => { stop(); show(); });
	if (matchMedia("(prefers-reduced-motion: reduce)").matches) range.value = last;
	else setTimeout(play, 800);
	shown(show);
};

// ---- 03: the plane of two classes, and a field for points
const dot = (pen, x, y, second, ring) => {
	pen.beginPath();
	if (second) pen.rect(x - 9, y - 9, 18, 18); else pen.arc(x, y, 10, 0, 7);
	pen.fillStyle = `rgb(${colour(second ? "b" : "a")})`;
	pen.strokeStyle = colour("paper");
	pen.lineWidth = 3;
	pen.fill();
	pen.stroke();
	if (!ring) return;
	pen.beginPath();
	pen.arc(x, y, 18, 0, 7);
	pen.strokeStyle = colour("ink");
	pen.stroke();
};
const neuron = (weights, inputs) => {
	let total = weights[0];
	for (let i = 0; i < inputs.length; i++) total += weights[i + 1] * inputs[i];
	return Math.tanh(total);
};
if ($("plane")) {
	const pen = $("plane").getContext("2d"), { width, height } = pen.canvas;
	const ends = [0, 1].map((axis) => {
		const all = data.points.map((point) => point[axis]), low = Math.min(...all), high = Math.max(...all), air = 0.15 * (high - low || 1);
		return [low - air, high + air];
	});
	const from = (share, axis) => ends[axis][0] + share * (ends[axis][1] - ends[axis][0]);
	const to = (place, axis) => (place - ends[axis][0]) / (ends[axis][1] - ends[axis][0]);
	const answer = (weights, point) => {
		const inputs = point.map((place, axis) => (place - data.middle[axis]) / data.size[axis]);
		return neuron(weights.at(-1), weights.slice(0, -1).map((each) => neuron(each, inputs)));
	};
	film(({ weights }) => {
		const wide = 160, high = 120, image = new ImageData(wide, high);
		const [none, a, b] = ["none", "a", "b"].map((name) => colour(name).split(" ").map(Number));
		for (let j = 0; j < high; j++) for (let i = 0; i < wide; i++) {
			const sure = answer(weights, [from((i + 0.5) / wide, 0), from(1 - (j + 0.5) / high, 1)]), share = 0.08 + 0.42 * Math.abs(sure);
			for (let k = 0; k < 3; k++) image.data[4 * (j * wide + i) + k] = none[k] + share * ((sure < 0 ? a : b)[k] - none[k]);
			image.data[4 * (j * wide + i) + 3] = 255;
		}
		const small = Object.assign(document.createElement("canvas"), { width: wide, height: high });
		small.getContext("2d").putImageData(image, 0, 0);
		pen.drawImage(small, 0, 0, width, height);
		let right = 0;
		data.points.forEach((point, n) => {
			const fine = answer(weights, point) > 0 === data.classes[n] > 0;
			right += fine;
			dot(pen, to(point[0], 0) * width, (1 - to(point[1], 1)) * height, data.classes[n], !fine);
		});
		const words = `, ${right} of ${data.points.length} points on the right side`;
		pen.canvas.setAttribute("aria-label", `The plane in two colours, and points of two classes${words}.`);
		return words;
	});

	const list = $("csv"), field = $("place").getContext("2d");
	shown(() => {
		const rows = list.value.split("\n").slice(1).map((row) => row.split(",")).filter((row) => row[2]);
		emptied(field, rows.length ? "" : "click or tap here");
		for (const [x, y, kind] of rows) {
			dot(field, (x / 4) * width, (1 - y / 3) * height, kind.trim() === "orange");
		}
	});
	list.addEventListener("input", redraws.at(-1));
	field.canvas.addEventListener("pointerdown", (e) => {
		const box = field.canvas.getBoundingClientRect(), kind = document.querySelector("[name=class]:checked").value;
		const x = (4 * (e.clientX - box.left)) / box.width, y = 3 - (3 * (e.clientY - box.top)) / box.height;
		list.value = `${list.value.trimEnd()}\n${x.toFixed(2)},${y.toFixed(2)},${kind}\n`;
		list.scrollTop = list.scrollHeight;
		redraws.at(-1)();
	});
	$("copy").addEventListener("click", () => {
		list.select();
		$("copied").textContent = document.execCommand("copy") ? "Copied." : "Copy the selected text with Ctrl-C.";
	});
	$("save").addEventListener("click", () => {
		const href = URL.createObjectURL(new Blob([list.value], { type: "text/csv" }));
		Object.assign(document.createElement("a"), { href, download: "points.csv" }).click();
	});
}

// ---- 06: a photo, frame by frame
if ($("frame")) {
	$("before").src = data.film[0].picture;
	$("after").src = data.film.at(-1).picture;
	film(({ step, picture }) => { $("frame").src = picture; $("frame").alt = `The picture after step ${step}.`; });
}

// ---- 12 and 14: a digit is drawn, made as small as the training's, and read
if ($("draw")) {
	const canvas = $("draw"), pen = canvas.getContext("2d"), [W1, b1, W2, b2] = data.weights;
	const layer = (x, W, b) => b.map((bias, j) => x.reduce((sum, each, i) => sum + each * W[i][j], bias));
	const read = (pixels) => {
		const scores = layer(layer(pixels, W1, b1).map((h) => Math.max(h, 0)), W2, b2), top = Math.max(...scores);
		const powers = scores.map((score) => Math.exp(score - top)), sum = powers.reduce((a, b) => a + b);
		return powers.map((power) => power / sum);
	};
	let strokes = [], still = null, next = 0;
	const stroke = (pen, width, place) => {
		Object.assign(pen, { lineWidth: width, lineCap: "round", lineJoin: "round", strokeStyle: colour("ink") });
		for (const points of strokes) {
			pen.beginPath();
			for (const point of [points[0], ...points]) pen.lineTo(...place(point));
			pen.stroke();
		}
	};
	// A digit of the training is 32 points high, at most about 24 wide, and has about as much ink as any other. Each of its 8 by 8
	// pixels counts the ink in 4 by 4 points.
	const small = () => {
		const ends = [0, 1].map((axis) => strokes.flat().map((point) => point[axis])).map((all) => [Math.min(...all), Math.max(...all)]);
		const [wide, high] = ends.map(([low, high]) => Math.max(high - low, 1)), tall = 27 / Math.max(high, wide / 2);
		const scale = [Math.min(tall, 20 / wide), tall];
		const place = (point) => point.map((at, axis) => 16 + scale[axis] * (at - (ends[axis][0] + ends[axis][1]) / 2));
		let length = 1;
		for (const points of strokes) points.map(place).reduce((a, b) => { length += Math.hypot(a[0] - b[0], a[1] - b[1]); return b; });
		const page = Object.assign(document.createElement("canvas"), { width: 32, height: 32 }).getContext("2d");
		stroke(page, Math.min(Math.max(312 / length, 3), 9), place);
		const ink = page.getImageData(0, 0, 32, 32).data, pixels = Array(64).fill(0);
		for (let j = 0; j < 32; j++) for (let i = 0; i < 32; i++) pixels[8 * (j >> 2) + (i >> 2)] += ink[4 * (32 * j + i) + 3] > 127;
		return pixels;
	};
	const rows = [...Array(10).keys()].map((digit) => {
		const parts = ["span", "div", "span"].map((kind) => $("bars").appendChild(document.createElement(kind)));
		parts[0].textContent = digit;
		return [parts[1].appendChild(document.createElement("i")), parts[2]];
	});
	shown(() => {
		emptied(pen, still || strokes.length ? "" : "draw here");
		stroke(pen, 22, (point) => point);
		const pixels = still?.pixels ?? (strokes.length ? small() : null), chances = pixels && read(pixels.map((ink) => ink / 16));
		const sees = $("small").getContext("2d");
		sees.clearRect(0, 0, 8, 8);
		sees.fillStyle = colour("ink");
		pixels?.forEach((ink, i) => { sees.globalAlpha = ink / 16; sees.fillRect(i % 8, i >> 3, 1, 1); });
		if (still) { pen.imageSmoothingEnabled = false; pen.drawImage($("small"), 0, 0, canvas.width, canvas.height); }
		rows.forEach(([bar, text], digit) => {
			bar.style.width = `${100 * (chances?.[digit] ?? 0)}%`;
			text.textContent = chances ? `${(100 * chances[digit]).toFixed(0)} %` : "";
		});
		if (!chances) return ($("read").textContent = "Draw a digit from 0 to 9 into the field.");
		const best = chances.indexOf(Math.max(...chances));
		const meant = still ? ` It was written as a ${still.digit}.` : "";
		$("read").textContent = `I read a ${best}, and I am ${(100 * chances[best]).toFixed(0)} % sure.${meant}`;
	});
	const again = redraws.at(-1);
	const place = (e) => {
		const box = canvas.getBoundingClientRect();
		return [((e.clientX - box.left) * canvas.width) / box.width, ((e.clientY - box.top) * canvas.height) / box.height];
	};
	canvas.addEventListener("pointerdown", (e) => {
		still = null;
		canvas.setPointerCapture(e.pointerId);
		strokes.push([place(e)]);
		again();
	});
	canvas.addEventListener("pointermove", (e) => { if (e.buttons && strokes.length) { strokes.at(-1).push(place(e)); again(); } });
	$("clear").addEventListener("click", () => { strokes = []; still = null; again(); });
	$("example").addEventListener("click", () => { strokes = []; still = data.examples[next++ % data.examples.length]; again(); });
}
