(function () {
  "use strict";
  var all = function (where, what) { return Array.prototype.slice.call(where.querySelectorAll(what)); };
  var make = function (tag, text, attributes) {
    var node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    for (var name in attributes || {}) node.setAttribute(name, attributes[name]);
    return node;
  };
  var status = document.getElementById("status");
  var say = function (text) { status.textContent = ""; status.textContent = text; };

  // ---- colours: remembered where the browser allows it
  var theme = document.getElementById("theme");
  var remember = function (value) { try { if (value === undefined) return localStorage.getItem("confml-theme"); localStorage.setItem("confml-theme", value); } catch (error) { return null; } };
  var paint = function (value) { if (value) document.documentElement.dataset.theme = value; else delete document.documentElement.dataset.theme; };
  theme.value = remember() || "";
  paint(theme.value);
  theme.addEventListener("change", function () { paint(theme.value); remember(theme.value); });

  // ---- tables: sorting, filter, copies
  var number = function (text) {
    var found = /^\s*<?([-+]?(?:[0-9.]+(?:e[-+]?[0-9]+)?|inf\b))/i.exec(text.replace(/\u2212/g, "-"));
    return found ? parseFloat(found[1].replace(/inf/i, "Infinity")) : NaN;
  };
  var cellText = function (cell) { return cell.textContent.replace(/\s+/g, " ").trim(); };
  var grid = function (table, text) {
    var rows = all(table, "tbody tr").filter(function (row) { return !row.hidden; });
    var line = function (cells) {
      return cells.map(function (cell) { return text(cellText(cell), cell.classList.contains("best")); });
    };
    return [line(all(table, "thead th"))].concat(rows.map(function (row) { return line(all(row, "th,td")); }));
  };
  var csv = function (rows) {
    return rows.map(function (row) {
      return row.map(function (text) { return /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text; }).join(",");
    }).join("\n") + "\n";
  };
  var markdown = function (table) {
    var rows = grid(table, function (text, best) { return (best ? "**" + text + "**" : text).replace(/\|/g, "\\|"); });
    var line = function (row) { return "| " + row.join(" | ") + " |"; };
    return [line(rows[0]), "|" + rows[0].map(function () { return " --- |"; }).join("")].concat(rows.slice(1).map(line)).join("\n") + "\n";
  };
  var copy = function (text, what) {
    var done = function () { say(what + " copied"); };
    var fallback = function () {
      var area = make("textarea", text, { "aria-label": what, style: "position:fixed;left:-99rem" });
      document.body.appendChild(area);
      area.select();
      try { document.execCommand("copy"); done(); } catch (error) { say("The browser does not allow copying"); }
      area.remove();
    };
    window.confmlCopied = text;
    if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).then(done, fallback); else fallback();
  };
  var button = function (text, action, label) {
    var node = make("button", text, { type: "button" });
    if (label) node.setAttribute("aria-label", label);
    node.addEventListener("click", action);
    return node;
  };

  all(document, ".table").forEach(function (box) {
    var table = box.querySelector("table"), caption = cellText(table.querySelector("caption"));
    var tools = make("div", undefined, { "class": "tools" });
    var rows = all(table, "tbody tr");
    if (box.classList.contains("data") && rows.length > 5) {
      var label = make("label", "Filter ");
      var field = make("input", undefined, { type: "search", "aria-label": "Filter rows of: " + caption });
      label.appendChild(field);
      tools.appendChild(label);
      field.addEventListener("input", function () {
        var words = field.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
        rows.forEach(function (row) {
          var text = row.textContent.toLowerCase();
          row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
          shown += !row.hidden;
        });
        say(shown + " of " + rows.length + " rows");
      });
    }
    tools.appendChild(button("CSV", function () { copy(csv(grid(table, String)), "CSV"); }, "Copy as CSV: " + caption));
    tools.appendChild(button("Markdown", function () { copy(markdown(table), "Markdown"); }, "Copy as Markdown: " + caption));
    var cue = make("span", "columns continue \u2192", { "class": "cue", hidden: "" }), area = box.querySelector(".scroll");
    tools.appendChild(cue);
    var follow = function () {
      var more = area.scrollLeft + area.clientWidth < area.scrollWidth - 2;
      box.classList.toggle("continues", more);
      cue.hidden = !more;
    };
    area.addEventListener("scroll", follow);
    if (window.ResizeObserver) new ResizeObserver(follow).observe(area); else follow();
    box.insertBefore(tools, box.firstChild);
    if (box.classList.contains("data") && rows.length > 1) sortable(table);
  });

  function sortable(table) {
    var heads = all(table, "thead th"), body = table.querySelector("tbody");
    heads.forEach(function (head, place) {
      var text = head.textContent;
      head.textContent = "";
      head.setAttribute("aria-sort", "none");
      head.appendChild(button(text, function () {
        var up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach(function (other) { other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        var rows = all(body, "tr").map(function (row, at) { return { row: row, at: at, text: cellText(row.children[place]), value: number(cellText(row.children[place])) }; });
        var numeric = head.classList.contains("n") || rows.every(function (one) { return !one.text || !isNaN(one.value); });
        rows.sort(function (a, b) {
          var order;
          if (numeric) {
            if (isNaN(a.value) || isNaN(b.value)) return isNaN(a.value) - isNaN(b.value) || a.at - b.at;
            order = a.value - b.value;
          } else order = a.text.localeCompare(b.text, undefined, { numeric: true });
          return (up ? order : -order) || a.at - b.at;
        });
        rows.forEach(function (one) { body.appendChild(one.row); });
        say("Sorted by " + text + (up ? ", ascending" : ", descending"));
      }));
    });
  }

  // ---- a link to something that is folded away opens it
  var unfold = function () {
    var target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var node = target; node && node.closest; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    if (target) target.scrollIntoView();
  };
  window.addEventListener("hashchange", unfold);
  if (location.hash) unfold();

  // ---- a value that is clicked becomes the address of the page
  document.addEventListener("click", function (event) {
    var cell = event.target.closest && event.target.closest("td[id],tbody th[id]");
    if (cell && !String(window.getSelection())) {
      try { location.replace("#" + cell.id); } catch (error) { /* a page inside of another page */ }
    }
  });

  // ---- charts as files, in light colours, with a legend of the visible lines
  var PAINTED = ["stroke", "fill", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size", "text-anchor"];
  var LETTERS = { "\u2212": "-", "\u2013": "-", "\u00d7": "x", "\u2026": "...", "\u00a0": " " };
  var svgNode = function (tag, attributes) {
    var node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (var name in attributes) node.setAttribute(name, attributes[name]);
    return node;
  };
  function drawing(svg, entries, use) {
    var root = document.documentElement, theme = root.dataset.theme, box = svg.viewBox.baseVal;
    var copy = svg.cloneNode(true), height = box.height + 20 * entries.length;
    var size = { viewBox: "0 0 " + box.width + " " + height, width: box.width, height: height, style: "font-family:sans-serif" };
    for (var name in size) copy.setAttribute(name, size[name]);
    entries.forEach(function (entry, n) {
      var key = entry.querySelector("svg"), y = box.height + 20 * n;
      var line = svgNode("g", { "class": key.getAttribute("class") || "", transform: "translate(56 " + y + ")" });
      all(key, "path").forEach(function (path) { line.appendChild(path.cloneNode(true)); });
      copy.appendChild(line);
      copy.appendChild(svgNode("text", { x: 96, y: y + 12 })).textContent = entry.querySelector("span").textContent;
    });
    root.dataset.theme = "light";
    svg.parentNode.appendChild(copy);
    all(copy, ".cursor").forEach(function (node) { node.remove(); });
    all(copy, "g,path,text").forEach(function (node) {
      var style = getComputedStyle(node);
      if (style.display === "none" || style.visibility === "hidden") return node.remove();
      PAINTED.forEach(function (name) { node.style.setProperty(name, style.getPropertyValue(name)); });
    });
    try { return use(copy, box.width, height); } finally {
      copy.remove();
      if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    }
  }
  var asSvg = function (copy) { return new XMLSerializer().serializeToString(copy) + "\n"; };
  function asPdf(copy, width, height) {
    var out = ["0.75 0 0 -0.75 0 " + 0.75 * height + " cm"], canvas = document.createElement("canvas").getContext("2d");
    var home = copy.getScreenCTM().inverse();
    all(copy, "path,text").forEach(function (node) {
      var style = getComputedStyle(node), opacity = 1;
      for (var up = node; up !== copy; up = up.parentNode) opacity *= getComputedStyle(up).opacity;
      var colour = function (name) {
        var found = style.getPropertyValue(name).match(/[0-9.]+/g);
        if (!found || found.length < 3 || found[3] === "0") return null;
        return found.slice(0, 3).map(function (one) { return (1 - opacity * (1 - one / 255)).toFixed(3); }).join(" ");
      };
      var stroke = colour("stroke"), fill = colour("fill"), m = home.multiply(node.getScreenCTM());
      var to = function (x, y) { return [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f].map(function (one) { return one.toFixed(2); }); };
      if (node.tagName === "text") {
        var text = node.textContent.replace(/[^ -~\u00a1-\u00ff]/g, function (one) { return LETTERS[one] || "?"; });
        canvas.font = style.fontSize + " Helvetica, Arial, sans-serif";
        var anchor = { middle: 0.5, end: 1 }[style.textAnchor] || 0, shift = anchor * canvas.measureText(text).width;
        var at = to((+node.getAttribute("x") || 0) - shift, +node.getAttribute("y") || 0);
        out.push("BT " + fill + " rg /F " + parseFloat(style.fontSize) + " Tf " + [m.a, m.b, -m.c, -m.d].map(function (one) { return one.toFixed(4); }).join(" ")
          + " " + at.join(" ") + " Tm (" + text.replace(/[\\()]/g, "\\$&") + ") Tj ET");
        return;
      }
      var dashes = style.strokeDasharray.match(/[0-9.]+/g) || [], parts = pdfPath(node.getAttribute("d"), to);
      if (!parts.length || !(stroke || fill)) return;
      out.push("[" + dashes.join(" ") + "] 0 d " + parseFloat(style.strokeWidth) + " w " + (stroke ? stroke + " RG " : "") + (fill ? fill + " rg " : ""));
      out.push(parts.join(" ") + (stroke && fill ? " B" : fill ? " f" : " S"));
    });
    var content = out.join("\n"), page = "/MediaBox [0 0 " + 0.75 * width + " " + 0.75 * height + "]";
    var objects = ["<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [3 0 R] /Count 1>>",
      "<</Type /Page /Parent 2 0 R " + page + " /Contents 4 0 R /Resources <</Font <</F 5 0 R>>>>>>",
      "<</Length " + content.length + ">>\nstream\n" + content + "\nendstream",
      "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>"];
    var pdf = "%PDF-1.4\n", places = objects.map(function (one, n) {
      var place = pdf.length;
      pdf += (n + 1) + " 0 obj\n" + one + "\nendobj\n";
      return ("0000000000" + place).slice(-10) + " 00000 n \n";
    });
    pdf += "xref\n0 6\n0000000000 65535 f \n" + places.join("") + "trailer\n<</Size 6 /Root 1 0 R>>\nstartxref\n" + pdf.length + "\n%%EOF\n";
    return Uint8Array.from(pdf, function (one) { return one.charCodeAt(0); });
  }
  function pdfPath(d, to) {
    var tokens = (d || "").match(/[a-zA-Z]|-?[0-9.]+/g) || [], x = 0, y = 0, out = [], command = "", n = 0;
    var next = function () { return +tokens[n++]; };
    while (n < tokens.length) {
      if (/[a-zA-Z]/.test(tokens[n])) command = tokens[n++];
      var own = command === command.toLowerCase(), kind = command.toLowerCase(), dx = own ? x : 0, dy = own ? y : 0;
      if (kind === "z") { out.push("h"); continue; }
      if (kind === "a") {  // half of a circle
        var radius = next(), right;
        n += 4;
        right = x + next();
        n += 1;
        var bend = (right > x ? -4 : 4) / 3 * radius;
        out.push(to(x, y + bend).concat(to(right, y + bend), to(right, y)).join(" ") + " c");
        x = right;
        continue;
      }
      if (kind !== "v") x = dx + next();
      if (kind !== "h") y = dy + next();
      out.push(to(x, y).join(" ") + (kind === "m" ? " m" : " l"));
      if (kind === "m") command = own ? "l" : "L";
    }
    return out;
  }
  function exports(svg, title, entries) {
    return ["SVG", "PDF"].map(function (kind) {
      return button(kind, function () {
        var file = new Blob([drawing(svg, entries(), kind === "SVG" ? asSvg : asPdf)], { type: kind === "SVG" ? "image/svg+xml" : "application/pdf" });
        var link = make("a", undefined, { download: title.replace(/[^A-Za-z0-9]+/g, "-").toLowerCase() + "." + kind.toLowerCase() });
        link.href = URL.createObjectURL(file);
        link.click();
        setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
        say(kind + " of the chart saved");
      }, "Save as " + kind + ": " + title);
    });
  }
  all(document, "svg.ranks").forEach(function (svg) {
    var tools = make("div", undefined, { "class": "tools" });
    exports(svg, svg.getAttribute("aria-label"), function () { return []; }).forEach(function (one) { tools.appendChild(one); });
    svg.parentNode.insertBefore(tools, svg);
  });

  // ---- charts
  var shortened = function (value) { return String(parseFloat(value.toPrecision(4))).replace("-", "\u2212"); };
  all(document, "[data-chart]").forEach(function (box) {
    var data = JSON.parse(box.querySelector("script").textContent);
    var svg = box.querySelector("svg.chart"), plot = box.querySelector(".plot"), readout = box.querySelector(".readout");
    var groups = all(svg, "g.series"), cursor = svg.querySelector(".cursor"), at = null;
    var keys = all(box, "button.key");
    keys.forEach(function (key, place) {
      key.addEventListener("click", function () {
        var on = key.getAttribute("aria-pressed") !== "true";
        key.setAttribute("aria-pressed", on);
        if (on) groups[place].removeAttribute("hidden"); else groups[place].setAttribute("hidden", "");
        if (at !== null) show(at);
      });
      var light = function () { groups.forEach(function (one, n) { one.classList.toggle("lit", n === place); }); };
      key.addEventListener("pointerenter", light);
      key.addEventListener("focus", light);
    });
    if (keys.length > 2) {
      var every = button("all or none", function () {
        var on = keys.some(function (key) { return key.getAttribute("aria-pressed") === "false"; });
        keys.forEach(function (key) { if ((key.getAttribute("aria-pressed") === "true") !== on) key.click(); });
      }, "Show all or no lines of " + data.title);
      every.className = "key every";
      box.querySelector(".legend").appendChild(make("li")).appendChild(every);
    }
    var copies = button("copy data", function () {
      var rows = [["line", data.x, data.y, "low", "high"]];
      data.series.forEach(function (one) {
        one.x.forEach(function (x, n) {
          if (x !== null && one.y[n] !== null) rows.push([one.name, x, one.y[n], one.low && one.low[n] !== null ? one.low[n] : "", one.high && one.high[n] !== null ? one.high[n] : ""].map(String));
        });
      });
      copy(csv(rows), "Data of the chart");
    }, "Copy the data of " + data.title + " as CSV");
    var entries = function () { return all(box, ".legend .key").filter(function (key) { return key.querySelector("svg") && key.getAttribute("aria-pressed") !== "false"; }); };
    [copies].concat(exports(svg, data.title, entries)).forEach(function (one) {
      one.className = "key copies";
      box.querySelector(".legend").appendChild(make("li")).appendChild(one);
    });
    var visible = function () { return data.series.filter(function (one, place) { return keys[place].getAttribute("aria-pressed") === "true"; }); };
    var nearest = function (one, x) {
      var best = -1, gap = Infinity;
      one.x.forEach(function (value, n) {
        if (value !== null && one.y[n] !== null && Math.abs(value - x) < gap) { gap = Math.abs(value - x); best = n; }
      });
      return best;
    };
    function show(x) {
      at = x;
      var list = make("dl"), found = [];
      visible().forEach(function (one) {
        var n = nearest(one, x);
        if (n >= 0) found.push({ name: one.name, x: one.x[n], y: one.y[n], low: one.low && one.low[n], high: one.high && one.high[n] });
      });
      found.sort(function (a, b) { return a.y - b.y; });
      found.forEach(function (one) {
        var line = make("div");
        line.appendChild(make("dt", one.name));
        line.appendChild(make("dd", shortened(one.y) + (one.low !== null && one.low !== undefined ? " [" + shortened(one.low) + ", " + shortened(one.high) + "]" : "")));
        list.appendChild(line);
      });
      var place = found.length ? found[0].x : x;
      readout.textContent = data.x + ": " + shortened(place) + "; " + data.y + ":";
      readout.appendChild(list);
      readout.hidden = false;
      var px = data.box[0] + (place - data.xr[0]) / (data.xr[1] - data.xr[0]) * (data.box[2] - data.box[0]);
      cursor.firstChild.setAttribute("d", "M" + px + " " + data.box[1] + "V" + data.box[3]);
      cursor.removeAttribute("hidden");
    }
    var hide = function () { at = null; cursor.setAttribute("hidden", ""); readout.hidden = true; };
    plot.addEventListener("pointermove", function (event) {
      var frame = svg.getBoundingClientRect(), width = svg.viewBox.baseVal.width;
      var px = (event.clientX - frame.left) / frame.width * width;
      var share = (px - data.box[0]) / (data.box[2] - data.box[0]);
      if (share < -0.02 || share > 1.02) return hide();
      show(data.xr[0] + Math.min(Math.max(share, 0), 1) * (data.xr[1] - data.xr[0]));
    });
    plot.addEventListener("pointerleave", function () { if (document.activeElement !== plot) hide(); });
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], first = visible()[0];
      if (event.key === "Escape") return hide();
      if (!step || !first) return;
      event.preventDefault();
      var xs = first.x.filter(function (x, n) { return x !== null && first.y[n] !== null; }).sort(function (a, b) { return a - b; });
      var n = at === null ? (step > 0 ? 0 : xs.length - 1) : Math.min(Math.max(xs.indexOf(nearestOf(xs, at)) + step, 0), xs.length - 1);
      show(xs[n]);
      say(readout.textContent);
    });
    var nearestOf = function (xs, x) { return xs.reduce(function (best, one) { return Math.abs(one - x) < Math.abs(best - x) ? one : best; }, xs[0]); };
  });

  // ---- test examples: regions at the level of the slider
  var digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", PAGE = 25;
  var explorers = {};
  all(document, ".explorer").forEach(function (box) {
    var data = JSON.parse(box.querySelector("script").textContent), view = 0, page = 0;
    var get = function (name) { return box.querySelector(name); };
    var search = get(".search"), filter = get(".filter"), order = get(".order"), slider = get(".level"), body = get("tbody");
    slider.value = Math.max(data.levels.indexOf(0.05), 0);
    var region = function (one, n, level) {
      if (!one.regions) return null;
      var found = [];
      for (var j = 0; j < one.classes; j++) if (digits.indexOf(one.regions[n * one.classes + j]) > level) found.push(j);
      return found;
    };
    var rate = function (n, of) { return of ? (100 * n / of).toFixed(1) + " %" : "\u2013"; };
    function draw() {
      var one = data.views[view], level = +slider.value;
      get("output").textContent = data.levels[level];
      slider.setAttribute("aria-valuetext", "level " + data.levels[level]);
      body.textContent = "";
      if (!one || !one.rows) {
        get(".counts").textContent = "";
        get(".where").textContent = "The rows of this view are in the folder regions, not on this page.";
        get(".place").textContent = "";
        return;
      }
      var r = one.rows, rows = [], covered = 0, size = 0, single = 0, empty = 0;
      var words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (var n = 0; n < r.row.length; n++) {
        var set = region(r, n, level), holds = set !== null && set.indexOf(r.label[n]) >= 0;
        var reason = set === null ? "" : ["atypical", "certain"][set.length] || "ambiguous";
        if (set !== null) { covered += holds; size += set.length; single += set.length === 1; empty += set.length === 0; }
        var wrong = r.prediction[n] !== r.label[n];
        if (filter.value === "miss" && (set === null || holds) || filter.value === "wrong" && !wrong || ["certain", "ambiguous", "atypical"].indexOf(filter.value) >= 0 && reason !== filter.value) continue;
        var text = set === null ? "" : "{" + set.map(function (j) { return r.names[j]; }).join(", ") + "}";
        var cells = [r.row[n], r.names[r.label[n]], r.names[r.prediction[n]] + (wrong ? " (wrong)" : ""), r.confidence[n], r.credibility ? r.credibility[n] : null, text, reason];
        var joined = cells.join(" ").toLowerCase();
        if (words.every(function (word) { return joined.indexOf(word) >= 0; })) rows.push({ confidence: r.confidence[n], cells: cells, wrong: wrong, miss: set !== null && !holds });
      }
      if (order.value) rows.sort(function (a, b) { return (order.value === "up" ? 1 : -1) * (a.confidence - b.confidence); });
      page = Math.min(page, Math.max(Math.ceil(rows.length / PAGE) - 1, 0));
      rows.slice(page * PAGE, page * PAGE + PAGE).forEach(function (row) {
        var line = make("tr");
        row.cells.forEach(function (cell, place) {
          var node = make(place ? "td" : "th", cell === null ? "\u2013" : cell);
          if (!place) node.setAttribute("scope", "row");
          if (place === 3 || place === 4) node.className = "n";
          if (place === 2 && row.wrong || place === 5 && row.miss) node.className = "wrong";
          line.appendChild(node);
        });
        body.appendChild(line);
      });
      var total = r.row.length;
      get(".counts").textContent = !r.regions ? "This view has no regions." :
        "At level " + data.levels[level] + " on " + total + " examples: coverage " + rate(covered, total) + ", mean set size " + (size / total).toFixed(3) + ", singletons " + rate(single, total) + ", empty " + rate(empty, total) + ".";
      get(".place").textContent = rows.length ? "rows " + (page * PAGE + 1) + " to " + Math.min((page + 1) * PAGE, rows.length) + " of " + rows.length : "no row";
      get(".back").disabled = page === 0;
      get(".next").disabled = (page + 1) * PAGE >= rows.length;
      get(".where").textContent = "Split " + one.split + (r.of > total ? ", the first " + total + " of " + r.of + " test examples" : "") + "; all splits and examples are in the folder regions.";
    }
    [search, filter, order, slider].forEach(function (field) { field.addEventListener("input", function () { page = 0; draw(); }); });
    get(".back").addEventListener("click", function () { page -= 1; draw(); });
    get(".next").addEventListener("click", function () { page += 1; draw(); });
    explorers[box.dataset.dataset] = function (place) { view = place; page = 0; draw(); };
    draw();
  });
  all(document, "select.choose").forEach(function (choice) {
    var panels = all(document.getElementById(choice.dataset.for + ".panels"), ".panel");
    var choose = function () {
      panels.forEach(function (panel) { panel.hidden = panel.dataset.view !== choice.value; });
      if (explorers[choice.dataset.for]) explorers[choice.dataset.for](+choice.value);
    };
    choice.addEventListener("change", choose);
    // A link to something in a hidden panel opens it.
    var open = function () {
      var id = decodeURIComponent(location.hash.slice(1)), target = id && document.getElementById(id);
      var panel = target && target.closest(".panel");
      if (panel && panels.indexOf(panel) >= 0) { choice.value = panel.dataset.view; choose(); target.scrollIntoView(); }
    };
    window.addEventListener("hashchange", open);
    choose();
    open();
  });
  // A link to something in closed details opens them.
  var reveal = function () {
    var id = decodeURIComponent(location.hash.slice(1)), target = id && document.getElementById(id), found = false;
    for (var node = target; node; node = node.parentElement) if (node.tagName === "DETAILS" && !node.open) node.open = found = true;
    if (found) target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  // ---- definitions of headings: under the pointer and with the focus
  var about = document.getElementById("about");
  all(document, "th[title]").forEach(function (cell) {
    var text = cell.title, from = cell.querySelector("button") || cell;
    cell.removeAttribute("title");
    cell.dataset.about = text;
    from.setAttribute("aria-description", text);
    var open = function () {
      var frame = cell.getBoundingClientRect();
      about.textContent = text;
      about.hidden = false;
      about.style.left = Math.max(Math.min(frame.left, document.documentElement.clientWidth - about.offsetWidth - 8), 4) + window.scrollX + "px";
      about.style.top = frame.bottom + window.scrollY + 4 + "px";
    };
    var close = function () { about.hidden = true; };
    cell.addEventListener("pointerenter", open);
    cell.addEventListener("pointerleave", close);
    from.addEventListener("focus", open);
    from.addEventListener("blur", close);
  });
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") about.hidden = true; });
})();
