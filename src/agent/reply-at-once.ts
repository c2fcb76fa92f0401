// First requests that are answered without a look: a small model would look at whatever file there is, and make something up of it.
import { namedFiles } from "../core/named-files.ts";
import type { WorkspaceView } from "../core/tool.ts";
import type { Conversation } from "./conversation.ts";
import { isOnly, isTalk, type Work } from "./work-plan.ts";

const unknownNote = "(Nothing on this computer tells that: say that you can't know it.)";
const foreignNote = "(No file here speaks of this.)";

/**
 * Whether nothing but the reply is offered: no tool is needed, nothing here tells it, or what is to be searched for stands in no
 * file. The model is told the latter two; what stands in no file also where it may look.
 */
export async function repliesAtOnce(conversation: Conversation, work: Work | undefined, view: WorkspaceView | undefined): Promise<boolean> {
  const { messages, request } = conversation;
  const [first] = messages;
  if (!work || work.isChange || !first || messages.length > 1 || namedFiles(request).length > 0) return false;
  const tell = (note: string): void => {
    if (!conversation.note(first).includes(note)) conversation.annotate(first, note);
  };
  if (work.kinds.size === 1 && isTalk(work)) {
    if (work.kinds.has("unknown")) tell(unknownNote);
    return true;
  }
  if (!work.kinds.has("search") && !work.kinds.has("read")) return false;
  const names = await view?.names();
  if (!names || !(await view?.isForeign(names.files, request))) return false;
  tell(foreignNote);
  return isOnly(work, "search");
}
