// Headings of sortable tables become buttons; without this script the tables read as they stand.
(() => {
  "use strict";
  const key = (cell) => {
    const raw = cell.dataset.value ?? cell.textContent.trim();
    const number = raw === "" ? NaN : Number(raw.replace("−", "-"));
    return Number.isNaN(number) ? raw : number;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a.localeCompare(b);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    headings.forEach((heading, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const up = heading.getAttribute("aria-sort") !== "ascending";
        headings.forEach((other) => other.setAttribute("aria-sort", "none"));
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].map((row) => [key(row.cells[place]), row]);
        rows.sort((a, b) => (up ? 1 : -1) * compare(a[0], b[0]));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }
})();
