// The page of a tournament: a round can be gone to by its number.

/** Show the fields that need a script; they come anew with each refresh. */
function open(section) {
  for (const label of section.querySelectorAll(".jump")) {
    label.hidden = false;
    label.querySelector("input").addEventListener("change", (event) => go(event.target, Number(label.dataset.each)));
  }
}

function go(input, each) {
  const round = Math.min(Math.max(1, Math.trunc(Number(input.value))), Number(input.max));
  if (!Number.isFinite(round)) return;
  const to = new URL(location.href);
  to.searchParams.set("rounds", Math.ceil(round / each));
  to.hash = "rounds";
  location.assign(to);
}

open(document);
document.addEventListener("refreshed", (event) => open(event.target));
