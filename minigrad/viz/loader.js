// Fetches the stepper from the one model that holds its source, and runs it; each source is loaded once.
const loaded = (globalThis.minigradSteppers ??= new Map());

async function load(model) {
	const source = await model.widget_manager.get_model(model.get("source"));
	const esm = source.get("esm"), css = source.get("css");
	if (!loaded.has(esm)) {
		const style = document.createElement("style");
		style.textContent = css;
		document.head.append(style);
		loaded.set(esm, import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" }))));
	}
	return [await loaded.get(esm), { esm, css, page: source.get("page"), live: true }];
}

async function render({ model, el, signal }) {
	const [module, texts] = await load(model);
	const shared = Object.create(model, { get: { value: (name) => texts[name] ?? model.get(name) } });
	for (const name of ["set", "save_changes", "on", "off", "send"]) shared[name] = (...given) => model[name](...given);
	module.default.render({ model: shared, el, signal });
	const area = el.closest(".jp-OutputArea"), still = new MutationObserver(hide);
	function hide() {
		for (const e of area.querySelectorAll(".mg-still")) e.closest(".jp-OutputArea-child").style.display = "none";
	}
	if (!area) return;
	hide();
	still.observe(area, { childList: true });
	signal.addEventListener("abort", () => still.disconnect());
}

export default { render };
