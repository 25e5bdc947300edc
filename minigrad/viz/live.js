// A page in the output of a cell. What is in it works by itself where it can; `channel` leads to the kernel that made it.
/** @param {string} id  the page's, @param {string} channel  the name of the channel, "" where the page needs none */
(id, channel) => {
	/** @type {Map<string, (asked: object) => void>} */
	const channels = (globalThis.minigradChannels ??= new Map());
	/** @type {NodeListOf<HTMLElement>} */
	const roots = document.querySelectorAll(`[data-live="${id}"]`);
	for (const root of roots) {
		if (root.dataset.ready) continue;
		root.dataset.ready = "yes";
		/** @param {string} selector
		 * @param {(e: any) => void} act */
		const each = (selector, act) => root.querySelectorAll(selector).forEach(act);
		const show = (selector, shown) => each(selector, (e) => { e.style.display = shown ? "" : "none"; });
		const wake = () => { const awake = channels.has(channel); show("[data-awake]", awake); show("[data-asleep]", !awake); };
		/** @type {string | null} */
		let next = null;
		let busy = false, playing = 0;

		const send = (action) => {
			next = action;
			if (busy || !channels.has(channel)) return;
			const values = {};
			each("[data-value]", (e) => { if (e.type !== "radio" || e.checked) values[e.dataset.value] = e.value; });
			busy = true;
			next = null;
			channels.get(channel)({ page: id, action, values });
		};
		const turn = (range) => {
			const text = JSON.parse(range.dataset.texts)[range.value];
			range.nextElementSibling.textContent = text;
			range.setAttribute("aria-valuetext", text);
			each("[data-frame]", (e) => { e.style.display = e.dataset.frame === range.value ? "" : "none"; });
			if (root.dataset.moved) send(root.dataset.moved);
		};
		const play = (button) => {
			/** @type {HTMLInputElement} */
			const range = root.querySelector("input[type=range]"), last = +range.max;
			const stop = () => { clearInterval(playing); playing = 0; button.textContent = "▶ Play"; };
			if (playing) return stop();
			if (+range.value === last) range.value = "-1";
			button.textContent = "❚❚ Pause";
			playing = setInterval(() => { range.value = String(+range.value + 1); turn(range); if (+range.value === last) stop(); }, 400);
		};
		root.addEventListener("click", (e) => {
			/** @type {HTMLButtonElement | null} */
			const button = e.target instanceof Element ? e.target.closest("button") : null;
			if (button?.dataset.play) play(button);
			else if (button?.dataset.action) { globalThis.minigradFocus = id; send(button.dataset.action); }
		});
		root.addEventListener("input", ({ target }) => { if (target instanceof HTMLInputElement && target.type === "range") turn(target); });
		root.addEventListener("keydown", (e) => {
			e.stopPropagation();
			if (e.key !== "Enter" || !(e.target instanceof HTMLInputElement)) return;
			e.preventDefault();
			/** @type {HTMLButtonElement | null} */
			const button = root.querySelector("button[data-action]");
			button?.click();
		});
		addEventListener("minigrad-channel", wake);
		/** @param {CustomEvent} reply */
		const take = ({ detail }) => {
			if (detail.page !== id) return;
			for (const [part, html] of Object.entries(detail.parts)) each(`[data-part="${part}"]`, (e) => { e.innerHTML = html; });
			busy = false;
			if (next) send(next);
		};
		addEventListener("minigrad-reply", take);
		each("input, button", (e) => { e.dataset.lmSuppressShortcuts = "true"; });  // their keys are their own, also in Notebook 7
		each("[data-still]", (e) => e.remove());
		show("[data-moving]", true);
		wake();
		if (!channels.has(channel)) show("[data-asleep]", false);  // it may be on its way
		setTimeout(wake, 2000);
		if (globalThis.minigradFocus === id) {
			globalThis.minigradFocus = "";
			/** @type {HTMLElement | null} */
			const group = root.querySelector("[role=group]");
			group?.focus();
		}
	}
}
