// Serves the page on the loopback interface: its files, one stream of events (server-sent), and actions as POST. Every path
// begins with a secret, so that neither another page in the browser nor another user of the machine can speak to it.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const types = { "index.html": "text/html", "page.mjs": "text/javascript", "style.css": "text/css" };
const bodyBytesMax = 1024 * 1024;
/** A page that takes nothing for so long is let go; its browser connects again and asks what it missed. */
const stallMs = 10_000;

/**
 * @param greet what a newly connected page is told first
 * @param events makes an async iterator over the sidecar's events
 * @param actions name -> function of the posted JSON; what it returns is the answer
 */
export async function servePage({ port, greet, events, actions }) {
  const secret = randomBytes(24).toString("base64url");
  const pages = new Set();
  const server = createServer((request, response) => {
    handle(request, response).catch((error) => answer(response, error.status ?? 500, { error: error.message }));
  });

  async function handle(request, response) {
    const [, given, name = ""] = new URL(request.url ?? "/", "http://127.0.0.1").pathname.split("/");
    if (given !== secret) return answer(response, 404, { error: "not here" });
    if (request.method === "GET" && name === "events") return await stream(response);
    if (request.method === "POST" && Object.hasOwn(actions, name)) return answer(response, 200, await actions[name](await readJson(request)));
    const file = name === "" ? "index.html" : name;
    if (request.method !== "GET" || !Object.hasOwn(types, file)) return answer(response, 404, { error: "not here" });
    response.writeHead(200, { "content-type": `${types[file]}; charset=utf-8`, "content-security-policy": "default-src 'self'; img-src data:", "referrer-policy": "no-referrer" });
    return response.end(readFileSync(new URL(`page/${file}`, import.meta.url)));
  }

  /** Sends each event as it comes, no faster than the page takes them. */
  async function stream(response) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const hello = await greet();
    // Nothing awaited in between: the events are those after what the greeting tells.
    const source = events();
    response.on("close", () => {
      pages.delete(response);
      source.close();
    });
    if (response.destroyed) return source.close();
    response.write(message({ type: "hello", payload: hello }));
    pages.add(response);
    for await (const event of source) {
      if (!response.write(message(event))) await drained(response);
    }
    response.end();
  }

  await new Promise((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/${secret}/`,
    /** Something of the host's own, for every page. */
    tell(event) {
      for (const response of pages) response.write(message(event));
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function message({ payload, type }) {
  return `data: ${JSON.stringify({ type, payload })}\n\n`;
}

async function drained(response) {
  await new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), stallMs);
    const go = () => {
      clearTimeout(timer);
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}

function answer(response, status, value) {
  if (!response.headersSent) response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

async function readJson(request) {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) {
    text += piece;
    if (text.length > bodyBytesMax) throw Object.assign(new Error("the body is too long"), { status: 413 });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw Object.assign(new Error("the body is no JSON"), { status: 400 });
  }
}
