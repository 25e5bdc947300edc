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
const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const wanted = filter.value.trim().toLowerCase();
  let seen = 0;
  for (const row of document.querySelectorAll("#students tbody tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
    seen += !row.hidden;
  }
  document.getElementById("seen").textContent = seen + " shown";
});
