"use strict";
// What differs between an expected and a given text, and a text put together again from what it repeats.
longtrek.differences = (() => {
  const LONGEST = 400; // longer records are not compared sign by sign
  const ALIKE = 0.5; // texts that share less are marked as a whole: their common signs are there by chance

  // Pieces [kind, text] that turn `expected` into `given`: "same", "missing", "added".
  function pieces(expected, given) {
    let start = 0;
    while (start < expected.length && start < given.length && expected[start] === given[start]) start++;
    let end = 0;
    while (end < Math.min(expected.length, given.length) - start && expected.at(-1 - end) === given.at(-1 - end)) end++;
    const one = [...expected.slice(start, expected.length - end)];
    const two = [...given.slice(start, given.length - end)];
    const found = [["same", expected.slice(0, start)], ...changed(one, two), ["same", end ? expected.slice(-end) : ""]];
    return joined(found.filter(([, text]) => text));
  }

  function changed(one, two) {
    if (!one.length || !two.length || Math.max(one.length, two.length) > LONGEST) {
      return [["missing", one.join("")], ["added", two.join("")]];
    }
    const length = Array.from({ length: one.length + 1 }, () => new Uint16Array(two.length + 1));
    for (let a = one.length - 1; a >= 0; a--) {
      for (let b = two.length - 1; b >= 0; b--) {
        length[a][b] = one[a] === two[b] ? length[a + 1][b + 1] + 1 : Math.max(length[a + 1][b], length[a][b + 1]);
      }
    }
    const found = [];
    let [a, b] = [0, 0];
    while (a < one.length || b < two.length) {
      if (a < one.length && b < two.length && one[a] === two[b]) {
        found.push(["same", one[a]]);
        a++;
        b++;
      } else if (b === two.length || (a < one.length && length[a + 1][b] >= length[a][b + 1])) {
        found.push(["missing", one[a++]]);
      } else {
        found.push(["added", two[b++]]);
      }
    }
    return found;
  }

  // Neighbours of a kind become one piece; within a change, what is missing comes first.
  function joined(found) {
    const out = [];
    let change = { missing: "", added: "" };
    const flush = () => {
      for (const kind of ["missing", "added"]) if (change[kind]) out.push([kind, change[kind]]);
      change = { missing: "", added: "" };
    };
    for (const [kind, text] of found) {
      if (kind !== "same") {
        change[kind] += text;
        continue;
      }
      flush();
      if (out.length && out.at(-1)[0] === "same") out.at(-1)[1] += text;
      else out.push([kind, text]);
    }
    flush();
    return out;
  }

  // Nodes that show a given text with its differences marked.
  function marked(expected, given) {
    const longer = Math.max(expected.length, given.length);
    const found = longer > LONGEST ? [] : pieces(expected, given);
    const shared = found.reduce((sum, [kind, text]) => sum + (kind === "same" ? text.length : 0), 0);
    if (shared < ALIKE * longer) return [node("ins", given)];
    return found.map(([kind, text]) =>
      kind === "same" ? document.createTextNode(text) : node(kind === "added" ? "ins" : "del", text),
    );
  }

  function node(name, text) {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  }

  // An answer's lines from its pieces: a line, [n] the last line n times more, [start, n] expected lines.
  function lines(packed, expected) {
    const found = [];
    for (const piece of packed) {
      if (typeof piece === "string") found.push(piece);
      else if (piece.length === 2) for (let place = 0; place < piece[1]; place++) found.push(expected[piece[0] + place]);
      else for (let times = 0; times < piece[0]; times++) found.push(found.at(-1));
    }
    return found;
  }

  return { pieces, marked, lines };
})();
