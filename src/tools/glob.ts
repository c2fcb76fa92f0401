// Glob patterns of fs.list, fs.find and fs.grep: without a slash they fit a name in any folder, with one the whole
// path from where the search began, or the end of it. Several may stand in one text: `*.png, *.jpg`. What can only be a
// regular expression (a small model writes `~$|\.bak$`) is taken for one, of the name.
import { onDisk, type RawPath } from "./path-text.ts";
import { nameOf } from "./path.ts";

/** @param root absolute, real, as text: patterns may begin with it. */
export function globMatcher(pattern: string, root: string): (relative: RawPath) => boolean {
  const whole = oneMatcher(pattern, root);
  const each = pattern.split(/\s*[;|]\s*|\s*,\s*(?![^{]*\})|\s+(?=\*)/).filter((part) => part !== "").map((part) => oneMatcher(part, root));
  return each.length < 2 ? whole : (relative) => whole(relative) || each.some((fits) => fits(relative));
}

function oneMatcher(pattern: string, root: string): (relative: RawPath) => boolean {
  const prefix = root.endsWith("/") ? root : `${root}/`;
  const wanted = (pattern.startsWith(prefix) ? pattern.slice(prefix.length) : pattern).replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
  if (!wanted.includes("/")) return matcherOf(wanted, nameOf);
  const whole = matcherOf(wanted, (relative) => relative);
  const end = wanted.startsWith("/") || wanted.startsWith("**") ? whole : matcherOf(`**/${wanted}`, (relative) => relative);
  return (relative) => whole(relative) || end(relative);
}

function matcherOf(pattern: string, part: (relative: RawPath) => RawPath): (relative: RawPath) => boolean {
  const glob = new Bun.Glob(pattern);
  const expression = expressionOf(pattern);
  // A name with brackets or other signs of a pattern still finds itself.
  return (relative) => {
    const text = onDisk(part(relative)).toString("utf8");
    return text === pattern || glob.match(text) || expression?.test(text) === true;
  };
}

/** undefined for what may be a glob, and for what could take for ever: a repeated group, or much else that is repeated. */
function expressionOf(pattern: string): RegExp | undefined {
  const repeats = pattern.match(/[*+{]/g)?.length ?? 0;
  if (!/\\\.|^\^|\$$/.test(pattern) || /\)[*+{]/.test(pattern) || repeats > repeatsMax) return undefined;
  try {
    return new RegExp(pattern.replace(/^\*/, ""), "u");
  } catch {
    return undefined;
  }
}

const repeatsMax = 3;
