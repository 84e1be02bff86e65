(() => {
  "use strict";
  const status = document.getElementById("status");
  const say = (text) => { status.textContent = text; };
  const text = (cell) => cell.textContent.replace(/\s+/g, " ").trim();
  const number = (cell) => {
    const found = /^<?([-+]?(?:[0-9.]+(?:e[-+]?[0-9]+)?|inf\b))/i.exec(text(cell).replace(/\u2212/g, "-"));
    return found ? parseFloat(found[1].replace(/inf/i, "Infinity")) : NaN;
  };
  const make = (tag, attributes, content) => {
    const node = document.createElement(tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    node.textContent = content || "";
    return node;
  };
  const button = (content, label, action) => {
    const node = make("button", label ? { type: "button", "aria-label": label } : { type: "button" }, content);
    node.addEventListener("click", action);
    return node;
  };

  // Texts of the visible rows; `written` gets a text, and whether it is bold.
  const visible = (table, written) => [...table.rows].filter((row) => !row.hidden)
    .map((row) => [...row.cells].map((cell) => written(text(cell), cell.querySelector("b"))));
  const quoted = (value) => /[",]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value;
  const csv = (table) => visible(table, quoted).map((row) => row.join(",") + "\n").join("");
  const markdown = (table) => {
    const rows = visible(table, (value, bold) => (bold ? `**${value}**` : value).replace(/\|/g, "\\|"));
    rows.splice(1, 0, rows[0].map(() => "---"));
    return rows.map((row) => `| ${row.join(" | ")} |\n`).join("");
  };
  const copy = (content, form) => {
    const area = make("textarea", { "aria-label": form, style: "position:fixed;left:-99rem" });
    area.value = content;
    document.body.append(area);
    area.select();
    say(document.execCommand("copy") ? `${form} copied` : "The browser does not allow copying");
    area.remove();
    window.confmlCopied = content;
  };

  const filter = (rows, caption) => {
    const field = make("input", { type: "search", placeholder: "filter", "aria-label": `Filter rows: ${caption}` });
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      say(`${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`);
    });
    return field;
  };
  const sortable = (heads, rows, body) => heads.forEach((head, column) => {
    const heading = text(head), numeric = head.classList.contains("n");
    head.setAttribute("aria-sort", "none");
    head.replaceChildren(button(heading, "", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      rows.sort((first, second) => {
        const [a, b] = [first.cells[column], second.cells[column]];
        if (!numeric) return sign * text(a).localeCompare(text(b), undefined, { numeric: true });
        const [x, y] = [number(a), number(b)];
        return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y);
      });
      body.prepend(...rows);
      say(`Sorted by ${heading}`);
    }));
  });

  for (const box of document.querySelectorAll(".table")) {
    const table = box.querySelector("table"), caption = text(table.caption), rows = [...table.tBodies[0].rows];
    const tools = make("div", { class: "tools" });
    if (rows.length > 5) tools.append(filter([...rows], caption));
    tools.append(button("CSV", `Copy as CSV: ${caption}`, () => copy(csv(table), "CSV")));
    tools.append(button("Markdown", `Copy as Markdown: ${caption}`, () => copy(markdown(table), "Markdown")));
    box.prepend(tools);
    const moved = rows.filter((row) => row.className !== "total"); // mean ranks stay below
    if (moved.length > 1) sortable([...table.tHead.rows[0].cells], moved, table.tBodies[0]);
  }
})();
