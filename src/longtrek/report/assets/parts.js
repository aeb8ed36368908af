"use strict";
// Pieces of pages that are made when they are needed.
longtrek.parts = (() => {
  const BLOCK = 200; // lines that are laid out together

  function el(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  // Terms and what is said of them; what is not known is left out.
  function facts(pairs, kind = "facts") {
    const known = pairs.filter(([, said]) => said !== null && said !== undefined && said !== "");
    return el("dl", { class: kind }, ...known.map(([term, said]) => el("div", {}, el("dt", {}, term), el("dd", {}, said))));
  }

  // A part that is made when it is first opened.
  function unfolding(title, make) {
    const part = el("details", {}, el("summary", {}, title));
    part.addEventListener("toggle", () => {
      if (part.open && part.childElementCount === 1) part.append(...[make()].flat());
    });
    return part;
  }

  // A long text; blocks out of sight are not laid out.
  function text(lines, label) {
    const pre = el("pre", { tabindex: 0, role: "region", "aria-label": label });
    for (let start = 0; start < lines.length; start += BLOCK) {
      pre.append(el("span", {}, lines.slice(start, start + BLOCK).join("\n") + "\n"));
    }
    return pre;
  }

  // Nested data as terms and words, one line each: `engine · version`.
  function flat(value, path = []) {
    if (value === null || value === undefined) return [];
    if (typeof value !== "object") return [[path.join(" · "), String(value)]];
    if (Array.isArray(value)) return value.length ? [[path.join(" · "), value.map(String).join(" ")]] : [];
    return Object.entries(value).flatMap(([name, inner]) => flat(inner, [...path, longtrek.studies.words(name)]));
  }

  // Where an answer comes from: its job's provenance and its own.
  function provenance(list, row, answer) {
    const job = list.value("job", row);
    const shared = job === null ? {} : list.jobs[job];
    const own = { key: answer.key, ...answer.own, usage: answer.usage, timings: answer.timings, fits: answer.fits };
    const pairs = [...flat(shared), ...flat(own)];
    return pairs.length ? facts(pairs, "") : el("p", { class: "missing" }, "Nothing is known of where this answer comes from.");
  }

  function verdict(right, words) {
    return el("span", { class: right ? "yes" : "no" }, `${right ? "✓" : "✗"} ${words ?? (right ? "right" : "wrong")}`);
  }

  // The same where there is no room for words.
  function mark(right) {
    return el("span", { class: right ? "yes" : "no" }, right ? "✓" : "✗", el("span", { class: "unseen" }, right ? "right" : "wrong"));
  }

  // What became of an answer, in a sentence; null for one that is simply there.
  function fate(status, answer, finish) {
    const error = answer.error ? `${answer.error.kind}${answer.error.message ? `: ${answer.error.message}` : ""}` : "";
    const said = {
      failed: `The request failed, so there is no answer and no score. ${error}`,
      not_asked: `Not asked, so there is no answer and no score. ${error}`,
      missing: "There is no answer, and so no score. It stays in the counts.",
      truncated: "Cut at the output cap; what was written is scored.",
      loop: "It ends in a loop: one line, again and again.",
      empty: "The answer is empty.",
      refusal: "The model declines, or asks back.",
      unclosed_reasoning: "Its reasoning never ends, so there is no answer to read.",
      null: "It answers that there is none (NULL).",
    }[status];
    if (said) return el("p", { class: "alert" }, said);
    return finish === "complete" ? el("p", { class: "note" }, "Ended by the client once no further token could change a score.") : null;
  }

  function notice(kind) {
    const said = {
      check: "This is a check, no model: it answers with the right answer.",
      imported: "This answer was made elsewhere and imported. The kit has scored it, but cannot vouch for how it was made.",
      embedded: "This model is worthless as a result; it is here so that a real engine is asked.",
    }[kind];
    return said ? el("p", { class: "note" }, said) : null;
  }

  function command(line) {
    return el("p", { class: "made" }, el("code", {}, line));
  }

  return { el, facts, unfolding, text, provenance, verdict, mark, fate, notice, command };
})();
