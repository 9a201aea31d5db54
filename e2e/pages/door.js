// Logging in, at the coordinator's pages and the officer's alike.

/** Opens the link of the first start, whose key goes into the field by itself. */
export async function opensLink(person, link) {
  await person.page.goto(link);
  await person.follows(person.page.getByRole("button", { name: "Log in" }));
}

/** Types a key into the page that asks for one. */
export async function types(person, key) {
  await person.page.getByLabel("Log-in key").fill(key);
  await person.follows(person.page.getByRole("button", { name: "Log in" }));
}

/** Goes to the first page with a key. */
export async function logsIn(person, key) {
  await person.page.goto("/");
  await types(person, key);
}
