"use strict";
// The explorer: the list and the opened answer, both told by the address, so that every view can be linked to.
(() => {
  const PAGE = 50;
  const { el } = longtrek.parts;
  const { thousands } = longtrek.studies;
  const lists = new Map();
  const at = (id) => document.getElementById(id);
  let shown = { key: "", rows: [], paper: "" };
  let last = null; // the row that was open

  const papers = [...document.querySelectorAll("input[name=paper]")].map((input) => input.value);
  const where = { results: at("answer").dataset.results, rule: at("answer").dataset.rule };

  function state() {
    return new URLSearchParams(location.hash.slice(1));
  }

  // The address with some values changed; empty ones leave it.
  function address(changes) {
    const next = state();
    for (const [name, value] of Object.entries(changes)) {
      if (value === "" || value === null) next.delete(name);
      else next.set(name, value);
    }
    return `#${next}`;
  }

  function go(changes) {
    location.replace(address(changes));
  }

  async function listOf(paper) {
    if (!lists.has(paper)) lists.set(paper, new longtrek.List(paper, await longtrek.script(paper)));
    return lists.get(paper);
  }

  function facetControls(list) {
    const controls = list.view.facets
      .filter((facet) => list.options(facet.name).length > 1)
      .map((facet) => {
        const options = list.options(facet.name).map((value) => el("option", { value: String(value) }, list.text(facet, value)));
        const select = el("select", { name: facet.name, onchange: () => go({ [facet.name]: select.value, page: "" }) }, el("option", { value: "" }, "any"), ...options);
        return el("label", {}, facet.label, select);
      });
    const words = el("input", { type: "search", name: "words", autocomplete: "off", oninput: () => go({ words: words.value, page: "" }) });
    const none = el("button", { type: "button", onclick: () => location.replace(`#paper=${list.paper}`) }, "All answers");
    at("facets").replaceChildren(...controls, el("label", {}, `${list.view.what}'s id`, words), none);
  }

  function tableHead(list) {
    const cells = list.view.columns.map((column) => {
      const button = el("button", { type: "button", onclick: () => go({ sort: nextSort(column.name), page: "" }) }, column.label);
      return el("th", { scope: "col", "data-name": column.name, class: kinds(column) }, button);
    });
    at("answers").tHead.replaceChildren(el("tr", {}, ...cells));
  }

  const kinds = (column) => [column.right ? "right" : "", column.wide ? "wide" : "", column.name === "model" ? "whose" : ""].join(" ").trim() || null;

  function nextSort(name) {
    const sort = state().get("sort");
    return sort === name ? `-${name}` : sort === `-${name}` ? "" : name;
  }

  function cell(list, column, row) {
    const value = list.value(column.name, row);
    if (column.link) {
      const second = ["status", "horizon", "context", "skill"].filter((name) => list.view.columns.some((one) => one.name === name));
      const words = second.map((name) => list.text(list.view.columns.find((one) => one.name === name), list.value(name, row)));
      const link = el("a", { href: address({ paper: list.paper, open: list.key(row) }) }, value);
      return el("th", { scope: "row" }, link, el("span", { class: "second" }, words.join(", ")));
    }
    if (column.share) {
      const share = value === null ? null : value / list.value(column.share, row);
      if (share === null) return el("td", { class: "right" }, "–");
      const bar = el("i", { style: `width: ${(100 * share).toFixed(1)}%` });
      return el("td", { class: "right" }, el("span", { class: "meter wide", "aria-hidden": "true" }, bar), share.toFixed(3));
    }
    if (column.mark) return el("td", { class: "right" }, value === null ? "–" : longtrek.parts.mark(value));
    const status = column.name === "status" ? ` status ${value}` : "";
    return el("td", { class: `${kinds(column) ?? ""}${status}`.trim() || null }, list.text(column, value));
  }

  function matching(list, query) {
    const known = new Set(list.view.facets.map((facet) => facet.name));
    const wanted = Object.fromEntries([...query].filter(([name]) => known.has(name)));
    const sort = query.get("sort") ?? "";
    const key = JSON.stringify([list.paper, wanted, query.get("words"), sort]);
    if (shown.key !== key) {
      const rows = list.matching(wanted, query.get("words") ?? "");
      const name = sort.replace(/^-/, "");
      const sortable = list.view.columns.some((column) => column.name === name);
      shown = { key, paper: list.paper, rows: sortable ? list.sorted(rows, name, sort.startsWith("-")) : rows };
    }
    return shown.rows;
  }

  function showList(list, query) {
    const rows = matching(list, query);
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    const page = Math.min(Math.max(Number(query.get("page") ?? 1) || 1, 1), pages);
    const part = rows.slice((page - 1) * PAGE, page * PAGE);
    const body = part.map((row) => el("tr", { class: row === last ? "last" : null }, ...list.view.columns.map((column) => cell(list, column, row))));
    at("answers").tBodies[0].replaceChildren(...body);
    const many = rows.length === list.rows.count ? `All ${thousands(rows.length)} answers` : `${thousands(rows.length)} of ${thousands(list.rows.count)} answers`;
    at("shown").textContent = list.rows.count ? many : "No scored answers yet.";
    const sort = query.get("sort") ?? "";
    for (const head of at("answers").tHead.querySelectorAll("th")) {
      const sorted = head.dataset.name === sort.replace(/^-/, "");
      if (sorted) head.setAttribute("aria-sort", sort.startsWith("-") ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    turning(page, pages);
    for (const control of at("filters").querySelectorAll("select, input[type=search]")) {
      const wanted = query.get(control.name) ?? "";
      if (control.value !== wanted) control.value = wanted;
    }
  }

  function turning(page, pages) {
    const turn = at("turn");
    if (!turn.childElementCount) {
      turn.append(
        el("button", { type: "button", onclick: () => go({ page: Number(turn.dataset.page) - 1 }) }, "Previous page"),
        el("span", {}),
        el("button", { type: "button", onclick: () => go({ page: Number(turn.dataset.page) + 1 }) }, "Next page"),
      );
    }
    turn.dataset.page = page;
    turn.hidden = pages === 1;
    const [back, said, on] = turn.children;
    said.textContent = `Page ${thousands(page)} of ${thousands(pages)}`;
    back.disabled = page === 1;
    on.disabled = page === pages;
  }

  // Links around an opened answer: back to the list, and to its neighbours there.
  function around(list, rows, row) {
    const place = rows.indexOf(row);
    const link = (words, to, id) => el("a", { href: address({ open: to === null ? "" : list.key(to) }), id }, words);
    return el(
      "nav",
      { class: "around", "aria-label": "Around this answer" },
      link("All answers", null, "back"),
      place > 0 ? link("Previous answer", rows[place - 1], "before") : null,
      place >= 0 && place + 1 < rows.length ? link("Next answer", rows[place + 1], "after") : null,
      el("span", { class: "note wide" }, "Keys: Esc, ←, →"),
    );
  }

  async function showAnswer(list, query) {
    const rows = matching(list, query);
    const row = list.find(query.get("open"));
    const section = at("answer");
    const title = el("h2", { id: "answer-title", tabindex: -1 }, row === null ? "No such answer" : `${list.label(list.value("model", row))}: ${list.value("id", row)}`);
    if (row === null) {
      const said = `This run has no answer ${query.get("open")}.`;
      section.replaceChildren(around(list, [], null), title, el("p", { class: "missing" }, said));
    } else {
      const opened = await list.open(row);
      if (state().get("open") !== query.get("open")) return; // another was opened meanwhile
      section.replaceChildren(around(list, rows, row), title, ...list.view.open(list, row, opened, where).filter(Boolean));
      last = row;
    }
    at("list").hidden = true;
    section.hidden = false;
    document.title = `${title.textContent} · Longtrek`;
    scrollTo(0, 0);
    title.focus({ preventScroll: true });
  }

  async function show() {
    const query = state();
    const paper = papers.includes(query.get("paper")) ? query.get("paper") : papers[0];
    const list = await listOf(paper);
    for (const input of document.querySelectorAll("input[name=paper]")) input.checked = input.value === paper;
    if (at("facets").dataset.paper !== paper) {
      at("facets").dataset.paper = paper;
      last = null;
      facetControls(list);
      tableHead(list);
    }
    if (query.get("open")) return showAnswer(list, query);
    const back = !at("answer").hidden;
    at("answer").hidden = true;
    at("list").hidden = false;
    document.title = "Answers · Longtrek";
    showList(list, query);
    if (back) document.querySelector("tr.last a")?.focus();
    return undefined;
  }

  function tell(error) {
    at("list").hidden = false;
    at("shown").textContent = error.message;
    at("shown").className = "alert";
    console.error(error);
  }

  for (const input of document.querySelectorAll("input[name=paper]")) {
    input.addEventListener("change", () => location.replace(`#paper=${input.value}`));
  }
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => show().catch(tell));
  addEventListener("keydown", (event) => {
    if (at("answer").hidden || event.altKey || event.ctrlKey || event.metaKey) return;
    const link = { Escape: "back", ArrowLeft: "before", ArrowRight: "after" }[event.key];
    const inside = event.target.closest?.("input, select, pre, .scroll");
    if (link && !(inside && event.key !== "Escape")) at(link)?.click();
  });
  show().catch(tell);
})();
