// The way from pages in this window to their kernel: a widget's model without a view, registered as long as it is live.
const channels = (globalThis.minigradChannels ??= new Map());
const announce = (type, detail) => dispatchEvent(new CustomEvent(type, { detail }));

function initialize({ model }) {
	let name = "";
	const leave = () => { channels.delete(name); announce("minigrad-channel", name); };
	const begin = async () => {
		if (name || !model.get("name")) return;
		name = model.get("name");
		const own = await model.widget_manager.get_model(name);
		const note = () => {
			if (!own.comm_live) return leave();
			channels.set(name, (content) => model.send(content));
			announce("minigrad-channel", name);
		};
		own.on("comm_live_update", note);
		note();
	};
	model.on("msg:custom", (content) => announce("minigrad-reply", content));
	model.on("change:name", begin);
	begin();
	return leave;
}

export default { initialize };
