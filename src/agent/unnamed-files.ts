// Which files a question is about that names none. A small model looks at one of them, and takes what it finds there for the
// answer.
import { isSpokenOf, mentionedFolders } from "../core/named-files.ts";
import type { WorkspaceNames, WorkspaceView } from "../core/tool.ts";

const spokenMax = 3;
const smallMax = 4;
/** All together, about 800 tokens. */
const smallCharsMax = 3000;

/** Those that are called as it speaks: `the scones` of `scones.md`; none where that leads nowhere in particular. */
export function spokenFiles(request: string, { files }: WorkspaceNames): readonly string[] {
  const spoken = files.filter((file) => isSpokenOf(file, request));
  return spoken.length > spokenMax ? [] : spoken;
}

/** All that there are, or that are in a folder which it names, where that is little to read; else none. */
export async function allWhereSmall(request: string, names: WorkspaceNames, view: WorkspaceView): Promise<readonly string[]> {
  const { files } = inNamedFolders(request, names);
  if (files.length > smallMax) return [];
  const texts = await Promise.all(files.map((file) => view.text(file)));
  const known = texts.filter((text) => text !== undefined);
  return known.length === files.length && known.reduce((sum, { length }) => sum + length, 0) <= smallCharsMax ? files : [];
}

/** What is in the folders that it names; all names where it names none. */
export function inNamedFolders(request: string, names: WorkspaceNames): WorkspaceNames {
  const folders = mentionedFolders(request, names.folders);
  return folders.length === 0 ? names : { ...names, folders, files: names.files.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`))), isWhole: true };
}
