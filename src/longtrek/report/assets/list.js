"use strict";
// One paper's answers as rows of numbers: what matches, in which order.
longtrek.List = class {
  constructor(paper, index) {
    Object.assign(this, index, { paper, view: longtrek.studies[paper] });
    this.labels = new Map(this.models.map((model) => [model.name, model.label]));
    this.kinds = new Map(this.models.map((model) => [model.name, model.kind]));
    const column = this.rows.columns.item;
    this.item = (row) => column[row];
  }

  // Where a column's values are: of the answers themselves, or of what was asked.
  source(name) {
    return name in this.rows.columns ? this.rows : this.items;
  }

  place(name, row) {
    return this.source(name) === this.rows ? row : this.item(row);
  }

  // A row's value, as data.
  value(name, row) {
    const source = this.source(name);
    const found = source.columns[name][this.place(name, row)];
    return name in source.values ? source.values[name][found] : found;
  }

  label(model) {
    const executed = this.executed && model.endsWith(this.executed) ? this.executed : "";
    const name = executed ? model.slice(0, -executed.length) : model;
    return (this.labels.get(name) ?? name) + (executed ? " + SQL execution" : "");
  }

  // A value in words.
  text(facet, value) {
    if (facet.name === "model") return this.label(value);
    return (facet.text ?? String)(value);
  }

  options(name) {
    return this.source(name).values[name];
  }

  // What names a row for good, in links: model, what was asked, and how.
  key(row) {
    const parts = ["model", "id", ...(this.paper === "scitrek" ? ["context", "prompt", "sample"] : [])];
    return parts.map((name) => this.value(name, row)).join("/");
  }

  find(key) {
    for (let row = 0; row < this.rows.count; row++) if (this.key(row) === key) return row;
    return null;
  }

  // Rows that match `wanted` (facet → value as text) and hold `words` in their id.
  matching(wanted, words) {
    const tests = [];
    for (const [name, text] of Object.entries(wanted)) {
      const source = this.source(name);
      const code = source.values[name].findIndex((value) => String(value) === text);
      const column = source.columns[name];
      tests.push(source === this.rows ? (row) => column[row] === code : (row) => column[this.item(row)] === code);
    }
    if (words) {
      const ids = this.items.columns.id;
      const found = ids.map((id) => id.toLowerCase().includes(words.toLowerCase()));
      tests.push((row) => found[this.item(row)]);
    }
    const rows = [];
    for (let row = 0; row < this.rows.count; row++) if (tests.every((test) => test(row))) rows.push(row);
    return rows;
  }

  // What a column is sorted by: numbers, places of values in their order, or texts.
  rank(name) {
    const source = this.source(name);
    const column = source.columns[name];
    const shared = this.view.columns.find((one) => one.name === name)?.share;
    if (shared) return (row) => (column[row] === null ? null : column[row] / this.value(shared, row));
    return (row) => column[this.place(name, row)];
  }

  // Rows sorted; what has no value stands last whichever way, and equal ones keep their order.
  sorted(rows, name, descending) {
    const rank = this.rank(name);
    const keyed = rows.map((row) => [rank(row), row]);
    const sign = descending ? -1 : 1;
    keyed.sort(([one, first], [two, second]) => {
      if (one === two) return first - second;
      if (one === null) return 1;
      if (two === null) return -1;
      return one < two ? -sign : sign;
    });
    return keyed.map(([, row]) => row);
  }

  // Everything that an opened answer needs.
  async open(row) {
    const kinds = { transduction: "documents", scitrek: "questions" };
    const texts = (kind, place) => longtrek.entry(`${this.paper}-${kind}`, this.files[kind], place);
    const [answer, asked] = await Promise.all([texts("answers", row), texts(kinds[this.paper], this.item(row))]);
    const place = asked.collection ?? null;
    return { answer, asked, collection: place === null ? null : await texts("collections", place) };
  }
};
