// A page whose body has data-events listens there, and fetches its own parts with data-live again when told to.

const events = document.body.dataset.events;

// A figure keeps its frame, to which readout and buttons are tied, and gets new drawings and numbers.
function renewFigure(old, fresh) {
  for (const inside of [".wide", ".narrow", "figcaption"]) {
    old.querySelector(inside)?.replaceChildren(...(fresh.querySelector(inside)?.childNodes ?? []));
  }
  const tables = fresh.querySelectorAll("tbody");
  old.querySelectorAll("tbody").forEach((body, i) => tables[i] && body.replaceChildren(...tables[i].childNodes));
  behind.set(old, tablesOf(old));
}

// What a person has ticked or is about to press in a form, by what the form is about: its hidden fields.
const about = (form) => [...form.querySelectorAll("input[type=hidden]")].map((field) => field.value).join();
const held = (form) => ({
  ticked: [...form.querySelectorAll("input:checked")].map((box) => box.name),
  focus: [...form.elements].indexOf(document.activeElement),
});

function renewPart(part, fresh) {
  const open = part.querySelector("details[open]") !== null;
  const before = new Map([...part.querySelectorAll("form")].map((form) => [about(form), held(form)]));
  for (const figure of fresh.querySelectorAll("figure")) {
    const old = document.getElementById(figure.id);
    // A picture that was not there before needs its scripts: once, the whole page is loaded.
    if (!old?.querySelector(".drawing") !== !figure.querySelector(".drawing")) return location.reload();
    if (!old?.querySelector(".drawing")) continue;
    renewFigure(old, figure);
    figure.replaceWith(old);
  }
  part.replaceChildren(...fresh.childNodes);
  for (const form of part.querySelectorAll("form")) {
    const { ticked = [], focus = -1 } = before.get(about(form)) ?? {};
    for (const box of form.querySelectorAll("input[type=checkbox]")) box.checked = ticked.includes(box.name);
    form.elements[focus]?.focus();
  }
  if (open) for (const details of part.querySelectorAll("details")) details.open = true;
  showTimes(part);
}

async function refreshParts() {
  const answer = await fetch(location.href, { headers: { "x-fedirt-live": "1" }, credentials: "same-origin" });
  if (answer.status === 401) return location.reload();
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (!fresh || fresh.innerHTML === shown.get(part.id)) continue;
    shown.set(part.id, fresh.innerHTML);
    renewPart(part, document.adoptNode(fresh));
  }
}

function listen(said) {
  const say = (text) => {
    said.textContent = text;
    said.hidden = !text;
  };
  const source = new EventSource(events);
  source.addEventListener("ready", () => {
    say("");
    // Something may have changed since the page was written, or while nobody answered.
    refreshParts().catch(() => {});
  });
  source.addEventListener("changed", () => refreshParts().catch(() => {}));
  source.addEventListener("error", () => {
    say("There is no answer. What stands here may be old; it is updated when the connection is back.");
    if (source.readyState !== EventSource.CLOSED) return;
    // The browser has given up: ask whether anybody is there, which also tells a session that has ended.
    setTimeout(() => refreshParts().catch(() => {}).finally(() => listen(said)), 3000);
  });
}

if (events) listen(document.querySelector(".connection"));
