// Tables that sort by a click on a header. This runs where a page lets outputs run scripts; elsewhere they stay as they are.
(() => {
  const isDots = (cell) => /^(\.\.\.|…)$/.test(cell.textContent.trim());
  const isCut = (row) => row.cells.length > 1 && [...row.cells].slice(1).every(isDots);
  const isPlain = (row, width) =>
    row.cells.length === width && [...row.cells].every((cell) => cell.colSpan === 1 && cell.rowSpan === 1);

  function compare(one, other) {
    if (one === "" || other === "") return (one === "") - (other === "");
    const [a, b] = [Number(one), Number(other)];
    return Number.isNaN(a) || Number.isNaN(b) ? one.localeCompare(other, undefined, { numeric: true }) : a - b;
  }

  function wire(box) {
    const table = box.querySelector("table");
    const head = table?.tHead?.rows[0];
    const body = table?.tBodies[0];
    const rows = [...(body?.rows ?? [])];
    // Rows that lie between others and aren't here can't be sorted: the order would be a false one.
    if (rows.length < 2 || !rows.every((row) => isPlain(row, head?.cells.length)) || rows.some(isCut)) return;
    const more = box.querySelector("details.hermes-more");
    const unfold = () => {
      if (!more?.isConnected) return;
      body.append(...more.querySelector("tbody").rows);
      more.remove();
    };
    more?.addEventListener("toggle", unfold);
    const arrow = document.createElement("span");
    [...head.cells].forEach((cell, column) => {
      cell.style.cursor = "pointer";
      cell.tabIndex = 0;
      cell.title = cell.title || "sort by this column";
      const text = (row) => row.cells[column].textContent.trim();
      const sort = () => {
        unfold();
        const down = cell.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const each of head.cells) each.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", down < 0 ? "descending" : "ascending");
        arrow.textContent = down < 0 ? " ▼" : " ▲";
        cell.append(arrow);
        const sorted = [...body.rows].sort((one, other) => {
          const [a, b] = [text(one), text(other)];
          return a === "" || b === "" ? compare(a, b) : down * compare(a, b); // what is missing comes last
        });
        body.append(...sorted);
      };
      cell.addEventListener("click", sort);
      cell.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.stopPropagation(); // the notebook has a meaning of its own for it
        sort();
      });
    });
  }

  for (const box of document.querySelectorAll(".hermes-sortable:not([data-wired])")) {
    box.dataset.wired = "";
    wire(box);
  }
})();
