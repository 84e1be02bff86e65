(function () {
  "use strict";
  var all = function (where, what) { return Array.prototype.slice.call(where.querySelectorAll(what)); };
  var make = function (tag, text, attributes) {
    var node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    for (var name in attributes || {}) node.setAttribute(name, attributes[name]);
    return node;
  };
  var button = function (text, action, label) {
    var node = make("button", text, { type: "button" });
    if (label) node.setAttribute("aria-label", label);
    node.addEventListener("click", action);
    return node;
  };
  var status = document.getElementById("status");
  var say = function (text) { status.textContent = text; };
  var number = function (text) {
    var found = /^\s*<?([-+]?(?:[0-9.]+(?:e[-+]?[0-9]+)?|inf\b))/i.exec(text.replace(/\u2212/g, "-"));
    return found ? parseFloat(found[1].replace(/inf/i, "Infinity")) : NaN;
  };
  var cellText = function (cell) { return cell.textContent.replace(/\s+/g, " ").trim(); };

  // ---- copies of the visible rows
  var grid = function (table, text) {
    var rows = all(table, "tr").filter(function (row) { return !row.hidden; });
    return rows.map(function (row) {
      return all(row, "th,td").map(function (cell) { return text(cellText(cell), cell.classList.contains("best")); });
    });
  };
  var csv = function (table) {
    var quoted = function (text) { return /[",]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text; };
    return grid(table, quoted).map(function (row) { return row.join(",") + "\n"; }).join("");
  };
  var markdown = function (table) {
    var rows = grid(table, function (text, best) { return (best ? "**" + text + "**" : text).replace(/\|/g, "\\|"); });
    rows.splice(1, 0, rows[0].map(function () { return "---"; }));
    return rows.map(function (row) { return "| " + row.join(" | ") + " |\n"; }).join("");
  };
  var copy = function (text, what) {
    var area = make("textarea", text, { "aria-label": what, style: "position:fixed;left:-99rem" });
    document.body.appendChild(area);
    area.select();
    say(document.execCommand("copy") ? what + " copied" : "The browser does not allow copying");
    area.remove();
    window.confmlCopied = text;
  };

  function filterOf(rows, caption) {
    var label = make("label", "Filter "), field = make("input", undefined, { type: "search", "aria-label": "Filter rows of: " + caption });
    field.addEventListener("input", function () {
      var words = field.value.toLowerCase().split(/\s+/);
      rows.forEach(function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
      });
      say(rows.filter(function (row) { return !row.hidden; }).length + " of " + rows.length + " rows");
    });
    label.appendChild(field);
    return label;
  }

  function sortable(heads, rows, body) {
    heads.forEach(function (head, place) {
      var text = head.textContent;
      head.textContent = "";
      head.setAttribute("aria-sort", "none");
      head.appendChild(button(text, function () {
        var up = head.getAttribute("aria-sort") !== "ascending", numeric = head.classList.contains("n");
        heads.forEach(function (other) { other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        var value = function (row) { var own = cellText(row.children[place]); return numeric ? number(own) : own; };
        rows.sort(function (a, b) {
          var x = value(a), y = value(b);
          if (numeric && (isNaN(x) || isNaN(y))) return isNaN(x) - isNaN(y);
          return (up ? 1 : -1) * (numeric ? x - y : x.localeCompare(y, undefined, { numeric: true }));
        });
        rows.forEach(function (row) { body.appendChild(row); });
        say("Sorted by " + text + (up ? ", ascending" : ", descending"));
      }));
    });
  }

  all(document, ".table").forEach(function (box) {
    var table = box.querySelector("table"), caption = cellText(table.querySelector("caption"));
    var tools = make("div", undefined, { "class": "tools" }), rows = all(table, "tbody tr"), data = box.classList.contains("data");
    if (data && rows.length > 5) tools.appendChild(filterOf(rows.slice(), caption));
    tools.appendChild(button("CSV", function () { copy(csv(table), "CSV"); }, "Copy as CSV: " + caption));
    tools.appendChild(button("Markdown", function () { copy(markdown(table), "Markdown"); }, "Copy as Markdown: " + caption));
    box.insertBefore(tools, box.firstChild);
    if (data && rows.length > 1) sortable(all(table, "thead th"), rows, table.querySelector("tbody"));
  });
})();
