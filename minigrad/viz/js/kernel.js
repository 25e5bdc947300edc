// The way from a stepper in the output of a cell to the kernel that made it, for what its page cannot compute itself.

/** Gives the model of a page `live`, as long as a kernel answers, and takes to it what is changed there. The notebook around the
 * frame knows the channel (channel.js); in a saved page there is none. */
export function withKernel(model, page, channel) {
	/** @type {any} */
	const notebook = window.frameElement.ownerDocument.defaultView;
	const left = new AbortController(), { signal } = left;
	const ask = (action, values) => notebook.minigradChannels?.get(channel)?.({ page, action, values });
	const look = () => model.set("live", !!notebook.minigradChannels?.has(channel));
	model.send = (message) => ask("change", message);
	model.on("change:around", () => ask("around", { at: model.get("around") }));
	notebook.addEventListener("minigrad-channel", look, { signal });
	notebook.addEventListener("minigrad-reply", ({ detail: { page: asked, parts } }) => {
		if (asked !== page) return;
		model.set("trouble", parts.trouble ? [1, parts.trouble] : null);
		if (parts.data) model.set("data", JSON.parse(parts.data));
	}, { signal });
	addEventListener("pagehide", () => left.abort());
	look();
}
