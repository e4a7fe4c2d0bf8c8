// Requests to the server. All addresses are relative: the token is a part of the page's own.

async function json(response) {
  if (!response.ok) throw new Error((await response.text()).trim() || `the server answered ${response.status}`);
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

/** The series of the first run over time. */
export const series = async (address) => json(await fetch(address));

/** The address of a file of results. */
export const resultsFile = (number, name) => `results/${number}/${name}`;

/**
 * Runs one or two drafts. `heard` gets each line of the answer: `{ started }`, `{ progress }`, `{ result }`,
 * `{ refused }` or `{ error }`. Aborting the signal stops the runs.
 */
export async function run(request, signal, heard) {
  const response = await post("run", request, signal);
  if (!response.ok) throw new Error((await response.text()).trim() || `the server answered ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) heard(JSON.parse(line));
  }
}
