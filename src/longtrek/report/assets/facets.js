"use strict";
// What the list of each paper's answers can be filtered by and shows, in the papers' words.
longtrek.studies = (() => {
  const thousands = (number) => (number === null ? "–" : number.toLocaleString("en-US"));
  const horizon = (tokens) => (tokens % 1024 ? `${tokens}` : `${tokens / 1024}K`);
  const words = (name) => (name === null ? "not said" : String(name).replaceAll("_", " "));
  const number = (value) => (value === null ? "not said" : String(value));

  // A facet filters; `text` says a value in words. The row's own columns go before those of what was asked.
  const transduction = {
    title: "Long-Transduction",
    what: "Document",
    facets: [
      { name: "model", label: "Model" },
      { name: "family", label: "Family", text: words },
      { name: "format", label: "Format", text: words },
      { name: "difficulty", label: "Difficulty", text: number },
      { name: "horizon", label: "Horizon", text: horizon },
      { name: "status", label: "Status", text: words },
      { name: "finish", label: "Ended by", text: words },
    ],
    columns: [
      { name: "model", label: "Model" },
      { name: "id", label: "Document", link: true },
      { name: "horizon", label: "Horizon", text: horizon, wide: true, right: true },
      { name: "records", label: "Records", wide: true, right: true, text: thousands },
      { name: "status", label: "Status", text: words, wide: true },
      { name: "paper", label: "Paper", share: "records", right: true },
      { name: "strict", label: "Strict", share: "records", right: true },
      { name: "lost", label: "Lost at", right: true, wide: true, text: (place) => (place === null ? "–" : thousands(place + 1)) },
      { name: "written", label: "Tokens", right: true, wide: true, text: thousands },
    ],
  };
  const scitrek = {
    title: "SciTrek",
    what: "Question",
    facets: [
      { name: "model", label: "Model" },
      { name: "level", label: "Level", text: number },
      { name: "context", label: "Context", text: words },
      { name: "prompt", label: "Prompt", text: words },
      { name: "skill", label: "Skill", text: words },
      { name: "topic", label: "Topic", text: words },
      { name: "subject", label: "Subject", text: words },
      { name: "strategy", label: "Strategy", text: words },
      { name: "status", label: "Status", text: words },
      { name: "finish", label: "Ended by", text: words },
    ],
    columns: [
      { name: "model", label: "Model" },
      { name: "id", label: "Question", link: true },
      { name: "context", label: "Context", text: words, wide: true },
      { name: "skill", label: "Skill", text: words, wide: true },
      { name: "status", label: "Status", text: words, wide: true },
      { name: "paper", label: "Exact", right: true, mark: true },
      { name: "f1", label: "F1", right: true, wide: true, text: score },
      { name: "strict", label: "Strict", right: true, mark: true },
      { name: "parts", label: "Parts F1", right: true, wide: true, text: score },
      { name: "written", label: "Tokens", right: true, wide: true, text: thousands },
    ],
  };

  // Seconds in the units that people say.
  function duration(seconds) {
    if (seconds === null) return null;
    if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
    const minutes = Math.floor(Math.round(seconds) / 60);
    return minutes < 60 ? `${minutes} min ${Math.round(seconds) % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  function score(value) {
    return value === null ? "–" : value.toFixed(3);
  }

  return { transduction, scitrek, thousands, words, horizon, score, duration };
})();
