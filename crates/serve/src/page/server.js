// Requests to the server. All addresses are relative: the token is a part of the page's own.

async function json(response) {
  await checked(response);
  return response.json();
}

const post = (address, body, signal) => fetch(address, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
});

export const start = async () => json(await fetch("start.json"));
export const schema = async () => json(await fetch("schema.json"));

/** The networks of the examples, by name. */
export const pictures = async () => json(await fetch("pictures.json"));

/** The figures of a lesson in results: `{ value, figures }` for each value of its key. */
export const measured = async (number, lesson) => json(await fetch(resultsFile(number, `lesson-${lesson}.json`)));

/** Problems, values with their places, and what a text describes. */
export const check = async (draft, signal) => json(await post("check", draft, signal));

/** The text of a draft with its changes. */
export async function changed(draft) {
  const response = await post("text", draft);
  await checked(response);
  return response.text();
}

/** The series of a run over time. */
export const series = async (address) => json(await fetch(address));

/** The address of a file of results. */
export const resultsFile = (number, name) => `results/${number}/${name}`;

/** The report of results, for the frame that shows one. */
export async function report(number, signal) {
  const response = await fetch(resultsFile(number, "content"), { signal });
  await checked(response);
  return response.text();
}

/** What packets did in a run. */
export const packets = async (number, run) => json(await fetch(resultsFile(number, `packets-${run}.json`)));

/**
 * Checks and runs one or two drafts. `begun` gets the number by which the runs are followed and cancelled; `heard` gets
 * each line: `{ checked }`, `{ started }`, `{ progress }`, `{ result }`, `{ refused }` or `{ error }`.
 */
export async function run(request, signal, heard, begun) {
  const response = await post("run", request, signal);
  await checked(response);
  begun(Number(response.headers.get("subflow-job")));
  await lines(response, heard);
}

/** Follows runs that have begun before. */
export async function follow(job, signal, heard) {
  const response = await fetch(`runs/${job}`, { signal });
  await checked(response);
  await lines(response, heard);
}

/** Whether the server still knows these runs. */
export async function isKnown(job) {
  const aborter = new AbortController();
  try {
    return (await fetch(`runs/${job}`, { signal: aborter.signal })).ok;
  } finally {
    aborter.abort();
  }
}

export const cancel = (job) => post(`runs/${job}/cancel`, {});

/** All runs of this server that go on. */
export const goingOn = async () => json(await fetch("runs.json"));

/** What can be opened in the folder that the command was given. */
export const folder = async () => json(await fetch("folder.json"));

/** Opens the runs of a sweep that are there, or those of results without a report. */
export const openSweep = async ({ path, plan }) => json(await post("folder/open", { path, plan }));

/** Asks the process that does a sweep to end, and gives its number. */
export const stopSweep = async ({ path, plan }) => json(await post("folder/stop", { path, plan }));

/** The address of a file in the folder. Browsers remove parts like “.” from addresses. */
export const folderFile = (path, name) =>
  `folder/_${encodeURIComponent(path)}/${name.split("/").map(encodeURIComponent).join("/")}`;

/** The text of a file in the folder. */
export async function folderText(path, name) {
  const response = await fetch(folderFile(path, name));
  await checked(response);
  return response.text();
}

async function checked(response) {
  if (!response.ok) throw new Error((await response.text()).trim() || `the server answered ${response.status}`);
}

async function lines(response, heard) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const found = (rest + value).split("\n");
    rest = found.pop();
    for (const line of found) if (line) heard(JSON.parse(line));
  }
}
