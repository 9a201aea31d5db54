// On paper nothing can be opened: what is folded is opened before printing, but for the numbers behind pictures, and every
// item's curves are drawn.

const opened = [];

addEventListener("beforeprint", () => {
  if (typeof fillGallery === "function") fillGallery();
  for (const details of document.querySelectorAll("main details:not([open]):not(.behind)")) {
    details.open = true;
    opened.push(details);
  }
});

addEventListener("afterprint", () => {
  for (const details of opened.splice(0)) details.open = false;
});
