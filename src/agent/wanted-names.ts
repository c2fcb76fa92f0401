// What a request names and was not there when it came: of a change what it wants made, of a question what it asks about.
import { mentionedFiles, namedFiles, namedFolders } from "../core/named-files.ts";
import { nearest } from "../core/nearest.ts";
import type { WorkspaceNames } from "../core/tool.ts";
import { makingKinds } from "../core/work.ts";
import type { Work } from "./work-plan.ts";

/** How often a name that is not there yet is told, and keeps a reply back. */
const remindersMax = 3;

export class WantedNames {
  readonly request: string;
  readonly #names: readonly string[];
  #reminders = 0;

  constructor(request: string, existing: WorkspaceNames) {
    this.request = request;
    // Words in quotes are text rather than names, where they are several.
    const plain = request.replace(/"[^"\n]*"|`[^`\n]*`/g, (quoted) => (/\s/.test(quoted) ? " " : quoted));
    this.#names = absent([...namedFolders(plain, existing.folders), ...namedFiles(plain)], existing);
  }

  /** The names that still are not there; none where the request is about something else, or once they were told often enough. */
  missing(existing: WorkspaceNames, work: Work): string[] {
    if (this.#reminders >= remindersMax) return [];
    if (work.isChange ? !makingKinds.some((kind) => work.kinds.has(kind)) : this.#isAboutExisting(existing)) return [];
    return absent(this.#names, existing);
  }

  /** Names of files that a change of what is there is about, and nothing else that it names is there; none where it is about something else. */
  inVain(existing: WorkspaceNames, work: Work): string[] {
    if (!work.isChange || makingKinds.some((kind) => work.kinds.has(kind)) || this.#isAboutExisting(existing)) return [];
    return absent(this.#names, existing);
  }

  /** What is told behind a change; "" when nothing is missing. */
  reminder(existing: WorkspaceNames, work: Work): string {
    const missing = this.missing(existing, work);
    if (missing.length === 0) return "";
    this.#reminders += 1;
    return `(not there yet: ${missing.join(", ")})`;
  }

  /** The request names a file that is there, or one that is called nearly so. */
  #isAboutExisting({ files }: WorkspaceNames): boolean {
    const stems = files.map(stemOf);
    return mentionedFiles(this.request, files).length > 0 || this.#names.some((name) => nearest(stemOf(name), stems) !== undefined);
  }
}

function absent(names: readonly string[], { files, folders }: WorkspaceNames): string[] {
  return names.filter((name) => ![...files, ...folders].some((path) => path === name || path.endsWith(`/${name}`)));
}

/** The name of a file without folder and ending. */
function stemOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/(?<=.)\.[^.]*$/, "");
}
