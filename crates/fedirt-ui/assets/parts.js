// The parts of the page that are fetched again, as the server wrote them: before anything here changes them.

const shown = new Map([...document.querySelectorAll("[data-live]")].map((part) => [part.id, part.innerHTML]));
