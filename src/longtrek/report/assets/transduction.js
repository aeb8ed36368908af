"use strict";
// An opened answer of Long-Transduction: the course of its records, and each beside what was expected.
longtrek.studies.transduction.open = (() => {
  const PAGE = 200; // records on one page
  const BINS = 240;
  const { el, facts, unfolding, text, provenance, mark, fate, notice, command } = longtrek.parts;
  const { thousands, words, horizon, duration } = longtrek.studies;
  const BOTH = 3; // right under both rules

  // Expected records as the kit counts them: lines that hold something, or the cells of a table row by row.
  function expectedRecords(list, row, asked) {
    const lines = asked.expected.split("\n").filter((line) => line.trim());
    if (list.value("family", row) !== "table") return lines.map((line, place) => ({ name: String(place + 1), line }));
    const cells = lines.map((line) => line.split(",").map((cell) => cell.trim()));
    return cells.slice(1).flatMap((line) =>
      line.slice(1).map((cell, place) => ({ name: `${line[0]}${cells[0][place + 1]}`, line: cell })),
    );
  }

  function inputOf(asked, promptLines, place) {
    const found = asked.inputs[place];
    if (typeof found !== "number") return found;
    const line = promptLines[found];
    return line.startsWith("[") ? line.slice(line.indexOf("]") + 1) : line;
  }

  // For each record: its marks under both rules and what was given, or null where all is as expected.
  function givenRecords(wrong, count) {
    const found = new Array(count).fill(null);
    for (const one of wrong ?? []) {
      if (one.length === 2) {
        for (let place = one[0]; place < one[0] + one[1]; place++) found[place] = { marks: 0, given: [null, null] };
      } else {
        found[one[0]] = { marks: one[1], given: one.length === 3 ? [one[2], one[2]] : [one[2], one[3]] };
      }
    }
    return found;
  }

  function isRight(given, rule) {
    return given === null || Boolean(given.marks & (rule === "paper" ? 1 : 2));
  }

  // The course of an answer: in each place of the output, how much is right, wrong, or not there.
  function course(given, rule, lost) {
    const bins = Math.min(BINS, given.length);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "course");
    svg.setAttribute("viewBox", `0 0 ${bins} 30`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    const right = given.filter((one) => isRight(one, rule)).length;
    const where = lost === null ? "" : `; the first wrong one is record ${thousands(lost + 1)}`;
    svg.setAttribute("aria-label", `Along the output: ${thousands(right)} of ${thousands(given.length)} records right under ${rule}${where}`);
    const rect = (kind, x, y, height) => {
      if (!height) return;
      const one = document.createElementNS(svg.namespaceURI, "rect");
      for (const [key, value] of Object.entries({ class: kind, x, y, width: 1.02, height })) one.setAttribute(key, value);
      svg.append(one);
    };
    for (let bin = 0; bin < bins; bin++) {
      const part = given.slice(Math.floor((bin * given.length) / bins), Math.floor(((bin + 1) * given.length) / bins));
      const good = part.filter((one) => isRight(one, rule)).length / part.length;
      const none = part.filter((one) => one !== null && !isRight(one, rule) && one.given.every((text) => text === null)).length / part.length;
      const [up, down] = [30 * good, 30 * (1 - good - none)];
      rect("none", bin, 0, 30 - up - down);
      rect("wrong", bin, 30 - up - down, down);
      rect("right", bin, 30 - up, up);
    }
    return svg;
  }

  function givenCell(expected, one, rule) {
    const cell = el("td", { class: "text" });
    if (one === null) {
      cell.append(expected);
      return cell;
    }
    const differ = one.given[0] !== one.given[1];
    for (const [place, name] of (differ ? ["paper", "strict"] : [rule]).entries()) {
      const said = differ ? one.given[place] : one.given[0];
      const line = el("div", {}, differ ? el("span", { class: "rule-name" }, name) : null);
      if (said === null) line.append(el("span", { class: "nothing" }, "nothing"));
      else if (isRight(one, name)) line.append(said);
      else line.append(...longtrek.differences.marked(bare(expected, said), said));
      cell.append(line);
    }
    return cell;
  }

  // The rules read records without their label; an expected line is compared likewise.
  function bare(expected, given) {
    const label = /^\[\d+\]/.exec(expected);
    return label && !given.startsWith("[") ? expected.slice(label[0].length) : expected;
  }

  function recordsTable(state) {
    const { records, given, shown, asked, promptLines, rule, lost } = state;
    const head = ["Record", "Input", "Expected", "Given", "Paper", "Strict"];
    const wide = new Set(["Input"]);
    const body = shown.slice(state.page * PAGE, (state.page + 1) * PAGE).map((place) => {
      const one = given[place];
      const sure = one === null || one.marks === BOTH;
      return el(
        "tr",
        { class: [sure ? "" : "wrong", place === lost ? "lost" : ""].join(" ").trim() || null, id: `record-${place + 1}` },
        el("th", { scope: "row" }, records[place].name),
        el("td", { class: "text wide" }, inputOf(asked, promptLines, place) ?? "–"),
        el("td", { class: "text plain" }, records[place].line),
        givenCell(records[place].line, one, rule),
        el("td", {}, mark(isRight(one, "paper"))),
        el("td", {}, mark(isRight(one, "strict"))),
      );
    });
    const titles = head.map((name) => el("th", { scope: "col", class: wide.has(name) ? "wide" : null }, name));
    return el("table", { class: "records" }, el("thead", {}, el("tr", {}, ...titles)), el("tbody", {}, ...body));
  }

  // The records, a page at a time, all of them or only those that are wrong.
  function recordsPart(state) {
    const table = el("div", { class: "scroll", role: "region", "aria-label": "Records", tabindex: 0 });
    const said = el("span", { role: "status" });
    const back = el("button", { type: "button", onclick: () => turn(state.page - 1) }, "Previous records");
    const on = el("button", { type: "button", onclick: () => turn(state.page + 1) }, "Next records");
    const only = el("input", { type: "checkbox", onchange: choose });
    const jump = state.lost === null ? null : el("button", { type: "button", id: "to-lost", onclick: toLost }, "Go to where it got lost");

    function choose() {
      state.shown = [...state.records.keys()].filter((place) => !only.checked || (state.given[place] !== null && state.given[place].marks !== BOTH));
      turn(0);
    }
    function turn(page) {
      const pages = Math.max(1, Math.ceil(state.shown.length / PAGE));
      state.page = Math.min(Math.max(page, 0), pages - 1);
      const first = state.page * PAGE;
      const last = Math.min(first + PAGE, state.shown.length);
      said.textContent = state.shown.length ? `${thousands(first + 1)} to ${thousands(last)} of ${thousands(state.shown.length)}` : "None";
      back.disabled = state.page === 0;
      on.disabled = state.page === pages - 1;
      table.replaceChildren(recordsTable(state));
    }
    function toLost() {
      turn(Math.floor(state.shown.indexOf(state.lost) / PAGE));
      const row = table.querySelector("tr.lost");
      row.tabIndex = -1;
      row.focus();
      row.scrollIntoView({ block: "center" });
    }
    choose();
    const label = el("label", {}, only, "only those that are wrong under a rule");
    return [el("h3", {}, "Record by record"), el("div", { class: "tools" }, jump, label, back, on, said), table];
  }

  function head(list, row) {
    const value = (name) => list.value(name, row);
    const share = (name) => (value(name) === null ? null : `${(value(name) / value("records")).toFixed(3)} (${thousands(value(name))} of ${thousands(value("records"))})`);
    const place = (number) => (number === null ? null : `record ${thousands(number + 1)}`);
    return facts([
      ["Paper rule", share("paper")],
      ["Strict rule", share("strict")],
      ["Lost at, paper", place(value("lost"))],
      ["Lost at, strict", value("lost_strict") === value("lost") ? null : place(value("lost_strict"))],
      ["Loops from line", value("loop") === null ? null : thousands(value("loop") + 1)],
      ["Status", words(value("status"))],
      ["Ended by", value("finish") === null ? null : words(value("finish"))],
      ["Tokens read", value("read") === null ? null : thousands(value("read"))],
      ["Tokens written", value("written") === null ? null : thousands(value("written"))],
      ["Time", duration(value("seconds"))],
    ]);
  }

  return (list, row, { answer, asked }, where) => {
    const value = (name) => list.value(name, row);
    const records = expectedRecords(list, row, asked);
    const promptLines = asked.prompt.split("\n");
    const parts = [
      el("p", { class: "lead" }, `${words(value("family"))}, ${words(value("format"))}, difficulty ${value("difficulty")}, ${horizon(value("horizon"))} tokens, sample ${value("sample")}: ${thousands(value("records"))} records`),
      notice(list.kinds.get(value("model"))),
      head(list, row),
      fate(value("status"), answer, value("finish")),
    ];
    const expectedLines = asked.expected.split("\n");
    const received = answer.text ? unfolding("The answer as it was received", () => text(longtrek.differences.lines(answer.text, expectedLines), "The answer as it was received")) : null;
    const reasoning = answer.reasoning ? unfolding("Its reasoning", () => text(answer.reasoning.split("\n"), "Its reasoning")) : null;
    if (value("paper") !== null) {
      const given = givenRecords(answer.wrong, records.length);
      const state = { records, given, asked, promptLines, rule: where.rule, page: 0, lost: value(where.rule === "strict" ? "lost_strict" : "lost") };
      const key = (kind, name) => el("span", {}, el("i", { class: `${kind}-key` }), name);
      parts.push(
        el("h3", {}, "Along the output"),
        course(given, state.rule, state.lost),
        el("p", { class: "legend" }, key("right", `right under ${state.rule}`), key("wrong", "wrong"), key("none", "nothing given")),
        received,
        reasoning,
        ...recordsPart(state),
      );
    }
    parts.push(
      el("h3", {}, "What it was asked, and where it comes from"),
      unfolding("What was expected", () => text(expectedLines, "What was expected")),
      unfolding(`The prompt, ${thousands(asked.prompt_tokens)} cl100k_base tokens`, () => text(promptLines, "The prompt")),
      unfolding("Where it comes from", () => provenance(list, row, answer)),
      unfolding("By hand", () => [
        command(`longtrek show ${value("model")} ${value("id")} --results ${where.results}`),
        command(`longtrek document --family ${value("family")} --format ${value("format")} --difficulty ${value("difficulty")} --horizon ${value("horizon")} --sample ${value("sample")}`),
      ]),
    );
    return parts;
  };
})();
