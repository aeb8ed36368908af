"use strict";
// Data files are scripts that hand over one value each: a page opened from disk may not read files, but it may run them.
const longtrek = (() => {
  const KEPT = 6; // files of texts that stay in memory
  const waiting = new Map();
  const texts = new Map();

  function give(name, value) {
    const take = waiting.get(name);
    waiting.delete(name);
    if (take) take(value);
  }

  function script(name) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      waiting.set(name, resolve);
      element.src = `data/${name}.js`;
      element.onload = () => element.remove();
      element.onerror = () => {
        waiting.delete(name);
        element.remove();
        reject(new Error(`data/${name}.js cannot be read. Keep the report's folder as it was written.`));
      };
      document.head.append(element);
    });
  }

  async function unpacked(base64) {
    const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  // The entries of one file of texts; the file used longest ago is forgotten.
  function entries(name) {
    const found = texts.get(name) ?? script(name).then(unpacked);
    texts.delete(name);
    texts.set(name, found);
    found.catch(() => texts.delete(name));
    for (const old of texts.keys()) {
      if (texts.size <= KEPT) break;
      texts.delete(old);
    }
    return found;
  }

  // One entry: `starts` has the place of each file's first one.
  async function entry(kind, starts, place) {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return (await entries(`${kind}-${low}`))[place - starts[low]];
  }

  return { give, script, entry };
})();
