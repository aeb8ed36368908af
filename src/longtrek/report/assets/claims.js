"use strict";
// The claims that are shown, told by the address, so that a selection can be linked to.
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const claims = [...document.querySelectorAll(".claim")];
  const texts = claims.map((claim) => claim.textContent.toLowerCase());
  const shown = document.getElementById("shown");

  function show() {
    const query = new URLSearchParams(location.hash.slice(1));
    const wanted = (name) => query.get(name) ?? "";
    for (const control of form.elements) if (control.name && control.value !== wanted(control.name)) control.value = wanted(control.name);
    let count = 0;
    claims.forEach((claim, place) => {
      const fits =
        (!wanted("paper") || claim.dataset.paper === wanted("paper")) &&
        (!wanted("kind") || claim.dataset.kind === wanted("kind")) &&
        (!wanted("verdict") || claim.dataset.verdict === wanted("verdict")) &&
        texts[place].includes(wanted("words").toLowerCase());
      claim.hidden = !fits;
      count += fits;
    });
    for (const paper of document.querySelectorAll(".paper")) paper.hidden = !paper.querySelector(".claim:not([hidden])");
    shown.textContent = count === claims.length ? `All ${count} claims` : `${count} of ${claims.length} claims`;
  }

  function choose() {
    const chosen = [...new FormData(form)].filter(([, value]) => value);
    location.replace(`#${new URLSearchParams(chosen)}`);
  }

  form.hidden = false;
  for (const event of ["input", "change"]) form.addEventListener(event, choose);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", show);
  show();
})();
