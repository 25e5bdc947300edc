// What the settings of JupyterLab cannot say, as a plugin without a build step: the tab of an exercise notebook is told
// from that of its lesson, a link to a heading of a notebook that is not open yet goes to the heading, and on a narrow
// screen the side bar leaves its room to the lesson.
const NARROW = 700;
const STYLE = `.lm-TabBar-tab[data-minigrad="exercises"] .lm-TabBar-tabLabel::before { content: "Exercises "; font-weight: 600; }`;
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// A mark and not another label: JupyterLab renames the file with the label.
function mark(shell) {
  for (const { context, title } of shell.widgets("main")) {
    if (/^exercises\/\d\d_\w+_exercises\.ipynb$/.test(context?.path) && !title.dataset.minigrad) {
      title.dataset = { ...title.dataset, minigrad: "exercises" };
    }
  }
}

// Cells are drawn one after the other, so the heading moves until those above it are there; a key or the wheel ends this.
async function seek(node, id) {
  let moved = false;
  const stop = () => { moved = true; };
  for (const event of ["wheel", "keydown", "pointerdown"]) node.addEventListener(event, stop, { once: true });
  for (let left = 30; left && !moved; left -= 1) {
    const heading = node.querySelector(`[data-jupyter-id="${CSS.escape(id)}"]`);
    if (heading && Math.abs(heading.getBoundingClientRect().top - node.getBoundingClientRect().top) > 90) heading.scrollIntoView();
    await wait(100);
  }
}

function activate(app) {
  document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
  app.commands.commandExecuted.connect(async (_, { id, args, result }) => {
    if (id !== "rendermime:handle-local-link" || !args.id) return;
    await result;
    const opened = [...app.shell.widgets("main")].find(({ context }) => context?.path === args.path);
    if (opened) await seek(opened.content.node, decodeURIComponent(args.id).replace(/^#/, ""));
  });
  app.shell.layoutModified?.connect(mark);
  app.restored.then(() => {
    mark(app.shell);
    if (window.innerWidth < NARROW) setTimeout(() => app.shell.collapseLeft?.());
  });
}

const plugin = { id: "minigrad-lab:plugin", autoStart: true, activate };
(window._JUPYTERLAB ??= {})["minigrad-lab"] = { init() {}, get: async () => () => ({ __esModule: true, default: plugin }) };
