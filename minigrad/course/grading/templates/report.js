"use strict";
const collator = new Intl.Collator("en", { numeric: true });

function sortBy(table, column, ascending) {
  const body = table.tBodies[0];
  const keyed = [...body.rows].map(row => {
    const cell = row.cells[column];
    return [cell.dataset.value ?? cell.textContent, row];
  });
  const isNumber = keyed.every(([key]) => key !== "" && !Number.isNaN(Number(key)));
  const compare = isNumber ? (a, b) => a - b : collator.compare;
  keyed.sort(([a], [b]) => compare(a, b) * (ascending ? 1 : -1));
  const sorted = document.createElement("tbody");
  sorted.append(...keyed.map(([, row]) => row));
  body.replaceWith(sorted);
}

for (const table of document.querySelectorAll("table.sortable")) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const ascending = header.getAttribute("aria-sort") !== "ascending";
      headers.forEach(other => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      sortBy(table, column, ascending);
    });
  });
}

const search = document.getElementById("filter"), showAll = document.getElementById("all");
let group = "", description = "";

function update() {
  const query = search.value.trim().toLowerCase();
  let count = 0;
  for (const row of document.querySelectorAll("#students tbody tr")) {
    const inGroup = !group || row.cells[0].dataset.is.split(" ").includes(group);
    row.hidden = !inGroup || !row.textContent.toLowerCase().includes(query);
    count += !row.hidden;
  }
  document.getElementById("seen").textContent = `${count} shown${description && ": " + description}`;
  showAll.hidden = !group && !query;
}

search.addEventListener("input", update);
showAll.addEventListener("click", () => {
  group = description = search.value = "";
  update();
  search.focus();
});

for (const number of document.querySelectorAll("[data-show]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "show";
  button.textContent = number.textContent;
  button.title = "Show these students";
  button.addEventListener("click", () => {
    group = number.dataset.show;
    description = number.dataset.what;
    search.value = "";
    update();
    document.getElementById("class").scrollIntoView();
    showAll.focus({ preventScroll: true });
  });
  number.replaceChildren(button);
}
