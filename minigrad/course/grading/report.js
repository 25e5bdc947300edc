"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => value(a).localeCompare(value(b), "en", { numeric: true }) * (up ? 1 : -1));
      table.tBodies[0].append(...rows);
    });
  });
}
const filter = document.getElementById("filter"), all = document.getElementById("all");
let only = "", what = "";
function show() {
  const wanted = filter.value.trim().toLowerCase();
  let seen = 0;
  for (const row of document.querySelectorAll("#students tbody tr")) {
    const marked = !only || row.cells[0].dataset.is.split(" ").includes(only);
    row.hidden = !marked || !row.textContent.toLowerCase().includes(wanted);
    seen += !row.hidden;
  }
  document.getElementById("seen").textContent = `${seen} shown${what && ": " + what}`;
  all.hidden = !only && !wanted;
}
filter.addEventListener("input", show);
all.addEventListener("click", () => { only = what = filter.value = ""; show(); filter.focus(); });
for (const number of document.querySelectorAll("[data-show]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "show";
  button.textContent = number.textContent;
  button.title = "Show these students";
  button.addEventListener("click", () => {
    only = number.dataset.show;
    what = number.dataset.what;
    filter.value = "";
    show();
    document.getElementById("class").scrollIntoView();
    all.focus({ preventScroll: true });
  });
  number.replaceChildren(button);
}
