// Finds a pattern in one line. JavaScript regular expressions can take exponential time; the engine gives up by itself
// after about a second, and a look that takes longer than limits.patternMatchMs ends the search with an error here.
import { messageOf, ToolError } from "../core/error.ts";
import { limits } from "../core/limits.ts";

export interface Hit {
  /** Position in the line, in characters. */
  index: number;
  length: number;
}

export interface LineMatcher {
  /** The bytes that every matching line holds, when the pattern is plain text: a way to skip all other lines. */
  needle?: Buffer;
  /** Finds candidates in many lines at once, when no match of the pattern can reach over a line end: the same, faster. */
  scan?: RegExp;
  find(line: string): Hit | undefined;
}

/** @throws SyntaxError for a pattern that is no regular expression. */
export function lineMatcher(pattern: string, options: { literal: boolean; ignoreCase: boolean }): LineMatcher {
  const plain = options.literal || !/[\\^$.*+?()[\]{}|]/.test(pattern);
  if (plain && !options.ignoreCase) {
    return {
      needle: Buffer.from(pattern, "utf8"),
      find(line) {
        const index = line.indexOf(pattern);
        return index < 0 ? undefined : { index, length: pattern.length };
      },
    };
  }
  const source = plain ? pattern.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&") : pattern;
  const expression = compile(source, options.ignoreCase ? "i" : "");
  const mayBeSlow = /[*+{?]/.test(source);
  const look = (line: string): Hit | undefined => {
    const match = expression.exec(line);
    return match ? { index: match.index, length: match[0].length } : undefined;
  };
  const scan = lineByLine.test(source) ? {} : { scan: new RegExp(expression.source, `${expression.flags}gm`) };
  return { find: mayBeSlow ? guarded(look) : look, ...scan };
}

/**
 * The regular expression, or the plain text where the pattern is none, with a note that says so. A line end behind it is the end of
 * the line.
 * @throws ToolError for a pattern with another line end
 */
export function matcherOrText(pattern: string, { ignoreCase, literal, tool }: { tool: string; literal: boolean; ignoreCase: boolean }): { matcher: LineMatcher; note: string } {
  const ended = literal ? pattern : pattern.replace(/\r?\n$/, "$");
  if (/[\r\n]/.test(ended)) throw new ToolError(`the pattern holds a line end; ${tool} looks at one line at a time`);
  try {
    return { matcher: lineMatcher(ended, { literal, ignoreCase }), note: "" };
  } catch (error) {
    const note = `\n[no regular expression (${messageOf(error)}), so it was searched as plain text]`;
    return { matcher: lineMatcher(pattern, { literal: true, ignoreCase }), note };
  }
}

/** The words of a pattern, each once and in small letters. */
export function wordsIn(text: string): string[] {
  return [...new Set(text.toLowerCase().replaceAll("\\", "").match(/[\p{L}\p{N}_][\p{L}\p{N}_.-]*[\p{L}\p{N}_]|[\p{L}\p{N}]/gu) ?? [])];
}

/** Lines that hold one of these words, with any capitals. */
export function anyWordMatcher(words: readonly string[]): LineMatcher {
  return lineMatcher(words.map((word) => RegExp.escape(word)).join("|"), { literal: false, ignoreCase: true });
}

/** Lines that hold all words of a text, in any order and with any capitals; undefined for fewer than two words. */
export function wordsMatcher(text: string): LineMatcher | undefined {
  const words = wordsIn(text);
  if (words.length < 2) return undefined;
  return {
    find(line) {
      const lower = line.toLowerCase();
      const places = words.map((word) => lower.indexOf(word));
      return places.includes(-1) ? undefined : { index: Math.min(...places), length: words[0]?.length ?? 1 };
    },
  };
}

/**
 * What forbids looking at many lines at once: classes that may hold a line end, escapes by number, assertions, which see
 * what is beside a match, and repeated groups, which can take long.
 */
const lineByLine = /\\[^bBdw.*+?^$()[\]{}|/\\-]|\[\^|\(\?(?!:)|\)[*+{]/;

/** Unicode mode where the pattern allows it, so that `.` is one character; the older grammar is more lenient. */
function compile(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    return new RegExp(source, flags);
  }
}

function guarded(look: (line: string) => Hit | undefined): (line: string) => Hit | undefined {
  return (line) => {
    // Twice, because the machine may have been busy with something else.
    for (let tried = 0; tried < 2; tried++) {
      const began = performance.now();
      const hit = look(line);
      if (performance.now() - began <= limits.patternMatchMs) return hit;
    }
    throw new ToolError("the pattern takes too long to match: it repeats something that itself repeats; write it simpler, or set literal");
  };
}
