// Reads the JUnit report of one `bun test` process: what ran, how it ended, how long it took.

export interface TestCase {
  name: string;
  file: string;
  outcome: "passed" | "failed" | "skipped";
  durationMs: number;
}

export function readJunit(xml: string): TestCase[] {
  return [...xml.matchAll(/<testcase\b([^>]*?)(\/>|>([\s\S]*?)<\/testcase>)/g)].map(([, attributes = "", , body = ""]) => ({
    name: [attribute(attributes, "classname"), attribute(attributes, "name")].filter((part) => part !== "").join(" > "),
    file: attribute(attributes, "file"),
    outcome: /<(failure|error)\b/.test(body) ? "failed" : /<skipped\b/.test(body) ? "skipped" : "passed",
    durationMs: Number(attribute(attributes, "time")) * 1000,
  }));
}

function attribute(text: string, name: string): string {
  const [, value = ""] = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(text) ?? [];
  return value.replaceAll("&quot;", '"').replaceAll("&apos;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
