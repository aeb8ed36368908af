"use strict";
// An opened answer of SciTrek: the question, expected and given parts side by side, and what it was asked about.
longtrek.studies.scitrek.open = (() => {
  const { el, facts, unfolding, text, provenance, verdict, fate, notice } = longtrek.parts;
  const { thousands, words, score, duration } = longtrek.studies;

  function partsTable(rows) {
    const cell = (one, other) => {
      if (one === null) return el("td", { class: "text" }, el("span", { class: "nothing" }, "nothing"));
      if (other === null) return el("td", { class: "text" }, el("ins", {}, one));
      return el("td", { class: "text" }, ...(one === other ? [one] : longtrek.differences.marked(other, one)));
    };
    const body = rows.map(([expected, given], place) =>
      el(
        "tr",
        { class: expected === given ? null : "wrong" },
        el("th", { scope: "row" }, String(place + 1)),
        el("td", { class: "text" }, expected ?? el("span", { class: "nothing" }, "nothing")),
        cell(given, expected),
        el("td", {}, verdict(expected === given)),
      ),
    );
    const head = ["Part", "Expected", "Given", "Strict"].map((name) => el("th", { scope: "col" }, name));
    const table = el("table", { class: "records" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...body));
    return el("div", { class: "scroll", role: "region", "aria-label": "Parts", tabindex: 0 }, table);
  }

  const ORDERS = {
    any: "Parts may stand in any order.",
    ties: "Parts must stand in order, but for those that tie.",
    total: "Parts must stand in this order.",
  };

  function scores(list, row, answer, asked) {
    const value = (name) => list.value(name, row);
    const parts = [
      facts([
        ["Exact match, paper", value("paper") === null ? null : verdict(value("paper"))],
        ["F1, paper", value("f1") === null ? null : score(value("f1"))],
        ["Strict", value("strict") === null ? null : verdict(value("strict"))],
        ["F1 of parts, strict", value("parts") === null ? null : score(value("parts"))],
        ["Status", words(value("status"))],
        ["Ended by", value("finish") === null ? null : words(value("finish"))],
        ["Tokens read", value("read") === null ? null : thousands(value("read"))],
        ["From the cache", value("cached") === null ? null : thousands(value("cached"))],
        ["Tokens written", value("written") === null ? null : thousands(value("written"))],
        ["Time", duration(value("seconds"))],
      ]),
      fate(value("status"), answer, value("finish")),
    ];
    if (answer.parts) {
      parts.push(el("h3", {}, "Part by part"), el("p", { class: "note" }, `As the strict rule reads it. ${ORDERS[asked.order] ?? ""}`), partsTable(answer.parts));
      parts.push(
        facts(
          [
            ["Expected", asked.answer],
            ["Read by the paper's rule", answer.read.paper || "(nothing)"],
            ["Read by the strict rule", answer.read.strict || "(nothing)"],
          ].map(([term, said]) => [term, said.length > 2000 ? `${said.slice(0, 2000)} … (cut here; in full below)` : said]),
          "",
        ),
      );
    }
    return parts;
  }

  function collectionPart(collection) {
    const articles = collection.articles.map(([id, title, tokens]) =>
      el("li", {}, title, el("small", {}, ` ${id}, ${thousands(tokens)} tokens`)),
    );
    return [
      unfolding(`Its collection, ${thousands(articles.length)} articles`, () => el("ol", {}, ...articles)),
      unfolding("The collection's tables", () => text(collection.tables.split("\n"), "The collection's tables")),
    ];
  }

  function prompt(list, row, asked, collection) {
    const [context, kind] = [list.value("context", row), list.value("prompt", row)];
    const instructions = list.prompts[`${context}/${kind}`];
    if (!instructions || !collection) {
      return el("p", { class: "missing" }, "Asked with the instructions that the released row itself carries.");
    }
    const texts = collection.articles.map(([id]) => `results/articles/markdown/${id}.md`);
    const whole = context === "tables" ? collection.tables : `⟨the full text of ${thousands(texts.length)} articles, joined in this order:\n${texts.join("\n")}⟩`;
    const filled = instructions.replace(/\{(context|question)\}/g, (_, name) => (name === "context" ? whole : asked.text));
    return text(filled.split("\n"), "The prompt");
  }

  function problems(answer) {
    if (!answer.problems?.length) return [];
    const said = answer.problems.map((one) => el("li", {}, `${words(one.prompt)}, try ${one.attempt + 1}: ${one.reason}`));
    return [unfolding(`What went wrong on the way, ${said.length}`, () => el("ul", {}, ...said))];
  }

  return (list, row, { answer, asked, collection }) => {
    const value = (name) => list.value(name, row);
    const parts = [
      el("p", { class: "lead" }, asked.text),
      notice(list.kinds.get(value("model"))),
      el("p", {}, el("code", {}, asked.sql ?? "")),
      ...scores(list, row, answer, asked),
      el("h3", {}, "In full"),
    ];
    if (answer.text) parts.push(unfolding("The answer as it was received", () => text(answer.text.split("\n"), "The answer as it was received")));
    if (answer.reasoning) parts.push(unfolding("Its reasoning", () => text(answer.reasoning.split("\n"), "Its reasoning")));
    if (answer.sql) parts.push(unfolding("The SQL that was executed", () => text(answer.sql.split("\n"), "The SQL that was executed")));
    parts.push(...problems(answer), unfolding("The prompt", () => prompt(list, row, asked, collection)));
    if (collection) parts.push(...collectionPart(collection));
    const about = ["level", "strategy", "skill", "topic", "subject", "context", "prompt"].map((name) => [name[0].toUpperCase() + name.slice(1), words(value(name))]);
    const said = { Template: asked.template, Split: asked.split, "Written by": asked.writer, "Round trip": asked.verdict, Sample: String(value("sample")) };
    parts.push(
      unfolding("About the question", () => facts([...about, ...Object.entries(said)], "")),
      unfolding("Where it comes from", () => provenance(list, row, answer)),
    );
    return parts;
  };
})();
