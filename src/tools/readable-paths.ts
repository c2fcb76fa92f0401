// Places outside the workspace that may be read without a question: those that the user wrote about and the folders that
// were granted for the session. Only what people typed goes in here, never the content of a file or of a pipe.
import { limits } from "../core/limits.ts";

export class ReadablePaths {
  readonly #workspace: string;
  readonly #home: string;
  readonly #paths = new Set<string>();

  /** Both absolute. */
  constructor(workspace: string, home: string) {
    this.#workspace = workspace;
    this.#home = home;
  }

  /** The newest ones, absolute; not resolved, since links may change. */
  readonly list = (): readonly string[] => [...this.#paths];

  allow(path: string): void {
    this.#paths.delete(path);
    this.#paths.add(path);
    for (const oldest of this.#paths) {
      if (this.#paths.size <= limits.readablePathsMax) return;
      this.#paths.delete(oldest);
    }
  }

  /** Allows every path that the text names: `/a/b`, `~/a`, `../a`, in quotes when it holds spaces. Never `/` or `~` as a whole. */
  mention(text: string): void {
    for (const named of pathsIn(text)) {
      if (named.startsWith("~/")) this.allow(`${this.#home}/${named.slice(2)}`);
      else this.allow(named.startsWith("/") ? named : `${this.#workspace}/${named}`);
    }
  }
}

const quotedOrWord = /"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`|“([^”\n]+)”|[^\s"'`“”]+/g;

/** Paths that lead out of the workspace, as they are written. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(quotedOrWord)].flatMap(([whole, ...quoted]) => {
    const inner = quoted.find((part) => part !== undefined);
    const path = inner ?? whole.replace(/^[([{<]+/, "").replace(/[)\]}>,;:!?]+$|\.+$/g, "");
    return isPath(path) ? [path] : [];
  });
}

function isPath(path: string): boolean {
  const steps = path.split("/").filter((step) => step !== "" && step !== "." && step !== "~");
  return /^(\/|~\/|\.\.\/|.+\/\.\.\/)/.test(path) && steps.some((step) => step !== "..") && !path.includes("://") && !path.includes("\0");
}
