/** The HTTP API: one function per call; a refusal becomes a `Refusal` with the server's own words. */

import { bearer, askForKey } from "/static/key.js";

/** What the server said no to, in its sentence, with its hint. */
export class Refusal extends Error {
  constructor({ error, hint = null, kind = "Refusal" }, status = 0) {
    super(error);
    this.hint = hint;
    this.kind = kind;
    this.status = status;
  }
}

const GONE = {
  error: "The server does not answer",
  hint: "Start it again with abstrag serve; what you typed stays here.",
  kind: "Offline",
};

let onReach = () => {};

/** Tell `listener` with true or false, after every call, whether the server was there. */
export function whenReached(listener) {
  onReach = listener;
}

/** Send one request and return the response, once the server has agreed to it. */
async function request(path, { method = "GET", body, type, signal } = {}) {
  const headers = { ...bearer() };
  const sent = headers.Authorization;
  if (type) headers["Content-Type"] = type;
  let response;
  try {
    response = await fetch(`/api${path}`, { method, body, headers, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    onReach(false);
    throw new Refusal(GONE);
  }
  onReach(true);
  if (response.ok) return response;
  const said = await response
    .json()
    .catch(() => ({ error: `The server answered ${response.status}` }));
  if (response.status === 401) {
    const given = bearer().Authorization !== sent; // while this was on its way with another one
    if (given || (await askForKey())) return request(path, { method, body, type, signal });
  }
  throw new Refusal(said, response.status);
}

async function read(path, options) {
  const response = await request(path, options);
  return response.status === 204 ? null : response.json();
}

const send = (path, data, options = {}) =>
  read(path, { method: "POST", body: JSON.stringify(data), type: "application/json", ...options });

/** Yield the objects of a text/event-stream as they come. */
export async function* events(path, options) {
  const response = await request(path, options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let over = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      rest += (value ?? "").replaceAll("\r\n", "\n");
      const parts = rest.split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const lines = part.split("\n").filter((line) => line.startsWith("data:"));
        if (lines.length)
          yield JSON.parse(lines.map((line) => line.slice(5).trimStart()).join("\n"));
      }
      if (done) {
        over = true;
        return;
      }
    }
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(GONE); // the connection broke off
    throw error;
  } finally {
    if (!over) reader.cancel().catch(() => {});
  }
}

const doc = (id) => `/documents/${encodeURIComponent(id)}`;

export const health = () => read("/health");
export async function documents(asked = {}) {
  const response = await request(`/documents?${new URLSearchParams({ limit: 200, ...asked })}`);
  return { list: await response.json(), total: Number(response.headers.get("X-Total-Count")) };
}
export const content = (id) => read(doc(id));
export const forget = (id) => read(doc(id), { method: "DELETE" });
export const upload = (file) =>
  read(`/documents?name=${encodeURIComponent(file.name)}`, {
    method: "POST",
    body: file,
    type: "application/octet-stream",
  });
export const progress = (job) => events(`/jobs/${encodeURIComponent(job)}/events`);

export const search = (id, asked, signal) => send(`${doc(id)}/search`, asked, { signal });
export const searchAll = (asked, signal) => send("/search", asked, { signal });
export const whyNotAll = (asked) => send("/why-not", asked);
export const explain = (id, asked) => send(`${doc(id)}/explain`, asked);
export const whyNot = (id, asked) => send(`${doc(id)}/why-not`, asked);
export const budget = (id, asked, signal) => send(`${doc(id)}/budget`, asked, { signal });
export const sweep = (id, asked, signal) => send(`${doc(id)}/sweep`, asked, { signal });
export const compare = (id, asked) => send(`${doc(id)}/compare`, asked);
export const ask = (id, asked, signal) =>
  events(`${doc(id)}/ask`, {
    method: "POST",
    body: JSON.stringify(asked),
    type: "application/json",
    signal,
  });

export const terms = (id, term, limit, signal) =>
  read(`${doc(id)}/map?${new URLSearchParams({ term, limit })}`, { signal });
export const term = (id, name) => read(`${doc(id)}/terms/${encodeURIComponent(name)}`);
export const edits = (id) => read(`${doc(id)}/edits`);
export const addEdge = (id, edge) => send(`${doc(id)}/edges`, edge);
export const hideEdge = (id, edge) =>
  read(`${doc(id)}/edges/${encodeURIComponent(edge)}`, { method: "DELETE" });
export const undoEdits = (id) => read(`${doc(id)}/edits`, { method: "DELETE" });

export const feedback = (id, said) => send(`${doc(id)}/feedback`, said);
export const refine = (id, asked) => send(`${doc(id)}/refine`, asked);
export const policyLog = () => read("/policy/log");
export const revert = (id) => send("/policy/revert", { id });

export const boxes = (id, page, span) =>
  read(`${doc(id)}/pages/${page}/boxes?start=${span.start}&end=${span.end}`);

/** Where words of a segment stand on a page: for each [start, end] of its text a list of boxes. */
export const wordBoxes = (id, page, segment, spans) =>
  read(
    `${doc(id)}/pages/${page}/words?${new URLSearchParams([
      ["segment", segment],
      ...spans.map(([start, end]) => ["at", `${start}-${end}`]),
    ])}`,
  );

/** Fetch one page of a PDF as pixels; a canvas needs no image address, so the key never enters one. */
export async function pagePicture(id, page, width) {
  const response = await request(`${doc(id)}/pages/${page}.png?width=${width}`);
  return createImageBitmap(await response.blob());
}
