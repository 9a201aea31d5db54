// A page whose body has data-events listens there, and fetches its own parts with data-live again when told to.

const events = document.body.dataset.events;

async function refreshParts() {
  const answer = await fetch(location.href, { headers: { "x-fedirt-live": "1" }, credentials: "same-origin" });
  if (answer.status === 401) return location.reload();
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(part.id);
    if (!next || next.innerHTML === part.dataset.shown) continue;
    part.dataset.shown = next.innerHTML;
    const open = [...part.querySelectorAll("details[open]")].length > 0;
    part.replaceChildren(...document.adoptNode(next).childNodes);
    if (open) for (const details of part.querySelectorAll("details")) details.open = true;
    showTimes(part);
    for (const figure of part.querySelectorAll("figure")) behind.set(figure, tablesOf(figure));
  }
}

if (events) {
  const said = document.querySelector(".connection");
  const say = (text) => {
    said.textContent = text;
    said.hidden = !text;
  };
  const source = new EventSource(events);
  let lost = false;
  source.addEventListener("ready", () => {
    say("");
    if (lost) refreshParts();
    lost = false;
  });
  source.addEventListener("changed", () => refreshParts().catch(() => {}));
  source.addEventListener("error", () => {
    lost = true;
    say("The coordinator does not answer. What stands here may be old; it is updated when the connection is back.");
    // A session that has ended answers no events at all: a fresh page says so.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 2000);
  });
}
